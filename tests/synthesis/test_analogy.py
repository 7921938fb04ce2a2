"""Pairs made by analogy."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.data.examples import Example, labeled_split, load_examples
from dualparse.domains.registry import open_domain
from dualparse.lf.recombine import places
from dualparse.lf.sexpr import read, write
from dualparse.lf.verdict import VALID, Verdict
from dualparse.synthesis.analogy import by_analogy
from dualparse.synthesis.analogy.changes import MOST, Change, _alike, learned, read_pairs
from dualparse.synthesis.analogy.pairs import Spot, Usage


def example(query: str, form: str) -> Example:
    return Example(tuple(query.split()), tuple(form.split()))


def flights(query: str, *conditions: str) -> Example:
    return example(query, f"( lambda $0 e ( and {' '.join(f'( {each} )' for each in conditions)} ) )")


def made_of(*examples: Example, check=lambda form: VALID, n: int = 100, seed: int = 1) -> dict[str, str]:
    made = by_analogy(examples, check, n=n, seed=seed, patience=300)
    return {" ".join(pair.query): " ".join(pair.lf) for pair in made}


TO = flights("flights to ci0", "flight $0", "to $0 ci0")
TO_ON = flights("flights to ci0 on da0", "flight $0", "to $0 ci0", "day $0 da0")
NONSTOP = flights("nonstop flights from ci0", "nonstop $0", "flight $0", "from $0 ci0")
NONSTOP_ON = "( lambda $0 e ( and ( nonstop $0 ) ( flight $0 ) ( from $0 ci0 ) ( day $0 da0 ) ) )"


def test_words_that_added_a_condition_add_it_elsewhere():
    assert made_of(TO, TO_ON, NONSTOP) == {"nonstop flights from ci0 on da0": NONSTOP_ON}


def test_a_condition_is_about_what_the_form_is_about():
    fares = example("fares from ci0", "( lambda $0 e ( exists $1 ( and ( from $1 ci0 ) ( = ( fare $1 ) $0 ) ) ) )")
    assert made_of(TO, TO_ON, fares) == {
        "fares from ci0 on da0": (
            "( lambda $0 e ( exists $1 ( and ( from $1 ci0 ) ( = ( fare $1 ) $0 ) ( day $1 da0 ) ) ) )"
        )
    }


def test_words_are_exchanged_along_with_what_they_mean():
    late = flights("the late flights to ci0", "late $0", "to $0 ci0")
    early = flights("the early flights to ci0", "early $0", "to $0 ci0")
    more = flights("give me the late flights on al0", "airline $0 al0", "late $0")
    assert made_of(late, early, more) == {
        "give me the early flights on al0": "( lambda $0 e ( and ( airline $0 al0 ) ( early $0 ) ) )"
    }


def test_parts_of_nested_forms_are_exchanged_and_wrapped():
    huts = example("all the huts", "( list ( all hut ) )")
    open_huts = example("all the open huts", "( list ( filter ( all hut ) open ) )")
    count = example("count the huts here", "( count ( near ( all hut ) ) )")
    peaks = example("all the peaks", "( list ( all peak ) )")
    made = made_of(huts, open_huts, count, peaks)
    assert made["count the open huts here"] == "( count ( near ( filter ( all hut ) open ) ) )"
    assert made["count the peaks here"] == "( count ( near ( all peak ) ) )"
    assert made["all the open peaks"] == "( list ( filter ( all peak ) open ) )"
    assert len(made) == 3  # no open open huts


def test_published_spelling_is_kept():
    forms = [f"( list ( get {each} ( string ! type ) ) )" for each in ("en.hut", "en.peak")]
    more = example("show the huts", "( show ( get en.hut ( string ! type ) ) )")
    made = made_of(example("all the huts", forms[0]), example("all the peaks", forms[1]), more)
    assert made == {"show the peaks": "( show ( get en.peak ( string ! type ) ) )"}


def test_a_new_name_gets_a_number_of_its_own():
    via = flights("flights to ci0 via ci1", "flight $0", "to $0 ci0", "stop $0 ci1")
    both = flights("nonstop flights from ci1 to ci0", "from $0 ci1", "to $0 ci0")
    query = "nonstop flights from ci1 to ci0 via ci2"
    assert made_of(TO, via, both, THREE_CITIES)[query].endswith("( stop $0 ci2 ) ) )")
    assert query not in made_of(TO, via, both), "nobody has ever named so many"


def test_names_of_one_side_alone_are_not_mixed_up_with_others():
    silent = flights("trains to ci1", "train $0", "from $0 ci0", "to $0 ci1")
    assert made_of(TO, TO_ON, silent)["trains to ci1 on da0"] == (
        "( lambda $0 e ( and ( train $0 ) ( from $0 ci0 ) ( to $0 ci1 ) ( day $0 da0 ) ) )"
    )
    exchange = [flights(f"flights on {name} to ci0", f"{what} $0 {name}", "to $0 ci0") for name, what in PLANES]
    made = made_of(*exchange, flights("flights on al0 to ci1 or ci2", "airline $0 al0", "to $0 ci1"))
    assert "flights on ac0 to ci0 or ci1" in made


def test_words_that_look_like_numbered_names_are_words():
    roads = [example(f"all the stops on {road}", f"( list ( stops {road} ) )") for road in ("m25", "a4")]
    more = example("count the stops on m25", "( count ( stops m25 ) )")
    assert made_of(*roads, more) == {"count the stops on a4": "( count ( stops a4 ) )"}


def test_a_condition_does_not_go_into_one_branch_of_an_or():
    legs = "( lambda $0 e ( or ( and ( flight $0 ) ( from $0 ci0 ) ) ( and ( flight $0 ) ( from $0 ci1 ) ) ) )"
    assert made_of(TO, TO_ON, example("flights from ci0 and flights from ci1", legs)) == {}


def test_what_a_nested_form_says_already_is_not_said_again():
    huts = [
        example("count the huts here", "( count ( all hut ) )"),
        example("count the huts here with a view", "( count ( filter ( all hut ) view ) )"),
        example("count the nice huts here", "( count ( filter ( filter ( all hut ) view ) warm ) )"),
    ]
    assert made_of(*huts) == {}
    assert "count the cheap huts here with a view" in made_of(
        *huts, example("count the cheap huts here", "( count ( filter ( all hut ) price < 30 ) )")
    )


def test_a_whole_form_can_become_a_part():
    huts = [example("show the huts", "( all hut )"), example("show the open huts", "( filter ( all hut ) open )")]
    made = made_of(*huts, example("show the huts below 35 euros", "( filter ( all hut ) price < 35 )"))
    (form,) = made.values()
    either = {
        "( filter ( filter ( all hut ) open ) price < 35 )",
        "( filter ( filter ( all hut ) price < 35 ) open )",
    }
    assert set(made) == {"show the open huts below 35 euros"} and form in either


def test_many_pairs_alike_do_not_take_for_ever():
    many = [example(f"show me the {n} trail", f"( get trail.{n} length )") for n in map(str, range(2_000))]
    assert {len(group) for group in _alike(read_pairs(many))} == {MOST}


def test_names_are_numbered_without_gaps_when_one_is_gone():
    on_airline = flights("flights on al0 to ci0", "airline $0 al0", "to $0 ci0")
    on_day = flights("flights on da0 to ci0", "day $0 da0", "to $0 ci0")
    two = flights("flights on al0 to ci0 like al1", "airline $0 al0", "to $0 ci0", "like $0 al1")
    form = made_of(on_airline, on_day, two)["flights on da0 to ci0 like al0"]
    assert form == "( lambda $0 e ( and ( day $0 da0 ) ( to $0 ci0 ) ( like $0 al0 ) ) )"


def test_pairs_alike_but_for_their_numbers_are_alike():
    one = flights("flights from ci0 to ci1", "from $0 ci0", "to $0 ci1")
    other = flights("flights from ci1 to ci0 on da0", "from $0 ci1", "to $0 ci0", "day $0 da0")
    found = learned(read_pairs([one, other]))
    assert list(found) == [Change((), ("on", "da0"), None, ("day", "$", "da0"), True, frozenset({"da0"}))]


def test_nothing_is_made_that_the_form_says_already_or_keeps_without_its_name():
    days = flights("trains from ci0", "train $0", "day $0 monday", "from $0 ci0")
    assert made_of(TO, TO_ON, days) == {}
    kept = flights("flights on al0 now", "airline $0 al0", "or $0 al0")
    exchange = [flights(f"flights on {name} to ci0", f"{what} $0 {name}", "to $0 ci0") for name, what in PLANES]
    assert not any(query.startswith("flights on ac0 now") for query in made_of(*exchange, kept))


THREE_CITIES = flights("a b c d e ci0 ci1 ci2", "x $0 ci0", "y $0 ci1", "z $0 ci2")
PLANES = [("al0", "airline"), ("ac0", "plane")]


def test_words_that_name_what_the_form_does_not_are_left_out():
    again = flights("flights from ci0 to ci1 leaving ci0 late", "from $0 ci0", "to $0 ci1", "late $0")
    plain = flights("flights from ci0 to ci1", "from $0 ci0", "to $0 ci1")
    trains = flights("trains from ci1 to ci0", "from $0 ci1", "to $0 ci0", "train $0")
    made = made_of(plain, again, trains, THREE_CITIES)  # where ci0 is another city
    assert "trains from ci0 to ci1 leaving ci0 late" in made
    assert not any(query.startswith("trains from ci1 to ci0 leaving") for query in made)


def test_what_is_no_tree_is_passed_over():
    assert made_of(TO, TO_ON, example("flights", "( lambda $0"), NONSTOP) == {
        "nonstop flights from ci0 on da0": NONSTOP_ON
    }


def test_words_that_mean_something_else_as_often_are_not_trusted():
    others = [
        flights("trains to ci0", "train $0", "to $0 ci0"),
        flights("trains to ci0 on da0", "train $0", "to $0 ci0", "return $0 da0"),
        flights("buses to ci0", "bus $0", "to $0 ci0"),
        flights("buses to ci0 on da0", "bus $0", "to $0 ci0", "arrival $0 da0"),
    ]
    assert made_of(TO, TO_ON, *others, NONSTOP) == {}


def test_words_are_put_between_words_they_were_seen_between_before_one_of_these_is_enough():
    inside = flights("flights from ci0 please", "flight $0", "from $0 ci0")
    assert set(made_of(TO, TO_ON, NONSTOP, inside, n=1)) == {"nonstop flights from ci0 on da0"}
    assert set(made_of(TO, TO_ON, NONSTOP, inside)) == {
        "nonstop flights from ci0 on da0",
        "flights from ci0 on da0 please",
        "flights from ci0 please on da0",
    }


def test_only_valid_forms_are_kept():
    def no_days(form: str) -> Verdict:
        return Verdict(surface=True, semantics="day" not in form)

    assert made_of(TO, TO_ON, NONSTOP, check=no_days) == {}


def test_conditions_stand_where_people_write_them():
    usage = Usage(read_pairs([example("flights", "( and ( flight $0 ) ( day $0 da0 ) ( from $0 ci0 ) )")]))
    form = read("( lambda $0 e ( and ( flight $0 ) ( from $0 ci0 ) ) )")
    put = usage.put(form, Spot(places(form)[0]), ("day", "$", "da0"))
    assert put is not None and write(put) == "( lambda $0 e ( and ( flight $0 ) ( day $0 da0 ) ( from $0 ci0 ) ) )"


PHRASES = {
    "late": "late $0",
    "on da0": "day $0 da0",
    "with dinner": "meal $0",
    "below do0": "< $0 do0",
    "to ci0": "to $0 ci0",
}


@given(st.sets(st.integers(0, 2 ** len(PHRASES) - 1), min_size=2), st.integers(0, 5), st.integers(1, 30))
def test_in_a_language_without_exceptions_all_that_is_made_is_right(chosen, seed, n):
    subsets = [s for size in range(len(PHRASES) + 1) for s in combinations(PHRASES, size)]
    language = {
        " ".join(["show", "flights", *words]): flights("", "flight $0", *(PHRASES[w] for w in words)).lf
        for words in subsets
    }
    known = [example(query, " ".join(language[query])) for query in (sorted(language)[i] for i in sorted(chosen))]
    random.Random(seed).shuffle(known)
    made = by_analogy(known, lambda form: VALID, n=n, seed=seed, patience=200)
    assert made == by_analogy(known, lambda form: VALID, n=n, seed=seed, patience=200)
    assert len(made) == len({pair.query for pair in made}) <= n
    assert not {pair.query for pair in made} & {pair.query for pair in known}
    for pair in made:
        words = " ".join(pair.query)
        meant = {f"( {PHRASES[phrase]} )" for phrase in PHRASES if phrase in words} | {"( flight $0 )"}
        assert set(_conditions(" ".join(pair.lf))) == meant


def _conditions(form: str) -> list[str]:
    return [write(each) for each in places(read(form))[0].conditions]


@pytest.mark.parametrize("examples", [[], [TO], [Example(None, TO.lf), Example(TO.query, None)]])
def test_nothing_comes_of_nothing(examples):
    assert by_analogy(examples, lambda form: VALID, n=5, seed=1) == []


def test_what_is_made_of_half_of_atis_is_right_where_the_other_half_says_so(benchmark_data):
    domain = open_domain("atis")
    train = load_examples(domain, dev_seed=1).train
    split = labeled_split(train, ratio=0.5, seed=1)
    forms: dict[tuple[str, ...], set[str]] = {}
    for pair in train:
        forms.setdefault(pair.query or (), set()).add(domain.normalize(" ".join(pair.lf or ())))
    made = by_analogy(split.labeled, domain.check, n=6000, seed=1)
    told = [domain.normalize(" ".join(pair.lf or ())) in forms[pair.query] for pair in made if pair.query in forms]
    assert len(made) == 6000 and len(told) > 10 and sum(told) / len(told) > 0.9
    assert all(domain.check(" ".join(pair.lf or ())).ok for pair in made)
