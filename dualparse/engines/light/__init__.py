"""The paper's network in NumPy, for one question at a time: torch takes seconds and hundreds of megabytes to load."""
