"""Values that logical forms speak of: names, numbers, dates, times, booleans.

In: the tree of a literal, or its parts. Out: a `Value` that knows its printed text, its type and its degree (its place
in the order), or `LFSyntaxError`. Printing follows OVERNIGHT's evaluator, because denotations are compared as text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from urllib.parse import quote, unquote

from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.sexpr import Tree, write

BOOLEAN_TYPE, DATE_TYPE, TIME_TYPE, TEXT_TYPE = "en.boolean", "en.date", "en.time", "en.text"

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_NOT_IN_TEXT = re.compile(r"[()%!]|[^\S ]|(?<= ) |^ | $")  # parentheses, white space: what a form could not keep
_INTEGER = re.compile(r"-?\d{1,9}", re.ASCII)


class Value(str):
    """One value. The string itself is its identity: equal strings are equal values, and hashing costs nothing.

    text    how it is printed; differs from the identity only for numbers with many decimals
    type    a name's id up to its last dot, a number's unit + `_number`, `en.date`, `en.time`, `en.boolean`;
            empty for a name without a dot
    degree  its place in the order; None where there is no order
    id      a name's id, empty for all other values
    unit    a number's unit, which may be empty; None for all other values
    """

    __slots__ = ("degree", "id", "text", "type", "unit")
    text: str
    type: str
    degree: float | None
    id: str
    unit: str | None

    def __new__(
        cls,
        identity: str,
        *,
        type: str,
        text: str | None = None,
        degree: float | None = None,
        id: str = "",
        unit: str | None = None,
    ) -> Value:
        value = super().__new__(cls, identity)
        value.text, value.type, value.degree, value.id, value.unit = text or identity, type, degree, id, unit
        return value

    def __reduce__(self) -> tuple:
        return _restore, (str(self), self.type, self.text, self.degree, self.id, self.unit)


def _restore(identity: str, type: str, text: str, degree: float | None, id: str, unit: str | None) -> Value:
    return Value(identity, type=type, text=text, degree=degree, id=id, unit=unit)


def name(id: str) -> Value:
    """An entity or a type by its id.

    >>> name("trail.larch_path").type
    'trail'
    """
    return Value(f"(name {id})", type=id.rpartition(".")[0], id=id)


def number(amount: float, unit: str = "") -> Value:
    """A number with an optional unit.

    >>> number(3, "en.inch"), number(2174.5625).text
    ('(number 3 en.inch)', '(number 2174.563)')
    """
    after = f" {unit})" if unit else ")"
    return Value(
        f"(number {int(amount) if amount == int(amount) else repr(float(amount))}{after}",
        text=f"(number {write_number(amount)}{after}",
        type=f"{unit}_number",
        degree=amount,
        unit=unit,
    )


def date(year: int, month: int = -1, day: int = -1) -> Value:
    """A date; a part that is -1 is not known and counts as 0 in the order."""
    known = [0 if part == -1 else part for part in (year, month, day)]
    degree = known[0] * 10_000 + known[1] * 100 + known[2]
    return Value(f"(date {year} {month} {day})", type=DATE_TYPE, degree=degree)


def time(hour: int, minute: int = 0) -> Value:
    """A time of day. Its order is the hour alone, as in OVERNIGHT's evaluator."""
    return Value(f"(time {hour} {minute})", type=TIME_TYPE, degree=hour)


def text(words: str) -> Value:
    """A text, for domains of one's own. What could not stand in a form is quoted as in a URL; single spaces stay.

    >>> text("Light My Fire"), text("(live) !")
    ('(text Light My Fire)', '(text %28live%29 %21)')
    """
    quoted = _NOT_IN_TEXT.sub(lambda found: quote(found[0]), words)
    return Value(f"(text {quoted})" if words else "(text)", type=TEXT_TYPE)


def words_of(value: Value) -> str:
    """What a text says.

    >>> words_of(text("(live) !"))
    '(live) !'
    """
    return unquote(value[6:-1])


def unquoted(tokens: Sequence[str]) -> str:
    """The text that the tokens of a form write.

    >>> unquoted(["%28live%29", "at", "home"])
    '(live) at home'
    """
    return unquote(" ".join(tokens))


TRUE = Value("(boolean true)", type=BOOLEAN_TYPE)
FALSE = Value("(boolean false)", type=BOOLEAN_TYPE)


def write_number(amount: float) -> str:
    """Integral numbers as integers, others with three decimals, half rounded up on the shortest decimal.

    >>> write_number(4.0), write_number(4.5), write_number(2174.5625)
    ('4', '4.500', '2174.563')
    """
    if amount == int(amount):
        return str(int(amount))
    return str(Decimal(repr(amount)).quantize(Decimal("0.001"), rounding=ROUND_HALF_UP))


def read_number(token: Tree) -> float | None:
    """The number a token writes in decimal notation; None for anything else, `nan` and `inf` included."""
    if not isinstance(token, str) or not _NUMBER.fullmatch(token):
        return None
    amount = float(token)
    return amount if math.isfinite(amount) else None


def _integers(tree: tuple[Tree, ...]) -> list[int]:
    parts = [int(part) for part in tree[1:] if isinstance(part, str) and _INTEGER.fullmatch(part)]
    if len(parts) < len(tree) - 1:
        raise LFSyntaxError(f"{write(tree)[:60]}: the parts of a {tree[0]} must be whole numbers")
    return parts


def _read_number(tree: tuple[Tree, ...]) -> Value:
    unit = tree[2] if len(tree) == 3 else ""
    if len(tree) not in (2, 3) or not isinstance(unit, str):
        raise LFSyntaxError(f"{write(tree)[:60]}: expected ( number N ) or ( number N unit )")
    amount = read_number(tree[1])
    if amount is None:
        raise LFSyntaxError(f"{write(tree)[:60]}: {write(tree[1])[:40]!r} is not a number")
    return number(amount, unit)


def _read_date(tree: tuple[Tree, ...]) -> Value:
    if len(tree) not in (2, 4):  # a year alone is a date with two unknown parts
        raise LFSyntaxError(f"{write(tree)[:60]}: expected ( date year month day )")
    return date(*_integers(tree))


def _read_time(tree: tuple[Tree, ...]) -> Value:
    if len(tree) != 3:
        raise LFSyntaxError(f"{write(tree)[:60]}: expected ( time hour minute )")
    return time(*_integers(tree))


def _read_boolean(tree: tuple[Tree, ...]) -> Value:
    if len(tree) != 2 or tree[1] not in ("true", "false"):
        raise LFSyntaxError(f"{write(tree)[:60]}: expected ( boolean true ) or ( boolean false )")
    return TRUE if tree[1] == "true" else FALSE


LITERALS = {"number": _read_number, "date": _read_date, "time": _read_time, "boolean": _read_boolean}


def read_literal(tree: tuple[Tree, ...]) -> Value:
    """The value of a literal's tree, whose head is one of `LITERALS`.

    >>> read_literal(("date", "2004", "-1", "-1"))
    '(date 2004 -1 -1)'
    """
    return LITERALS[str(tree[0])](tree)
