"""Who has a say in which form is chosen: both agents, language models of forms, functions of one's own."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import letters
import numpy as np
import pytest
import torch
import toy

from dualparse.choosing.chooser import Reranked, Search
from dualparse.choosing.ranking import Hypothesis, NBest, Weighted, rerank
from dualparse.choosing.scorers import Commonness, WayBack
from dualparse.choosing.search import find
from dualparse.engines.found import Options
from dualparse.engines.scoring import fluency, reconstruction
from dualparse.networks.agent import Agent
from dualparse.networks.language_model import LanguageModel

PAIRS = toy.examples()[:4]
QUERIES = [pair.query for pair in PAIRS]


@pytest.fixture
def found() -> list[list[Hypothesis]]:
    return find(toy.agent(), QUERIES, Options(beams=4, max_length=8), rng=random.Random(0))


@pytest.fixture
def lf2q() -> Agent:
    return toy.agent("lf2q")


def form_model(seed: int) -> LanguageModel:
    return letters.language_model(toy.vocabularies()[1], seed=seed)


def common(models: list[LanguageModel], weight: float) -> Weighted:
    return Weighted("prior", Commonness(models, toy.vocabularies()[1]), weight)


def both(listeners: list[Agent], found: NBest, weight: float, *others: Weighted) -> list[list[Hypothesis]]:
    """The forms as both agents rank them, and whoever else has a say."""
    return rerank(QUERIES, found, [Weighted("reconstruction", WayBack(listeners), weight), *others])


@pytest.mark.parametrize("weight", [0.3, 2.0])
def test_a_form_ranks_by_its_probability_and_the_way_back(found, lf2q, weight):
    ranked = both([lf2q], found, weight)
    for query, before, after in zip(QUERIES, found, ranked, strict=True):
        assert {form.tokens for form in after} == {form.tokens for form in before}
        assert [form.score for form in after] == sorted((form.score for form in after), reverse=True)
        assert sum(math.exp(form.score) for form in after) == pytest.approx(1.0)
        ranks = [
            form.log_prob + weight * reconstruction(lf2q, [form.tokens], [query], random.Random(0))[0] for form in after
        ]
        assert [form.score - after[0].score for form in after] == pytest.approx([r - ranks[0] for r in ranks], abs=1e-4)


def test_of_several_ways_back_the_mean_counts(found, lf2q):
    other = toy.agent("lf2q", seed=5)
    alone = [both([agent], found, 0.5) for agent in (lf2q, other)]
    for before, joint, *each in zip(found, both([lf2q, other], found, 0.5), *alone, strict=True):
        shares = [{form.tokens: form.score for form in forms} for forms in (joint, *each)]
        first = before[0].tokens  # scores are known but for what all forms of a query have in common
        together, *single = [[share[form.tokens] - share[first] for form in before] for share in shares]
        assert together == pytest.approx([(a + b) / 2 for a, b in zip(*single, strict=True)], abs=1e-6)
    assert alone[0] != alone[1]


def test_the_way_back_can_change_the_order(found, lf2q):
    orders = [[[form.tokens for form in forms] for forms in both([lf2q], found, w)] for w in (0.0, 50.0)]
    assert orders[0] != orders[1]


def test_common_forms_go_first(found, lf2q):
    models = [form_model(seed) for seed in (1, 2)]
    plain = both([lf2q], found, 0.5)
    changed = both([lf2q], found, 0.5, common(models, 0.7))
    for before, after in zip(plain, changed, strict=True):
        ranks = {form.tokens: form.score for form in before}
        for form in after:
            told = [fluency(model, lf2q.source_vocab, [form.tokens])[0] * (len(form.tokens) + 1) for model in models]
            ranks[form.tokens] += 0.7 * sum(told) / 2
        expected = sorted(ranks.items(), key=lambda pair: -pair[1])
        assert [form.tokens for form in after] == [tokens for tokens, _ in expected]
        assert [form.score - after[0].score for form in after] == pytest.approx(
            [rank - expected[0][1] for _, rank in expected], abs=1e-4
        )
    orders = [[form.tokens for forms in ranked for form in forms] for ranked in (plain, changed)]
    assert orders[0] != orders[1]


def test_a_prior_without_weight_changes_nothing(found, lf2q):
    prior = common([form_model(1)], 0.0)
    assert both([lf2q], found, 0.5, prior) == both([lf2q], found, 0.5)


def test_of_many_forms_each_has_its_own_probability(found, lf2q, monkeypatch):
    prior = common([form_model(1)], 1.0)
    whole = both([lf2q], found, 0.5, prior)
    monkeypatch.setattr("dualparse.choosing.scorers.FORMS_AT_ONCE", 1)
    for some, others in zip(whole, both([lf2q], found, 0.5, prior), strict=True):
        assert [form.tokens for form in some] == [form.tokens for form in others]
        assert [form.score for form in some] == pytest.approx([form.score for form in others], abs=1e-5)


def test_a_function_of_ones_own_has_a_say_as_any(found, lf2q):
    """Here one that likes short forms; with enough weight nothing else counts."""

    def short(queries: Sequence[Sequence[str]], found: NBest) -> list[np.ndarray]:
        return [np.array([-float(len(form.tokens)) for form in forms]) for forms in found]

    for forms in both([lf2q], found, 0.5, Weighted("short", short, 1000.0)):
        assert [len(form.tokens) for form in forms] == sorted(len(form.tokens) for form in forms)


def test_where_nobody_else_has_a_say_the_order_is_that_of_the_search(found):
    assert rerank(QUERIES, found, []) == found


def test_a_chooser_reranks_what_another_one_finds(lf2q):
    search = Search([toy.agent()], Options(beams=2, max_length=8))
    heard = [Weighted("reconstruction", WayBack([lf2q]), 0.5), common([form_model(1)], 0.3)]
    assert Reranked(search, heard).choose(QUERIES, k=6) == rerank(QUERIES, search.choose(QUERIES, k=6), heard)
    assert len(search.choose(QUERIES)[0]) == 2 and len(search.choose(QUERIES, k=6)[0]) == 6


def test_dropout_has_no_say_and_stays_on(found, lf2q):
    lf2q.model.train()
    assert both([lf2q], found, 1.0) == both([lf2q], found, 1.0)
    assert lf2q.model.training


def test_nothing_found_is_nothing_ranked(lf2q):
    nothing: list[list[Hypothesis]] = [[] for _ in QUERIES]
    assert both([lf2q], nothing, 1.0) == nothing
    assert both([lf2q], nothing, 1.0, common([form_model(1)], 1.0)) == nothing
    assert torch.is_grad_enabled()


def test_what_each_added_to_a_rank_is_told_by_name(found, lf2q):
    prior = common([form_model(1)], 0.5)
    for row in both([lf2q], found, 0.3, prior):
        assert [name for name, _ in row[0].parts] == ["q2lf", "reconstruction", "prior"]
        ranks = [sum(part for _, part in form.parts) for form in row]
        assert ranks == sorted(ranks, reverse=True)
        assert [form.score - row[0].score for form in row] == pytest.approx([rank - ranks[0] for rank in ranks])
        assert all(dict(form.parts)["q2lf"] == form.log_prob for form in row)
    assert all(form.parts == () for row in rerank(QUERIES, found, []) for form in row)
