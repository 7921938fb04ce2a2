"""The ontology of a domain folder."""

from __future__ import annotations

import pytest

from dualparse.domains.schema import read_schema
from dualparse.errors import InputError
from dualparse.lf.values import TRUE, date, name, number, time

GOOD = """\
# things
type trail
type village  # where people live
property length trail number km
property stages\ttrail\tnumber
property opened trail date
property starts_at trail time
property start trail village
property loop trail boolean
property opened village date
"""


def schema(tmp_path, text):
    path = tmp_path / "ontology.txt"
    path.write_text(text, encoding="utf-8")
    return read_schema(path)


@pytest.mark.parametrize(
    ("property", "value"),
    [
        ("length", number(8.5, "km")),
        ("stages", number(3)),
        ("opened", date(1998)),
        ("starts_at", time(9)),
        ("start", name("village.orsaz")),
        ("loop", TRUE),
        ("type", name("trail")),
    ],
)
def test_a_fact_that_fits(tmp_path, property, value):
    assert schema(tmp_path, GOOD).fact_problem("trail.larch_path", property, value) == ""


@pytest.mark.parametrize(
    ("subject", "property", "value", "problem"),
    [
        ("trial.a", "length", number(8, "km"), "unknown type 'trial' of trial.a, did you mean 'trail'?"),
        ("trail.a", "lenght", number(8, "km"), "no property 'lenght' of trail, did you mean 'length'?"),
        ("village.a", "length", number(8, "km"), "no property 'length' of village"),
        ("trail.a", "length", number(8, "mile"), "is a number km, not (number 8 mile)"),
        ("trail.a", "length", number(8), "is a number km, not (number 8)"),
        ("trail.a", "stages", number(8, "km"), "is a number, not (number 8 km)"),
        ("trail.a", "length", TRUE, "is a number km, not (boolean true)"),
        ("trail.a", "start", name("trail.b"), "is a village, not trail.b"),
        ("trail.a", "start", date(1998), "is a village, not (date 1998 -1 -1)"),
    ],
)
def test_a_fact_that_does_not_fit(tmp_path, subject, property, value, problem):
    assert problem in schema(tmp_path, GOOD).fact_problem(subject, property, value)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("kind trail", "expected 'type NAME' or 'property"),
        ("type", "expected"),
        ("type hut cabin", "expected"),
        ("property length trail", "expected"),
        ("property a trail number km h", "expected"),
        ("type trail", "declared twice (first in line 1)"),
        ("type date", "cannot be a type"),
        ("type a.b", "'a.b' is not a name"),
        ("property length trail number km", "declared twice (first in line 2)"),
        ("property a trial number km", "unknown type 'trial', did you mean 'trail'?"),
        ("property a trail nubmer", "neither a declared type nor a kind of value, did you mean 'number'?"),
        ("property a trail date km", "only a number has a unit"),
        ("property type trail trail", "cannot be declared"),
        ("property length hut number mile", "a number mile needs another name"),
        ("property length hut trail", "a trail needs another name"),
    ],
)
def test_a_bad_declaration_is_named_with_its_line(tmp_path, line, problem):
    with pytest.raises(InputError) as caught:
        schema(tmp_path, f"type trail\nproperty length trail number km\ntype hut\n{line}\n")
    assert problem in str(caught.value)
    assert caught.value.line == 4


def test_a_property_may_be_used_before_its_types_are_declared_and_shared_by_types(tmp_path):
    read = schema(
        tmp_path,
        "property start trail village\nproperty start race hut\ntype trail\ntype village\ntype race\ntype hut\n",
    )
    assert read.fact_problem("race.a", "start", name("hut.b")) == ""


def test_every_problem_can_be_collected(tmp_path):
    path = tmp_path / "ontology.txt"
    path.write_bytes(b"typ a\ntype a\nproperty b c date\n\xff\nproperty d a a b\n")
    problems: list[InputError] = []
    read = read_schema(path, report=problems.append)
    assert sorted(problem.line for problem in problems) == [1, 3, 4, 5]
    assert set(read.types) == {"a"}


def test_no_type_at_all_is_a_problem(tmp_path):
    with pytest.raises(InputError, match="declares no type"):
        schema(tmp_path, "# nothing\n")
