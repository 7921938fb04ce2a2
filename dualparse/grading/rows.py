"""Whether two answers say the same. In: rows as an asker gave them and as they should be. Out: a `Match`.

Rows are sets, unless the order counts. Numbers may differ by 0.005; a whole number is one as text as well; true is 1;
of a moment the day counts, because forms know days. First and last name may be one column or two. A row of which
nothing is recorded is no row. Columns may stand in any order, and an answer may show more of its things than was asked
for: two columns more at the most, to the right of those asked for. An answer that lacks a column is another answer.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from itertools import permutations

NEAR = 0.005 + 1e-9  # what binary fractions lose is no difference
MOST_COLUMNS = 4  # of an answer that is compared column by column in any order
MORE_COLUMNS = 2  # that an answer may show beside those asked for
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d+)?")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?")

Cell = str | float | None
Row = tuple[Cell, ...]


class Match(Enum):
    """How an answer compares with the right one."""

    NO = "no"
    WIDER = "wider"  # the right rows, with more columns than asked for
    SAME = "same"


def match(
    given: Iterable[Sequence[object]],
    wanted: Iterable[Sequence[object]],
    *,
    ordered: bool = False,
    more: int = MORE_COLUMNS,
) -> Match:
    """Compare two answers; the given one may have so many columns `more`.

    >>> match([("Ada Lund", 3)], [("Ada", "Lund", 3.001)])
    <Match.SAME: 'same'>
    >>> match([("Ada Lund", 3)], [("Ada Lund",)])
    <Match.WIDER: 'wider'>
    >>> match([("b",), ("a",)], [("a",), ("b",)], ordered=True)
    <Match.NO: 'no'>
    """
    ours, theirs = _rows(given), _rows(wanted)
    if not ours or not theirs:
        return Match.SAME if not ours and not theirs else Match.NO
    offered = list(_joined(ours))
    found = Match.NO
    for columns in _joined(theirs):
        for offer in offered:
            extra = len(offer[0]) - len(columns[0])
            if not 0 <= extra <= more or (found is Match.WIDER and extra):
                continue
            if _agree(offer, columns, ordered):
                if not extra:
                    return Match.SAME
                found = Match.WIDER
    return found


def _rows(rows: Iterable[Sequence[object]]) -> list[Row]:
    """The rows in which something is recorded, as they are compared."""
    return [cells for cells in (tuple(map(_cell, row)) for row in rows) if any(cell is not None for cell in cells)]


def _cell(value: object) -> Cell:
    if value is None:
        return None
    if isinstance(value, (bool, int, float, Decimal)):
        return float(value)
    text = value.isoformat() if isinstance(value, (date, datetime)) else str(value)
    text = " ".join(unicodedata.normalize("NFC", text).split())
    if _NUMBER.fullmatch(text):
        return float(text)
    moment = _MOMENT.fullmatch(text)
    return moment[1] if moment else text or None


def _joined(rows: list[Row], start: int = 0) -> Iterator[list[Row]]:
    """The rows as they are, and with columns of text that stand side by side as one: first and last name."""
    yield rows
    for at in range(start, len(rows[0]) - 1):
        pairs = [row[at : at + 2] for row in rows]
        if all(isinstance(cell, str) or cell is None for pair in pairs for cell in pair):
            for step in (1, -1):
                joined = zip(rows, pairs, strict=True)
                yield from _joined([(*r[:at], _name(pair[::step]), *r[at + 2 :]) for r, pair in joined], at + 1)


def _name(parts: Sequence[Cell]) -> Cell:
    return " ".join(str(part) for part in parts if part is not None) or None


def _agree(given: list[Row], wanted: list[Row], ordered: bool) -> bool:
    """Whether some of the given columns, in some order, are the wanted ones; those asked for stand leftmost."""
    width = len(wanted[0])
    orders = permutations(range(width)) if width <= MOST_COLUMNS else [tuple(range(width))]
    return any(_equal([tuple(row[at] for at in order) for row in given], wanted, ordered) for order in orders)


def _equal(given: list[Row], wanted: list[Row], ordered: bool) -> bool:
    if ordered:
        given, wanted = list(dict.fromkeys(given)), list(dict.fromkeys(wanted))
        return len(given) == len(wanted) and all(map(_alike, given, wanted))
    return _within(given, wanted) and _within(wanted, given)


def _within(rows: list[Row], others: list[Row]) -> bool:
    """Whether each row has one like it among the others; the numbers of rows with the same texts are kept sorted."""
    known: dict[Row, list[tuple[float, ...]]] = defaultdict(list)
    for row in others:
        known[_texts(row)].append(_numbers(row))
    for numbers in known.values():
        numbers.sort()
    return all(_has(known.get(_texts(row), []), _numbers(row)) for row in set(rows))


def _has(known: list[tuple[float, ...]], numbers: tuple[float, ...]) -> bool:
    if not numbers:
        return bool(known)
    at = bisect_left(known, (numbers[0] - NEAR,))
    while at < len(known) and known[at][0] <= numbers[0] + NEAR:
        if all(map(_near, known[at], numbers)):
            return True
        at += 1
    return False


def _alike(row: Row, other: Row) -> bool:
    return _texts(row) == _texts(other) and all(map(_near, _numbers(row), _numbers(other)))


def _texts(row: Row) -> Row:
    return tuple(0.0 if isinstance(cell, float) else cell for cell in row)


def _numbers(row: Row) -> tuple[float, ...]:
    return tuple(cell for cell in row if isinstance(cell, float))


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= NEAR
