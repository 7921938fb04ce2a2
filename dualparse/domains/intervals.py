"""Dates in forms: a year, a month, a quarter is an interval of days.

In: the tree of a date (`( date 2009 -1 -1 )`, `( quarter 2024 4 )`, `( last month )`, `( past 30 day )`) and, for those
that are relative, today. Out: an `Interval` in the order of dates, where a part that is not known counts as 0: the year
2009 reaches from 20090000 up to, not including, 20100000. A value of the data is one point of that order; a year alone
stands where the year begins. The last weeks, months and years are whole ones of the calendar; weeks begin on Monday.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date as Day
from datetime import timedelta

from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.sexpr import Tree, write
from dualparse.lf.values import read_literal

UNITS = ("day", "week", "month", "quarter", "year")
RELATIVE = {"last": -1, "this": 0, "next": 1}
MOST_UNITS = 10_000  # of `( past N UNIT )`


@dataclass(frozen=True, slots=True)
class Interval:
    """From `low` up to, not including, `high`: places in the order of dates, year * 10,000 + month * 100 + day."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Relative:
    """An interval that depends on today: so many units away, so many long."""

    unit: str
    offset: int
    length: int = 1

    def on(self, today: Day) -> Interval:
        """The interval as seen on a day.

        >>> Relative("month", -1).on(Day(2024, 1, 15))
        Interval(low=20231200, high=20231300)
        """
        try:
            return self._on(today)
        except (OverflowError, ValueError) as error:
            raise LFSyntaxError(f"{self.offset} {self.unit}s from {today} is beyond the calendar") from error

    def _on(self, today: Day) -> Interval:
        if self.unit in ("day", "week"):
            days = 1 if self.unit == "day" else 7
            first = today if days == 1 else today - timedelta(today.weekday())
            first += timedelta(days * self.offset)
            return Interval(point(first), point(first + timedelta(days * self.length - 1)) + 1)
        months = {"month": 1, "quarter": 3, "year": 12}[self.unit]
        place = (today.year * 12 + today.month - 1) // months + self.offset
        low, last = _month(place * months), _month((place + self.length) * months - 1)
        return Interval(low if self.unit != "year" else low // 10_000 * 10_000, last + 100)


def _month(place: int) -> int:
    """Where a month begins, by its number since the year 0; the last of a year ends before the next begins."""
    year, month = divmod(place, 12)
    if not 1 <= year <= 9999:
        raise ValueError("beyond the calendar")
    return year * 10_000 + (month + 1) * 100


def point(day: Day) -> int:
    """A day's place in the order.

    >>> point(Day(2009, 3, 1))
    20090301
    """
    return day.year * 10_000 + day.month * 100 + day.day


def day(place: int) -> Day:
    """The first real day at or after a place in the order.

    >>> day(20090000), day(20091300), day(20090332)
    (datetime.date(2009, 1, 1), datetime.date(2010, 1, 1), datetime.date(2009, 4, 1))
    """
    year, rest = divmod(place, 10_000)
    month, of_month = divmod(rest, 100)
    if month > 12:
        year, month, of_month = year + 1, 1, 1
    month = max(month, 1)
    if of_month > monthrange(min(year, 9999), month)[1]:
        year, month, of_month = (year + 1, 1, 1) if month == 12 else (year, month + 1, 1)
    return Day(year, month, max(of_month, 1)) if year <= 9999 else Day.max


def text(place: int) -> str:
    """A place as text that sorts alike, unknown parts as 00.

    >>> text(20090300)
    '2009-03-00'
    """
    return f"{place // 10_000:04}-{place // 100 % 100:02}-{place % 100:02}"


def interval(tree: tuple[Tree, ...]) -> Interval | Relative | None:
    """The interval that a tree writes; None where its head is no word for dates; `LFSyntaxError` for no such date.

    >>> interval(("date", "2009", "-1", "-1")), interval(("quarter", "2024", "4"))
    (Interval(low=20090000, high=20100000), Interval(low=20241000, high=20241300))
    >>> interval(("date", "2024", "2", "30"))
    Traceback (most recent call last):
    dualparse.lf.errors.LFSyntaxError: ( date 2024 2 30 ): no such date
    """
    head, rest = tree[0], tree[1:]
    if head == "date":
        read_literal(tree)
        return _date(tree, [int(str(part)) for part in rest])
    if head == "quarter" and len(tree) == 3:
        parts = [_whole(tree, part) for part in rest]
        if not 1 <= parts[0] <= 9999 or not 1 <= parts[1] <= 4:
            raise _refused(tree, "no such quarter")
        first = parts[0] * 10_000 + (parts[1] * 3 - 2) * 100
        return Interval(first, first + 300)
    if head in ("today", "yesterday", "tomorrow") and len(tree) == 1:
        return Relative("day", ("yesterday", "today", "tomorrow").index(head) - 1)
    if head in RELATIVE:
        if len(tree) != 2 or rest[0] not in UNITS:
            raise _refused(tree, f"expected ( {head} UNIT ), UNIT one of {' '.join(UNITS)}")
        return Relative(str(rest[0]), RELATIVE[str(head)])
    if head == "past":
        if len(tree) != 3 or rest[1] not in UNITS:
            raise _refused(tree, f"expected ( past N UNIT ), UNIT one of {' '.join(UNITS)}")
        length = _whole(tree, rest[0])
        if not 1 <= length <= MOST_UNITS:
            raise _refused(tree, f"N goes from 1 to {MOST_UNITS}")
        return Relative(str(rest[1]), -length, length)
    return None


def _date(tree: Tree, parts: list[int]) -> Interval:
    year, month, of_month = [*parts, -1, -1][:3]
    known = (year, max(month, 1), max(of_month, 1))
    if month == -1 and of_month != -1 or 0 in (year, month, of_month) or min(month, of_month) < -1:
        raise _refused(tree, "no such date")
    try:
        place = point(Day(*known))
    except ValueError as error:
        raise _refused(tree, "no such date") from error
    if month == -1:
        return Interval(place // 10_000 * 10_000, (place // 10_000 + 1) * 10_000)
    return Interval(place, place + 1) if of_month != -1 else Interval(place // 100 * 100, (place // 100 + 1) * 100)


def _whole(tree: Tree, part: Tree) -> int:
    if not isinstance(part, str) or not (part.isascii() and part.isdigit()) or len(part) > 9:
        raise _refused(tree, f"{write(part)[:20]!r} is not a whole number")
    return int(part)


def _refused(tree: Tree, reason: str) -> LFSyntaxError:
    return LFSyntaxError(f"{write(tree)[:60]}: {reason}")
