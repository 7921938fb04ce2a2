"""Domains whose facts stay in a database: the model of its tables, forms as SQL, and what runs it."""
