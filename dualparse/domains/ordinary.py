"""Words that people use whatever they ask about, so that none of them is taken for a name or for a slip of the keys."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

ENDINGS = ("s", "es", "ed", "d", "ing")


@cache
def common_words() -> frozenset[str]:
    """Words of questions that are no names by themselves."""
    return _words("common.txt")


def is_ordinary(word: str) -> bool:
    """Whether a word in lower case is one that everybody knows, in one of its common forms.

    >>> is_ordinary("month"), is_ordinary("books"), is_ordinary("marmott")
    (True, True, False)
    """
    known = _ordinary()
    return word in known or any(word.removesuffix(ending) in known for ending in ENDINGS if word.endswith(ending))


@cache
def _ordinary() -> frozenset[str]:
    return common_words() | _words("ordinary.txt")


def _words(name: str) -> frozenset[str]:
    text = (files("dualparse.domains") / name).read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())
