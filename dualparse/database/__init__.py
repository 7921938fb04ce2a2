"""A user's own database: what is in it, how people call it, and how it is asked. Nothing here ever writes to it."""
