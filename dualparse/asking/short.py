"""What is written short in a database: `pts` for points, `GK` for goalkeeper, `SWE` for Sweden.

In: a name of a column or a code in the data, and a word of a question. Out: whether one may stand for the other; the
codes of a question as names of the data.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from dualparse.asking.familiar import common_words
from dualparse.asking.lexis import lexis
from dualparse.asking.question import Question
from dualparse.database.fold import fold
from dualparse.database.index import Index
from dualparse.database.names import singular

LONGEST, LONGEST_CODE = 4, 3  # letters of what is written short in a column's name, and in the data
MOST_CODES = 60  # values of a column of codes
SHORTEST = 5  # letters of a word that is written short
_VOWELS = frozenset("aeiou")


def stands_for(short: str, word: str) -> bool:
    """Whether some letters may stand for a longer word: its beginning, or the first of its letters and consonants.

    >>> [stands_for(*pair) for pair in (("cap", "capacity"), ("pts", "points"), ("plr", "player"), ("ate", "agent"))]
    [True, True, True, False]
    """
    if not short or len(word) < SHORTEST or len(short) + 2 > len(word) or short[0] != word[0]:
        return False
    if word.startswith(short):
        return len(short) > 1
    return not _VOWELS & set(short[1:]) and _in_order(short, word)


def _in_order(letters: str, word: str) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in letters)


Columns = Collection[tuple[str, str]]


def codes_of(index: Index, categories: Columns) -> dict[tuple[str, str], list[str]]:
    """The columns that hold nothing but short codes in capitals, with these."""
    found: dict[tuple[str, str], list[str]] = {}
    for type_, property_ in sorted(categories):
        values = index.values(type_, property_, MOST_CODES + 1)
        if 1 < len(values) <= MOST_CODES and all(_is_code(value) for value in values):
            found[type_, property_] = values
    return found


def _is_code(value: str) -> bool:
    return len(value) <= LONGEST_CODE and value.isalpha() and value.isupper()


def coded(
    question: Question, index: Index, codes: Mapping[tuple[str, str], list[str]], known: Collection[str]
) -> Iterator[tuple[int, str, str, str]]:
    """Words of a question that a code stands for: the place, the table, the column and the code. `known` are words that
    say something else."""
    for place, word in enumerate(question.words):
        after = question.words[place + 1].text if place + 1 < len(question.words) else ""
        if word.text in common_words() or word.text in known or singular(word.text) in known or index.knows(word.text):
            continue
        said = {singular(word.text), *(fold(country) for country in lexis().demonyms.get(word.text, ()))}
        for (type_, property_), values in codes.items():
            if all(len(value) == 1 for value in values) and singular(after) not in (type_, property_):
                continue  # a letter says too little by itself: "red cards"
            fits = [value for value in values if _is_coded(value.lower(), said)]
            if len(fits) == 1:
                yield place, type_, property_, fits[0]


def _is_coded(code: str, words: Iterable[str]) -> bool:
    if len(code) == 1:
        return any(word.startswith(code) for word in words)
    return any(stands_for(code, word) for word in words)
