"""dualparse: questions into logical forms that run, from little labelled data."""

__version__ = "0.1.0"
