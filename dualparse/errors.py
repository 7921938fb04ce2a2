"""The one exception that means "the user gave us something we cannot use".

Commands print it without a traceback and exit with code 2. Anything else that escapes is a bug.
Errors of a logical form are something different: see `dualparse.lf.errors`.
"""

from __future__ import annotations

import json
from pathlib import Path

LONGEST = 2_000  # letters of a message; a file may quote itself in it


class InputError(Exception):
    """Bad input, told in one line with the file and line it stands in.

    >>> str(InputError("expected two columns", path=Path("train.tsv"), line=7))
    'train.tsv:7: expected two columns'
    """

    def __init__(self, message: str, *, path: Path | str | None = None, line: int | None = None):
        self.message, self.path, self.line = shown(message), path, line
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(shown(place) + self.message)


def shown(text: str) -> str:
    """A text of a stranger as it fits a screen: spelt out, and without its middle where there is too much of it."""
    spelt = spelt_out(text[: LONGEST // 2] + text[-LONGEST // 2 :] if len(text) > LONGEST else text)
    return spelt if len(spelt) <= LONGEST else f"{spelt[: LONGEST // 2]} ... {spelt[-LONGEST // 4 :]}"


def spelt_out(text: str) -> str:
    r"""A text in one line, without letters that a terminal would obey or that turn others around: JSON's spelling.

    >>> spelt_out("red \x1b[31m and\ttab")
    'red \\u001b[31m and\\ttab'
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)
