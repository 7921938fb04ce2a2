"""What operations over a world cost: little forms that would do much work are cut short before they do it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dualparse.domains.functions import sempre
from dualparse.domains.plain import Plain, plain, schema_of
from dualparse.domains.world import World
from dualparse.lf.errors import LFExecutionError
from dualparse.lf.execute import Executor
from dualparse.lf.values import name, number

ROADS, TOWNS = 40, 50


def _make() -> World:
    """Few roads, each with many towns and many lengths."""
    world = World()
    for road in range(ROADS):
        for town in range(TOWNS):
            world.add(f"road.r{road}", "via", name(f"town.t{town}"))
            world.add(f"road.r{road}", "length", number(town, "km"))
    return world


WORLD = _make()
SCHEMA = schema_of(WORLD)
FACTS = ROADS * TOWNS
ALL = "( call SW.getProperty ( call SW.singleton %s ) ( string !type ) )"


def in_plain(form: str, steps: int) -> str:
    return Plain(WORLD, SCHEMA, max_steps=steps).execute(form)


def in_sempre(form: str, steps: int) -> str:
    made = sempre(WORLD)
    return Executor(made.reader, made.finish, max_steps=steps).execute(form)


def price(execute: Callable[[str, int], object], form: str) -> int:
    """The least budget that a form gets by with."""
    low, high = 0, 1 << 20
    while low < high:
        middle = (low + high) // 2
        try:
            execute(form, middle)
            high = middle
        except LFExecutionError as error:
            assert error.reason == "too many steps"
            low = middle + 1
    return low


@pytest.mark.parametrize(
    "form",
    [
        "( count ( get ( all road ) via ) )",
        "( count ( get ( all town ) !via ) )",
        "( count ( filter ( all road ) via = ( all town ) ) )",
        "( count ( argmax_count ( all road ) via town.t1 ) )",
        "( count ( filter_count road.r1 via > 1 town.t1 ) )",
        "( sum ( all road ) length )",
    ],
)
def test_facts_that_are_looked_at_are_paid_for(form):
    least = TOWNS if "road.r1" in form else FACTS
    assert least <= price(in_plain, form) <= 4 * FACTS


def test_facts_that_are_looked_at_are_paid_for_in_the_other_dialect():
    form = f"( call .size ( call SW.getProperty {ALL % 'town'} ( string !via ) ) )"
    assert FACTS <= price(in_sempre, form) <= 4 * FACTS


def test_a_short_form_that_does_much_work_is_cut_short():
    form = "( all road )"
    for _ in range(60):
        form = f"( get ( get {form} via ) !via )"
        if len(form) > 800:
            break
    assert price(in_plain, f"( count {form} )") > 20 * FACTS
    doubling = "( all road )"
    for _ in range(20):
        doubling = f"( ( lambda s ( filter ( var s ) via = ( get ( var s ) via ) ) ) {doubling} )"
    with pytest.raises(LFExecutionError, match="too many steps"):
        plain(WORLD).execute(doubling)


def test_a_long_answer_is_paid_for():
    assert price(in_plain, "( all road )") - price(in_plain, "( count ( all road ) )") > ROADS
