"""A trained run as a web service: JSON endpoints with micro-batching, and the web page."""
