"""Lines of a file or of standard input as they come, for commands that answer line by line."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import BinaryIO

from dualparse.errors import InputError
from dualparse.lf.sexpr import MAX_CHARACTERS

MAX_LINE = 4 * MAX_CHARACTERS + 2  # bytes: longer lines are too long for a form or a question and are not kept


@dataclass(frozen=True)
class Unusable:
    """Why a line cannot be used."""

    reason: str


TOO_LONG, NO_TEXT = Unusable(f"longer than {MAX_CHARACTERS} characters"), Unusable("not UTF-8")


def text_lines(file: str) -> Iterator[str | Unusable]:
    """Lines of a file or of standard input, as they come, or what is wrong with one: each has its answer."""
    for number, raw in _raw_lines(file):
        try:
            yield TOO_LONG if raw is None else _decoded(raw, number)
        except UnicodeDecodeError:
            yield NO_TEXT


def numbered_lines(file: str) -> Iterator[tuple[int, str | InputError]]:
    """Every line with its number, as they come; in the place of a line that cannot be used the error that says so."""
    for number, raw in _raw_lines(file):
        text: str | InputError = InputError("the line is too long", path=_path(file), line=number)
        try:
            text = text if raw is None else _decoded(raw, number)
        except UnicodeDecodeError:
            text = InputError("not UTF-8", path=_path(file), line=number)
        yield number, text


def _path(file: str) -> str:
    return "standard input" if file == "-" else file


def _raw_lines(file: str) -> Iterator[tuple[int, bytes | None]]:
    """Line numbers and lines; None for a line that is too long. What is no file may never end, or never begin: it can
    be given on standard input by who knows that it does."""
    try:
        if file != "-" and not stat.S_ISREG(os.stat(file).st_mode):
            raise InputError("is no regular file", path=file)
        with nullcontext(sys.stdin.buffer) if file == "-" else open(file, "rb") as stream:
            number = 1
            while raw := stream.readline(MAX_LINE):
                whole = raw.endswith(b"\n") or len(raw) < MAX_LINE
                if not whole:
                    _skip_line(stream)
                yield number, raw if whole else None
                number += 1
    except (OSError, ValueError) as error:  # the latter of a name with a zero byte
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {reason}", path=_path(file)) from error


def _decoded(raw: bytes, number: int) -> str:
    return raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")


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
