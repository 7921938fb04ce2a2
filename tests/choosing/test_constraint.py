"""Search that writes nothing but forms of a domain, against all forms there are."""

from __future__ import annotations

import random
from dataclasses import replace
from importlib.util import find_spec

import pytest
import torch
import toy
from walks import refused

from dualparse.choosing.chooser import Search
from dualparse.choosing.constraint import Constraint
from dualparse.choosing.ranking import Hypothesis
from dualparse.choosing.search import find
from dualparse.data.vocab import EOS, Vocab
from dualparse.domains.registry import open_domain
from dualparse.engines.found import Options
from dualparse.engines.numba import loading as kernels
from dualparse.engines.scoring import reconstruction
from dualparse.lf.guide import Rules, trees
from dualparse.networks.agent import Agent

QUERIES = [example.query for example in toy.examples()[:5]]
THING = "<thing>"
FORMS = {
    ("form",): [
        ("(", "get", ("thing",), ("what",), ")"),
        ("(", "near", ("thing",), ")"),
        ("(", "count", ("list",), ")"),
        ("nil",),
    ],
    ("list",): [("(", "near", ("thing",), ")"), ("(", "all", ("kind",), ")")],
    ("what",): [("depth",), ("warden",)],
    ("kind",): [("lake",), ("town",)],
    ("thing",): [(THING,)],
}
ALL = sorted(
    [f"( get {thing} {what} )" for thing in toy.ENTITIES for what in ("depth", "warden")]
    + [f"( near {thing} )" for thing in toy.ENTITIES]
    + [f"( count ( near {thing} ) )" for thing in toy.ENTITIES]
    + ["( count ( all lake ) )", "( count ( all town ) )", "nil"]
)


def guide(tokens=None) -> Rules:
    kinds = {entity: (THING,) for entity in toy.ENTITIES}
    return Rules(FORMS.__getitem__, ("form",), lambda token: kinds.get(token, (token,)))


def constraint(agent: Agent) -> Constraint:
    return Constraint(guide, agent.target_vocab)


@pytest.fixture(params=["plain", pytest.param("compiled", marks=pytest.mark.skipif(not find_spec("numba"), reason=""))])
def engine(request, monkeypatch):
    monkeypatch.setattr(kernels, "_loaded", request.param == "compiled" and kernels.load())


def texts(hypotheses: list[Hypothesis]) -> list[str]:
    return [each.text for each in hypotheses]


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
def test_a_wide_search_finds_all_forms_and_nothing_else(engine, copy):
    agent = toy.agent(seed=3, copy=copy)
    options = Options(beams=len(ALL) + 5, max_length=9, length_power=0.0)
    for query, found in zip(
        QUERIES, find(agent, QUERIES, options, rng=random.Random(0), constraint=constraint(agent)), strict=True
    ):
        assert sorted(texts(found)) == ALL and all(each.finished for each in found)
        told = reconstruction(agent, [query] * len(found), [each.tokens for each in found], random.Random(0))
        assert [each.log_prob for each in found] == pytest.approx(told, abs=1e-3)
        assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


@pytest.mark.parametrize("beams", [1, 4])
@pytest.mark.parametrize("max_length", [2, 5, 6, 7, 8, 9])
def test_every_form_ends_within_the_limit(engine, beams, max_length):
    """</s> takes a place, so that of nine only eight are left to a form."""
    agent = toy.agent(seed=3)
    with torch.no_grad():
        agent.model.generate.bias[EOS] = -5.0
    found = find(agent, QUERIES, Options(beams, max_length), rng=random.Random(0), constraint=constraint(agent))
    for hypotheses in found:
        assert hypotheses and all(each.finished and each.text in ALL for each in hypotheses)
        assert all(len(each.tokens) < max_length for each in hypotheses)


def test_names_that_only_the_question_knows_are_copied(engine):
    """town.cham is not in the vocabulary: it is found as a word of the question, and nowhere else."""
    pairs = [pair for pair in toy.examples() if "town.cham" not in (pair.lf or ())]
    agent = toy.agent(seed=3)
    lf = Vocab.build((pair.lf for pair in pairs), always=set(toy.ENTITIES) - {"town.cham"})
    model = type(agent.model)(len(agent.source_vocab), len(lf), embedding=12, hidden=12, dropout=0.0, copy=True)
    model.initialize(generator=torch.Generator().manual_seed(1))
    agent = replace(agent, model=model, target_vocab=lf)
    asked = [("how", "deep", "is", "cham"), ("how", "deep", "is", "arn")]
    found = find(agent, asked, Options(60, 9), rng=random.Random(0), constraint=constraint(agent))
    assert sorted(texts(found[0])) == ALL
    assert sorted(texts(found[1])) == [form for form in ALL if "town.cham" not in form]


def test_a_committee_keeps_to_the_forms_as_well(engine):
    agents = [toy.agent(seed=seed) for seed in (1, 2, 3)]
    found = Search(agents, Options(beams=3, max_length=9)).choose(QUERIES, constraint=constraint(agents[0]))
    assert any(len(forms) > 3 for forms in found), "not all found the same"
    assert all(each.text in ALL for forms in found for each in forms)


def test_where_everything_found_is_a_form_a_constraint_changes_nothing(engine):
    """Wide enough to find the same; the constrained one throws away what is none."""
    agent, options = toy.agent(seed=3), Options(beams=3, max_length=4, length_power=0.0)
    everything = Constraint(
        lambda tokens: Rules(ANYTHING.__getitem__, ("form",), lambda token: ("<token>",)), agent.target_vocab
    )
    free = find(agent, QUERIES, options, rng=random.Random(0))
    held = find(agent, QUERIES, options, rng=random.Random(0), constraint=everything)
    finished = [[each for each in found if each.finished] for found in free]
    assert [texts(found)[: len(wanted)] for found, wanted in zip(held, finished, strict=True)] == list(
        map(texts, finished)
    )


ANYTHING = {("form",): [("<token>",), ("<token>", ("form",))]}


def test_what_was_worked_out_is_forgotten_when_it_is_too_much(monkeypatch):
    monkeypatch.setattr("dualparse.choosing.constraint.MOST", 3)
    agent = toy.agent(seed=3)
    held, options = constraint(agent), Options(4, 9)
    first = find(agent, QUERIES, options, rng=random.Random(0), constraint=held)
    before = held.guide
    assert find(agent, QUERIES, options, rng=random.Random(0), constraint=held) == first
    assert held.guide is not before


def test_a_domain_without_types_has_complete_trees():
    agent = toy.agent(seed=3)
    held = Constraint.of(toy.domain(), agent.target_vocab)
    for found in find(agent, QUERIES, Options(5, 12), rng=random.Random(0), constraint=held):
        assert found and not any(refused(trees(), each.tokens) for each in found)


def test_forms_of_a_shipped_domain_have_the_right_types(engine):
    """By an agent that has learned nothing: all it knows is what may come next."""
    domain = open_domain("trails")
    forms = [line.split("\t")[1].split() for line in domain.files["train"].read_text(encoding="utf-8").splitlines()]
    lf = Vocab.build(forms)
    model = toy.Seq2Seq(len(toy.vocabularies()[0]), len(lf), embedding=12, hidden=12, dropout=0.0, copy=True)
    model.initialize(scale=1.0, generator=torch.Generator().manual_seed(1))
    agent = Agent("q2lf", model, toy.vocabularies()[0], lf, domain.lexicon)
    held = Constraint.of(domain, lf)
    for found in find(agent, QUERIES, Options(5, 20), rng=random.Random(0), constraint=held):
        assert found
        for each in found:
            verdict = domain.check(each.text)
            assert each.finished and (verdict.ok or "of nothing" in verdict.reason or "equal" in verdict.reason), (
                each.text
            )
