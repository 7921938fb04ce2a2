"""One replacement in a form: the three kinds of the paper's Appendix B."""

from __future__ import annotations

import pytest

from dualparse.lf.ontology import Ontology
from dualparse.lf.replace import Place, alternatives, places, replaced
from dualparse.lf.sexpr import read, write

FLIGHTS = Ontology.declare(
    entities={"ci": False, "me": False, "da": False, "mn": False, "do": True, "ti": True},
    unary=["flight", "round_trip", "oneway", "fare", "city"],
    cats=[("city", "ci")],
    binary=[
        ("flight", "from", "ci"),
        ("flight", "to", "ci"),
        ("flight", "stop", "ci"),
        ("flight", "meal", "me"),
        ("flight", "fare", "do"),
        ("flight", "cost", "do"),
        ("flight", "day_return", "da"),
        ("flight", "day_arrival", "da"),
        ("flight", "month_return", "mn"),
        ("flight", "month_arrival", "mn"),
    ],
)
ENTITIES = {"me": ["lunch:me", "dinner:me"], "ci": ["ci0", "ci1"]}


def place_of(text: str, name: str) -> Place:
    return next(place for place in places(read(text), FLIGHTS) if place.name == name)


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("( meal $0 lunch:me )", "lunch:me", "dinner:me", "( meal $0 dinner:me )"),
        ("( and ( round_trip $0 ) ( to $0 ci0 ) )", "round_trip", "oneway", "( and ( oneway $0 ) ( to $0 ci0 ) )"),
        ("( and ( flight $0 ) ( stop $0 ci0 ) )", "stop", "from", "( and ( flight $0 ) ( from $0 ci0 ) )"),
        (
            "( and ( day_return $0 da0 ) ( month_return $0 mn0 ) )",
            "day_return",
            "day_arrival",
            "( and ( day_arrival $0 da0 ) ( month_arrival $0 mn0 ) )",
        ),
        ("( and ( from $0 ci0 ) ( to $0 ci1 ) )", "ci0", "ci1", "( and ( from $0 ci1 ) ( to $0 ci0 ) )"),
    ],
)
def test_replacements_of_the_appendix(before, old, new, after):
    place = place_of(before, old)
    assert new in alternatives(place, FLIGHTS, ENTITIES)
    assert write(replaced(read(before), place, new, FLIGHTS)) == after


def test_only_one_of_two_equal_predicates_changes():
    text = "( or ( from $0 ci0 ) ( from $0 ci1 ) )"
    second = [place for place in places(read(text), FLIGHTS) if place.name == "from"][1]
    assert write(replaced(read(text), second, "to", FLIGHTS)) == "( or ( from $0 ci0 ) ( to $0 ci1 ) )"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("( lambda $0 e ( fare $0 ) )", "unary"),
        ("( < ( fare $0 ) do0 )", "binary"),
        ("( argmin $0 ( flight $0 ) ( fare $0 ) )", "binary"),
        ("( and ( flight $0 ) ( fare $0 ) )", "unary"),
        ("( fare $0 do0 )", "binary"),
        ("( < ( cost $0 ) do0 )", "binary"),
    ],
)
def test_a_name_of_two_kinds_counts_as_what_it_is_used_for(text, kind):
    name = "cost" if "cost" in text else "fare"
    assert place_of(text, name).kind == kind


def test_what_the_types_forbid_is_no_alternative():
    assert alternatives(place_of("( from $0 ci0 )", "from"), FLIGHTS, {}) == ["to", "stop"]
    assert alternatives(place_of("( flight $0 )", "flight"), FLIGHTS, {}) == ["round_trip", "oneway", "fare"]
    assert alternatives(place_of("( from $0 ci0 )", "ci0"), FLIGHTS, ENTITIES) == ["ci1"]


def test_variables_and_keywords_are_no_places():
    tree = read("( lambda $0 e ( exists $1 ( and ( flight $0 ) ( = ( fare $0 ) $1 ) ) ) )")
    assert [place.name for place in places(tree, FLIGHTS)] == ["flight", "fare"]
