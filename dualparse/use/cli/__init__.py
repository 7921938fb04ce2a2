"""The `dualparse` command: thin typed shells over importable functions, one file per family of commands."""
