"""Numbers with their units, and dates, as people write them.

In: an amount and its unit, an interval of days, or a span seen from today. Out: words: "7 minutes", "March 2024".
"""

from __future__ import annotations

from calendar import month_name
from datetime import date as Day

from dualparse.domains import intervals
from dualparse.domains.intervals import Interval, Relative
from dualparse.domains.units import factor

_PLAIN_UNITS = ("", "count", "money")
_ONE_SPELLING = ("percent", "eur", "usd", "gbp")


def amount_of(amount: float, unit: str) -> str:
    """A number with its unit as people write it; a time in the unit in which it is shortest.

    >>> amount_of(420000, "millisecond"), amount_of(38.0, "money"), amount_of(2.5, "km"), amount_of(1, "hour")
    ('7 minutes', '38', '2.5 km', '1 hour')
    """
    for larger in ("day", "hour", "minute", "second") if factor("minute", unit) and unit != "day" else ():
        size = factor(larger, unit)
        if size and size > 1 and amount >= size and (amount / size * 2) % 1 == 0:
            amount, unit = amount / size, larger
            break
    text = str(int(amount)) if amount == int(amount) else f"{amount:.3f}".rstrip("0")
    if unit in _PLAIN_UNITS:
        return text
    return (
        f"{text} {unit}"
        if amount == 1 or len(unit) < 3 or unit.endswith("s") or unit in _ONE_SPELLING
        else f"{text} {unit}s"
    )


def dates_of(value: Interval) -> str:
    """
    >>> dates_of(Interval(20090000, 20100000)), dates_of(Interval(20241000, 20241300))
    ('2009', 'quarter 4 of 2024')
    >>> dates_of(Interval(20240300, 20240400)), dates_of(Interval(20240305, 20240306))
    ('March 2024', '5 March 2024')
    """
    size = value.high - value.low
    year, month, of_month = value.low // 10_000, value.low // 100 % 100, value.low % 100
    if size == 10_000 and not month:
        return str(year)
    if size == 100 and month and not of_month:
        return f"{month_name[month]} {year}"
    if size == 300 and month in (1, 4, 7, 10):
        return f"quarter {(month + 2) // 3} of {year}"
    if size == 1 and of_month:
        return f"{of_month} {month_name[month]} {year}"
    first, last = intervals.day(value.low), intervals.day(value.high - 1)
    return f"{_written(first)} to {_written(last)}"


def _written(day: Day) -> str:
    return f"{day.day} {month_name[day.month]} {day.year}"


def relative_of(value: Relative) -> str:
    """
    >>> relative_of(Relative("month", -1)), relative_of(Relative("day", 0)), relative_of(Relative("day", -30, 30))
    ('last month', 'today', 'the past 30 days')
    """
    if value.length > 1 or value.offset < -1:
        return f"the past {value.length} {value.unit}s"
    if value.unit == "day":
        return {-1: "yesterday", 0: "today", 1: "tomorrow"}[value.offset]
    return f"{ {-1: 'last', 0: 'this', 1: 'next'}[value.offset] } {value.unit}"
