"""Numbered names, as ATIS has them: `ci0` is a city of this question, `ci1` another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable

_NUMBERED = re.compile(r"([a-z]+)([0-9]{1,4})")


def split(word: str) -> tuple[str, int] | None:
    """Kind and number of a name; None for what does not look like one.

    >>> split("ci0"), split("city")
    (('ci', 0), None)
    """
    match = _NUMBERED.fullmatch(word)
    return (match[1], int(match[2])) if match else None


def kind_of(name: str) -> str:
    """
    >>> kind_of("ci12")
    'ci'
    """
    return name.rstrip("0123456789")


def as_they_come(words: Iterable[str], names: Collection[str]) -> dict[str, str]:
    """Names numbered anew as they come up, each kind by itself.

    >>> as_they_come(("from", "ci1", "to", "ci0"), {"ci0", "ci1"})
    {'ci1': 'ci0', 'ci0': 'ci1'}
    """
    numbers, counts = dict[str, str](), Counter[str]()
    for word in words:
        if word in names and word not in numbers:
            kind = kind_of(word)
            numbers[word] = f"{kind}{counts[kind]}"
            counts[kind] += 1
    return numbers


def without_gaps(names: Collection[str]) -> dict[str, str]:
    """Names numbered anew in their order.

    >>> without_gaps({"ci1", "ci3", "ti0"}) == {"ci1": "ci0", "ci3": "ci1", "ti0": "ti0"}
    True
    """
    return as_they_come(sorted(names, key=lambda name: (len(name), name)), names)


def free(kind: str, taken: Collection[str]) -> str:
    """The first name of a kind that is not taken.

    >>> free("ci", {"ci0", "ti1"})
    'ci1'
    """
    return next(name for number in range(len(taken) + 1) if (name := f"{kind}{number}") not in taken)
