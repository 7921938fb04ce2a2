"""Both agents choose a form."""

from __future__ import annotations

import math
import random

import pytest
import torch
import toy

from dualparse.models.agent import Agent
from dualparse.rerank import rerank
from dualparse.rewards import reconstruction
from dualparse.search import Hypothesis, Options, find

PAIRS = toy.examples()[:4]
QUERIES = [pair.query for pair in PAIRS]


@pytest.fixture
def found() -> list[list[Hypothesis]]:
    return find(toy.agent(), QUERIES, Options(beams=4, max_length=8), rng=random.Random(0))


@pytest.fixture
def lf2q() -> Agent:
    return toy.agent("lf2q")


@pytest.mark.parametrize("weight", [0.3, 2.0])
def test_a_form_ranks_by_its_probability_and_the_way_back(found, lf2q, weight):
    ranked = rerank([lf2q], QUERIES, found, weight)
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
    alone = [rerank([agent], QUERIES, found, 0.5) for agent in (lf2q, other)]
    for before, both, *each in zip(found, rerank([lf2q, other], QUERIES, found, 0.5), *alone, strict=True):
        shares = [{form.tokens: form.score for form in forms} for forms in (both, *each)]
        first = before[0].tokens  # scores are known but for what all forms of a query have in common
        together, *single = [[share[form.tokens] - share[first] for form in before] for share in shares]
        assert together == pytest.approx([(a + b) / 2 for a, b in zip(*single, strict=True)], abs=1e-6)
    assert alone[0] != alone[1]


def test_the_way_back_can_change_the_order(found, lf2q):
    orders = [[[form.tokens for form in forms] for forms in rerank([lf2q], QUERIES, found, w)] for w in (0.0, 50.0)]
    assert orders[0] != orders[1]


def test_dropout_has_no_say_and_stays_on(found, lf2q):
    lf2q.model.train()
    assert rerank([lf2q], QUERIES, found, 1.0) == rerank([lf2q], QUERIES, found, 1.0)
    assert lf2q.model.training


def test_nothing_found_is_nothing_ranked(lf2q):
    assert rerank([lf2q], QUERIES, [[] for _ in QUERIES], 1.0) == [[] for _ in QUERIES]
    assert torch.is_grad_enabled()
