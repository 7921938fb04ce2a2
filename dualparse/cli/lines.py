"""Lines of a file or of standard input as they come, for commands that answer line by line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import BinaryIO

from dualparse.errors import InputError
from dualparse.lf.sexpr import MAX_CHARACTERS

MAX_LINE = 4 * MAX_CHARACTERS + 2  # bytes: longer lines are too long for a form or a question and are not kept


def text_lines(file: str) -> Iterator[str | None]:
    """Lines of a file or of standard input, as they come; None for a line that is too long to be of use."""
    path = "standard input" if file == "-" else file
    number = 1
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else open(file, "rb") as stream:
            while raw := stream.readline(MAX_LINE):
                whole = raw.endswith(b"\n") or len(raw) < MAX_LINE
                if not whole:
                    _skip_line(stream)
                yield raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n") if whole else None
                number += 1
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", path=path, line=number) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error


def argument(text: str) -> str:
    """A text of the command line; bytes of another encoding arrive there as lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("the text on the command line is not UTF-8") from None
    return text


def _skip_line(stream: BinaryIO) -> None:
    while (more := stream.readline(MAX_LINE)) and not more.endswith(b"\n"):
        pass
