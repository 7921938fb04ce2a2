"""Reader and printer: round trip, errors with position and reason, limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.sexpr import MAX_CHARACTERS, MAX_DEPTH, MAX_TOKENS, read, read_tokens, tokenize, write

ATOMS = st.text(alphabet="abc$0:._-!<=", min_size=1, max_size=5).filter(lambda atom: atom != "!")
TREES = st.recursive(ATOMS, lambda inner: st.lists(inner, min_size=1, max_size=4).map(tuple), max_leaves=30)
SOUP = st.lists(st.sampled_from(["(", ")", "a", "!", "$0", "()", "((", "a)"]), max_size=30).map(" ".join)


@given(TREES)
def test_reading_what_was_written_gives_the_same_tree(tree):
    assert read(write(tree)) == tree


@given(SOUP)
def test_any_text_is_a_tree_that_round_trips_or_a_syntax_error(text):
    try:
        tree = read(text)
    except LFSyntaxError as error:
        assert error.reason
    else:
        assert read(write(tree)) == tree
        assert write(tree).split() == tokenize(text)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("ci0", "ci0"),
        ("( a )", ("a",)),
        ("(a (b c) d)", ("a", ("b", "c"), "d")),
        ("  ( a\t( b )\n)  ", ("a", ("b",))),
        ("( string ! type )", ("string", "!type")),
        ("( string ! = )", ("string", "!=")),
    ],
)
def test_reading(text, tree):
    assert read(text) == tree


@pytest.mark.parametrize(
    ("text", "reason", "position"),
    [
        ("", "empty form", None),
        ("   ", "empty form", None),
        ("( )", "empty list", 1),
        ("( a ( ) )", "empty list", 3),
        ("( a", "missing closing parenthesis for the one opened at token 1", 2),
        ("( a ( b )", "missing closing parenthesis for the one opened at token 1", 5),
        (")", "closing parenthesis without an opening one", 0),
        ("( a ) )", "closing parenthesis without an opening one", 3),
        ("a )", "closing parenthesis without an opening one", 1),
        ("( a ) b", "'b' after the form's end", 3),
        ("a b", "'b' after the form's end", 1),
        ("( a ) ( b )", "'(' after the form's end", 3),
    ],
)
def test_errors_name_position_and_reason(text, reason, position):
    with pytest.raises(LFSyntaxError) as caught:
        read(text)
    assert (caught.value.reason, caught.value.position) == (reason, position)


def nested(depth: int) -> str:
    return "( " * depth + "a" + " )" * depth


def test_depth_limit():
    assert write(read(nested(MAX_DEPTH))) == nested(MAX_DEPTH)
    with pytest.raises(LFSyntaxError, match=f"nested deeper than {MAX_DEPTH}"):
        read(nested(MAX_DEPTH + 1))


def test_many_shallow_lists_are_not_deep():
    tree = ("and", *[("p", "$0")] * (MAX_DEPTH + 5))
    assert read(write(tree)) == tree


def test_token_limit():
    fits = "( " + "a " * (MAX_TOKENS - 2) + ")"
    assert len(read(fits)) == MAX_TOKENS - 2
    with pytest.raises(LFSyntaxError, match=f"more than {MAX_TOKENS} tokens"):
        read("( " + "a " * (MAX_TOKENS - 1) + ")")


@pytest.mark.parametrize("text", ["(" * 1_000_000, "( " * 1_000_000, "a" * 1_000_000, ")" * 1_000_000])
def test_a_million_parentheses_are_refused_unsplit(text):
    with pytest.raises(LFSyntaxError, match=f"longer than {MAX_CHARACTERS} characters"):
        read(text)


def test_endless_tokens_are_refused():
    def endless():
        while True:
            yield "("

    with pytest.raises(LFSyntaxError, match="more than"):
        read_tokens(endless())


def test_tokens_of_any_iterable():
    assert read_tokens(iter(["(", "a", ")"])) == read_tokens(("(", "a", ")")) == ("a",)


def test_printing_does_not_recurse():
    tree = "a"
    for _ in range(5_000):
        tree = (tree,)
    assert write(tree).count("(") == 5_000


def test_benchmark_forms_round_trip(benchmark_data):
    for path in [*benchmark_data.glob("atis/*.tsv"), *benchmark_data.glob("overnight/*_t*.tsv")]:
        for line in path.read_text(encoding="utf-8").splitlines():
            form = line.split("\t")[1]
            assert write(read(form)) == form.replace("! ", "!")
