"""Questions as people type them: what is read, what is told, what never breaks."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.data.examples import load_examples
from dualparse.data.vocab import Vocab
from dualparse.domains import overnight
from dualparse.domains.domain import Domain
from dualparse.domains.embedded import EMBEDDED, FAMILY
from dualparse.domains.numerals import find_numerals
from dualparse.domains.registry import open_domain
from dualparse.domains.text import MAX_WORDS, Reader
from dualparse.errors import InputError
from dualparse.use.api import reader

KNOWN = """
the which huts hut trail trails have has more than beds is long on at open whats dont id family friendly email cafe
forty five 2nd 40 km m pass between cost costs , season stopping
"""
VOCABULARY = KNOWN.split()
PHRASES = [
    ("marmot", "hut"),
    ("marmot",),
    ("old", "salt", "road"),
    ("rotzahn",),
    ("blue", "lake"),
    ("bern",),
    ("moth",),
    ("ac/dc",),
]
READER = Reader(VOCABULARY, PHRASES)


def words(text: str) -> str:
    return " ".join(READER.read(text).words)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("Which HUTS have beds?", "which huts have beds"),
        ("  «which»  huts\t(the)\n", "which huts the"),
        ("which huts , which trails", "which huts , which trails"),  # a comma that is a known word
        ("which huts, which trails", "which huts which trails"),
        ("what\u2019s open", "whats open"),
        ("I'd", "id"),
        ("the hut's beds", "the huts beds"),
        ("family-friendly trails", "family friendly trails"),
        ("e-mail", "email"),
        ("the caf\u00e9", "the cafe"),
        ("\uff57\uff48\uff49\uff43\uff48 huts", "which huts"),  # wide letters
        ("hu\u200bts", "huts"),  # a character nobody sees
        ("more than 10km", "more than 10 km"),
        ("more than 1,500m", "more than 1500 m"),
        ("more than $40", "more than 40"),
        ("at -5 m", "at -5 m"),
        ("at 2.5 km.", "at 2.5 km"),
        ("- the hut -", "the hut"),
        ("a lake-side hut, 5furlongs on", "a lake side hut five furlongs on"),
        ("code ap/57", "code ap/57"),
        ("AC/DC's huts", "ac/dc huts"),
        ("the ac-dc's huts", "the ac dc huts"),
        ("Rotzahn's huts", "rotzahn huts"),
        ("the Marmot Hut's beds", "the marmot hut beds"),
    ],
)
def test_case_punctuation_and_joints_do_not_matter(typed, expected):
    assert words(typed) == expected


@pytest.mark.parametrize(
    ("typed", "expected", "note"),
    [
        ("more than 5 beds", "more than five beds", "read '5' as 'five'"),
        ("more than forty beds", "more than forty beds", None),
        ("more than 40 beds", "more than 40 beds", None),
        ("more than forty five beds", "more than forty five beds", None),  # both words are known
        ("more than twenty five beds", "more than 25 beds", "read 'twenty five' as '25'"),
        ("more than twenty-five beds", "more than 25 beds", "read 'twenty five' as '25'"),
        ("more than two hundred and six", "more than 206", "read 'two hundred and six' as '206'"),
        ("the second hut", "the 2nd hut", "read 'second' as '2nd'"),
        (
            "the third hut",
            "the third hut",
            "never seen in training: 'third'",
        ),  # neither spelling is known, and nothing copies it
        ("more than 17 beds", "more than 17 beds", None),
    ],
)
def test_numbers_are_spelled_as_the_model_knows_them(typed, expected, note):
    assert words(typed) == expected
    assert READER.read(typed).notes == ((note,) if note else ())


@pytest.mark.parametrize(
    ("typed", "expected", "notes"),
    [
        ("is the marmott hut open", "is the marmot hut open", ["read 'marmott hut' as 'marmot hut'"]),
        ("is the mramot open", "is the marmot open", ["read 'mramot' as 'marmot'"]),
        ("the old slat road", "the old salt road", ["read 'old slat road' as 'old salt road'"]),
        ("the bleu lake", "the blue lake", ["read 'bleu lake' as 'blue lake'"]),
        ("the bleu huts", "the bleu huts", ["never seen in training: 'bleu'"]),  # short, and no phrase around it
        ("the fern", "the fern", ["never seen in training: 'fern'"]),
        ("whihc hutts", "which huts", ["read 'whihc' as 'which'", "read 'hutts' as 'huts'"]),
        ("famili-freindly", "family friendly", ["read 'famili' as 'family'", "read 'freindly' as 'friendly'"]),
        ("the moth in which month", "the moth in which month", ["never seen in training: 'in', 'month'"]),
        ("the month on the moths", "the month on the moths", ["never seen in training: 'month', 'moths'"]),
        ("the mott", "the mott", ["never seen in training: 'mott'"]),
        ("the motth", "the moth", ["read 'motth' as 'moth'"]),
        ("which clubs", "which clubs", ["never seen in training: 'clubs'"]),
        ("the huts's seasn", "the huts season", ["read 'seasn' as 'season'"]),
        ("the seson", "the season", ["read 'seson' as 'season'"]),
        ("the reason", "the reason", ["never seen in training: 'reason'"]),  # a word of its own: the initial differs
        ("hopping", "hopping", ["never seen in training: 'hopping'"]),
        ("xylophone zithers", "xylophone zithers", ["never seen in training: 'xylophone', 'zithers'"]),
    ],
)
def test_misspelt_words_are_read_as_known_ones_and_told(typed, expected, notes):
    assert words(typed) == expected
    assert list(READER.read(typed).notes) == notes


def test_numbers_in_words_are_read_in_digits_where_training_has_these():
    """ "five" stands in the vocabulary because of "forty five": that does not make "five km" known."""
    digits = Reader(["trails", "5", "10", "km", "forty", "five", "lakes", "three", "3"], [("three", "lakes")])
    assert digits.read("trails five km").words == ("trails", "5", "km")
    assert digits.read("trails five km").notes == ("read 'five' as '5'",)
    assert digits.read("three km").words == ("three", "km"), "the words are the more frequent ones"
    assert Reader(["3", "lakes", "three"], [("three", "lakes")]).read("three lakes").words == ("three", "lakes")


def test_known_words_are_never_touched():
    crowded = Reader(["trail", "trial", "train", "Mixed", "m\u00b2"], [("trails",)])
    for word in ("trail", "trial", "train", "trails", "Mixed", "m\u00b2"):
        assert crowded.read(word).words == (word,)
        assert crowded.read(word).notes == ()


def test_the_more_frequent_word_wins_among_equally_near_ones():
    assert Reader(["seasons", "seasoned"]).read("seasone").words == ("seasons",)
    assert Reader(["seasoned", "seasons"]).read("seasone").words == ("seasoned",)


def test_what_was_typed_stays_with_its_word():
    reading = READER.read("Is the Marmott hut, with twenty five beds, 10km on?")
    assert list(zip(reading.words, reading.said, strict=True)) == [
        ("is", "Is"),
        ("the", "the"),
        ("marmot", "Marmott"),
        ("hut", "hut"),
        ("with", "with"),
        ("25", "twenty five"),
        ("beds", "beds"),
        ("10", "10"),
        ("km", "km"),
        ("on", "on"),
    ]


@pytest.mark.parametrize(
    ("text", "message"), [("", "empty"), (" \n\t", "empty"), ("?!", "no words"), ("💧", "no words")]
)
def test_a_text_without_words_is_an_input_error(text, message):
    with pytest.raises(InputError, match=message):
        READER.read(text)


@pytest.mark.parametrize("text", ["hut " * 201, "the-" * 201 + "the", "hut " * 1_000_000])
def test_too_many_words_are_an_input_error(text):
    with pytest.raises(InputError, match=f"{MAX_WORDS} are the most"):
        READER.read(text)
    assert len(READER.read("hut " * MAX_WORDS).words) == MAX_WORDS


def test_a_long_word_is_no_trouble():
    assert READER.read("h" * 1_000_000).words == ("h" * 1_000_000,)
    assert READER.read("1" * 100_000 + "th").words


SPICES = st.sampled_from(["'", "’", "-", "/", ",", ".", "$", "5", "40", "th", "two", "hundred", "and", "marmott", " "])
TEXTS = st.one_of(st.text(), st.lists(st.one_of(SPICES, st.text(max_size=3)), max_size=30).map("".join))


@given(TEXTS)
def test_no_text_breaks_the_reader(text):
    try:
        reading = READER.read(text)
    except InputError as error:
        assert "words" in str(error) or not text.strip()
        return
    assert 0 < len(reading.words) == len(reading.said)
    for word in reading.words:
        assert word and not any(character.isspace() for character in word)
        assert word in READER._words or all(unicodedata.category(c) not in ("Cc", "Cs") for c in word)


@given(
    st.lists(st.sampled_from([*VOCABULARY, *(word for phrase in PHRASES for word in phrase)]), min_size=1, max_size=20)
)
def test_known_words_read_as_themselves(words):
    assert READER.read(" ".join(words)).words == tuple(words)
    assert READER.read(" ".join(words)).notes == ()


def training_queries_read_as_themselves(domain: Domain) -> None:
    splits = load_examples(domain, dev_seed=1)
    queries = [e.query for e in splits.train + splits.extra_queries if e.query]
    read = reader(Vocab.build(queries), domain)
    for query in queries:
        reading = read.read(" ".join(query))
        if domain.preparation is None and find_numerals(query) and reading.words != query:
            assert all(re.fullmatch(r"read '[a-z ]+' as '[0-9]+'", note) for note in reading.notes)
            continue
        assert reading.words == query
        assert reading.notes == ()
        assert reading.names == {}


@pytest.mark.parametrize("name", FAMILY.names)
def test_embedded_training_queries_read_as_themselves(name):
    assert (EMBEDDED / name).is_dir()
    training_queries_read_as_themselves(open_domain(name))


@pytest.mark.parametrize("name", ["atis", *overnight.DOMAINS])
def test_benchmark_training_queries_read_as_themselves(benchmark_data, name):
    training_queries_read_as_themselves(open_domain(name))
