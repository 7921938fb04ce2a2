"""What people ask, as forms over a little shop: every function, on facts that can be counted by hand."""

from __future__ import annotations

from datetime import date as Day
from pathlib import Path

import pytest

from dualparse.domains.plain import Plain
from dualparse.domains.registry import open_domain
from dualparse.domains.results import NONE, ROWS, VALUE, YES_NO
from dualparse.domains.signatures import KINDS, RESULTS, SIGNATURES, markdown
from dualparse.domains.world import World, parse_fact
from dualparse.lf.errors import LFExecutionError, LFSyntaxError

FACTS = """
artist.1 name ( text AC/DC )
artist.2 name ( text Zaz )
artist.3 name ( text Nobody )
genre.1 name ( text Rock )
genre.2 name ( text Jazz )
genre.3 name ( text Noise )
song.1 artist artist.1
song.2 artist artist.1
song.3 artist artist.2
song.1 name ( text Big Gun )
song.2 name ( text Thunderstruck )
song.3 name ( text Je veux )
song.4 name ( text Anonymous )
song.1 genre genre.1
song.2 genre genre.1
song.3 genre genre.2
song.1 length ( number 240000 ms )
song.2 length ( number 300000 ms )
song.3 length ( number 216000 ms )
song.1 price ( number 1.5 euro )
song.2 price ( number 2 euro )
song.3 price ( number 1.5 euro )
song.1 copies ( number 3 )
song.2 copies ( number 2 )
song.3 copies ( number 0 )
song.1 composer ( text Angus Young, Malcolm Young )
song.1 out ( date 2009 12 31 )
song.2 out ( date 2010 -1 -1 )
song.3 out ( date 2010 3 1 )
song.1 tag tag.loud
song.2 tag tag.loud
song.2 tag tag.live
song.3 live true
"""


def shop() -> Plain:
    world = World()
    for line in FACTS.strip().splitlines():
        world.add(*parse_fact("\t".join(line.split(maxsplit=2))))
    labels = {
        id: world.properties["name"].values[value][0][6:-1]
        for id, value in world.names.items()
        if value in world.properties["name"].values
    }
    return Plain(world, labels=labels)


SHOP = shop()
TODAY = Day(2010, 4, 15)


def rows(form: str) -> list[tuple]:
    return SHOP.answer(form, today=TODAY).values


def flat(form: str) -> list:
    return [row[0] if len(row) == 1 else row for row in rows(form)]


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ("( filter ( all song ) name = ( text Big Gun ) )", ["Big Gun"]),
        ("( filter ( all song ) name = ( text big gun ) )", []),
        ("( filter ( all song ) composer contains ( text YOUNG ) )", ["Big Gun"]),
        ("( filter ( all song ) composer missing )", ["Thunderstruck", "Je veux", "Anonymous"]),
        ("( filter ( all song ) composer present )", ["Big Gun"]),
        ("( filter ( all song ) length between ( number 4 min ) ( number 5 min ) )", ["Big Gun", "Thunderstruck"]),
        ("( filter ( all song ) length < ( number 4 minute ) )", ["Je veux"]),
        ("( filter ( all song ) length > ( avg ( all song ) length ) )", ["Thunderstruck"]),
        ("( and ( filter ( all song ) price = ( number 1.5 euro ) ) ( get genre.1 !genre ) )", ["Big Gun"]),
        ("( or song.1 song.3 song.1 )", ["Big Gun", "Je veux"]),
        ("( not ( get ( all song ) artist ) )", ["Nobody"]),
        ("( not ( filter ( all song ) live ) )", ["Big Gun", "Thunderstruck", "Anonymous"]),
        ("( get artist.1 !artist )", ["Big Gun", "Thunderstruck"]),
        ("( get ( get artist.1 !artist ) tag )", ["loud", "live"]),
        ("( get ( text AC/DC ) !artist.name )", ["AC/DC"]),
        ("( filter ( all artist ) ( path !artist genre name ) = ( text Jazz ) )", ["Zaz"]),
        ("( filter ( all artist ) ( path !artist genre ) != genre.2 )", ["AC/DC", "Nobody"]),
        ("( filter ( all artist ) ( sum ( get it !artist ) price ) > ( number 3 euro ) )", ["AC/DC"]),
        ("( filter artist.1 ( count ( filter ( get it !artist ) copies = ( number 2 ) ) ) > ( number 0 ) )", ["AC/DC"]),
        ("( filter_count ( all song ) tag >= 1 tag.live )", ["Thunderstruck"]),
        ("( argmax ( all artist ) ( count ( get it !artist ) ) )", ["AC/DC"]),
        ("( argmin ( all genre ) ( count ( get it !genre ) ) )", ["Noise"]),
        ("( argmin ( all song ) price )", ["Big Gun", "Je veux"]),
        ("( top 2 ( all song ) price )", ["Thunderstruck", "Big Gun"]),
        ("( bottom 2 ( all song ) price )", ["Big Gun", "Je veux"]),
        ("( top 9 ( all song ) length )", ["Thunderstruck", "Big Gun", "Je veux"]),
        ("( order ( all song ) length ascending )", ["Je veux", "Big Gun", "Thunderstruck", "Anonymous"]),
        ("( order ( all song ) name descending )", ["Thunderstruck", "Je veux", "Big Gun", "Anonymous"]),
        ("( count ( get ( all song ) genre ) )", [2]),
        ("( sum ( all song ) ( times price copies ) )", [8.5]),
        ("( in minute ( avg ( all song ) length ) )", [4.2]),
        ("( share ( filter ( all song ) live ) ( all song ) )", [25]),
        ("( share ( all genre ) ( filter ( all genre ) name = ( text x ) ) )", []),
        ("( divide ( number 1 ) ( minus ( number 2 ) ( number 2 ) ) )", []),
        ("( minus ( get song.2 length ) ( get song.1 length ) )", [60000]),
        ("( max ( all song ) out )", ["2010-03-01"]),
        ("( row ( min ( all song ) price ) ( max ( all song ) price ) )", [(1.5, 2)]),
        ("( select ( filter ( all song ) price > ( number 1 euro ) ) price genre )",
         [("Big Gun", 1.5, "Rock"), ("Thunderstruck", 2, "Rock"), ("Je veux", 1.5, "Jazz")]),
        ("( select song.4 price )", [("Anonymous", None)]),
        ("( group ( all song ) genre ( count it ) ( sum it price ) )", [("Rock", 2, 3.5), ("Jazz", 1, 1.5)]),
        ("( group ( all song ) ( year out ) ( count it ) )", [("2009", 1), ("2010", 2)]),
        ("( group ( all song ) ( month out ) ( count it ) )", [("2009-12", 1), ("2010-03", 1)]),
        ("( group ( all song ) ( quarter out ) ( count it ) )", [("2009-Q4", 1), ("2010-Q1", 1)]),
        ("( group ( all song ) genre ( count ( filter it copies > ( number 2 ) ) ) )", [("Rock", 1), ("Jazz", 0)]),
        ("( having ( group ( all song ) genre ( count it ) ) >= ( number 2 ) )", [("Rock", 2)]),
        ("( keys ( argmax ( group ( all song ) ( path artist name ) ( count it ) ) ) )", ["AC/DC"]),
        ("( top 1 ( group ( all song ) genre ( avg it length ) ) )", [("Rock", 270000)]),
        ("( order ( group ( all song ) tag ( count it ) ) ascending )", [("live", 1), ("loud", 2)]),
        ("( exists ( filter ( all song ) live ) )", [True]),
        ("( exists ( get artist.3 !artist ) )", [False]),
        ("( > ( get song.2 length ) ( get song.1 length ) )", [True]),
        ("( = ( get song.2 genre ) ( get song.3 genre ) )", [False]),
        ("( < ( get song.4 length ) ( get song.1 length ) )", []),
        ("( < ( count ( get artist.2 !artist ) ) ( count ( get artist.1 !artist ) ) )", [True]),
    ],
)  # fmt: skip
def test_what_a_form_gives(form, found):
    assert flat(form) == found


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("= ( date 2010 -1 -1 )", "2 3"),
        ("= ( date 2010 )", "2 3"),
        ("= ( date 2010 3 -1 )", "3"),
        ("!= ( date 2010 -1 -1 )", "1 4"),
        ("< ( date 2010 3 -1 )", "1 2"),
        ("> ( date 2009 -1 -1 )", "2 3"),
        ("> ( date 2010 -1 -1 )", ""),
        (">= ( date 2010 -1 -1 )", "2 3"),
        ("<= ( date 2010 -1 -1 )", "1 2 3"),
        ("= ( quarter 2009 4 )", "1"),
        ("= ( quarter 2010 1 )", "3"),  # of the second no more than the year is known
        ("= ( this year )", "2 3"),
        ("= ( last month )", "3"),
        ("= ( last year )", "1"),
        ("= ( past 3 month )", "3"),
        ("= ( last quarter )", "3"),
        ("= ( past 45 day )", "3"),
        ("= ( past 45 week )", "1 2 3"),
        ("< ( today )", "1 2 3"),
        ("between ( date 2009 12 -1 ) ( date 2010 2 -1 )", "1 2"),
        ("= ( or ( date 2009 -1 -1 ) ( date 2010 3 1 ) )", "1 3"),
    ],
)
def test_dates_are_intervals(condition, found):
    answer = SHOP.answer(f"( filter ( all song ) out {condition} )", today=TODAY)
    assert " ".join(row[0].id.removeprefix("song.") for row in answer.rows) == found


@pytest.mark.parametrize(
    "date",
    ["( date 2023 2 29 )", "( date 2023 13 1 )", "( date 2023 -1 5 )", "( date 0 1 1 )", "( quarter 2023 5 )",
     "( last fortnight )", "( past 0 day )", "( past many day )", "( date 2023 1 1 1 )", "( last month month )"],
)  # fmt: skip
def test_an_impossible_date_is_an_error_wherever_it_stands(date):
    with pytest.raises(LFSyntaxError):
        SHOP.execute(f"( filter ( all song ) out = {date} )")


def test_before_the_calendar_began_is_an_error():
    with pytest.raises(LFSyntaxError, match="beyond the calendar"):
        SHOP.answer("( filter ( all song ) out = ( past 9999 year ) )", today=TODAY)


@pytest.mark.parametrize(
    ("form", "kind", "denotation"),
    [
        ("( all song )", ROWS, "(list (name song.1) (name song.2) (name song.3) (name song.4))"),
        ("( get song.4 length )", NONE, "(list)"),
        ("( sum song.4 length )", NONE, "(list)"),
        ("( argmax song.4 length )", NONE, "(list)"),
        ("( count ( get song.4 tag ) )", VALUE, "(list (number 0 count))"),
        ("( exists ( get song.4 tag ) )", YES_NO, "(list (boolean false))"),
        ("( top 2 ( all song ) length )", ROWS, "(ranking (name song.2) (name song.1))"),
        ("( select song.4 length name )", ROWS, "(table (row (name song.4) (missing) (text Anonymous)))"),
        ("( row ( sum song.4 length ) ( sum song.4 price ) )", NONE, "(list)"),
        (
            "( top 1 ( group song.1 tag ( count it ) ) )",
            ROWS,
            "(ranking (row (name tag.loud) (number 1 count)))",
        ),
    ],
)
def test_kinds_of_answers(form, kind, denotation):
    answer = SHOP.answer(form)
    assert (answer.kind, answer.denotation) == (kind, denotation)


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("( filter ( all song ) length contains ( text x ) )", "no texts"),
        ("( filter ( all song ) name < ( text x ) )", "not numbers, dates or times"),
        ("( filter ( all song ) name = ( number 3 ) )", "have type text, not number"),
        ("( filter ( all song ) length = ( number 3 euro ) )", "have type number ms"),
        ("( filter ( all song ) out = ( number 2010 ) )", "have type date"),
        ("( get ( text Rock ) !name )", "write !artist.name or !genre.name or !song.name"),
        ("( get genre.1 !tag )", "a property of tag"),
        ("( and song.1 genre.1 )", "different types"),
        ("( count it )", "nothing to speak of"),
        ("( filter ( all song ) price > ( max it price ) )", "nothing to speak of"),
        ("( argmax ( all artist ) ( count ( not ( get it !artist ) ) ) )", "cannot stand here"),
        ("( argmax ( all artist ) ( get it !artist ) )", "not a property"),
        ("( sum ( all artist ) ( times ( path !artist price ) ( number 2 ) ) )", "may have several values"),
        ("( top 0 ( all song ) price )", "whole number from 1"),
        ("( top 1.5 ( all song ) price )", "whole number from 1"),
        ("( order ( all song ) price upwards )", "ascending or descending"),
        ("( order ( all song ) live ascending )", "not numbers, dates or times"),
        ("( plus ( sum ( all song ) price ) ( sum ( all song ) length ) )", "do not add up"),
        ("( in euro ( avg ( all song ) length ) )", "cannot be told in"),
        ("( year ( all song ) )", None),
        ("( group ( all song ) genre ( count ( all song ) ) )", "must speak of it"),
        ("( group ( all song ) genre price )", None),
        ("( having ( select ( all song ) price ) > ( number 2 ) )", "only the rows of a group"),
        ("( argmax ( select ( all song ) price ) )", "only the rows of a group"),
        ("( keys ( all song ) )", "must be a table"),
        ("( count ( group ( all song ) genre ( count it ) ) )", "must be a set, not a table"),
        ("( exists ( exists ( all song ) ) )", "must be a set, not yes or no"),
        ("( select ( all song ) )", "takes 2 or more arguments"),
        ("( filter ( all song ) length beside ( number 3 ms ) )", "unknown operator"),
        ("( group ( all song ) ( year name ) ( count it ) )", "is no date"),
    ],
)
def test_what_the_types_refuse(form, reason):
    with pytest.raises(LFExecutionError, match=reason):
        SHOP.execute(form)


@pytest.mark.parametrize("signature", [row for row in SIGNATURES if row.example], ids=str)
def test_every_example_of_the_table_has_an_answer(signature):
    trails = open_domain("trails")
    assert trails.execute is not None
    assert trails.execute(signature.example).startswith("(")
    assert f"( {signature.name} " in signature.example


def test_the_table_speaks_of_known_kinds_only():
    for signature in SIGNATURES:
        assert signature.result in RESULTS
        for place in range(len(signature.arguments)):
            assert signature.kind(place) in KINDS or signature.kind(place).startswith("'")


def test_the_page_of_the_language_shows_the_whole_table():
    page = (Path(__file__).parents[2] / "docs" / "forms.md").read_text(encoding="utf-8")
    for line in markdown().splitlines():
        assert line in page
