"""The plain dialect on a little world of trails and huts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dualparse.domains.plain import plain
from dualparse.domains.typed import FUNCTIONS
from dualparse.domains.world import World, parse_fact
from dualparse.lf.errors import LF_ERRORS, LFExecutionError, LFSyntaxError

FACTS = """
trail.a length ( number 8 km )
trail.b length ( number 8 km )
trail.c length ( number 12.5 km )
trail.d loop true
trail.a passes hut.x
trail.a passes hut.y
trail.b passes hut.x
trail.a opened ( date 2004 5 1 )
trail.b opened ( date 1998 -1 -1 )
trail.a start_time ( time 10 0 )
hut.x price ( number 40 euro )
hut.y price ( number 30 euro )
hut.x elevation ( number 2000 m )
peak.p elevation ( number 3000 m )
hut.x opened ( date 2001 -1 -1 )
hut.z food true
trail.a climbs peak.p
"""


def _make() -> World:
    world = World()
    for line in FACTS.strip().splitlines():
        world.add(*parse_fact("\t".join(line.split(maxsplit=2))))
    return world


run = plain(_make()).execute


def labels(form: str) -> str:
    """The labels of the names in an answer."""
    text = run(form)
    assert text.startswith("(list")
    return " ".join(word.rstrip(")").rpartition(".")[2] for word in text.split() if "." in word)


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ("( all trail )", "a b c d"),
        ("trail.a", "a"),
        ("( get trail.a passes )", "x y"),
        ("( get ( all trail ) passes )", "x y"),
        ("( get hut.x !passes )", "a b"),
        ("( get hut.x ! passes )", "a b"),
        ("( get ( number 8 km ) !length )", "a b"),
        ("( filter ( all trail ) loop )", "d"),
        ("( filter ( all trail ) loop = true )", "d"),
        ("( filter ( all trail ) loop != true )", "a b c"),
        ("( filter ( all trail ) passes = hut.y )", "a"),
        ("( filter ( all trail ) passes != hut.y )", "b c d"),
        ("( filter ( all hut ) !passes = trail.a )", "x y"),
        ("( filter ( all trail ) passes = ( filter ( all hut ) price < ( number 35 euro ) ) )", "a"),
        ("( filter ( all trail ) length > ( number 8 km ) )", "c"),
        ("( filter ( all trail ) length <= ( get trail.a length ) )", "a b"),
        ("( filter ( all trail ) opened < ( date 2000 -1 -1 ) )", "b"),
        ("( filter ( all trail ) start_time >= ( time 9 0 ) )", "a"),
        ("( filter trail.a length = ( number 8 km ) )", "a"),
        ("( filter ( all peak ) elevation > ( get hut.x elevation ) )", "p"),
        ("( argmax ( all trail ) length )", "c"),
        ("( argmin ( all trail ) length )", "a b"),
        ("( argmax ( or ( filter ( all trail ) loop ) ( all trail ) ) length )", "c"),  # d, the first, has no length
        ("( argmax trail.a length )", "a"),
        ("( argmax_count ( all trail ) passes )", "a"),
        ("( argmin_count ( all trail ) passes )", "c d"),
        ("( argmax_count ( all trail ) passes hut.x )", "a b"),
        ("( argmax_count ( all hut ) !passes ( filter ( all trail ) length < ( number 9 km ) ) )", "x"),
        ("( filter_count ( all trail ) passes >= 1 )", "a b"),
        ("( filter_count ( all trail ) passes = 2 )", "a"),
        ("( filter_count ( all trail ) passes != 2 )", "b c d"),
        ("( filter_count ( all trail ) passes > 0 hut.y )", "a"),
        ("( filter_count trail.a passes = 2 )", "a"),
        ("( or trail.a trail.b )", "a b"),
        ("( or ( filter ( all trail ) loop ) trail.b )", "b d"),
        ("( or ( all trail ) ( all trail ) )", "a b c d"),
        ("( ( lambda s ( filter ( var s ) loop ) ) ( all trail ) )", "d"),
        ("( filter ( filter ( all trail ) loop ) length > ( number 3 km ) )", ""),
    ],
)
def test_names(form, found):
    assert labels(form) == found


@pytest.mark.parametrize(
    ("form", "denotation"),
    [
        ("( count ( all trail ) )", "(list (number 4 count))"),
        ("( count trail.a )", "(list (number 1 count))"),
        ("( count ( filter ( all trail ) length > ( number 99 km ) ) )", "(list (number 0 count))"),
        ("( sum ( all trail ) length )", "(list (number 28.500 km))"),  # the two that are 8 km long count twice
        ("( avg ( all trail ) length )", "(list (number 9.500 km))"),
        ("( sum hut.x price )", "(list (number 40 euro))"),
        ("( get trail.a opened )", "(list (date 2004 5 1))"),
        ("( get trail.a start_time )", "(list (time 10 0))"),
        ("( get ( all trail ) length )", "(list (number 12.500 km) (number 8 km))"),
        ("( number 3 )", "(list (number 3))"),
        ("true", "(list (boolean true))"),
        ("( filter ( all trail ) passes = hut.z )", "(list)"),
        ("( sum ( filter ( all trail ) loop ) length )", "(list)"),
        ("( argmax_count ( filter ( all trail ) length > ( number 99 km ) ) passes )", "(list)"),
        ("( argmax ( filter ( all trail ) length > ( number 99 km ) ) length )", "(list)"),
        ("( argmax ( filter ( all trail ) loop ) length )", "(list)"),
        ("( get ( filter ( all trail ) length > ( number 99 km ) ) length )", "(list)"),
        ("( get trail.d length )", "(list)"),
    ],
)
def test_denotations(form, denotation):
    assert run(form) == denotation


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("( all lake )", "unknown type 'lake'"),
        ("( all trail.a )", "unknown type 'trail.a'"),
        ("( get trail.z length )", "unknown entity 'trail.z'"),
        ("( get trail.a depth )", "unknown property 'depth'"),
        ("( get trail.a price )", "is a property of hut"),
        ("( filter ( all trail ) length )", "have type number km, not boolean"),
        ("( filter ( all trail ) passes = trail.a )", "have type hut"),
        ("( filter ( all trail ) passes = hut.unknown )", "unknown entity"),
        ("( filter ( all trail ) length > ( number 3 mile ) )", "have type number km, not number mile"),
        ("( filter ( all trail ) length >> ( number 3 km ) )", "unknown operator '>>'"),
        ("( filter ( all trail ) passes > hut.x )", "not numbers, dates or times"),
        ("( filter ( get ( all trail ) length ) loop )", "must be things, not values"),
        ("( filter ( all trail ) length > ( count ( all hut ) ) )", "have type number km, not number count"),
        ("( filter ( all hut ) loop )", "is a property of trail"),
        ("( filter ( all trail ) loop = )", "expected "),
        ("( argmax ( all hut ) length )", "is a property of trail"),
        ("( argmax ( all trail ) passes )", "not numbers, dates or times"),
        ("( argmax_count ( all trail ) length )", "not counted"),
        ("( argmax_count ( all hut ) passes )", "is a property of trail"),
        ("( argmax_count ( all trail ) passes trail.a )", "have type hut"),
        ("( filter_count ( all trail ) passes ~ 1 )", "unknown operator"),
        ("( filter_count ( all trail ) passes = hut.x )", None),
        ("( sum ( all trail ) passes )", "only numbers"),
        ("( sum ( all trail ) )", "takes 2 arguments, not 1"),
        ("( or trail.a hut.x )", "different types"),
        ("( count ( count ( all trail ) ) )", "must be a set, not a number"),
        ("( frobnicate trail.a )", "unknown function"),
        ("( lambda s ( var s ) )", "without an argument"),
    ],
)
def test_execution_errors(form, reason):
    with pytest.raises((LFExecutionError, LFSyntaxError) if reason is None else LFExecutionError, match=reason):
        run(form)


@pytest.mark.parametrize(
    "form",
    [
        "( )",
        "( all trail",
        "( number many km )",
        "( frobnicate ( date 1 2 ) )",
        "( filter_count ( all trail ) passes > many )",
    ],
)
def test_syntax_errors(form):
    with pytest.raises(LFSyntaxError):
        run(form)


TOKENS = [
    *("(", "(", "(", ")", ")", ")", "lambda", "var", "s", "number", "date", "time", "3", "km", "2004", "-1", "true"),
    *(
        "=",
        "!=",
        "<",
        ">=",
        "trail",
        "hut",
        "trail.a",
        "hut.x",
        "length",
        "passes",
        "!passes",
        "price",
        "opened",
        "loop",
    ),
    *FUNCTIONS,
]
GOOD = [
    "( filter ( all trail ) length > ( number 8 km ) )",
    "( argmax_count ( all hut ) !passes ( filter ( all trail ) length < ( number 9 km ) ) )",
    "( filter_count ( all trail ) passes > 0 hut.y )",
    "( sum ( or ( all trail ) trail.a ) length )",
    "( count ( get ( argmin ( all hut ) price ) !passes ) )",
]


def _value_or_error(text: str) -> None:
    try:
        assert run(text).startswith("(list")
    except LF_ERRORS as error:
        assert error.reason


@given(st.lists(st.sampled_from(TOKENS), max_size=40).map(" ".join))
def test_token_soup(text):
    _value_or_error(text)


@settings(max_examples=300)
@given(st.data())
def test_mutated_forms(data):
    tokens = data.draw(st.sampled_from(GOOD)).split()
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(tokens)))
        tokens[place : place + data.draw(st.integers(0, 2))] = data.draw(st.lists(st.sampled_from(TOKENS), max_size=2))
    _value_or_error(" ".join(tokens))
