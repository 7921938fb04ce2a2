"""Reads the files of phrases beside it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@cache
def families() -> dict[str, dict[str, tuple[str, ...]]]:
    """Family -> what is asked for -> phrases."""
    return _named("families.txt")


def parts_of_names() -> dict[str, tuple[str, ...]]:
    """What invented names are put together from."""
    return _named("names.txt")["names"]


def compared(kind: str) -> dict[str, str]:
    """How people compare a number, a date or a time: operator -> phrases, separated by bars."""
    sections = _framed("amounts.txt")
    found = {name.rpartition(" "): "|".join(phrases) for name, phrases in sections.items()}
    return {op: phrases for (of, _, op), phrases in found.items() if of == kind}


@cache
def frames() -> dict[str, tuple[str, ...]]:
    """What a form asks -> frames; one that stands twice is twice as likely."""
    return _framed("frames.txt")


def _named(name: str) -> dict[str, dict[str, tuple[str, ...]]]:
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for line in _lines(name):
        if line.startswith("["):
            current = found.setdefault(line.strip("[]"), {})
        else:
            key, _, phrases = line.partition(" = ")
            current[key] = tuple(part.strip() for part in phrases.split(","))
    return found


def _framed(name: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for line in _lines(name):
        if line.startswith("["):
            current = found.setdefault(line.strip("[]"), [])
        else:
            current += [part.strip() for part in line.split(" | ")]
    return {key: tuple(phrases) for key, phrases in found.items()}


def _lines(name: str) -> list[str]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]
