"""Text as names are compared: without case, accents and punctuation, apart from where a word ends.

In: a name or a question. Out: words, each with the place it was found at.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ß": "ss", "ı": "i", "’": "'", "`": "'"}
)
_PARTS = re.compile(r"[^\W_]+")
_TYPED = re.compile(r"\S+")
_POSSESSIVE = re.compile(r"(?:'s|')$")
_OUTSIDE = re.compile(r"^[^\w]+|[^\w'!]+$")


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a question: folded, what was typed, and from where to where in the text."""

    text: str
    typed: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    spread = unicodedata.normalize("NFKD", text.casefold().translate(_LETTERS)).casefold().translate(_LETTERS)
    return "".join(c for c in spread if not unicodedata.combining(c))


def fold(text: str) -> str:
    """A name as words in plain small letters, with single spaces between them.

    >>> fold("AC/DC"), fold("Antônio Carlos Jobim"), fold("Bjørn  Hansen"), fold("O'Reilly")
    ('ac dc', 'antonio carlos jobim', 'bjorn hansen', 'o reilly')
    """
    return " ".join(_PARTS.findall(_plain(text)))


def squash(text: str) -> str:
    """A name without the spaces: "ACDC", "AC/DC" and "ac dc" are one.

    >>> squash("AC/DC")
    'acdc'
    """
    return fold(text).replace(" ", "")


def tokens(text: str) -> list[Token]:
    """The words of a question, without the punctuation around them and without a possessive ending.

    >>> [token.text for token in tokens("What is AC/DC's longest track, please?")]
    ['what', 'is', 'acdc', 'longest', 'track', 'please']
    """
    found = []
    for match in _TYPED.finditer(text):
        typed = match[0].replace("’", "'")
        left = len(typed) - len(typed.lstrip("\"'“”‘([{<¿¡-–—"))
        core = _OUTSIDE.sub("", typed[left:])
        core = _POSSESSIVE.sub("", core.rstrip("!"))
        plain = squash(core)
        if plain:
            start = match.start() + left
            found.append(Token(plain, core, start, start + len(core)))
    return found
