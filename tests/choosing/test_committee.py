"""Parsers that choose together: what is found, and by what it is ranked."""

from __future__ import annotations

import random

import pytest
import torch
import toy

from dualparse.choosing.committee import find_by_committee
from dualparse.choosing.search import find
from dualparse.data.vocab import EOS
from dualparse.engines.found import Options
from dualparse.engines.scoring import reconstruction

QUERIES = [example.query for example in toy.examples()[:7]]


@pytest.fixture(scope="module")
def parsers():
    """Three that have learned nothing, each in its own way, but to come to an end."""
    made = [toy.agent("q2lf", hidden=8, seed=seed) for seed in (1, 2, 3)]
    with torch.no_grad():
        for parser in made:
            parser.model.generate.bias[EOS] = 2.0
            for weight in (parser.model.generate.weight, parser.model.target_embedding.weight):
                weight.mul_(4)
    return made


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_all_finished_forms_are_ranked_by_their_mean_log_probability(parsers, power):
    options = Options(beams=4, max_length=8, length_power=power)
    searches = [find(parser, QUERIES, options, rng=random.Random(0)) for parser in parsers]
    found = find_by_committee(parsers, QUERIES, options, rng=random.Random(0))
    assert any(len(forms) > 4 for forms in found), "not all found the same"
    for query, forms, *lists in zip(QUERIES, found, *searches, strict=True):
        assert {form.tokens for form in forms} == {form.tokens for each in lists for form in each if form.finished}
        assert [form.score for form in forms] == sorted((form.score for form in forms), reverse=True)
        for form in forms:
            each = [reconstruction(parser, [query], [form.tokens], random.Random(0))[0] for parser in parsers]
            assert form.log_prob == pytest.approx(sum(each) / 3, abs=1e-3)
            assert form.score == pytest.approx(form.log_prob / (len(form.tokens) + 1) ** power)
            assert form.finished


def test_one_parser_chooses_as_ever(parsers):
    options = Options(beams=3, max_length=8)
    alone = find_by_committee(parsers[:1], QUERIES, options, rng=random.Random(0))
    assert alone == find(parsers[0], QUERIES, options, rng=random.Random(0))


def test_where_nobody_comes_to_an_end_the_first_has_its_say():
    """As one parser alone has: who asks gets an answer, if only a bad one."""
    wordy = [toy.agent("q2lf", hidden=8, seed=seed) for seed in (1, 2)]
    with torch.no_grad():
        for parser in wordy:
            parser.model.generate.bias[EOS] = -100.0
    options = Options(beams=2, max_length=3)
    found = find_by_committee(wordy, QUERIES[:2], options, rng=random.Random(0))
    assert found == find(wordy[0], QUERIES[:2], options, rng=random.Random(0))
    assert not any(form.finished for forms in found for form in forms) and all(found)


def test_no_queries_no_forms(parsers):
    assert find_by_committee(parsers, [], Options(), rng=random.Random(0)) == []
