"""What forms may cost in memory: whatever one makes the executor look at is paid for before it is done."""

from __future__ import annotations

import time

import pytest

from dualparse.domains.plain import Plain, plain
from dualparse.domains.world import World
from dualparse.lf.errors import LFExecutionError
from dualparse.lf.values import name, number, text

THINGS = 5_000
ALL = "( all thing )"


@pytest.fixture(scope="module")
def many() -> Plain:
    """Things that stand beside twenty others each."""
    world = World()
    for place in range(THINGS):
        thing = f"thing.t{place}"
        world.add(thing, "size", number(place % 1000, "m"))
        world.add(thing, "kind", name(f"kind.k{place % 10}"))
        world.add(thing, "labelled", text(f"word{place}"))
        if place % 50 == 0:
            for other in range(20):
                world.add(thing, "near", name(f"thing.t{(place * 7 + other * 13) % THINGS}"))
    return plain(world)


def nested(front: str, inner: str, back: str, times: int) -> str:
    return front * times + inner + back * times


TOO_MUCH = {
    "values beside each other": "( select thing.t0 near near near near near near )",
    "of all things": f"( select {ALL} {'near ' * 8})",
    "orders of orders": nested("( order ", ALL, " size ascending )", 40),
    "texts": nested("( filter ", ALL, " labelled contains ( text w ) )", 80),
    "each against each": f"( filter {ALL} size < ( get {ALL} size ) )",
    "owners again and again": nested("( get ( get ", ALL, " size ) !thing.size )", 40),
    "others of others": nested("( not ", ALL, " )", 90) + " ",
    "shares": nested("( filter_count ", ALL, f" near >= 0 {ALL} )", 60),
}


@pytest.mark.parametrize("kind", TOO_MUCH)
def test_what_costs_too_much_is_refused_soon(many, kind):
    few = Plain(many.world, max_steps=400_000)
    started = time.process_time()
    with pytest.raises(LFExecutionError, match="too many steps"):
        few.execute(TOO_MUCH[kind])
    assert time.process_time() - started < 3  # a few microseconds a step, on a slow machine


def test_a_set_that_is_the_same_for_all_things_is_made_once(many):
    started = time.process_time()
    assert many.execute(f"( count ( filter_count {ALL} near >= 3 {ALL} ) )") == "(list (number 100 count))"
    assert time.process_time() - started < 1  # 25 million looks would take longer
