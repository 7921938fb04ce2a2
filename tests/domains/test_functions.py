"""OVERNIGHT's functions, rule by rule, on a little world."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dualparse.domains.functions import sempre
from dualparse.domains.world import World
from dualparse.lf.errors import LF_ERRORS, LFExecutionError
from dualparse.lf.values import TRUE, date, name, number, time


def _make() -> World:
    """Blocks a to d and 10: d and 10 have no width, and d nothing but a shape."""
    world = World(overwrite_types=True)
    for label in ("block.a", "block.b", "block.c", "block.d", "block.10", "shape.cube", "shape.cone", "shape.ball"):
        world.entity(f"en.{label}")

    def tell(label: str, property: str, value: object) -> None:
        world.add(f"en.block.{label}", property, name(f"en.{value}") if type(value) is str else value)

    for label, shape in {"a": "cube", "b": "cube", "c": "cone", "d": "cone", "10": "ball"}.items():
        tell(label, "shape", f"shape.{shape}")
    for label, width in {"a": 3, "b": 10, "c": 9}.items():
        tell(label, "width", number(width, "en.inch"))
    for label, parts in {"a": (2, 3, 3), "b": (3.5,), "c": (1, 4)}.items():
        for part in parts:
            tell(label, "part", number(part, "en.pound"))
    tell("a", "near", "block.b")
    tell("a", "near", "block.b")
    tell("a", "near", "block.c")
    tell("b", "near", "block.c")
    tell("a", "special", TRUE)
    tell("a", "made", date(2004, -1, -1))
    tell("b", "made", date(2004, 5, 1))
    tell("a", "seen", time(10, 0))
    tell("b", "seen", time(10, 30))
    tell("c", "seen", time(9, 0))
    return world


WORLD = _make()
run = sempre(WORLD).execute
BLOCKS = "( call SW.getProperty ( call SW.singleton en.block ) ( string ! type ) )"
SHAPES = "( call SW.getProperty ( call SW.singleton en.shape ) ( string !type ) )"
NONE = f"( call SW.filter {BLOCKS} ( string shape ) ( string = ) en.shape.pyramid )"
NULL = f"( call SW.superlative {NONE} ( string max ) ( string width ) )"


def call(function: str, *arguments: str) -> str:
    return " ".join(["( call", function if function == ".size" else f"SW.{function}", *arguments, ")"])


def words(*labels: str) -> list[str]:
    return [f"( string {label} )" for label in labels]


def listed(form: str) -> list[str]:
    """The elements of a list in the order of the run, without the `en.`, without `listValue`."""
    text = run(form)
    assert text.startswith("(list")
    return [part.removeprefix("name en.").rstrip(")") for part in text.removesuffix(")").split("(")[2:]]


def labels(form: str) -> str:
    return " ".join(part.rstrip(") ").rpartition(".")[2] for part in listed(form))


def fails(form: str, reason: str | None = None) -> None:
    with pytest.raises(LFExecutionError, match=reason):
        run(form)


# -- listValue, size, singleton, reverse


def test_list_value_sorts_by_printed_text_and_keeps_duplicates():
    assert run(call("listValue", BLOCKS)) == (
        "(list (name en.block.10) (name en.block.a) (name en.block.b) (name en.block.c) (name en.block.d))"
    )
    widths = call("getProperty", BLOCKS, *words("width"))
    assert run(call("listValue", widths)) == "(list (number 10 en.inch) (number 3 en.inch) (number 9 en.inch))"
    twice = call("concat", BLOCKS, call("filter", BLOCKS, *words("special")))
    assert run(call("listValue", twice)).count("(name en.block.a)") == 2
    assert run(call("listValue", NONE)) == "(list)"
    assert run(call("listValue", "en.block.a")) == "(list (name en.block.a))"


def test_size():
    assert run(call(".size", BLOCKS)) == "(number 5)"
    assert run(call("listValue", call(".size", BLOCKS))) == "(list (number 5 count))"
    assert run(call("listValue", call(".size", NONE))) == "(list (number 0 count))"
    fails(call(".size", "en.block.a"), "must be a list")
    fails(call(".size", NULL), "must be a list, not nothing")


def test_a_size_is_no_value():
    size = call(".size", BLOCKS)
    fails(call("singleton", size))
    fails(call("filter", BLOCKS, *words("width", "="), size))
    fails(call("countComparative", BLOCKS, *words("near", "="), size))


def test_singleton_takes_one_value():
    assert listed(call("singleton", "en.block.a")) == ["block.a"]
    fails(call("singleton", BLOCKS))
    fails(call("singleton", "( string a )"))


def test_reverse_toggles_the_mark():
    assert run(call("reverse", "( string near )")) == "(string !near)"
    assert run(call("reverse", "( string !near )")) == "(string near)"
    assert run(call("reverse", "( string nonsense )")) == "(string !nonsense)"
    fails(call("reverse", "near"), "must be a string")


def test_a_finished_answer_is_no_argument():
    fails(call("listValue", call("listValue", BLOCKS)), "not a finished answer")
    fails(call("listValue", "( string a )"), "not a string")


# -- getProperty and domain


def test_get_property_takes_a_value_or_a_list_and_drops_duplicates_in_order():
    assert labels(call("getProperty", "en.block.a", *words("near"))) == "b c"
    assert labels(call("getProperty", BLOCKS, *words("shape"))) == "cube cone ball"
    assert labels(call("getProperty", "( number 3 en.inch )", *words("!width"))) == "a"


@pytest.mark.parametrize(
    ("objects", "property", "reason"),
    [
        ("en.block.z", "shape", "unknown entity"),
        ("( number 77 en.inch )", "!width", "unknown entity"),
        ("en.block.a", "colour", "unknown property"),
        ("en.shape.cube", "shape", "is a property of en.block"),
        (SHAPES, "shape", "is a property of en.block"),
        ("en.block.d", "width", "nothing has a value"),
        (NONE, "shape", "nothing has a value"),
        (NULL, "shape", "must be a list or one value"),
        ("( string a )", "shape", "must be a list or one value"),
    ],
)
def test_get_property_that_fails(objects, property, reason):
    fails(call("getProperty", objects, *words(property)), reason)


def test_type_belongs_to_the_class_made_last():
    assert labels(call("getProperty", "en.shape.cube", *words("type"))) == "shape"
    fails(call("getProperty", "en.block.a", *words("type")), "is a property of en.shape")
    assert labels(call("domain", *words("type"))) == "cube cone ball"


def test_domain_gives_every_instance_of_the_first_type():
    assert labels(call("domain", *words("width"))) == "a b c d 10"
    assert labels(call("domain", *words("!shape"))) == "cube cone ball"
    fails(call("domain", *words("!width")), "unknown type")
    fails(call("domain", *words("colour")), "unknown property")


# -- filter


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("( string special )",), "a"),
        ((*words("shape", "="), "en.shape.cube"), "a b"),
        ((*words("shape", "!="), "en.shape.cube"), "c d 10"),
        ((*words("shape", "="), "en.shape.misspelt"), ""),
        ((*words("shape", "!="), "en.shape.misspelt"), "a b c d 10"),
        ((*words("shape", "="), SHAPES), "a b c d 10"),
        ((*words("near", "="), BLOCKS), "a b"),
        ((*words("near", "!="), "en.block.b"), "b c d 10"),
        ((*words("near", "="), NONE), ""),
        ((*words("near", "!="), NONE), "a b c d 10"),
        ((*words("!near", "="), "en.block.a"), "b c"),
        ((*words("width", "<"), "( number 9 en.inch )"), "a"),
        ((*words("width", "<="), "( number 9 en.inch )"), "a c"),
        ((*words("width", ">"), "( number 9 en.inch )"), "b"),
        ((*words("width", ">="), "( number 9 en.inch )"), "b c"),
        ((*words("width", "="), "( number 9.0 en.inch )"), "c"),
        ((*words("width", "!="), "( number 9 en.inch )"), "a b d 10"),
        ((*words("made", "<"), "( date 2004 5 1 )"), "a"),
        ((*words("made", ">="), "( date 2004 -1 -1 )"), "a b"),
        ((*words("seen", "<="), "( time 10 0 )"), "a b c"),
        ((*words("seen", "="), "( time 10 0 )"), "a"),
        ((*words("width", "=="), "( number 9 en.inch )"), ""),
        ((*words("shape", "~"), "en.shape.cube"), ""),
    ],
)
def test_filter(arguments, found):
    assert labels(call("filter", BLOCKS, *arguments)) == found


def test_comparisons_take_the_kindest_of_several_values():
    pounds = [f"( number {pound} en.pound )" for pound in (1.5, 4)]
    both = call("concat", *pounds)
    assert labels(call("filter", BLOCKS, *words("part", "<"), pounds[0])) == "c"  # least value
    assert labels(call("filter", BLOCKS, *words("part", "<"), both)) == "a b c"  # against greatest reference
    assert labels(call("filter", BLOCKS, *words("part", ">="), pounds[1])) == "c"  # greatest value
    assert labels(call("filter", BLOCKS, *words("part", ">="), both)) == "a b c"  # against least reference


def test_an_empty_side_makes_a_comparison_false():
    no_widths = call("filter", call("getProperty", BLOCKS, *words("width")), *words("!width", "="), BLOCKS)
    assert run(no_widths) == "(list)"  # numbers are not names, and are skipped
    for op in ("<", "<=", ">", ">="):
        assert labels(call("filter", BLOCKS, *words("width", op), no_widths)) == ""
        assert (
            labels(call("filter", call("singleton", "en.block.d"), *words("width", op), "( number 1 en.inch )")) == ""
        )


@pytest.mark.parametrize(
    ("entities", "arguments", "reason"),
    [
        ("en.block.a", ("( string special )",), "must be a list"),
        (NULL, ("( string special )",), "must be a list, not nothing"),
        (BLOCKS, ("( string shape )",), "have type en.shape"),
        (BLOCKS, ("special",), "must be a string"),
        (BLOCKS, words("special", "="), "takes 2 or 4 arguments"),
        (BLOCKS, (*words("shape", "="), "en.block.a"), "have type en.shape"),
        (BLOCKS, (*words("shape", "="), "( string cube )"), "not a string"),
        (BLOCKS, (*words("shape", "="), BLOCKS), "have type en.shape"),
        (NONE, (*words("shape", "="), "en.block.a"), "have type en.shape"),
        (BLOCKS, (*words("width", "="), "( number 3 )"), "have type en.inch_number"),
        (BLOCKS, (*words("width", "="), "( number 3 en.cm )"), "have type en.inch_number"),
        (BLOCKS, (*words("colour", "="), "en.shape.cube"), "unknown property"),
        (NONE, (*words("colour", "="), "en.shape.cube"), "unknown property"),
        (BLOCKS, (*words("colour", "="), NONE), "unknown property"),
        (SHAPES, (*words("shape", "="), "en.shape.cube"), "is a property of en.block"),
        ("( call SW.singleton en.block.z )", (*words("shape", "="), "en.shape.cube"), "unknown entity"),
        (BLOCKS, (*words("shape", "<"), "en.shape.cube"), "no order"),
        (BLOCKS, (*words("near", "<"), NONE), "no order"),
    ],
)
def test_filter_that_fails(entities, arguments, reason):
    fails(call("filter", entities, *arguments), reason)


def test_what_is_never_looked_up_cannot_fail():
    assert run(call("filter", NONE, *words("colour", "="), NONE)) == "(list)"
    assert run(call("filter", NONE, *words("shape", "<"), "en.shape.cube")) == "(list)"
    alone = call("singleton", "en.block.d")
    assert run(call("filter", alone, *words("near", "<"), NONE)) == "(list)"


# -- superlatives


@pytest.mark.parametrize(
    ("mode", "property", "found"),
    [
        ("max", "width", "b"),
        ("min", "width", "a"),
        ("nonsense", "width", "a"),
        ("max", "made", "b"),
        ("min", "made", "a"),
        ("max", "seen", "a b"),
        ("min", "seen", "c"),
        ("max", "part", "c"),
        ("min", "part", "c"),
    ],
)
def test_superlative(mode, property, found):
    assert labels(call("superlative", BLOCKS, *words(mode, property))) == found


def test_a_first_entity_without_a_degree_stays_alone():
    blocks = call("concat", call("singleton", "en.block.d"), BLOCKS)
    assert labels(call("superlative", blocks, *words("max", "width"))) == "d"
    assert labels(call("superlative", blocks, *words("min", "width"))) == "d"
    assert labels(call("superlative", SHAPES, *words("max", "width"))) == "cube"  # types are not checked
    assert labels(call("superlative", SHAPES, *words("max", "near"))) == "cube"  # and no degree is reached


@pytest.mark.parametrize(
    ("entities", "arguments", "reason"),
    [
        ("en.block.a", words("max", "width"), "must be a list"),
        (BLOCKS, words("width"), "takes 3 arguments"),
        (BLOCKS, words("max", "colour"), "unknown property"),
        (BLOCKS, words("max", "shape"), "no order"),
        ("( call SW.singleton en.block.z )", words("max", "width"), "unknown entity"),
        (NONE, words("max", "width"), "no value"),
        (NULL, words("max", "width"), "not nothing"),
    ],
)
def test_superlative_that_fails(entities, arguments, reason):
    fails(call("superlative", entities, *arguments), reason)


def test_null_is_not_printed():
    fails(call("listValue", NULL), "not nothing")
    fails(NULL, "no value")


# -- counting


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (words("max", "near"), "a"),
        (words("min", "near"), "c d 10"),
        (words("nonsense", "near"), "c d 10"),
        ((*words("max", "near"), "( call SW.singleton en.block.c )"), "a b"),
        ((*words("max", "near"), NONE), "a b c d 10"),
        ((*words("max", "near"), NULL), "a"),
        ((*words("max", "near"), "( call SW.singleton en.block.unheard_of )"), "a b c d 10"),
        (words("max", "shape"), "a b c d 10"),
        (words("max", "special"), "a"),
    ],
)
def test_count_superlative(arguments, found):
    assert labels(call("countSuperlative", BLOCKS, *arguments)) == found


def test_count_superlative_of_reversed_properties():
    assert labels(call("countSuperlative", SHAPES, *words("max", "!shape"))) == "cube cone"
    assert labels(call("countSuperlative", SHAPES, *words("min", "!shape"))) == "ball"


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ((*words("near", "="), "( number 3 )"), "a"),  # duplicates count
        ((*words("near", ">"), "( number 0.5 )"), "a b"),
        ((*words("near", ">="), "( number 1 )"), "a b"),
        ((*words("near", "<"), "( number 1 en.block )"), "c d 10"),
        ((*words("near", "<="), "( number 1 )"), "b c d 10"),
        ((*words("near", "!="), "( number 1 )"), ""),
        ((*words("near", "="), "( number 2 )", "( call SW.singleton en.block.b )"), "a"),
        ((*words("near", "="), "( number 0 )", NONE), "a b c d 10"),
        ((*words("near", "="), "( number 3 )", NULL), "a"),
    ],
)
def test_count_comparative(arguments, found):
    assert labels(call("countComparative", BLOCKS, *arguments)) == found


@pytest.mark.parametrize("property", ["width", "made", "seen"])
def test_numbers_dates_and_times_are_not_counted(property):
    fails(call("countSuperlative", BLOCKS, *words("max", property)), "not counted")
    fails(call("countComparative", BLOCKS, *words(property, "="), "( number 1 )"), "not counted")


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        (call("countSuperlative", "en.block.a", *words("max", "near")), "must be a list"),
        (call("countSuperlative", BLOCKS, *words("max", "colour")), "unknown property"),
        (call("countSuperlative", BLOCKS, *words("max", "near"), "en.block.a"), "argument 4 .* must be a list"),
        (call("countSuperlative", BLOCKS, *words("max", "near"), SHAPES), "have type en.block"),
        (call("countSuperlative", NONE, *words("max", "near")), "no value"),
        (call("countSuperlative", "( call SW.singleton en.block.z )", *words("max", "near")), "unknown entity"),
        (call("countComparative", BLOCKS, *words("near", "=")), "takes 4 or 5 arguments"),
        (call("countComparative", BLOCKS, *words("near", "="), "en.block.a"), "not a number"),
        (call("countComparative", BLOCKS, *words("near", "="), "( date 2004 -1 -1 )"), "not a number"),
        (
            call("countComparative", BLOCKS, *words("near", "="), "( call SW.singleton ( number 1 ) )"),
            "must be one value",
        ),
        (call("countComparative", BLOCKS, *words("near", "="), "( number 1 )", SHAPES), "have type en.block"),
        (call("countComparative", BLOCKS, *words("near", "="), "( number 1 )", "en.block.a"), "must be a list"),
    ],
)
def test_counting_that_fails(form, reason):
    fails(form, reason)


# -- concat, aggregate, ensureNumeric...


def test_concat():
    assert labels(call("concat", "en.block.b", "en.block.a")) == "b a"
    assert labels(call("concat", BLOCKS, call("singleton", "en.block.a"))) == "a b c d 10 a"
    assert labels(call("concat", NONE, call("singleton", "en.block.a"))) == "a"
    assert labels(call("concat", "en.city.bejing", "en.city.rome")) == "bejing rome"


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("en.block.a", "en.shape.cube", "different types"),
        ("( number 3 en.inch )", "( number 3 en.cm )", "different types"),
        (BLOCKS, SHAPES, "different types"),
        ("en.block.a", "en.block.a", "equal"),
        ("en.city.bejing", "en.city.bejing", "equal"),
        ("( number 3 )", "( number 3.0 )", "equal"),
        (BLOCKS, BLOCKS, "equal"),
        (NONE, NONE, "equal"),
        ("en.block.a", BLOCKS, "does not take"),
        (BLOCKS, "en.block.a", "does not take"),
        ("( string a )", "( string b )", "must be"),
        ("block", "shape", "different types"),
    ],
)
def test_concat_that_fails(first, second, reason):
    fails(call("concat", first, second), reason)


def test_aggregate_runs_over_distinct_values():
    parts = call("getProperty", BLOCKS, *words("part"))  # 2 3 (3) 3.5 1 4
    assert run(call("listValue", call("aggregate", *words("sum"), parts))) == "(list (number 13.500 en.pound))"
    assert run(call("listValue", call("aggregate", *words("avg"), parts))) == "(list (number 2.700 en.pound))"
    widths = call("getProperty", BLOCKS, *words("width"))
    assert run(call("listValue", call("aggregate", *words("avg"), widths))) == "(list (number 7.333 en.inch))"
    assert run(call("listValue", call("aggregate", *words("sum"), widths))) == "(list (number 22 en.inch))"


def test_aggregate_rounds_half_up():
    literal = call("concat", "( number 2174.5620 u )", "( number 2174.5630 u )")
    assert run(call("aggregate", *words("avg"), literal)) == "(list (number 2174.563 u))"


@pytest.mark.parametrize(
    ("mode", "values", "reason"),
    [
        ("avg", BLOCKS, "only numbers"),
        ("sum", call("getProperty", BLOCKS, *words("made")), "only numbers"),
        ("sum", NONE, "of nothing"),
        ("max", call("getProperty", BLOCKS, *words("width")), "unknown aggregate"),
        ("sum", "( number 3 )", "must be a list"),
        ("sum", call("concat", "( number 1e308 )", "( number 1.7e308 )"), "too large"),
    ],
)
def test_aggregate_that_fails(mode, values, reason):
    fails(call("aggregate", *words(mode), values), reason)


def test_ensure_numeric_property():
    for property in ("width", "made", "seen"):
        assert run(call("ensureNumericProperty", *words(property))) == f"(string {property})"
    for property in ("shape", "special", "!width", "colour"):
        fails(call("ensureNumericProperty", *words(property)))


def test_ensure_numeric_entity():
    assert run(call("ensureNumericEntity", "( number 3 en.inch )")) == "(list (number 3 en.inch))"
    assert run(call("ensureNumericEntity", "( time 10 0 )")) == "(list (time 10 0))"
    dates = call("getProperty", BLOCKS, *words("made"))
    assert run(call("ensureNumericEntity", dates)) == "(list (date 2004 -1 -1) (date 2004 5 1))"
    for wrong in ("en.block.a", "( boolean true )", BLOCKS, NONE, NULL, "( string width )"):
        fails(call("ensureNumericEntity", wrong))


# -- lambdas as the gold forms have them


def test_a_lambda_over_a_domain():
    form = "( ( lambda s ( call SW.filter ( var s ) ( string special ) ) ) ( call SW.domain ( string width ) ) )"
    assert labels(form) == "a"


def test_doubling_ends():
    form = BLOCKS
    for _ in range(40):
        smaller = "( call SW.filter ( var s ) ( string shape ) ( string != ) en.shape.ball )"
        form = f"( ( lambda s ( call SW.concat ( var s ) {smaller} ) ) {form} )"
    fails(form, "too many steps")


# -- anything at all

TOKENS = [
    *(
        "(",
        "(",
        "(",
        ")",
        ")",
        ")",
        "call",
        "lambda",
        "var",
        "s",
        "string",
        "number",
        "date",
        "time",
        "3",
        "2004",
        "-1",
    ),
    *("=", "!=", "<", "max", "min", "sum", "avg", "type", "!type", "shape", "width", "near", "special"),
    *("en.block", "en.block.a", "en.block.z", "en.shape", "en.shape.cube", "en.inch"),
    *sempre(WORLD).reader.functions,
]


def _value_or_error(text: str) -> None:
    try:
        assert run(text).startswith("(")
    except LF_ERRORS as error:
        assert error.reason


@given(st.lists(st.sampled_from(TOKENS), max_size=60).map(" ".join))
def test_token_soup(text):
    _value_or_error(text)


GOOD = [
    call(
        "listValue", call("filter", BLOCKS, *words("width", ">="), call("ensureNumericEntity", "( number 3 en.inch )"))
    ),
    call("listValue", call("countSuperlative", BLOCKS, *words("max"), call("reverse", *words("near")), BLOCKS)),
    call("listValue", call("countComparative", BLOCKS, *words("near", ">"), "( number 1 )", BLOCKS)),
    call("listValue", call("aggregate", *words("sum"), call("getProperty", BLOCKS, *words("width")))),
    call(
        "listValue",
        call(".size", call("superlative", BLOCKS, *words("min"), call("ensureNumericProperty", *words("made")))),
    ),
    call("listValue", call("concat", BLOCKS, call("filter", call("domain", *words("near")), *words("special")))),
    "( call SW.listValue ( call SW.getProperty ( ( lambda s ( call SW.filter ( var s ) ( string special ) ) ) "
    "( call SW.domain ( string shape ) ) ) ( string shape ) ) )",
]


def test_the_forms_to_be_mutated_run():
    for form in GOOD:
        assert run(form).startswith("(list (")


@settings(max_examples=300)
@given(st.data())
def test_mutated_forms(data):
    tokens = data.draw(st.sampled_from(GOOD)).split()
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(tokens) - 1))
        length = data.draw(st.integers(0, 2))
        tokens[place : place + length] = data.draw(st.lists(st.sampled_from(TOKENS), max_size=2))
        if not tokens:
            return
    _value_or_error(" ".join(tokens))


@settings(max_examples=300)
@given(st.data())
def test_forms_with_another_forms_part_inside(data):
    tokens = data.draw(st.sampled_from(GOOD)).split()
    other = data.draw(st.sampled_from(GOOD)).split()
    place = data.draw(st.sampled_from([i for i, token in enumerate(tokens) if token == "("]))
    source = data.draw(st.sampled_from([i for i, token in enumerate(other) if token == "("]))
    tokens[place : _end(tokens, place)] = other[source : _end(other, source)]
    _value_or_error(" ".join(tokens))


def _end(tokens: list[str], start: int) -> int:
    depth = 0
    for place in range(start, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[place], 0)
        if depth == 0:
            return place + 1
    raise AssertionError("not balanced")
