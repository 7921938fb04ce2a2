"""Order-free normal form: what it forgives and what it does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.lf.canonical import normalize, normalize_text
from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.sexpr import MAX_DEPTH

ATOMS = st.sampled_from(["and", "or", "not", "p", "q", "$0", "$1", "a"])
TREES = st.recursive(ATOMS, lambda inner: st.lists(inner, min_size=1, max_size=4).map(tuple), max_leaves=30)


def shuffled(tree, rng):
    """The tree with the arguments of every `and` / `or` in another order."""
    if isinstance(tree, str):
        return tree
    parts = [shuffled(part, rng) for part in tree]
    if parts[0] in ("and", "or"):
        arguments = parts[1:]
        rng.shuffle(arguments)
        parts[1:] = arguments
    return tuple(parts)


@given(TREES, st.randoms(use_true_random=False))
def test_order_of_and_or_arguments_does_not_matter(tree, rng):
    assert normalize(shuffled(tree, rng)) == normalize(tree)


@given(TREES)
def test_normal_form_is_its_own_normal_form(tree):
    assert normalize(normalize(tree)) == normalize(tree)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("( from $0 a )", "( from a $0 )"),
        ("( and ( p $0 ) ( p $0 ) )", "( and ( p $0 ) )"),
        ("( lambda $0 e ( p $0 ) )", "( lambda $1 e ( p $1 ) )"),
        ("( and ( or a b ) c )", "( and ( or a c ) b )"),
        ("( concat a b )", "( concat b a )"),
    ],
)
def test_other_differences_stay(one, other):
    assert normalize_text(one) != normalize_text(other)


def test_sorts_inner_before_outer():
    assert normalize_text("( and ( or z a ) ( or b y ) )") == "( and ( or a z ) ( or b y ) )"
    assert normalize_text("( and ( or z c ) ( or b y ) )") == "( and ( or b y ) ( or c z ) )"


def test_bad_text_is_a_syntax_error():
    with pytest.raises(LFSyntaxError):
        normalize_text("( and ( p $0 )")


def test_a_tree_deeper_than_any_text_is_an_error_not_a_crash():
    tree = "a"
    for _ in range(50 * MAX_DEPTH):
        tree = ("not", tree)
    with pytest.raises(LFSyntaxError, match="nested deeper"):
        normalize(tree)


@pytest.mark.parametrize("form", ["( and z ! )", "!", "( a ! ( b ) )", "( or ( ! ) b )"])
def test_an_exclamation_mark_alone_is_no_atom(form):
    """Sorted to another place it would join the atom behind it, and the normal form be another form."""
    with pytest.raises(LFSyntaxError, match="without an atom"):
        normalize_text(form)


@given(st.lists(st.sampled_from(["(", ")", "and", "or", "!", "!a", "b", "c"]), max_size=12).map(" ".join))
def test_the_normal_form_of_any_text_is_its_own_normal_form(text):
    try:
        normal = normalize_text(text)
    except LFSyntaxError:
        return
    assert normalize_text(normal) == normal
