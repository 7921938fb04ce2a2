"""Misspelt words that a question needs to be understood: "custmers", "averge", "lenght", and words that people write
short: "depts", "pls", "whos".

In: the text of a question, the words that may be meant, and whether the data knows a word. Out: the text with such
words mended, and what was mended. A word that is English, a name or a part of one is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from rapidfuzz.distance import OSA

from dualparse.asking.lexis import lexis
from dualparse.asking.question import words_of
from dualparse.domains.ordinary import is_ordinary

SHORTEST, TWO_EDITS = 4, 8  # letters of a word that is mended, and of one that may be wrong twice
ASKING = frozenset(
    [
        *("which", "where", "there", "their", "whose", "average", "total", "number", "count", "highest", "lowest"),
        *("longest", "shortest", "oldest", "newest", "largest", "smallest", "biggest", "cheapest", "latest"),
        *("expensive", "percentage", "between", "without", "before", "after", "since", "customers", "people"),
        *("never", "every", "ordered", "sorted", "distinct", "different"),
    ]
)


def mended(
    text: str, words: Collection[str], is_name: Callable[[str], bool]
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The text with its slips mended, and pairs of what stood there and what was read.

    >>> mended("averge lenght of trakcs by Bo", {"length", "tracks"}, lambda word: word == "bo")
    ('average length of tracks by Bo', (('averge', 'average'), ('lenght', 'length'), ('trakcs', 'tracks')))
    """
    known = ASKING.union(words)
    found: list[tuple[str, str]] = []
    for word in reversed(words_of(text)):
        typed = word.text
        if (full := lexis().short.get(typed)) and typed not in known and not is_name(typed):
            text = text[: word.start] + full + text[word.end :]
            found.append((typed, full))
            continue
        if len(typed) < SHORTEST or not typed.isalpha() or typed in known or is_ordinary(typed) or is_name(typed):
            continue
        edits = 1 if len(typed) < TWO_EDITS else 2
        near = sorted(
            (OSA.distance(typed, other, score_cutoff=edits), other)
            for other in known
            if other[0] == typed[0] and abs(len(other) - len(typed)) <= edits
        )
        if near and near[0][0] <= edits:
            text = text[: word.start] + near[0][1] + text[word.end :]
            found.append((typed, near[0][1]))
    return text, tuple(reversed(found))
