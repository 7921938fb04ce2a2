"""The nearest of many vectors are exactly those that comparing with all of them finds."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from dualparse.matching.vectors import Vectors


def vectors(count: int, seed: int = 0) -> torch.Tensor:
    drawn = torch.Generator().manual_seed(seed)
    return F.normalize(torch.randn(count, 48, generator=drawn), dim=1)


@pytest.mark.parametrize("many", [10, 10_000])
def test_the_nearest_are_those_of_all_products(many):
    half = vectors(3000).half()
    found = Vectors.of(half, many=many)
    assert (found.codes is not None) == (many == 10)
    for question in vectors(20, seed=1):
        expected = (half.float() @ question).topk(7)
        numbers, scores = found.nearest(question, 7)
        assert numbers.tolist() == expected.indices.tolist()
        assert torch.allclose(scores, expected.values, atol=1e-5)


def test_what_is_added_to_each_counts(many=10):
    half, question = vectors(500).half(), vectors(1, seed=2)[0]
    more = torch.zeros(500)
    more[:400] = -torch.inf
    numbers, scores = Vectors.of(half, many=many).nearest(question, 5, more=more)
    assert numbers.min() >= 400 and torch.isfinite(scores).all()
    assert Vectors.of(half).nearest(question, 5, more=more)[0].tolist() == numbers.tolist()


def test_near_twins_are_told_apart_though_8_bits_do_not():
    question = vectors(1)[0]
    twins = F.normalize(question + 1e-3 * vectors(400, seed=3), dim=1).half()
    found, expected = Vectors.of(twins, many=10).nearest(question, 3)[0], (twins.float() @ question).topk(3).indices
    assert found.tolist() == expected.tolist()


def test_more_are_asked_for_than_there_are():
    assert len(Vectors.of(vectors(3).half()).nearest(vectors(1)[0], 9)[0]) == 3
