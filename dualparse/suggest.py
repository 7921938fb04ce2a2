"""What a user probably meant: a wrong name in, words about the nearest right one out."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about a wrong name: a question, or nothing when no known name is near.

    >>> nearest("trial", ["trail", "hut"])
    ", did you mean 'trail'?"
    >>> nearest("glacier", ["trail", "hut"])
    ''
    """
    near = get_close_matches(name, sorted(known), n=1, cutoff=0.5)
    return f", did you mean {near[0]!r}?" if near else ""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """The text of an error about a name nobody knows.

    >>> unknown_name("dataset", "atiss", ["atis", "glove"])
    "unknown dataset 'atiss', did you mean 'atis'? Known: atis, glove"
    """
    known = sorted(known)
    guess = nearest(name, known) or "."
    return f"unknown {kind} {name!r}{guess} Known: {', '.join(known)}"
