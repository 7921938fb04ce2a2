"""What is wrong with a prediction: every kind, its detail, and the file it is read from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.evaluate import judge
from dualparse.lab.mistakes import Kind, entity_test, explain, frequent, heading, mistakes_text, read_mistakes

TRAILS = open_domain("trails")
HUTS = "( filter ( filter ( all hut ) has_showers ) price < ( number 40 euro ) )"


def mistake(gold: str, predicted: str, domain=TRAILS):
    return explain(judge(domain, "a query", gold, predicted).as_json(), domain)


@pytest.mark.parametrize(
    ("gold", "predicted", "kind", "detail"),
    [
        (
            "( get hut.marmot_hut price )",
            "( get hut.silver_hut price )",
            Kind.ENTITY,
            "hut.marmot_hut -> hut.silver_hut",
        ),
        (HUTS, HUTS.replace("40", "60"), Kind.ENTITY, "40 -> 60"),
        ("( argmax ( all peak ) elevation )", "( argmin ( all peak ) elevation )", Kind.PREDICATE, "argmax -> argmin"),
        (HUTS, "( filter ( all hut ) has_showers )", Kind.STRUCTURE, "left out: 40 < euro filter number price"),
        (HUTS, "( filter ( all hut", Kind.INVALID, "missing closing parenthesis for the one opened at token 3"),
    ],
)
def test_kinds_and_details(gold, predicted, kind, detail):
    found = mistake(gold, predicted)
    assert (found.kind, found.detail, found.wrong) == (kind, detail, True)


def test_another_form_with_the_right_answer_is_no_error_where_answers_count():
    found = mistake("( count ( all hut ) )", "( count ( filter ( all hut ) price > ( number 0 euro ) ) )")
    assert (found.kind, found.wrong) == (Kind.OTHER_FORM, False)
    assert found.detail == "added: 0 > euro filter number price"
    assert heading(found.kind, [found]) == "right answer, another form (counted as right)"


def record(gold: str, predicted: str, **changes) -> dict:
    told = {"query": "q", "gold": gold, "predicted": predicted, "exact": False, "correct": False}
    told |= {"verdict": {"surface": True, "semantics": True, "reason": ""}, "denotation": None, "gold_denotation": None}
    return told | changes


def test_the_order_of_conjuncts_hides_no_entity(benchmark_data):
    atis = open_domain("atis")
    gold = "( lambda $0 e ( and ( flight $0 ) ( from $0 ci0 ) ( to $0 ci1 ) ) )"
    swapped = "( lambda $0 e ( and ( to $0 ci0 ) ( flight $0 ) ( from $0 ci1 ) ) )"
    found = explain(record(gold, swapped), atis)
    assert (found.kind, found.detail) == (Kind.ENTITY, "ci0 -> ci1, ci1 -> ci0")
    other = explain(record(gold, gold.replace("to", "stop")), atis)
    assert (other.kind, other.detail) == (Kind.PREDICATE, "to -> stop")
    shorter = explain(record(gold, "( lambda $0 e ( and ( flight $0 ) ( to $0 ci1 ) ) )"), atis)
    assert (shorter.kind, shorter.detail) == (Kind.STRUCTURE, "left out: ci0 from")


def test_among_alternatives_equal_ones_go_together():
    gold = "( filter ( all village ) transport = ( or transport.train transport.bus ) )"
    found = explain(record(gold, gold.replace("train", "bus", 1).replace("bus )", "gondola )")), TRAILS)
    assert (found.kind, found.detail) == (Kind.PREDICATE, "transport.train -> transport.gondola")
    reordered = "( argmin ( or hut.marmot_hut hut.gentian_hut ) price )"
    found = explain(record("( argmin ( or hut.silver_hut hut.marmot_hut ) price )", reordered), TRAILS)
    assert (found.kind, found.detail) == (Kind.ENTITY, "hut.silver_hut -> hut.gentian_hut")


def test_types_are_no_entities(benchmark_data):
    is_entity = entity_test(open_domain("recipes"))
    assert is_entity("en.recipe.rice_pudding") and is_entity("2015")
    assert not is_entity("en.recipe") and not is_entity("SW.filter")


@given(st.sampled_from([line.split("\t") for line in Path(TRAILS.files["dev"]).read_text().splitlines() if line]))
def test_a_form_with_another_entity_has_the_wrong_entity(pair):
    _, gold = pair
    is_entity = entity_test(TRAILS)
    tokens = gold.split()
    places = [i for i, token in enumerate(tokens) if is_entity(token)]
    if places:
        other = "hut.silver_hut" if tokens[places[0]] != "hut.silver_hut" else "hut.marmot_hut"
        tokens[places[0]] = other
        found = explain(record(gold, " ".join(tokens)), TRAILS)
        assert found.kind == Kind.ENTITY and found.detail.endswith(f" -> {other}") and "," not in found.detail


@pytest.fixture
def run(tmp_path):
    """A run folder with predictions, as `evaluate` leaves it."""
    (tmp_path / "config.toml").write_text('domain = "trails"\n')
    pairs = [(HUTS, HUTS), (HUTS, HUTS.replace("40", "60")), (HUTS, HUTS.replace("40", "60")), (HUTS, "( all hut )")]
    lines = [json.dumps(judge(TRAILS, f"query {i}", *pair).as_json()) for i, pair in enumerate(pairs)]
    (tmp_path / "predictions.dev.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_run_is_read_and_grouped(run):
    found = read_mistakes(run, split="dev")
    assert (found.examples, found.wrong, len(found.mistakes)) == (4, 3, 3)
    groups = found.groups()
    assert {kind: len(group) for kind, group in groups.items()} == {Kind.ENTITY: 2, Kind.STRUCTURE: 1}
    assert next(iter(groups)) == Kind.ENTITY  # the largest group first
    assert frequent(found.mistakes) == [("40 -> 60", 2)]
    text = mistakes_text(found, examples=1)
    assert text.startswith("3 of 4 dev examples are wrong")
    assert "| wrong entity | 2 | `40 -> 60` (2) |" in text and text.count("\n- ") == 2


def test_what_is_missing_is_told(run):
    with pytest.raises(InputError, match="dualparse evaluate .* --split test writes it"):
        read_mistakes(run, split="test")
    (run / "predictions.dev.jsonl").write_text('{"query": "x"}\n')
    with pytest.raises(InputError, match=r"predictions\.dev\.jsonl:1: not a prediction"):
        read_mistakes(run, split="dev")
    (run / "config.toml").unlink()
    with pytest.raises(InputError, match="not a run folder"):
        read_mistakes(run, split="dev")
