"""Dates in questions: "since March 2024", "in the last quarter of 2024", "between 2020 and 2022", "last month".

In: the words of a question. Out: `Dates`: the form of a day, month, quarter, year or an interval relative to today, and
what is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date as Day
from typing import Protocol

_MONTHS = {
    name: number
    for number, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ],
        1,
    )
    for name in names.split()
}
_UNITS = {"day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year"}
_UNITS |= {f"{unit}s": unit for unit in tuple(_UNITS)}
_ORDINAL = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 4}
_SMALL = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10, "twelve": 12, "thirty": 30}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_FEASTS = {
    ("christmas", "eve"): (12, 24),
    ("christmas", "day"): (12, 25),
    ("christmas",): (12, 25),
    ("new", "year", "eve"): (12, 31),
    ("new", "year", "day"): (1, 1),
    ("halloween",): (10, 31),
    ("valentine", "day"): (2, 14),
}
_JOINS = ("and", "to", "until", "through", "till")
_NUMBERS_OF_A_DAY = re.compile(r"(\d{1,2})([/.])(\d{1,2})\2((?:1[5-9]|20|21)\d\d)\b")
_BEFORE = (
    (">=", "since|from|starting|as of|beginning|not before|no earlier than|onwards from|starting in|starting from"),
    (">", "after|later than|past|following|newer than|younger than|more recent than"),
    ("<=", "until|till|up to|through|not after|no later than|by the end of|up until"),
    ("<", "before|prior to|earlier than|older than|predating|ahead of"),
    ("=", "in|on|during|of|for|within|throughout|at|dated"),
)
_AFTER = ((">=", "or later|onwards|onward|and later|or after|or newer"), ("<=", "or earlier|or before|or older"))
_PHRASES = sorted(
    ((tuple(phrase.split()), op) for op, phrases in _BEFORE for phrase in phrases.split("|")),
    key=lambda pair: -len(pair[0]),
)


class _Placed(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Dates:
    """A date or interval: its form, the operator that stands before it ("" for none), its places; `second` is the other
    end of "between"; `year` whether it is a year alone, which may be a plain number as well."""

    form: str
    op: str
    places: frozenset[int]
    second: str = ""
    year: int = 0


def find_dates(texts: Sequence[str], text: str, words: Sequence[_Placed]) -> Iterator[Dates]:
    """All dates of a question, from left to right."""
    at = 0
    while at < len(texts):
        found = _slashed(text, words, at) or _date(texts, at) or _month_of(texts, at)
        if found is None:
            at += 1
            continue
        form, end, year, sure = found
        places = frozenset(range(at - (at > 0 and texts[at - 1] == "fy"), end))
        second = ""
        op, before = _before(texts, at)
        joined = end < len(texts) and texts[end] in _JOINS
        other = _date(texts, end + 1) if joined else None
        if other is not None and at and (texts[at - 1] in ("between", "from") or texts[end] != "and"):
            second, places, end = other[0], places | frozenset(range(end, other[1])) | {at - 1}, other[1]
            op = "between"
        after_op, after = _after(texts, end)
        if form.startswith("( between "):
            form, second = form.removeprefix("( between ").removesuffix(" )").split(" | ")
            op = "between"
        op = after_op or op
        if op == ">=" and texts[at - 1] == "from" and form.split()[1] in ("last", "this", "past", "today", "yesterday"):
            op = "="
        yield Dates(form, op, places | before | after, second, year if not sure else 0)
        at = end


def _before(texts: Sequence[str], at: int) -> tuple[str, frozenset[int]]:
    first = at
    while first and texts[first - 1] in ("the", "year", "early", "end", "fy", "fiscal", "financial", "calendar"):
        first -= 1
    for phrase, op in _PHRASES:
        size = len(phrase)
        if tuple(texts[max(0, first - size) : first]) == phrase:
            return op, frozenset(range(first - size, at))
    return "", frozenset()


def _after(texts: Sequence[str], end: int) -> tuple[str, frozenset[int]]:
    for op, phrases in _AFTER:
        for phrase in phrases.split("|"):
            parts = phrase.split()
            if list(texts[end : end + len(parts)]) == parts:
                return op, frozenset(range(end, end + len(parts)))
    return "", frozenset()


Found = tuple[str, int, int, bool]  # form, end, year alone or 0, whether it can be nothing else than a date


def _date(texts: Sequence[str], at: int) -> Found | None:
    if at >= len(texts):
        return None
    for read in (_relative, _quarter, _half, _season, _feast, _calendar, _iso, _decade, _year):
        found = read(texts, at)
        if found is not None:
            return found
    return None


def _is_year(text: str) -> bool:
    return re.fullmatch(r"(1[5-9]|20|21)\d\d", text) is not None


def _at(texts: Sequence[str], at: int) -> str:
    return texts[at] if 0 <= at < len(texts) else ""


def _relative(texts: Sequence[str], at: int) -> Found | None:
    word, after = texts[at], _at(texts, at + 1)
    if word in ("today", "yesterday", "tomorrow"):
        return f"( {word} )", at + 1, 0, True
    word = {"previous": "last", "past": "last", "current": "this", "coming": "next"}.get(word, word)
    if word not in ("last", "this", "next"):
        return None
    if after in _UNITS and not (after == "quarter" and _at(texts, at + 2) == "of"):
        return f"( {word} {_UNITS[after]} )", at + 2, 0, True
    amount = int(after) if after.isdigit() and len(after) < 4 else _SMALL.get(after, 0)
    if word == "last" and amount and _at(texts, at + 2) in _UNITS:
        return f"( past {amount} {_UNITS[_at(texts, at + 2)]} )", at + 3, 0, True
    return None


def _quarter(texts: Sequence[str], at: int) -> Found | None:
    """Such as "q4 2024", "the last quarter of 2024", "2024 q4"."""
    number = re.fullmatch(r"q([1-4])", texts[at])
    if number and _is_year(_after_of(texts, at + 1)[0]):
        year, end = _after_of(texts, at + 1)
        return f"( quarter {year} {number[1]} )", end, 0, True
    if _is_year(texts[at]) and re.fullmatch(r"q[1-4]", _at(texts, at + 1)):
        return f"( quarter {texts[at]} {texts[at + 1][1]} )", at + 2, 0, True
    if texts[at] in _ORDINAL and _at(texts, at + 1) == "quarter":
        year, end = _after_of(texts, at + 2)
        if _is_year(year):
            return f"( quarter {year} {_ORDINAL[texts[at]]} )", end, 0, True
    return None


def _half(texts: Sequence[str], at: int) -> Found | None:
    if texts[at] in ("first", "second", "1st", "2nd", "last") and _at(texts, at + 1) == "half":
        year, end = _after_of(texts, at + 2)
        if _is_year(year):
            first, last = (1, 6) if _ORDINAL[texts[at]] == 1 else (7, 12)
            return f"( between ( date {year} {first} -1 ) | ( date {year} {last} -1 ) )", end, 0, True
    return None


def _season(texts: Sequence[str], at: int) -> Found | None:
    """Such as "spring 2024", "in the summer of 2023"; a winter ends in the next year."""
    if texts[at] not in _SEASONS:
        return None
    year, end = _after_of(texts, at + 1)
    if not _is_year(year):
        return None
    first = _SEASONS[texts[at]]
    last, its_year = (2, int(year) + 1) if first == 12 else (first + 2, int(year))
    return f"( between ( date {year} {first} -1 ) | ( date {its_year} {last} -1 ) )", end, 0, True


def _feast(texts: Sequence[str], at: int) -> Found | None:
    """Such as "Christmas Eve 2025"."""
    for phrase, (month, day) in _FEASTS.items():
        size = len(phrase)
        if tuple(texts[at : at + size]) == phrase:
            year, end = _after_of(texts, at + size)
            if _is_year(year):
                return _written(year, month, day, end)
    return None


def _month_of(texts: Sequence[str], at: int) -> Found | None:
    """The first month of "between May and July 2025"; it is of the same year as the second."""
    if texts[at] not in _MONTHS or _at(texts, at - 1) not in ("between", "from"):
        return None
    if _at(texts, at + 1) not in _JOINS or _at(texts, at + 2) not in _MONTHS:
        return None
    year, _ = _after_of(texts, at + 3)
    return (f"( date {year} {_MONTHS[texts[at]]} -1 )", at + 1, 0, True) if _is_year(year) else None


def _slashed(text: str, words: Sequence[_Placed], at: int) -> Found | None:
    """Such as "24/12/2025", "1.3.2024": the day stands first, unless the second number is no month."""
    found = _NUMBERS_OF_A_DAY.match(text, words[at].start)
    if found is None:
        return None
    day, month, year = int(found[1]), int(found[3]), found[4]
    end = next((place for place in range(at, len(words)) if words[place].end >= found.end()), len(words) - 1) + 1
    return _written(year, *((day, month) if month > 12 else (month, day)), end)


def _after_of(texts: Sequence[str], at: int) -> tuple[str, int]:
    while _at(texts, at) in ("of", "in", "the", "year"):
        at += 1
    return _at(texts, at), at + 1


def _calendar(texts: Sequence[str], at: int) -> Found | None:
    """Such as "5 March 2024", "March 5 2024", "March 2024"."""
    day = _day(texts[at])
    if day and _at(texts, at + 1) == "of" and _at(texts, at + 2) in _MONTHS and _is_year(_at(texts, at + 3)):
        return _written(_at(texts, at + 3), _MONTHS[texts[at + 2]], day, at + 4)
    if day and _at(texts, at + 1) in _MONTHS and _is_year(_at(texts, at + 2)):
        return _written(texts[at + 2], _MONTHS[texts[at + 1]], day, at + 3)
    if texts[at] not in _MONTHS:
        return None
    month = _MONTHS[texts[at]]
    day = _day(_at(texts, at + 1))
    if day and _is_year(_at(texts, at + 2)):
        return _written(texts[at + 2], month, day, at + 3)
    year, end = _after_of(texts, at + 1)
    if _is_year(year):
        return f"( date {year} {month} -1 )", end, 0, True
    return None


def _day(text: str) -> int:
    found = re.fullmatch(r"(\d{1,2})(st|nd|rd|th)?", text)
    return int(found[1]) if found and 1 <= int(found[1]) <= 31 else 0


def _written(year: str, month: int, day: int, end: int) -> Found | None:
    try:
        Day(int(year), month, day)
    except ValueError:
        return None
    return f"( date {year} {month} {day} )", end, 0, True


def _iso(texts: Sequence[str], at: int) -> Found | None:
    """2024-03-05 arrives as three words, 2024-03 as two."""
    if not _is_year(texts[at]) or not re.fullmatch(r"\d\d", _at(texts, at + 1)):
        return None
    month = int(texts[at + 1])
    if not 1 <= month <= 12:
        return None
    if re.fullmatch(r"\d\d", _at(texts, at + 2)):
        return _written(texts[at], month, int(texts[at + 2]), at + 3)
    return f"( date {texts[at]} {month} -1 )", at + 2, 0, True


def _decade(texts: Sequence[str], at: int) -> Found | None:
    found = re.fullmatch(r"((?:19|20)?\d0)s", texts[at])
    if not found:
        return None
    first = int(found[1])
    first += 0 if first > 100 else 1900 if first >= 30 else 2000
    return f"( between ( date {first} ) | ( date {first + 9} ) )", at + 1, 0, True


def _year(texts: Sequence[str], at: int) -> Found | None:
    if not _is_year(texts[at]):
        return None
    return f"( date {texts[at]} -1 -1 )", at + 1, int(texts[at]), False
