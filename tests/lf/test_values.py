"""Values: identity, type, order and printed text."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.sexpr import read
from dualparse.lf.values import FALSE, TRUE, Value, date, name, number, read_literal, read_number, time, write_number


@pytest.mark.parametrize(
    ("value", "type"),
    [
        (name("en.block.block1"), "en.block"),
        (name("en.block"), "en"),
        (name("block"), ""),
        (number(3, "en.inch"), "en.inch_number"),
        (number(3), "_number"),
        (date(2004), "en.date"),
        (time(10), "en.time"),
        (TRUE, "en.boolean"),
    ],
)
def test_type_of_a_value(value, type):
    assert value.type == type


def test_degrees():
    assert number(2.5, "km").degree == 2.5
    assert date(2015, 1, 4).degree == 20150104
    assert date(2004, -1, -1).degree == 20040000
    assert date(-1, 5, -1).degree == 500
    assert time(10, 30).degree == time(10, 0).degree == 10
    assert name("en.block.block1").degree is None
    assert TRUE.degree is None


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (60, "60"),
        (4.0, "4"),
        (-0.0, "0"),
        (4.5, "4.500"),
        (2174.5625, "2174.563"),
        (0.0005, "0.001"),
        (1.0005, "1.001"),
        (-2.0005, "-2.001"),
        (0.1 + 0.2, "0.300"),
        (1e20, "100000000000000000000"),
    ],
)
def test_numbers_round_half_up_on_the_shortest_decimal(amount, text):
    assert write_number(amount) == text


def test_equal_print_is_not_equal_value():
    assert number(2.0001, "km") != number(2.0002, "km")
    assert number(2.0001, "km").text == number(2.0002, "km").text == "(number 2.000 km)"
    assert number(3, "km") == number(3.0, "km") != number(3)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("( number 3 en.inch )", number(3, "en.inch")),
        ("( number 2 )", number(2)),
        ("( number -1.5e2 )", number(-150)),
        ("( date 2004 -1 -1 )", date(2004)),
        ("( date 2004 )", date(2004)),
        ("( time 10 0 )", time(10)),
        ("( boolean true )", TRUE),
        ("( boolean false )", FALSE),
    ],
)
def test_literals(text, value):
    assert read_literal(read(text)) == value


@pytest.mark.parametrize(
    "text",
    [
        "( number )",
        "( number x )",
        "( number nan )",
        "( number inf )",
        "( number 1e999 )",
        "( number 1_000 )",
        "( number ٣ )",
        "( number ( number 3 ) )",
        "( number 3 ( km ) )",
        "( number 3 km extra )",
        "( date )",
        "( date 1 2 )",
        "( date 1 2 3 4 )",
        "( date a b c )",
        "( date 1 2 ( 3 ) )",
        "( date 99999999999999999999 -1 -1 )",
        "( time 10 )",
        "( time ten 0 )",
        "( boolean )",
        "( boolean maybe )",
    ],
)
def test_bad_literals_are_syntax_errors(text):
    with pytest.raises(LFSyntaxError):
        read_literal(read(text))


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["", "km", "en.inch"]))
def test_a_number_reads_back_from_its_identity(amount, unit):
    value = number(amount, unit)
    assert read_literal(read(value)) == value
    assert read_number(value.split()[1].rstrip(")")) == value.degree


def test_values_survive_pickling():
    copy = pickle.loads(pickle.dumps(number(2174.5625, "en.dollar")))
    assert type(copy) is Value
    assert (copy, copy.text, copy.type, copy.degree, copy.unit) == (
        "(number 2174.5625 en.dollar)",
        "(number 2174.563 en.dollar)",
        "en.dollar_number",
        2174.5625,
        "en.dollar",
    )
