"""Questions about flights, prepared as the benchmark's files are."""

from __future__ import annotations

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dualparse.config import make_recipe
from dualparse.data.examples import load_examples
from dualparse.data.vocab import Vocab
from dualparse.domains.atis_text import KINDS, NAMED, find_names, names, number_form, preparation, stem
from dualparse.domains.registry import open_domain
from dualparse.domains.text import Reader
from dualparse.errors import InputError
from dualparse.lf.ontology import read_ontology
from dualparse.lf.sexpr import tokenize
from dualparse.runs import Run, new_agent
from dualparse.use.api import Parser, load, reader
from dualparse.use.parses import Copy

# Stems as the files have them.
KNOWN = """
show me flight from to tomorrow morn what the cheapest round trip fare on leav after arriv in befor list code mean
explain restrict how mani seat a which airlin fli via other citi between and less than ground transport at i'd like an
earli even may i have is there limousin servic around earliest o'clock need one way ticket boe doe serv breakfast intern
all of for pm ap0 are that two class california washington pleas
"""
# Words whose stems are in the files, and stems in the files that a second stemming would spoil.
WHOLE = """
advertise anywhere database else everywhere expensive inexpensive please represent reverse tennessee transcontinental
early only evening evenings international during boeing business economy airlines limousine connections operation thrift
various whether cities does has this yes we're what're i've
"""
SPOILED = """
advertis anywher databas earli els everywher expens inexpens onli pleas repres revers tennesse transcontinent
"""
MIX = "at boeing restriction 5 six pm $7 june the of boston new york code may q 1991"
FORM_OF_NAMES = "( and ( from $0 boston:ci ) ( to $0 boston:ci ) ( day $0 monday:da ) late:pd )"
READER = Reader(KNOWN.split(), preparation=preparation())


@pytest.mark.parametrize(
    ("typed", "words", "named"),
    [
        (
            "Show me flights from Boston to Denver tomorrow morning",
            "show me flight from ci0 to ci1 tomorrow morn",
            "boston:ci denver:ci",
        ),
        ("from Boston to New York City", "from ci1 to ci0", "boston:ci new_york:ci"),  # more words, smaller number
        ("from Boston, to Boston", "from ci0 to ci0", "boston:ci"),
        ("from st. louis to Salt Lake City", "from ci1 to ci0", "salt_lake_city:ci st_louis:ci"),
        ("What's the cheapest round-trip fare on United?", "what the cheapest round trip fare on al0", "ua:al"),
        ("flights to florida", "flight to st0", "florida:st"),
        ("from Los Angeles, California", "from ci0 california", "los_angeles:ci"),
        ("from Seattle, Washington to Washington D.C.", "from ci1 washington to ci0", "seattle:ci washington:ci"),
        ("ground transportation at Logan airport", "ground transport at ap0", "bos:ap"),
        ("is there a limousine service at LAX", "is there a limousin servic at ap0", "lax:ap"),
        ("flights on Mondays", "flight on da0", "monday:da"),
        ("may I have flights in may", "may i have flight in mn0", "may:mn"),
        ("flights on may 5", "flight on mn0 dn0", "5:dn may:mn"),
        ("flights on august twenty third, 1991", "flight on mn0 dn0 yr0", "1991:yr 23:dn august:mn"),
        ("on the 5th of june", "on the dn0 of mn0", "5:dn june:mn"),
        ("on june the first", "on mn0 the dn0", "1:dn june:mn"),
        ("on the 9th", "on the dn0", "9:dn"),
        ("leaving after 5:30 p.m.", "leav after ti0", "1730:ti"),
        ("leaving after six thirty pm", "leav after ti0", "1830:ti"),
        ("arriving before 10am", "arriv befor ti0", "1000:ti"),
        ("arriving at 12 am", "arriv at ti0", "0:ti"),
        ("leaving around noon", "leav around ti0", "1200:ti"),
        ("leaving at 6 o'clock pm", "leav at ti0 o'clock pm", "1800:ti"),
        ("leaving after 6 in the evening", "leav after ti0 in the even", "1800:ti"),
        ("between five and seven pm", "between ti0 and ti1", "1700:ti 1900:ti"),
        ("between 8 am and 10 am", "between ti0 and ti1", "1000:ti 800:ti"),
        ("are there fares at one way", "are there fare at one way", ""),
        ("at one o'clock", "at ti0 o'clock", "100:ti"),
        ("less than $1,000", "less than do0", "1000:do"),
        ("for 200 dollars", "for do0", "200:do"),
        ("delta flight 417", "al0 flight fn0", "417:fn dl:al"),
        ("does united 93 serve breakfast", "doe al0 fn0 serv breakfast", "93:fn ua:al"),
        ("how many seats in a 747", "how mani seat in a ac0", "747:ac"),
        ("on a boeing 73s", "on a boe ac0", "73s:ac"),
        ("what does fare code QW mean", "what doe fare code fb0 mean", "qw:fb"),
        ("what is class y", "what is class fb0", "y:fb"),
        ("explain restriction AP/57", "explain restrict rc0", "ap/57:rc"),
        ("early evening international flights", "earli even intern flight", ""),
        ("flihgts from bostn to philadelpia", "flight from ci0 to ci1", "boston:ci philadelphia:ci"),
        ("from los angelos", "from ci0", "los_angeles:ci"),
        ("please show me the flights from ap0", "pleas show me the flight from ap0", ""),  # numbered already
    ],
)
def test_a_question_is_read_as_the_files_would_have_it(typed, words, named):
    reading = READER.read(typed)
    assert " ".join(reading.words) == words
    assert sorted(reading.names.values()) == named.split()
    for token, name in reading.names.items():
        assert token[:2] == name.rpartition(":")[2]
        assert f"{token} stands for" in " ".join(reading.notes)


def test_what_stands_for_a_name_remembers_what_was_typed():
    reading = READER.read("from New York to BOSTON after 6 pm")
    assert dict(zip(reading.words, reading.said, strict=True))["ci0"] == "New York"
    assert reading.notes[-3:] == (
        "ci0 stands for 'New York'",
        "ci1 stands for 'BOSTON'",
        "ti0 stands for '6 pm'",
    )


def test_the_names_of_a_form_get_numbers():
    tokens, named = number_form(FORM_OF_NAMES.split())
    assert " ".join(tokens) == "( and ( from $0 ci0 ) ( to $0 ci0 ) ( day $0 da0 ) late:pd )"
    assert named == {"ci0": "boston:ci", "da0": "monday:da"}
    assert number_form(["(", "from", "$0", "ci1", ")"]) == (["(", "from", "$0", "ci1", ")"], {})


@given(st.lists(st.one_of(st.sampled_from(MIX.split()), st.text())))
def test_names_lie_in_order_and_apart(words):
    words = [word for word in words if word]
    end = 0
    for name in find_names(words, words):
        assert end <= name.start < name.end <= len(words)
        assert NAMED.fullmatch(name.entity)
        assert tokenize(name.entity) == [name.entity], "one token of a form"
        end = name.end


@given(st.text())
def test_no_text_breaks_the_reader(text):
    try:
        READER.read(text)
    except InputError:
        assert not any(character.isalnum() for character in text)


def test_every_name_of_the_list_has_a_kind_and_can_be_found():
    for entity in names().entities:
        assert NAMED.fullmatch(entity)
        for phrase in names().phrases(entity):
            assert names().match(phrase)
            assert all(re.fullmatch(r"[a-z0-9'.]+", word) for word in phrase)


def test_the_kinds_are_those_of_the_ontology(benchmark_data):
    declared = set(read_ontology(benchmark_data / "atis" / "atis_ontology.txt").entity_types)
    assert set(KINDS) < declared


def test_the_stemmer_is_the_one_of_the_files(benchmark_data):
    splits = load_examples(open_domain("atis"), dev_seed=1)
    words = {word for example in splits.train + splits.dev + splits.test for word in example.query or ()}
    assert {stem(word) for word in WHOLE.split()} <= words
    assert {word for word in words if word.isalpha() and stem(word) != word} <= set(SPOILED.split())


def test_cities_are_numbered_by_the_words_in_their_names(benchmark_data):
    """The names are gone, but `city` behind a number tells of `new york city`: two words, where most have one."""
    splits = load_examples(open_domain("atis"), dev_seed=1)
    texts = [" ".join(example.query or ()) for example in splits.train + splits.dev + splits.test]
    first, later = (sum(len(re.findall(rf"\b{city} citi\b", text)) for text in texts) for city in ("ci0", "ci[1-9]"))
    assert first > 5 * later > 0
    reversed_ones = [text for text in texts if re.search(r"\bci1\b.*\bci0\b", text)]
    assert len(reversed_ones) > 0.1 * len(texts), "so not by where they stand"
    for kind in ("da", "ti", "al", "dn"):
        assert not any(re.search(rf"^(?!.*\b{kind}0\b.*\b{kind}1\b).*\b{kind}1\b.*\b{kind}0\b", text) for text in texts)


def test_dev_and_test_queries_read_as_themselves_but_for_unknown_words(benchmark_data):
    domain = open_domain("atis")
    splits = load_examples(domain, dev_seed=1)
    read = reader(Vocab.build(example.query for example in splits.train), domain)
    other = [e.query for e in splits.dev + splits.test if read.read(" ".join(e.query or ())).words != e.query]
    assert len(other) <= 0.01 * len(splits.dev + splits.test)


@pytest.fixture(scope="module")
def untrained(benchmark_data, tmp_path_factory) -> Parser:
    """A run whose agents have learned nothing: what goes in and comes out does not depend on that."""
    run = Run(tmp_path_factory.mktemp("atis"))
    recipe = make_recipe({"domain": "atis", "model": {"embedding": 8, "hidden": 8}, "search": {"max_length": 8}})
    domain = open_domain("atis")
    train = load_examples(domain, dev_seed=1).train
    query, lf = Vocab.build(e.query for e in train), Vocab.build(e.lf for e in train)
    run.save_recipe(recipe)
    run.save_vocab("query", query)
    run.save_vocab("lf", lf)
    for direction in ("q2lf", "lf2q"):
        model = new_agent(recipe, direction, query, lf, domain).model
        model.initialize(generator=torch.Generator().manual_seed(1))
        if direction == "q2lf":
            model.gate.bias.data.fill_(-20.0)  # it copies what it can
        run.save_weights(direction, model, metadata={})
    return load(run.folder)


QUESTION = "Show me flights from Boston to Denver"
FORM = "( lambda $0 e ( and ( flight $0 ) ( from $0 boston:ci ) ( to $0 denver:ci ) ) )"


def test_names_go_into_an_explanation_and_come_back(untrained):
    told = untrained.explain(QUESTION, FORM)
    assert " ".join(told.tokens) == FORM
    assert told.words == ("show", "me", "flight", "from", "ci0", "to", "ci1")
    assert told.said[4] == "Boston"
    place = told.tokens.index("boston:ci")
    assert Copy(place, (4,)) in told.copies
    assert told == untrained.explain(QUESTION, FORM.replace("boston:ci", "ci0").replace("denver:ci", "ci1"))


def test_names_come_back_in_forms(untrained):
    best = untrained.parse(QUESTION, k=5)
    assert any("boston:ci" in parse.form or "denver:ci" in parse.form for parse in best)
    assert not any("ci0" in parse.form.split() for parse in best)
    assert best[0].notes == ("ci0 stands for 'Boston'", "ci1 stands for 'Denver'")


def test_a_form_with_names_is_worded(untrained):
    tokens, spoken = untrained.read_form("( from $0 new_york:ci )")
    assert tokens == ["(", "from", "$0", "ci0", ")"]
    assert spoken == {"ci0": "new york"}
    assert untrained.verbalize("( lambda $0 e ( from $0 new_york:ci ) )")
