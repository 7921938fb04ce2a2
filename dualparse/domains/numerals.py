"""Numbers as words and as digits: `two hundred and five` is `205`, `twenty third` is `23rd`.

In: words of a question. Out: the numbers they say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SIZES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}

SMALL = {word: value for value, word in enumerate(ONES + TEENS)} | {w: 10 * i for i, w in enumerate(TENS, start=2)}
IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth"}
IRREGULAR |= {"twelve": "twelfth"}
ORDINALS = {
    IRREGULAR.get(word) or (word[:-1] + "ieth" if word.endswith("y") else word + "th"): value
    for word, value in SMALL.items()
}
WORDS = frozenset({*SMALL, *SIZES, *ORDINALS})

_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_WHOLE = re.compile(r"(\d{1,15})(st|nd|rd|th)?")  # longer ones are no numbers that anybody says
_SMALL_WORDS = {value: word for word, value in SMALL.items()}
_ORDINAL_WORDS = {value: word for word, value in ORDINALS.items()}


@dataclass(frozen=True, slots=True)
class Numeral:
    """Words `start` to `end` (exclusive) are a number; `ordinal` for `third`, not for `three`."""

    start: int
    end: int
    value: int
    ordinal: bool = False

    @property
    def digits(self) -> str:
        """
        >>> Numeral(0, 2, 23, ordinal=True).digits
        '23rd'
        """
        return f"{self.value}{_ending(self.value)}" if self.ordinal else str(self.value)


def is_number(word: str) -> bool:
    """Whether a word is a number in digits.

    >>> is_number("2.5"), is_number("2nd")
    (True, False)
    """
    return _NUMBER.fullmatch(word) is not None


def value(word: str) -> int | None:
    """The whole number that one word says, however it is spelled.

    >>> value("5"), value("five"), value("5th"), value("fifth"), value("hut")
    (5, 5, 5, 5, None)
    """
    whole = _WHOLE.fullmatch(word)
    return int(whole[1]) if whole else SMALL.get(word, ORDINALS.get(word))


def one_word(digits: str) -> str | None:
    """A number in digits as one word, where there is one.

    >>> one_word("5"), one_word("2nd"), one_word("25")
    ('five', 'second', None)
    """
    whole = _WHOLE.fullmatch(digits)
    return (_ORDINAL_WORDS if whole[2] else _SMALL_WORDS).get(int(whole[1])) if whole else None


def find_numerals(words: Sequence[str]) -> list[Numeral]:
    """All numbers that are written as words, each as long as possible.

    >>> [n.digits for n in find_numerals("two hundred and five in nineteen ninety one on the twenty third".split())]
    ['205', '1991', '23rd']
    """
    found: list[Numeral] = []
    start = 0
    while start < len(words):
        numeral = _longest(words, start)
        start = numeral.end if numeral else start + 1
        if numeral and found and _is_year(found[-1], numeral):
            numeral = Numeral(found[-1].start, numeral.end, 100 * found.pop().value + numeral.value)
        if numeral:
            found.append(numeral)
    return found


def _is_year(first: Numeral, second: Numeral) -> bool:
    """`nineteen` and `ninety one`: a year in two halves."""
    whole = not first.ordinal and not second.ordinal
    return whole and first.end == second.start and 13 <= first.value <= 20 and 10 <= second.value <= 99


def _longest(words: Sequence[str], start: int) -> Numeral | None:
    """The numeral that begins at a word."""
    total, group, room = 0, 0, 1000  # `room`: what comes next must be smaller, so that "one two" are two numbers
    i = start
    while i < len(words):
        word = words[i]
        joined = word == "and" and i > start and words[i - 1] in SIZES and i + 1 < len(words)
        if joined and (words[i + 1] in SMALL or words[i + 1] in ORDINALS):
            i += 1
            continue
        small, size = SMALL.get(word, ORDINALS.get(word)), SIZES.get(word)
        if small is not None and small < room and (small or i == start):
            group, room = group + small, 10 if small >= 20 else 0
            if word in ORDINALS:
                return Numeral(start, i + 1, total + group, ordinal=True)
        elif size == 100 and group % 10 and group < 20:  # nineteen hundred, but no twenty hundred
            group, room = group * 100, 100
        elif size and size > 100 and group and (not total or size < 1_000_000):
            total, group, room = total + group * size, 0, 1000
        else:
            break
        i += 1
    return Numeral(start, i, total + group) if i > start else None


def _ending(value: int) -> str:
    if value % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
