"""Forms in plain words."""

from __future__ import annotations

import pytest
from shops import sqlite_file

from dualparse.asking.spoken import Spoken
from dualparse.asking.wording import Wording
from dualparse.database.connect import connect
from dualparse.database.folder import read_connected
from dualparse.database.location import locate
from dualparse.database.synonyms import Words
from dualparse.domains.plain import schema_of
from dualparse.domains.registry import open_domain
from dualparse.domains.signatures import SIGNATURES
from dualparse.domains.typed import Checker
from dualparse.domains.world import World

HUT, TRAIL = "( all hut )", "( all trail )"
SAID = {
    HUT: "huts",
    f"( filter {HUT} elevation > ( number 2000 m ) )": "huts whose elevation is over 2000 m",
    f"( filter {TRAIL} start = village.orsaz )": "trails whose start is orsaz",
    f"( filter ( filter {TRAIL} loop ) duration <= ( number 3 hour ) )": (
        "trails with loop and whose duration is at most 3 hours"
    ),
    f"( filter {HUT} has_wifi != true )": "huts that have no wifi",
    f"( filter {TRAIL} passes missing )": "trails without passes",
    f"( filter {TRAIL} opened > ( date 2003 -1 -1 ) )": "trails opened after 2003",
    f"( filter {HUT} price between ( number 30 euro ) ( number 50 euro ) )": (
        "huts whose price is between 30 euros and 50 euros"
    ),
    "( get hut.marmot_hut price )": "price of marmot hut",
    f"( argmax {HUT} elevation )": "huts with the highest elevation",
    f"( argmin {TRAIL} opened )": "trails with the earliest opened date",
    "( argmax_count ( all village ) !start )": "villages with the most trails",
    f"( filter_count {TRAIL} passes >= 2 )": "trails with at least 2 passes",
    f"( top 3 {HUT} price )": "the 3 huts with the highest price",
    f"( count ( filter {HUT} has_showers ) )": "number of huts that have showers",
    f"( avg {HUT} price )": "average price of huts",
    f"( group {TRAIL} difficulty ( count it ) )": "number of trails for each difficulty",
    f"( share ( filter {HUT} has_wifi ) {HUT} )": "share in percent of huts that have wifi among huts",
    f"( exists ( filter {HUT} has_wifi ) )": "whether there are huts that have wifi",
    f"( row ( min {HUT} price ) ( max {HUT} price ) )": "lowest price and highest price of huts",
    f"( order {TRAIL} length ascending )": "trails ordered by length, lowest first",
}


STAFF = {
    "( filter ( all employee ) reports_to = employee.2 )": "employees that report to 2",
    "( filter ( all employee ) reports_to != employee.2 )": "employees that do not report to 2",
    "( filter ( all employee ) !employee.reports_to = employee.2 )": "employees that 2 reports to",
    "( get employee.2 reports_to )": "employees that 2 reports to",
    "( get employee.2 !employee.reports_to )": "employees that report to 2",
    "( filter ( all employee ) !employee.reports_to missing )": "employees without employees that report to them",
    "( filter ( all employee ) ( path reports_to hired_on ) < ( date 1990 -1 -1 ) )": (
        "employees whose hired on of the employee that they report to is before 1990"
    ),
    "( filter ( all employee ) hired_on < ( date 2020 -1 -1 ) )": "employees hired before 2020",
    "( filter ( all employee ) hired_on = ( date 2020 3 1 ) )": "employees hired on 1 March 2020",
    "( filter ( all employee ) hired_on missing )": "employees not hired",
    "( argmax ( all employee ) hired_on )": "employees with the latest hired date",
    "( filter ( all employee ) insured )": "employees that are insured",
    "( filter ( all employee ) insured = false )": "employees that are not insured",
    "( group ( all employee ) reports_to ( count it ) )": "number of employees for each employee that they report to",
    "( filter ( all employee ) ( path reports_to hired_on ) missing )": (
        "employees without a hired on of the employee that they report to"
    ),
    "( filter ( all employee ) visits present )": "employees with visits",
    "( filter ( all employee ) ( count ( get it !employee.reports_to ) ) = ( number 1 ) )": (
        "employees with exactly 1 employee that reports to them"
    ),
    "( top 4 ( group ( all employee ) ( year hired_on ) ( count it ) ) )": (
        "the 4 years of the hired date with the highest number of employees"
    ),
    "( argmax ( all employee ) ( count ( filter ( get it !employee.reports_to ) visits > ( number 3 ) ) ) )": (
        "employees with the most employees that report to them whose visits is over 3"
    ),
}


@pytest.fixture(scope="module")
def staff(tmp_path_factory) -> tuple[Checker, Words]:
    place = tmp_path_factory.mktemp("staff")
    script = """CREATE TABLE employees (employee_id INTEGER PRIMARY KEY, name TEXT, hired_on DATE, visits INTEGER,
      insured BOOLEAN, reports_to INTEGER REFERENCES employees (employee_id));
      INSERT INTO employees VALUES (1, 'Ann Lee', '2019-01-02', 4, 1, NULL), (2, 'Bo Dahl', '2020-03-01', 7, 0, 1)"""
    sqlite_file(place / "staff.sqlite", script)
    connect(locate(str(place / "staff.sqlite")), place / "folder")
    connected = read_connected(place / "folder")
    return Checker(connected.database.schema), connected.words


@pytest.mark.parametrize("form", STAFF)
def test_what_is_called_by_a_verb_reads_as_english(form, staff):
    checker, words = staff
    assert Wording(words)(checker.typed_text(form)) == STAFF[form]


def test_people_read_the_same(staff):
    checker, words = staff
    said = {form: Spoken(words)(checker.typed_text(form)) for form in STAFF}
    assert said["( get employee.2 reports_to )"] == "employees that 2 reports to"
    assert said["( filter ( all employee ) hired_on < ( date 2020 -1 -1 ) )"] == "employees hired before 2020"
    assert said["( filter ( all employee ) !employee.reports_to = employee.2 )"] == "employees that 2 reports to"
    form = "( get ( filter ( all employee ) hired_on > ( date 2019 -1 -1 ) ) reports_to )"
    assert Spoken(words)(checker.typed_text(form)) == "employees that employees hired after 2019 report to"


@pytest.fixture(scope="module")
def checker() -> Checker:
    domain = open_domain("trails")
    assert isinstance(domain.world, World)
    return Checker(schema_of(domain.world, domain.ontology))


@pytest.mark.parametrize("form", SAID)
def test_forms_are_said_in_plain_words(form, checker):
    assert Wording(Words())(checker.typed_text(form)) == SAID[form]


def test_no_and_an_article_do_not_stand_together(checker):
    words = Words(open_domain("trails").phrases)
    falls = checker.typed_text(f"( filter {TRAIL} has_waterfall != true )")
    assert Wording(words)(falls) == "trails that have no waterfall"


def test_every_function_has_words(checker):
    """No form of the language's own examples is left without a phrase, and no two of them share one."""
    examples = [row.example for row in SIGNATURES if row.example]
    said = {Wording(Words())(checker.typed_text(form)) for form in examples}
    assert all(phrase and "None" not in phrase and "  " not in phrase for phrase in said)
    assert len(said) >= len(set(examples)) - 4


def test_labels_and_words_of_the_house_are_used(checker):
    words = Words({"trail": ("path", "trail"), "trail.start": ("starting point",)})
    said = Wording(words, {"village.orsaz": "Orsaz"})
    assert (
        said(checker.typed_text(f"( filter {TRAIL} start = village.orsaz )")) == "paths whose starting point is Orsaz"
    )
