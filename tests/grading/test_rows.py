"""When two answers are the same."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from dualparse.grading.rows import Match, match

SAME = [
    pytest.param([("a",), ("b",)], [("b",), ("a",), ("a",)], id="sets"),
    pytest.param([(3,)], [(3.0049,)], id="numbers to 0.005"),
    pytest.param([(Decimal("7.10"), "x")], [(7.1, "x")], id="decimals"),
    pytest.param([("2023", 5)], [(2023, 5)], id="a year as text"),
    pytest.param([(True,)], [(1,)], id="true is 1"),
    pytest.param([("2024-03-05",)], [(datetime(2024, 3, 5, 10, 15),)], id="the day of a moment"),
    pytest.param([("2024-03-05",)], [("2024-03-05 10:15:00",)], id="the day of a moment as text"),
    pytest.param([("2024-03-05",)], [(date(2024, 3, 5),)], id="a day"),
    pytest.param([("Zoë  Brandt",)], [("Zoe\u0308", "Brandt")], id="a name in two columns, accents in two ways"),
    pytest.param([("Ada", "Lund")], [("Ada Lund",)], id="a name in one column"),
    pytest.param([("Ada Lund",)], [("Lund", "Ada")], id="the last name first"),
    pytest.param([("Cher",), ("Ada Lund",)], [("Cher", None), ("Ada", "Lund")], id="half a name"),
    pytest.param([("Ada Lund", "Bo Ek")], [("Ada", "Lund", "Bo", "Ek")], id="two names"),
    pytest.param([(3, "a")], [("a", 3)], id="columns in another order"),
    pytest.param([], [], id="nothing"),
    pytest.param([], [(None,)], id="nothing is recorded"),
    pytest.param([("0551",)], [("0551",)], id="text that begins with 0"),
    pytest.param([(1.0, 2.0), (1.001, 9.0)], [(1.001, 2.0), (1.0, 9.0)], id="two numbers, sorted otherwise"),
]
OTHER = [
    pytest.param([("a",)], [("a",), ("b",)], id="a row less"),
    pytest.param([("a",), ("b",)], [("a",)], id="a row more"),
    pytest.param([(3,)], [(3.006,)], id="another number"),
    pytest.param([(1, 3.0)], [(1, 3.02)], id="another second number"),
    pytest.param([("551",)], [("0551",)], id="text is no number"),
    pytest.param([("a",)], [("A",)], id="capitals"),
    pytest.param([("a",)], [("a", 3)], id="a column less"),
    pytest.param([(0,)], [], id="0 is something"),
    pytest.param([], [(0,)], id="nothing is not 0"),
    pytest.param([("a", 1, 2, 3)], [("a",)], id="three columns more"),
    pytest.param([(3, "a")], [("a",)], id="the asked for stand leftmost"),
    pytest.param([("a", 1), ("b", 2)], [("a", 2), ("b", 1)], id="values of the other row"),
]


@pytest.mark.parametrize(("given", "wanted"), SAME)
def test_the_same(given, wanted):
    assert match(given, wanted) is Match.SAME


@pytest.mark.parametrize(("given", "wanted"), OTHER)
def test_another_answer(given, wanted):
    assert match(given, wanted) is Match.NO


def test_more_columns_than_asked_for():
    given, wanted = [("Ada Lund", 3), ("Bo Ek", 2)], [("Ada", "Lund"), ("Bo", "Ek")]
    assert match(given, wanted) is Match.WIDER
    assert match(given, wanted, more=0) is Match.NO


def test_order_counts_where_it_is_asked_for():
    assert match([("b",), ("a",)], [("a",), ("b",)], ordered=True) is Match.NO
    assert match([("a",), ("b",)], [("a",), ("b",)], ordered=True) is Match.SAME
    assert match([("a", 2.001), ("b", 1)], [("a", 2), ("b", 1)], ordered=True) is Match.SAME
    assert match([("a",)], [("a",), ("b",)], ordered=True) is Match.NO


def test_ten_thousand_rows_are_compared_quickly():
    rows = [(number, f"name {number % 7}") for number in range(10_000)]
    assert match(rows, list(reversed(rows))) is Match.SAME
    assert match([(number,) for number in range(10_000)], [(number,) for number in range(1, 10_001)]) is Match.NO
