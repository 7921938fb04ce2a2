"""The type checker: what passes, what fails, and that the reason names the culprit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.lf.sexpr import read
from dualparse.lf.typecheck import Ontology, check, check_text, read_ontology
from dualparse.lf.verdict import VALID

# A small railway: trains are things, everything else has entity tokens.
RAILWAY = Ontology.declare(
    entities={"ci": False, "st": False, "op": False, "co": False, "zo": False, "ti": True, "eu": True, "i": True},
    unary=["train", "direct", "sleeper", "ticket"],
    cats=[("city", "ci"), ("station", "st"), ("operator", "op"), ("tariff", "zo"), ("tariff", "co")],
    binary=[
        ("train", "from", "ci"),
        ("train", "from", "st"),
        ("train", "to", "ci"),
        ("train", "to", "st"),
        ("train", "leaves", "ti"),
        ("train", "price", "eu"),
        ("train", "operator", "op"),
        ("train", "cars", "i"),
        ("st", "in", "ci"),
        ("ci", "in", "co"),
        ("op", "partner", "op"),
        ("co", "zone", "zo"),
        ("ci", "zone", "i"),
    ],
)

GOOD = [
    "ci0",
    "berlin:ci",
    "( lambda $0 e ( and ( train $0 ) ( from $0 ci0 ) ( to $0 st0 ) ) )",
    "( lambda $0 e ( and ( or ( direct $0 ) ( sleeper $0 ) ) ( not ( from $0 ci0 ) ) ) )",
    "( lambda $0 e ( exists $1 ( and ( train $1 ) ( = ( price $1 ) $0 ) ) ) )",
    "( lambda $0 e ( and ( station $0 ) ( exists $1 ( to $1 $0 ) ) ( not ( exists $1 ( from $1 $0 ) ) ) ) )",
    "( lambda $0 e ( exists $1 ( lambda $2 e ( and ( from $2 $0 ) ( to $2 $1 ) ) ) ) )",
    "( lambda $0 e ( lambda $1 i ( and ( operator $0 ) ( = $1 ( count $2 ( operator $2 $0 ) ) ) ) ) )",
    "( argmin $0 ( and ( train $0 ) ( from $0 ci0 ) ) ( leaves $0 ) )",
    "( argmax $0 ( operator $0 ) ( count $1 ( and ( train $1 ) ( operator $1 $0 ) ) ) )",
    "( max $0 ( exists $1 ( and ( train $1 ) ( = ( price $1 ) $0 ) ) ) )",
    "( count $0 ( train $0 ) )",
    "( sum $0 ( train $0 ) ( price $0 ) )",
    "( lambda $0 e ( < ( leaves $0 ) 9:00:ti ) )",
    "( lambda $0 e ( > ( leaves $0 ) ( leaves ( the $1 ( and ( train $1 ) ( operator $1 op0 ) ) ) ) ) )",
    "( leaves ( argmin $0 ( train $0 ) ( price $0 ) ) )",
    "( direct ( argmin $0 ( train $0 ) ( price $0 ) ) )",
    "( = op0 ( partner op1 ) )",
    "( in st0 ci0 )",
    "( lambda $0 e ( partner $0 $0 ) )",
    "( lambda $0 e ( < ( price $0 ) ( sum $1 ( train $1 ) ( price $1 ) ) ) )",
    "( lambda $0 e ( exists $1 ( and ( train $1 ) ( = ( tariff $1 ) $0 ) ) ) )",
]

BAD = [
    # surface
    ("( lambda $0 e ( train $0 )", "missing closing parenthesis"),
    ("( lambda $0 e ( train $0 ) ) ci0", "'ci0' after the form's end"),
    ("", "empty form"),
    # argument types
    ("( lambda $0 e ( from $0 ti0 ) )", "from takes ci or st as argument 2, but ti0 is ti"),
    ("( lambda $0 e ( from ci0 $0 ) )", "from takes train as argument 1, but ci0 is ci"),
    ("( in ci0 ci1 )", "in takes co as argument 2 after ci, but ci1 is ci"),
    ("( lambda $0 e ( < ( leaves $0 ) eu0 ) )", "< takes ti as argument 2, but eu0 is eu"),
    ("( lambda $0 e ( = ( price $0 ) ( leaves $0 ) ) )", "= takes eu as argument 2, but ( leaves $0 ) is ti"),
    ("( lambda $0 e ( < ( operator $0 ) op0 ) )", "as argument 1, but ( operator $0 ) is op"),
    (
        "( argmin $0 ( train $0 ) ( operator $0 ) )",
        "argmin takes ti or eu or i as argument 3, but ( operator $0 ) is op",
    ),
    ("( lambda $0 e ( = ( price $0 ) ( count $1 ( train $1 ) ) ) )", "but ( count $1 ( train $1 ) ) is i"),
    ("( leaves ci0 )", "leaves takes train as argument 1, but ci0 is ci"),
    # number of arguments
    ("( lambda $0 e ( from $0 ci0 ci1 ) )", "too many arguments: from takes 2 arguments here; found 3"),
    ("( lambda $0 e ( from $0 ) )", "too few arguments: from takes 2 arguments here; found 1"),
    ("( lambda $0 e ( operator ) )", "too few arguments: operator takes 1 or 2 arguments here; found 0"),
    ("( lambda $0 e ( train $0 $0 ) )", "too many arguments: train takes 1 argument here; found 2"),
    ("( argmin $0 ( train $0 ) ( price $0 eu0 ) )", "too many arguments: price takes 1 argument here; found 2"),
    ("( lambda $0 e )", "too few arguments: lambda takes a variable, a type, a statement; found 2"),
    ("( lambda $0 )", "too few arguments: lambda"),
    ("( argmin $0 ( train $0 ) )", "too few arguments: argmin"),
    ("( count $0 ( train $0 ) ( price $0 ) )", "too many arguments: count"),
    ("( and )", "too few arguments: and"),
    ("( lambda $0 e ( not ( train $0 ) ( direct $0 ) ) )", "too many arguments: not"),
    # names
    ("( lambda $0 e ( form $0 ci0 ) )", "unknown predicate 'form'"),
    ("( form ci0 )", "unknown predicate 'form'"),
    ("( lambda $0 e ( = ( form $0 ) ci0 ) )", "unknown predicate 'form'"),
    ("( lambda $0 e ( ( train ) $0 ) )", "a list stands where a predicate should in ( ( train ) $0 )"),
    ("( lambda $0 e ( from $0 zz0 ) )", "unknown entity 'zz0'"),
    ("( lambda $0 e ( from $0 city ) )", "'city' is a predicate, not an entity"),
    ("berlin", "unknown entity 'berlin'"),
    ("( lambda $0 z ( train $0 ) )", "unknown type 'z' of $0"),
    # variables
    ("( lambda $0 e ( from $1 ci0 ) )", "unbound variable $1"),
    ("$0", "unbound variable $0"),
    ("( and ( exists $0 ( train $0 ) ) ( direct $0 ) )", "unbound variable $0"),
    ("( lambda $0 e ( and ( train $0 ) ( station $0 ) ) )", "variable $0 is used with two types"),
    ("( lambda $0 e ( exists $1 ( and ( to $0 $1 ) ( leaves $0 $1 ) ) ) )", "variable $1 is used with two types"),
    (
        "( lambda $0 i ( train $0 ) )",
        "variable $0 is used with two types: train takes train as argument 1, but $0 is i",
    ),
    ("( max $0 ( station $0 ) )", "variable $0 is used with two types"),
    ("( lambda $0 e ( from $0 $0 ) )", "variable $0 is used with two types"),
    ("( lambda $0 e ( in $0 $0 ) )", "variable $0 is used with two types"),
    (
        "( lambda $0 e ( exists $1 ( exists $2 ( and ( = $0 $1 ) ( = $1 $2 ) ( train $0 ) ( station $2 ) ) ) ) )",
        "variable $2 is used with two types",
    ),
    ("( lambda $0 e ( exists $0 ( train $0 ) ) )", "variable $0 is bound twice"),
    ("( lambda train e ( train $0 ) )", "lambda needs a variable, not train"),
    ("( lambda $0 e ( exists $1 ( train $0 ) ) )", "variable $1 of exists is never used"),
    ("( lambda $0 e ( argmin $1 ( train $0 ) ( price $1 ) ) )", "argmin gives no statement"),
    ("( argmin $0 ( direct ( the $1 ( train $1 ) ) ) ( price $0 ) )", "variable $0 of argmin is never used"),
    ("( argmin $0 ( train $0 ) ( price ( the $1 ( train $1 ) ) ) )", "variable $0 of argmin is never used"),
    # statements and values
    ("( lambda $0 e $0 )", "'$0' is not a statement"),
    ("( lambda $0 e ( and ( train $0 ) ci0 ) )", "'ci0' is not a statement"),
    ("( lambda $0 e ( from $0 ( and ( train $0 ) ) ) )", "and gives no value"),
    ("( lambda $0 e ( from ( train $0 ) ci0 ) )", "train gives no value in ( train $0 )"),
    ("( lambda $0 e ( and ( train $0 ) ( count $1 ( train $1 ) ) ) )", "count gives no statement"),
    ("( lambda $0 e ( and ( train $0 ) ( lambda $1 e ( train $1 ) ) ) )", "lambda gives no statement"),
    ("( lambda $0 e ( and ( exists $1 ( lambda $2 e ( from $2 $1 ) ) ) ( train $0 ) ) )", "lambda gives no statement"),
    ("( lambda $0 e ( and ( train $0 ) ( operator op0 ) ) )", "( operator op0 ) says nothing: op0 has that type"),
]


@pytest.mark.parametrize("form", GOOD)
def test_good_forms_pass(form):
    assert check_text(form, RAILWAY) == check(read(form), RAILWAY) == VALID


@pytest.mark.parametrize(("form", "reason"), BAD)
def test_bad_forms_fail_with_a_reason(form, reason):
    verdict = check_text(form, RAILWAY)
    assert not verdict.ok
    assert reason in verdict.reason


def test_the_verdict_is_graded():
    broken, senseless = check_text("( train", RAILWAY), check_text("( lambda $0 e ( train ci0 ) )", RAILWAY)
    assert (broken.surface, broken.semantics) == (False, False)
    assert (senseless.surface, senseless.semantics) == (True, False)


def test_an_overloaded_relation_is_decided_by_a_later_predicate():
    # `in` relates station to city and city to country; what $1 is decides what $0 is, whichever comes first.
    head = "( lambda $0 e ( exists $1 ( and ( in $0 $1 ) "
    assert check_text(head + "( city $1 ) ( station $0 ) ) ) )", RAILWAY).ok
    assert check_text(head + "( city $0 ) ) ) )", RAILWAY).ok
    assert not check_text(head + "( city $1 ) ( city $0 ) ) ) )", RAILWAY).ok


def test_what_is_learnt_late_travels_back_along_a_chain():
    # $2 is a number, so `zone` makes $1 a city and `in` makes $0 a station: not a city.
    chain = (
        "( lambda $0 e ( exists $1 ( exists $2 ( and ( in $0 $1 ) ( zone $1 $2 ) ( cars ( the $3 ( train $3 ) ) $2 )"
    )
    assert check_text(chain + " ( station $0 ) ) ) ) )", RAILWAY).ok
    assert not check_text(chain + " ( city $0 ) ) ) ) )", RAILWAY).ok


def test_trees_that_no_text_gives_are_refused():
    deep = ("train", "$0")
    for _ in range(10_000):
        deep = ("not", deep)
    assert "nested deeper" in check(deep, RAILWAY).reason
    assert (
        check(("and", ()), RAILWAY).reason == check(("lambda", "$0", "e", ""), RAILWAY).reason == "empty list or atom"
    )


WORDS = "lambda exists and or not = < argmax min count sum the $0 $1 e i train from in price city ci0 9:ti x"
SOUP = st.lists(st.sampled_from(["(", ")", "(", ")", *WORDS.split(" ")]), max_size=40).map(" ".join)
ATOMS = st.sampled_from(WORDS.split(" "))
TREES = st.recursive(ATOMS, lambda inner: st.lists(inner, min_size=1, max_size=4).map(tuple), max_leaves=25)


@given(SOUP)
def test_any_token_soup_gets_a_verdict(text):
    verdict = check_text(text, RAILWAY)
    assert verdict.ok == (verdict.reason == "")
    assert verdict.surface or not verdict.semantics


@given(TREES)
def test_any_tree_gets_a_verdict(tree):
    verdict = check(tree, RAILWAY)
    assert verdict.surface
    assert verdict.semantics == (verdict.reason == "")


FAILING_GOLD = "( argmin $0 ( and ( airport $0 ) ( loc:t $0 ci0 ) ) ( miles_distant $0 ci0 ) )"


def test_all_gold_forms_pass_but_one(benchmark_data):
    ontology = read_ontology(benchmark_data / "atis" / "atis_ontology.txt")
    failing = set()
    for split in ("train", "dev", "test", "extra"):
        for line in (benchmark_data / "atis" / f"atis_{split}.tsv").read_text(encoding="utf-8").splitlines():
            form = line.split("\t")[1]
            verdict = check_text(form, ontology)
            if not verdict.ok:
                failing.add((form, verdict.reason))
    assert failing == {(FAILING_GOLD, "too many arguments: miles_distant takes 1 argument here; found 2")}
