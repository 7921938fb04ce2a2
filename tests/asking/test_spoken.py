"""Forms as sentences for people, and the names of columns."""

from __future__ import annotations

import pytest

from dualparse.asking.shown import with_values
from dualparse.asking.spoken import Spoken
from dualparse.database.synonyms import Words
from dualparse.domains.plain import schema_of
from dualparse.domains.registry import open_domain
from dualparse.domains.signatures import SIGNATURES
from dualparse.domains.typed import Checker
from dualparse.domains.world import World

HUT, TRAIL = "( all hut )", "( all trail )"
EASY = f"( filter {TRAIL} difficulty = difficulty.easy )"
SAID = {
    f"( filter {HUT} elevation > ( number 2000 m ) )": "huts whose elevation is over 2000 m",
    f"( filter ( filter {TRAIL} start = village.orsaz ) dogs_allowed )": (
        "trails with dogs allowed, whose starting village is orsaz"
    ),
    f"( filter {TRAIL} season = season.summer )": "trails whose seasons include summer",
    f"( filter {TRAIL} season != season.summer )": "trails whose seasons do not include summer",
    f"( filter {TRAIL} start = ( filter ( all village ) has_campsite ) )": (
        "trails whose starting village is one of the villages that have a campsite"
    ),
    f"( filter {TRAIL} start = ( get trail.fox_loop start ) )": ("trails whose starting village is that of fox loop"),
    f"( filter {TRAIL} ( path start elevation ) > ( number 1000 m ) )": (
        "trails whose starting village's elevation is over 1000 m"
    ),
    f"( filter {TRAIL} ( path passes has_wifi ) )": "trails with huts that have wifi",
    f"( filter {TRAIL} ( path passes has_wifi ) != true )": "trails without huts that have wifi",
    f"( filter {TRAIL} ( path passes elevation ) > ( number 2000 m ) )": (
        "trails with huts whose elevation is over 2000 m"
    ),
    f"( filter {TRAIL} opened >= ( date 2003 -1 -1 ) )": "trails whose opening year is in 2003 or later",
    f"( filter {TRAIL} opened = ( last month ) )": "trails whose opening year is last month",
    f"( filter {TRAIL} opened > ( date 2003 5 2 ) )": "trails whose opening year is after 2 May 2003",
    f"( filter {HUT} serves_food )": "huts that have food",
    f"( filter {HUT} serves_food != true )": "huts that have no food",
    f"( filter_count {TRAIL} passes >= 1 ( filter {HUT} has_wifi ) )": "trails with at least 1 hut that have wifi",
    f"( filter_count {TRAIL} passes = 0 )": "trails without huts",
    f"( filter_count {TRAIL} passes = 0 ( filter {HUT} has_wifi ) )": "trails without huts that have wifi",
    f"( filter {TRAIL} length > ( get trail.fox_loop length ) )": "trails whose length is over that of fox loop",
    f"( filter {TRAIL} ( path start elevation ) > ( get village.orsaz elevation ) )": (
        "trails whose starting village's elevation is over the elevation of orsaz"
    ),
    f"( filter_count {TRAIL} passes = 1 )": "trails with exactly 1 hut",
    f"( and ( filter {TRAIL} loop ) ( filter {TRAIL} has_lake ) )": "trails that are a loop and that have a lake",
    f"( argmax {EASY} length )": "of trails whose difficulty is easy, those with the greatest length",
    "( argmax ( or trail.fox_loop trail.honey_walk ) length )": (
        "of fox loop and honey walk, the one with the greatest length"
    ),
    "( exists ( filter hut.marmot_hut has_wifi ) )": "whether marmot hut has wifi",
    "( exists ( filter hut.marmot_hut has_wifi != true ) )": "whether marmot hut does not have wifi",
    "( exists ( filter ( filter hut.marmot_hut has_wifi ) elevation > ( number 2000 m ) ) )": (
        "whether marmot hut is one of the huts that have wifi and whose elevation is over 2000 m"
    ),
    "( exists ( and hut.marmot_hut ( filter ( all hut ) has_wifi ) ) )": "whether marmot hut has wifi",
    "( exists hut.marmot_hut )": "whether there is a hut called marmot hut",
    f"( or ( filter {TRAIL} start = village.orsaz ) ( filter {TRAIL} start = village.brunnach ) )": (
        "trails whose starting village is orsaz or brunnach"
    ),
    f"( and {TRAIL} ( or ( filter {TRAIL} start = village.orsaz ) ( filter {TRAIL} loop ) ) )": (
        "trails whose starting village is orsaz or that are a loop"
    ),
    f"( filter ( or ( filter {TRAIL} start = village.orsaz ) ( filter {TRAIL} start = village.brunnach ) ) loop )": (
        "trails that are a loop and whose starting village is orsaz or brunnach"
    ),
    f"( filter ( filter {TRAIL} ( path passes elevation ) > ( number 2000 m ) ) start = village.orsaz )": (
        "trails whose starting village is orsaz, with huts whose elevation is over 2000 m"
    ),
    f"( select ( top 3 {TRAIL} duration ) duration )": "the 3 trails with the longest walking time",
    f"( select ( top 3 {TRAIL} duration ) duration length )": (
        "the 3 trails with the longest walking time and their length"
    ),
    "( count ( get trail.fox_loop start ) )": "number of starting villages of fox loop",
    "( get ( get trail.fox_loop start ) elevation )": "elevation of the starting village of fox loop",
    "( exists ( filter hut.marmot_hut price missing ) )": "whether marmot hut has no price per night",
    "( exists ( get hut.marmot_hut opened ) )": "whether marmot hut has an opening year",
    "( in minute ( avg ( all trail ) duration ) )": "average walking time of trails in minutes",
    f"( times ( avg {HUT} price ) ( number 2 ) )": "average price per night of huts times 2",
}
COLUMNS = {
    f"( count {HUT} )": ("number of huts",),
    f"( group {TRAIL} difficulty ( count it ) ( avg it length ) )": (
        "difficulty",
        "number of trails",
        "average length",
    ),
    f"( argmax ( group {TRAIL} start ( count it ) ) )": ("starting village", "number of trails"),
    f"( select {HUT} elevation )": ("hut", "elevation"),
    "( get hut.marmot_hut !passes )": ("trail",),
    f"( exists {HUT} )": ("answer",),
    f"( row ( min {HUT} price ) ( max {HUT} price ) )": (
        "lowest price per night of huts",
        "highest price per night of huts",
    ),
}
BESIDE = {
    "( argmax_count ( all village ) !start )": "( count ( get it !start ) )",
    f"( filter_count {TRAIL} passes >= 2 ( filter {HUT} has_wifi ) )": (
        "( count ( and ( get it passes ) ( filter ( all hut ) has_wifi ) ) )"
    ),
    "( argmax ( all village ) ( count ( get it !start ) ) )": "( count ( get it !start ) )",
    f"( top 3 {HUT} price )": "price",
    f"( filter {TRAIL} ( path start elevation ) > ( number 1000 m ) )": "( path start elevation )",
}


DOMAIN = open_domain("trails")
SPOKEN = Spoken(Words(DOMAIN.phrases))


@pytest.fixture(scope="module")
def checker() -> Checker:
    assert isinstance(DOMAIN.world, World)
    return Checker(schema_of(DOMAIN.world, DOMAIN.ontology))


@pytest.mark.parametrize("form", SAID)
def test_forms_are_sentences_for_people(form, checker):
    assert SPOKEN(checker.typed_text(form)) == SAID[form]


def test_properties_may_have_verbs_and_plurals_for_names(checker):
    called = {
        "hut.serves_food": "serves food",
        "trail.start": "starts in",
        "trail.length": "metres",
        "trail.ascent": "ascents",
    }
    words = Words({name: (phrase,) for name, phrase in called.items()})
    said = [
        Spoken(words)(checker.typed_text(form))
        for form in (
            f"( filter {HUT} serves_food )",
            f"( filter {HUT} serves_food != true )",
            f"( filter {TRAIL} start = village.orsaz )",
            f"( filter {TRAIL} start != village.orsaz )",
            f"( filter {TRAIL} length present )",
            f"( filter {TRAIL} length > ( number 5 km ) )",
            f"( filter {TRAIL} ascent present )",
            f"( filter {TRAIL} ascent > ( number 5 m ) )",
        )
    ]
    assert said == [
        "huts that serve food",
        "huts that do not serve food",
        "trails that start in orsaz",
        "trails that do not start in orsaz",
        "trails with a length",  # a property that is called by its unit
        "trails whose length is over 5 km",
        "trails with ascents",
        "trails whose ascents are over 5 m",
    ]


def test_names_of_properties_fit_into_their_sentence(checker):
    called = {"trail.start": "managed by", "village.name": "village name", "trail.length": "pages"}
    words = Words(
        {name: (phrase,) for name, phrase in called.items()} | {"village.elevation": ("start village height",)}
    )
    spoken = Spoken(words)
    said = {
        f"( filter {TRAIL} ( path start elevation ) > ( number 1000 m ) )": (
            "trails that are managed by a village whose start village height is over 1000 m"
        ),
        "( argmax ( all hut ) beds )": "huts with the most beds",
        "( argmin ( all hut ) price )": "huts with the lowest price",
    }
    assert {form: spoken(checker.typed_text(form)) for form in said} == said
    supplier = Spoken(Words({"trail.start": ("supplier",), "village.elevation": ("supplier height",)}))
    assert supplier(checker.typed_text("( get ( get trail.fox_loop start ) elevation )")) == (
        "height of the supplier of fox loop"
    )


def test_every_function_has_words(checker):
    examples = [row.example for row in SIGNATURES if row.example]
    said = {SPOKEN(checker.typed_text(form)) for form in examples}
    assert all(phrase and "None" not in phrase and "  " not in phrase for phrase in said)
    assert len(said) >= len(set(examples)) - 4


@pytest.mark.parametrize("form", COLUMNS)
def test_columns_are_named_in_words(form, checker):
    assert SPOKEN.columns(checker.typed_text(form)) == COLUMNS[form]


@pytest.mark.parametrize("form", BESIDE)
def test_what_things_are_ranked_or_chosen_by_stands_beside_them(form, checker):
    shown = with_values(form, checker.typed_text(form))
    assert shown == f"( select {form} {BESIDE[form]} )"
    assert len(SPOKEN.columns(checker.typed_text(shown))) == 2
