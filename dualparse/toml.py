"""TOML of strangers: a text or a file in, plain values out, in bounded time and memory, or an `InputError`.

The standard library's reader takes any number of brackets, dots and digits; what a recipe, a grid or a `domain.toml`
can sensibly hold is far below what would hurt.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from dualparse.errors import InputError
from dualparse.lines import read_regular

MOST_BYTES = 1_000_000
MOST_LINES = 50_000
MOST_DOTS = 200  # between two signs of equality in a line: a dotted key takes time by the square of its parts
DEEPEST = 20


def read_toml(path: Path, *, kind: str = "file") -> dict[str, Any]:
    """The values of a file, which is a `kind` of file."""
    content = read_regular(path, most=MOST_BYTES, missing=f"no such {kind}")
    try:
        return parse_toml(content.decode("utf-8"), path=path)
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text", path=path) from None


def parse_toml(text: str, *, path: Path | None = None) -> dict[str, Any]:
    """The values of a text.

    >>> parse_toml("a.b = [1, 2]")
    {'a': {'b': [1, 2]}}
    """
    lines = text.split("\n", MOST_LINES)
    if len(text) > MOST_BYTES or len(lines) > MOST_LINES:
        raise InputError(f"longer than {MOST_BYTES} bytes or {MOST_LINES} lines", path=path)
    for number, line in enumerate(lines, start=1):
        if line.count(".") > MOST_DOTS and any(part.count(".") > MOST_DOTS for part in line.split("=")):
            raise InputError(f"not TOML for people: a line with more than {MOST_DOTS} dots", path=path, line=number)
    try:
        told = tomllib.loads(text)
    except RecursionError:
        raise InputError("not TOML: nested too deeply", path=path) from None
    except tomllib.TOMLDecodeError as error:
        message, place = _place(str(error))
        raise InputError(f"not TOML: {message}", path=path, line=place) from None
    except ValueError:
        most = sys.get_int_max_str_digits()
        raise InputError(f"not TOML for people: a number with more than {most} digits", path=path) from None
    level: list[Any] = [told]
    depth = 0
    while level:
        if depth > DEEPEST:
            raise InputError(f"not TOML: nested deeper than {DEEPEST}", path=path)
        level = [
            inner
            for value in level
            for inner in (value.values() if isinstance(value, dict) else value)
            if isinstance(inner, dict | list)
        ]
        depth += 1
    return told


def _place(message: str) -> tuple[str, int | None]:
    """What the reader says, and the line it says it about."""
    found = re.search(r" \(at line (\d+), column \d+\)$", message)
    return (message[: found.start()], int(found[1])) if found else (message[:200], None)
