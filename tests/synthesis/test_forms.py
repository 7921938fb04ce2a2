"""New forms from an ontology, from a grammar, and from parts of known forms."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path

import pytest

from dualparse.domains import atis, folder, overnight
from dualparse.domains.domain import Domain
from dualparse.domains.embedded import EMBEDDED
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.lf.canonical import normalize_text
from dualparse.lf.grammar import Derivation, Deriver, Limits, read_grammar, swappable_types, swapped
from dualparse.lf.ontology import Ontology
from dualparse.lf.recombine import places, without
from dualparse.lf.sexpr import read, write
from dualparse.lf.typecheck import check_text
from dualparse.lf.verdict import VALID, Verdict
from dualparse.synthesis import derived
from dualparse.synthesis.derived import from_grammar, keep_valid, spell
from dualparse.synthesis.forms import synthesize
from dualparse.synthesis.made import (
    ADDED,
    AGAIN,
    DROPPED,
    GAP,
    ILL_TYPED,
    KNOWN,
    Synthesis,
    Synthetic,
    canonical_pairs,
)
from dualparse.synthesis.varied import from_forms, from_ontology

FLIGHTS = Ontology.declare(
    entities={"ci": False, "me": False, "ap": False},
    unary=["flight", "oneway", "nonstop", "airport"],
    cats=[("airport", "ap")],
    binary=[("flight", "from", "ci"), ("flight", "to", "ci"), ("flight", "to", "ap"), ("flight", "meal", "me")],
)
FORMS = [
    "( lambda $0 e ( and ( flight $0 ) ( from $0 ci0 ) ( to $0 ci1 ) ) )",
    "( lambda $0 e ( and ( flight $0 ) ( meal $0 lunch:me ) ( to $0 ap0 ) ) )",
]
GRAMMAR = """
(rule $ROOT ($Entity1 or $Entity2) (lambda a (lambda b (either (var a) (var b)))))
(rule $ROOT (not $Entity1) (lambda a (not (var a))))
(rule $Entity1 (Alice) (ConstantFn person.alice))
(rule $Entity2 (Bob) (ConstantFn person.bob))
(rule $Entity1 (the Zoo) (ConstantFn place.zoo))
(rule $Entity2 (the Park) (ConstantFn place.park))
"""


@pytest.fixture
def grammar(tmp_path: Path):
    path = tmp_path / "small.grammar"
    path.write_text(GRAMMAR)
    return read_grammar(path)


def forms_of(path: Path) -> list[str]:
    return [line.split("\t")[1] for line in path.read_text().splitlines()]


def test_replacing_gives_new_forms_that_type_check():
    result = from_ontology(FORMS, FLIGHTS, n=8, rng=random.Random(3), entities=["dinner:me"])
    made = [item.form for item in result.forms]
    normal = {normalize_text(form) for form in made}
    assert len(normal) == len(made) == 8
    assert normal.isdisjoint({normalize_text(form) for form in FORMS})
    assert all(check_text(form, FLIGHTS).ok for form in made)
    assert set(result.by_kind) == {"entity", "unary", "binary"}
    assert all(item.source in FORMS for item in result.forms)


def test_a_replacement_that_the_types_of_the_whole_form_forbid_is_rejected_with_the_reason():
    result = from_ontology(FORMS[1:], FLIGHTS, n=1000, rng=random.Random(3), patience=500)
    assert result.rejected[ILL_TYPED] > 0
    assert any(reason.startswith("from takes ci") for reason in result.reasons)


def test_synthesis_ends_when_everything_was_made():
    result = from_ontology(FORMS, FLIGHTS, n=100_000, rng=random.Random(1), patience=2_000)
    assert result.complete
    assert 0 < len(result.forms) < 1_000
    assert result.rejected[AGAIN] >= 1_000


def test_numbered_entities_get_no_gap():
    forms = ["( lambda $0 e ( and ( flight $0 ) ( to $0 ci0 ) ) )"]
    result = from_ontology(forms, FLIGHTS, n=10, rng=random.Random(1), entities=["ci1", "ci2"], patience=300)
    assert result.rejected[GAP] > 0
    assert not any("ci1" in item.form or "ci2" in item.form for item in result.forms)


def test_no_forms_or_nothing_to_replace_is_no_endless_loop():
    assert from_ontology([], FLIGHTS, n=5, rng=random.Random(1)).forms == []
    assert from_ontology(["$0"], FLIGHTS, n=5, rng=random.Random(1), patience=50).forms == []


def flights(text: str) -> Verdict:
    return check_text(text, FLIGHTS)


def test_conditions_of_known_forms_make_new_ones():
    known = [*FORMS, "( lambda $0 e ( exists $1 ( and ( nonstop $1 ) ( from $1 ci0 ) ( to $1 $0 ) ) ) )"]
    result = from_forms(known, flights, n=12, rng=random.Random(3))
    made = {normalize_text(item.form) for item in result.forms}
    assert len(made) == 12 and made.isdisjoint(map(normalize_text, known))
    assert all(flights(item.form).ok for item in result.forms)
    assert set(result.by_kind) == {ADDED, DROPPED}
    for item in result.forms:
        more, less = (item.form, item.source) if item.kind == ADDED else (item.source, item.form)
        tree = read(more)
        fewer = [without(tree, place, n) for place in places(tree) for n in range(len(place.conditions))]
        assert normalize_text(less) in {normalize_text(write(each)) for each in fewer}


def test_new_forms_do_not_say_a_thing_twice_or_skip_a_number():
    known = [
        "( lambda $0 e ( and ( flight $0 ) ( to $0 ci0 ) ) )",
        "( lambda $0 e ( and ( from $0 ci1 ) ( to $0 ci0 ) ) )",
    ]
    result = from_forms(known, flights, n=1000, rng=random.Random(1), patience=300)
    assert result.complete and result.forms
    assert result.rejected[GAP] > 0
    assert all(item.form.count("( to ") <= 1 for item in result.forms)
    assert not any("ci1" in item.form and "ci0" not in item.form for item in result.forms)


def test_frequent_conditions_come_in_more_often():
    known = [FORMS[0]] * 60 + ["( lambda $0 e ( and ( flight $0 ) ( nonstop $0 ) ) )"] * 20
    known += ["( lambda $0 e ( and ( flight $0 ) ( oneway $0 ) ) )"]
    first = Counter()
    for seed in range(100):
        (item,) = from_forms(known, flights, n=1, rng=random.Random(seed), frequency_power=1.0).forms
        first.update(name for name in ("nonstop", "oneway") if name in item.form and name not in item.source)
    assert first["nonstop"] > 3 * first["oneway"]


def test_what_conditions_speak_about_comes_in_one_order_in_every_process():
    (place,) = places(read("( and ( near $5 $3 $1 $4 $2 $0 ) ( to $3 ci0 ) )"))
    assert place.variables == ["$3", "$0", "$1", "$2", "$4", "$5"]


def test_without_conditions_there_is_nothing_to_put_together():
    assert from_forms([], flights, n=5, rng=random.Random(1)).forms == []
    assert from_forms(["( lambda $0 e ( flight $0 ) )"], flights, n=5, rng=random.Random(1)).forms == []
    trails = open_domain("trails")
    with pytest.raises(InputError, match="no training forms with conditions"):
        synthesize(trails, {"train": ["( all trail )"]}, n=5, seed=1, source="forms")


@pytest.mark.parametrize("seed", [1, 2])
def test_parts_of_atis_make_forms_that_type_check(benchmark_data, seed):
    domain = open_domain("atis")
    known = forms_of(domain.files["train"])
    made = synthesize(domain, {"train": known, "dev": forms_of(domain.files["dev"])}, n=300, seed=seed, source="forms")
    assert len(made.forms) == 300 and all(domain.check(item.form).ok for item in made.forms)
    assert {domain.normalize(item.form) for item in made.forms}.isdisjoint(map(domain.normalize, known))
    assert "dev" in made.overlaps


def test_the_seed_decides():
    def run(seed):
        return [item.form for item in from_ontology(FORMS, FLIGHTS, n=6, rng=random.Random(seed)).forms]

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_all_forms_of_a_grammar_with_its_entities_swapped(grammar):
    result = from_grammar(grammar, n=None, rng=random.Random(1))
    derived = {item.form for item in result.forms if item.kind == "derived"}
    assert derived == {
        "( not person.alice )",
        "( not place.zoo )",
        "( either person.alice person.bob )",
        "( either person.alice place.park )",
        "( either place.zoo person.bob )",
        "( either place.zoo place.park )",
    }
    swapped_forms = {item.form for item in result.forms} - derived
    assert {"( not person.bob )", "( either place.park person.bob )"} <= swapped_forms
    assert "( either person.alice person.alice )" not in swapped_forms
    assert result.complete


def test_forms_of_a_grammar_are_new_distinct_and_decided_by_the_seed(grammar):
    known = ["( not person.alice )"]

    def run(seed, n):
        result = from_grammar(grammar, n=n, rng=random.Random(seed), known=known)
        return [item.form for item in result.forms]

    everything = run(1, None)
    assert "( not person.alice )" not in everything
    assert len(set(everything)) == len(everything)
    assert run(4, 5) == run(4, 5)
    assert run(4, 5) != run(5, 5)
    assert set(run(4, 5)) < set(everything)
    assert sorted(run(4, 1000)) == sorted(everything)


def test_equal_normal_forms_count_once(tmp_path):
    path = tmp_path / "and.grammar"
    path.write_text(
        "(rule $ROOT ($X and $X) (lambda a (lambda b (and (var a) (var b)))) (distinct))"
        "(for @x (p q) (rule $X (@x) (ConstantFn (@x $0))))"
    )
    result = from_grammar(read_grammar(path), n=None, rng=random.Random(1))
    assert len(result.forms) == 1
    assert result.rejected[AGAIN] == 1


def test_what_the_domain_refuses_is_dropped(grammar):
    def check(text: str) -> Verdict:
        return Verdict(surface=True, semantics="zoo" not in text)

    result = from_grammar(grammar, n=None, rng=random.Random(1), keep=keep_valid(check, root="$ROOT"))
    assert result.forms
    assert not any("zoo" in item.form for item in result.forms)
    assert result.rejected["does not run"] > 0


def test_the_tries_can_be_limited(grammar):
    result = from_grammar(grammar, n=None, rng=random.Random(1), limits=Limits(tried=6))
    assert not result.complete


def test_ranking_by_a_property_that_things_do_not_have_is_asked_about():
    asked = []

    def check(text: str) -> Verdict:
        asked.append(text)
        return VALID

    ranking = ("call", "SW.superlative", ("var", "s"), ("string", "max"), ("string", "height"))
    form = ("call", "SW.listValue", (("lambda", "s", ranking), ("call", "SW.domain", ("string", "player"))))
    assert keep_valid(check, root="$ROOT")(Derivation("$ROOT", ("x",), form, 1))
    assert asked == [
        write(form),
        "( call SW.getProperty ( call SW.domain ( string player ) ) ( string height ) )",
    ]


def test_forms_are_spelt_as_published():
    tree = ("call", "SW.filter", ("string", "!type"), ("string", "!="))
    assert spell(tree) == "( call SW.filter ( string ! type ) ( string ! = ) )"
    assert read(spell(tree)) == tree
    assert spell(("get", "hut.ibex", "!passes")) == "( get hut.ibex !passes )"


def test_canonical_pairs_are_words_and_tokens():
    made = Synthesis([Synthetic("( not x )", "derived", utterance="not the Zoo"), Synthetic("( f )", "entity")])
    assert canonical_pairs(made) == [(("not", "the", "zoo"), ("(", "not", "x", ")"))]


def domain_without(**fields) -> Domain:
    options = {"name": "d", "title": "d", "lexicon": None, "check": None, "execute": None, "normalize": str} | fields
    return Domain(**options)


@pytest.mark.parametrize(
    ("fields", "source", "message"),
    [
        ({}, "grammar", "no grammar"),
        ({}, None, "no ontology"),
        ({"ontology": FLIGHTS}, "ontology", "no training forms"),
    ],
)
def test_a_domain_without_the_means_is_told(fields, source, message):
    forms = {} if fields else {"train": FORMS}
    with pytest.raises(InputError, match=message):
        synthesize(domain_without(**fields), forms, n=3, seed=1, source=source)


def test_the_embedded_grammar_derives_the_embedded_forms():
    domain = folder.load(EMBEDDED / "trails")
    gold = {read(form) for split in ("train", "dev", "test") for form in forms_of(domain.files[split])}
    grammar = read_grammar(domain.grammar)
    assert grammar.warnings == ()
    derived = {item.form for item in Deriver(grammar)}
    assert len(gold & derived) >= 0.95 * len(gold)


def test_the_embedded_domain_gets_new_forms_that_run():
    domain = open_domain("trails")
    forms = {split: forms_of(domain.files[split]) for split in ("train", "dev", "test")}
    result = synthesize(domain, forms, n=300, seed=1)
    assert len({domain.normalize(item.form) for item in result.forms}) == 300
    assert all(domain.check(item.form).ok for item in result.forms)
    assert {domain.normalize(item.form) for item in result.forms}.isdisjoint(map(domain.normalize, forms["train"]))
    assert set(result.overlaps) == {"dev", "test"}
    assert all(item.utterance for item in result.forms)


def test_a_grammar_alone_gives_training_pairs():
    domain = open_domain("trails")
    pairs = canonical_pairs(synthesize(domain, {}, n=60, seed=2))
    assert len({form for _, form in pairs}) == 60
    assert all(words and domain.check(" ".join(form)).ok for words, form in pairs)


@pytest.mark.parametrize("name", ["calendar", "publications", "recipes"])
def test_derivation_gives_the_published_forms(benchmark_data, name):
    domain = overnight.load(name, benchmark_data / "overnight")
    grammar = read_grammar(domain.grammar)
    keep = keep_valid(domain.check, root=grammar.root)
    derived = {item.form for item in Deriver(grammar, keep=keep)}
    train, extra = ({read(form) for form in forms_of(domain.files[split])} for split in ("train", "extra"))
    assert train <= derived
    # The published set is what the grammar derives as it is and with all its entities swapped, no more and no less.
    both = derived | {item.form for item in Deriver(swapped(grammar, swappable_types(grammar)), keep=keep)}
    assert both == extra


def test_atis_gets_as_many_forms_as_the_paper_made(benchmark_data):
    domain = atis.load(benchmark_data / "atis")
    forms = {split: forms_of(path) for split, path in domain.files.items()}
    result = synthesize(domain, forms, n=4592, seed=1)
    normal = {domain.normalize(item.form) for item in result.forms}
    assert len(normal) == 4592
    assert normal.isdisjoint(map(domain.normalize, forms["train"]))
    assert all(domain.check(item.form).ok for item in result.forms)
    assert min(result.by_kind[kind] for kind in ("entity", "unary", "binary")) > 300
    assert result.rejected[KNOWN] > 0
    assert set(result.overlaps) == {"dev", "test", "extra"}


def test_drawing_ends_when_most_of_what_is_drawn_was_there_before():
    """It is slow where a grammar has little; going through all of it is not."""
    drawn = itertools.count()
    again = (Derivation("$ROOT", ("x",), f"form{number // 10}", 1) for number in drawn)  # one new form in ten
    collector = derived._Collector(10_000, random.Random(1), str, ())
    collector.draw([("derived", again)])
    assert next(drawn) == derived.DRAWS + derived.FUTILE * len(collector.result.forms)
