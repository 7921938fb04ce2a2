"""Agents without torch against the same agents with it."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
import toy
from hypothesis import given, settings
from hypothesis import strategies as st

from dualparse.choosing.light import LightAgent, way_back
from dualparse.choosing.scorers import WayBack
from dualparse.choosing.search import find
from dualparse.engines.found import Options
from dualparse.engines.light.network import LightNetwork
from dualparse.engines.scoring import reconstruction
from dualparse.networks.agent import Agent, look_all

QUERIES = [("how", "deep", "is", "blue", "lake"), ("list", "all", "nowhere"), ("lakes",)]


def agents(direction: str, copy: bool, seed: int) -> tuple[Agent, LightAgent]:
    agent = toy.agent(direction, copy=copy)
    agent.model.initialize(scale=0.7, generator=torch.Generator().manual_seed(seed))
    agent.model.eval()
    arrays = {name: tensor.numpy() for name, tensor in agent.model.state_dict().items()}
    parts = agent.source_vocab, agent.target_vocab, agent.lexicon
    return agent, LightAgent(agent.direction, LightNetwork(arrays, copy=copy), *parts)


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(seed=st.integers(0, 1000))
@settings(max_examples=8, deadline=None)
def test_the_same_is_found_scored_and_copied(copy, seed):
    agent, light = agents("q2lf", copy, seed)
    options = Options(beams=4, max_length=9)
    expected, found = find(agent, QUERIES, options, copies=True), light.choose(QUERIES, options, copies=True)
    for query, wanted, given_ in zip(QUERIES, expected, found, strict=True):
        assert [each.tokens for each in wanted] == [each.tokens for each in given_]
        np.testing.assert_allclose([h.log_prob for h in wanted], [h.log_prob for h in given_], rtol=1e-4, atol=1e-4)
        forms = [each.tokens for each in wanted]
        told = reconstruction(agent, [query] * len(forms), forms)
        np.testing.assert_allclose(light.likelihood([query] * len(forms), forms), told, rtol=1e-4, atol=1e-4)
        seen = [each.copied for each in look_all(agent, [query], [forms])[0]]
        for one, other in zip(light.copied([query] * len(forms), forms), seen, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-4)


def test_the_way_back_is_the_same():
    agent, light = agents("lf2q", True, 3)
    q2lf, _ = agents("q2lf", True, 4)
    found = find(q2lf, QUERIES, Options(beams=3, max_length=9))
    for one, other in zip(WayBack([agent])(QUERIES, found), way_back(light, QUERIES, found), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    assert light.row(("lake.blue",), None) == agent.row(("lake.blue",), None, random.Random(0))


def test_nothing_asked_nothing_told():
    _, light = agents("q2lf", True, 1)
    assert light.likelihood([], []) == [] and light.choose([], Options()) == []
