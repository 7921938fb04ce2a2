"""The one exception that means "the user gave us something we cannot use".

Commands print it without a traceback and exit with code 2. Anything else that escapes is a bug.
Errors of a logical form are something different: see `dualparse.lf.errors`.
"""

from __future__ import annotations

from pathlib import Path


class InputError(Exception):
    """Bad input, told with the file and line it stands in.

    >>> str(InputError("expected two columns", path=Path("train.tsv"), line=7))
    'train.tsv:7: expected two columns'
    """

    def __init__(self, message: str, *, path: Path | str | None = None, line: int | None = None):
        self.message, self.path, self.line = message, path, line
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + message)
