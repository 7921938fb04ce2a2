"""Canonical utterances made more like what people say."""

from __future__ import annotations

import random

import toy
from hypothesis import given
from hypothesis import strategies as st

from dualparse.domains.lexicon import Lexicon
from dualparse.synthesis.wording import reworded

PAIRS = [(example.query or (), example.lf or ()) for example in toy.examples()]
NAMES = {phrase for phrases in toy.ENTITIES.values() for phrase in phrases}


@given(st.sampled_from(PAIRS), st.integers(0, 1000))
def test_another_name_is_read_as_the_same_entities(pair, seed):
    query, form = pair
    lexicon = toy.lexicon()
    said = reworded(query, form, lexicon, rng=random.Random(seed))
    assert [mention.entity for mention in lexicon.match(said)] == [mention.entity for mention in lexicon.match(query)]


def test_every_name_comes_up():
    query, form = ["how", "deep", "is", "blue", "lake"], ["(", "get", "lake.blue", "depth", ")"]
    rng = random.Random(1)
    said = {" ".join(reworded(query, form, toy.lexicon(), rng=rng)) for _ in range(50)}
    assert said == {"how deep is blue lake", "how deep is the blue one"}


def test_a_phrase_that_the_form_does_not_speak_of_stays():
    query = ["how", "deep", "is", "blue", "lake"]
    assert all(
        reworded(query, ["(", "all", "town", ")"], toy.lexicon(), rng=random.Random(seed)) == tuple(query)
        for seed in range(20)
    )


def test_a_phrase_that_means_something_else_first_is_not_used():
    lexicon = Lexicon([(("fox",), "hut.fox"), (("fox",), "trail.fox"), (("fox", "loop"), "trail.fox")])
    said = {reworded(("fox", "loop"), ("trail.fox",), lexicon, rng=random.Random(seed)) for seed in range(20)}
    assert said == {("fox", "loop")}
