"""The lexicon: matching, mapping, choosing a phrase, reading files."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.domains.lexicon import Collision, Lexicon, Mention, read_lexicon
from dualparse.errors import InputError


def lexicon(*entries: str) -> Lexicon:
    """Entries written as `late night=late_night`."""
    return Lexicon([(tuple(phrase.split()), entity) for phrase, entity in (entry.split("=") for entry in entries)])


@pytest.mark.parametrize(
    ("entries", "query", "mapped"),
    [
        (["late=L", "late night=N"], "a late night walk", "a N N walk"),
        (["a b=AB", "b c d=BCD"], "a b c d", "a BCD BCD BCD"),  # the longer one wins though it starts later
        (["a b=AB", "b c=BC"], "a b c", "AB AB c"),  # equally long: the left one
        (["a b=AB", "b c d=BCD", "a=A"], "a b c d", "A BCD BCD BCD"),  # the short one fits beside the long one
        (["a=A"], "a a b a", "A A b A"),
        (["a b=AB"], "a", "a"),
        ([], "a b", "a b"),
        (["a=A"], "", ""),
    ],
)
def test_longest_phrase_first_then_left_to_right(entries, query, mapped):
    assert lexicon(*entries).map_words(query.split()) == tuple(mapped.split())


def test_mentions_come_in_the_order_of_the_query():
    found = lexicon("a=A", "c d=CD").match(["a", "b", "c", "d"])
    assert found == [Mention(0, 1, "A"), Mention(2, 4, "CD")]


@given(
    st.lists(st.tuples(st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(tuple), st.sampled_from("XYZ"))),
    st.lists(st.sampled_from("abcd"), max_size=12),
)
def test_mentions_are_phrases_that_do_not_overlap(entries, words):
    book = Lexicon(entries)
    mentions = book.match(words)
    for mention in mentions:
        assert tuple(words[mention.start : mention.end]) in book.phrases(mention.entity)
    assert all(one.end <= other.start for one, other in zip(mentions, mentions[1:], strict=False))
    assert len(book.map_words(words)) == len(words)


def test_the_first_of_two_colliding_entries_wins_and_the_collision_is_reported():
    book = lexicon("late=L", "late=M", "late=L", "dusk=M")
    assert book.collisions == [Collision(("late",), kept="L", dropped="M")]
    assert str(book.collisions[0]) == "'late' means L and M; taken as L"
    assert book.map_words(["late"]) == ("L",)
    assert book.phrases("M") == (("late",), ("dusk",))  # still a way to say M
    assert len(book) == 3


def test_phrases_keep_the_order_of_the_file():
    book = lexicon("car=C", "rental car=C", "auto=C")
    assert book.phrases("C") == (("car",), ("rental", "car"), ("auto",))
    assert book.phrases("X") == ()
    assert book.entities == {"C"}


def test_the_phrase_in_the_paired_query_is_chosen_longest_first():
    book = lexicon("car=C", "rental car=C", "auto=C")
    query = ["a", "rental", "car"]
    assert {book.choose_phrase("C", query=query, rng=random.Random(seed)) for seed in range(20)} == {("rental", "car")}
    # a phrase must stand there as whole words in a row
    assert book.choose_phrase("C", query=["cars", "auto", "rental"], rng=random.Random(0)) == ("auto",)


@pytest.mark.parametrize("query", [None, ["nothing", "here"]])
def test_without_a_phrase_in_the_query_any_is_drawn_with_the_generator(query):
    book = lexicon("car=C", "rental car=C", "auto=C")
    drawn = [book.choose_phrase("C", query=query, rng=random.Random(seed)) for seed in range(40)]
    assert set(drawn) == set(book.phrases("C"))
    assert drawn == [book.choose_phrase("C", query=query, rng=random.Random(seed)) for seed in range(40)]


def test_an_entity_without_a_phrase_has_none():
    assert lexicon("car=C").choose_phrase("X", query=["car"], rng=random.Random(0)) is None


def test_an_empty_phrase_is_refused():
    with pytest.raises(ValueError, match="empty phrase for C"):
        Lexicon([((), "C")])


def test_reading_a_file(tmp_path):
    path = tmp_path / "lexicon.txt"
    path.write_text(
        "# periods\nlate night :- NP : late_night:pd\n\n  morn   :-  NP :  morning:pd\r\n", encoding="utf-8"
    )
    book = read_lexicon(path)
    assert book.phrases("late_night:pd") == (("late", "night"),)
    assert book.phrases("morning:pd") == (("morn",),)


BAD_LINES = [
    "late night",
    "late : NP : x",
    " :- NP : x",
    "late :- VP : x",
    "late :- NP :",
    "late :- NP : x y",
    "late :- x",
]


@pytest.mark.parametrize("line", BAD_LINES)
def test_a_malformed_line_is_an_error_with_file_and_line(tmp_path, line):
    path = tmp_path / "lexicon.txt"
    path.write_text(f"car :- NP : C\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match="expected 'phrase :- NP : entity'") as caught:
        read_lexicon(path)
    assert (caught.value.path, caught.value.line) == (path, 2)


def test_every_problem_can_be_collected(tmp_path):
    path = tmp_path / "lexicon.txt"
    path.write_bytes("\n".join([*BAD_LINES, "car :- NP : C", ""]).encode() + b"\xff\n")
    problems: list[InputError] = []
    book = read_lexicon(path, report=problems.append)
    assert [problem.line for problem in problems] == [*range(1, len(BAD_LINES) + 1), len(BAD_LINES) + 2]
    assert book.entities == {"C"}


def test_benchmark_lexicons_read_without_collisions(benchmark_data):
    paths = sorted(benchmark_data.glob("*/*_lexicon.txt"))
    assert len(paths) == 9
    for path in paths:
        assert read_lexicon(path).collisions == []
