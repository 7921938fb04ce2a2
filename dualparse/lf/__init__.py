"""Formal languages: reading, printing, checking and executing logical forms. Pure Python, no torch."""
