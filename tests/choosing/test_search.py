"""Search against brute force, against teacher forcing, and against itself one source at a time."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from importlib.util import find_spec
from itertools import product
from unittest.mock import Mock

import numpy as np
import pytest
import torch
import toy
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import random_sources, tiny_model

import dualparse.engines.numba.engine
import dualparse.engines.plain
from dualparse.choosing.search import MANY, find
from dualparse.data.batch import pad
from dualparse.data.vocab import BOS, EOS, PAD, UNK
from dualparse.engines.beam import beam, greedy
from dualparse.engines.engine import search
from dualparse.engines.found import Found, Options, Walk, joined
from dualparse.engines.light import network as light_network
from dualparse.engines.light.network import LightNetwork
from dualparse.engines.light.search import search as light_search
from dualparse.engines.numba import loading as kernels
from dualparse.engines.numba.engine import Compiled
from dualparse.networks.lstm import Memory, Seq2Seq
from dualparse.training.loop import Schedule, fit
from dualparse.training.step import Adam
from dualparse.training.supervised import agent_task


def compiled(model: Seq2Seq, memory: Memory, *, walk: Walk | None = None, copies: bool = False, **options) -> Found:
    """Compiled search, which knows single precision only."""
    floats = {name: getattr(memory, name).float() for name in ("states", "keys", "hidden", "cell")}
    single = deepcopy(model).float(), replace(memory, **floats)
    return Compiled().search(*single, Options(**options), walk=walk, copies=copies)


def light(model: Seq2Seq, memory: Memory, *, walk: Walk | None = None, copies: bool = False, **options) -> Found:
    """The search without torch, one source after the other, in single precision."""
    network = LightNetwork({name: tensor.numpy() for name, tensor in model.state_dict().items()}, copy=model.copy)
    names = ("states", "keys", "mask", "copy", "hidden", "cell")
    rows = [
        light_network.Memory(*(getattr(memory, n)[i : i + 1].numpy() for n in names)) for i in range(len(memory.mask))
    ]
    found = [light_search(network, row, Options(**options), walk=walk, copies=copies) for row in rows]
    return joined([(np.array([i]), each) for i, each in enumerate(found)])


needs_numba = pytest.mark.skipif(find_spec("numba") is None, reason="needs the extra `fast`")
ways_to_search = pytest.mark.parametrize(
    "way",
    [
        pytest.param(beam, id="torch"),
        pytest.param(compiled, id="compiled", marks=needs_numba),
        pytest.param(light, id="light"),
    ],
)
few = settings(max_examples=20, deadline=None)
SEEDS = st.integers(0, 10_000)


def encoded(model: Seq2Seq, seed: int, rows: int, *, target_size: int = 8) -> Memory:
    sources, copies = random_sources(seed, rows, target_size=target_size, longest=5)
    with torch.no_grad():
        return model.encode(torch.from_numpy(pad(sources)), torch.from_numpy(pad(copies)))


def one(model: Seq2Seq, seed: int, rows: int, i: int, *, target_size: int = 8) -> Memory:
    """The i-th source alone, without padding."""
    sources, copies = random_sources(seed, rows, target_size=target_size, longest=5)
    with torch.no_grad():
        return model.encode(torch.tensor([sources[i]]), torch.tensor([copies[i]]))


def row_of(memory: Memory, i: int) -> Memory:
    return Memory(*(getattr(memory, name)[i : i + 1] for name in ("states", "keys", "mask", "copy", "hidden", "cell")))


@torch.no_grad()
def teacher_forced(model: Seq2Seq, memory: Memory, tokens: list[int], *, finished: bool) -> float:
    read = [BOS, *(n if n < model.target_size else UNK for n in tokens)]
    wanted = [*tokens, EOS] if finished else tokens
    return float(model.log_probs(memory, torch.tensor([read[: len(wanted)]]), torch.tensor([wanted])).sum())


def listed(found: Found, i: int) -> list[tuple[tuple[int, ...], bool, float]]:
    """(tokens, finished, log-probability) of the places of a row that hold something."""
    return [
        (
            tuple(found.tokens[i, k, : found.length[i, k]].tolist()),
            bool(found.finished[i, k]),
            float(found.log_prob[i, k]),
        )
        for k in range(found.length.shape[1])
        if np.isfinite(found.log_prob[i, k])
    ]


def assert_same(left: list, right: list) -> None:
    assert [item[:2] for item in left] == [item[:2] for item in right]
    np.testing.assert_allclose([item[2] for item in left], [item[2] for item in right], rtol=1e-5, atol=3e-5)


def models(seed: int, copy: bool, *, ending: float = 0.0) -> Seq2Seq:
    """Random weights; `ending` makes </s> likelier, so that hypotheses of all lengths finish."""
    model = tiny_model(seed=seed, copy=copy, scale=1.5)
    with torch.no_grad():
        model.generate.bias[EOS] += ending
    return model


@ways_to_search
@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(seed=SEEDS, ending=st.sampled_from([-2.0, 0.0, 2.0]))
@few
def test_a_beam_of_one_is_greedy(way, copy, seed, ending):
    model = models(seed, copy, ending=ending)
    memory = encoded(model, seed, 4)
    narrow, straight = way(model, memory, beams=1, max_length=12), greedy(model, memory, max_length=12)
    for i in range(4):
        assert_same(listed(narrow, i), listed(straight, i))


@ways_to_search
@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(seed=SEEDS, beams=st.integers(1, 7), max_length=st.integers(1, 19), ending=st.sampled_from([-2.0, 1.0, 3.0]))
@few
def test_every_score_is_that_of_teacher_forcing(way, copy, seed, beams, max_length, ending):
    model = models(seed, copy, ending=ending)
    memory = encoded(model, seed, 3)
    for found in (
        way(model, memory, beams=beams, max_length=max_length),
        greedy(model, memory, max_length=max_length),
    ):
        for i in range(3):
            hypotheses = listed(found, i)
            assert hypotheses, "something is always found"
            for tokens, finished, log_prob in hypotheses:
                expected = teacher_forced(model, row_of(memory, i), list(tokens), finished=finished)
                assert log_prob == pytest.approx(expected, rel=1e-5, abs=3e-5)


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(
    seed=SEEDS,
    beams=st.integers(1, 6),
    max_length=st.integers(1, 19),
    ending=st.sampled_from([-2.0, 1.0, 3.0]),
    power=st.sampled_from([0.0, 0.7, 1.0]),
)
@few
def test_lists_are_ranked_and_without_repetition(copy, seed, beams, max_length, ending, power):
    model = models(seed, copy, ending=ending)
    options = Options(beams=beams, max_length=max_length, length_power=power)
    found = search(model, encoded(model, seed, 3), options)
    scores = found.score(power)
    for i in range(3):
        hypotheses = listed(found, i)
        assert len({tokens for tokens, _, _ in hypotheses}) == len(hypotheses) <= beams
        ranks = [
            (finished, log_prob / max(len(tokens) + finished, 1) ** power) for tokens, finished, log_prob in hypotheses
        ]
        assert ranks == sorted(ranks, reverse=True), "the finished first, each group best first"
        np.testing.assert_allclose(scores[i, : len(ranks)], [rank for _, rank in ranks], rtol=1e-6)
        for tokens, finished, _ in hypotheses:
            assert not {PAD, UNK, BOS, EOS} & set(tokens)
            assert len(tokens) + finished <= max_length
            assert finished or len(tokens) == max_length
    empty = ~np.isfinite(found.log_prob)
    assert not found.length[empty].any()
    assert not found.tokens[empty].any()


@ways_to_search
@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(seed=SEEDS, beams=st.integers(1, 5), ending=st.sampled_from([-2.0, 1.0, 3.0]))
@few
def test_a_batch_gives_what_its_sources_give_alone(way, copy, seed, beams, ending):
    """Even where one source is done at once and another needs the whole length."""
    model = models(seed, copy, ending=ending)
    memory = encoded(model, seed, 4)
    together, straight = way(model, memory, beams=beams, max_length=17), greedy(model, memory, max_length=17)
    for i in range(4):
        alone = one(model, seed, 4, i)
        assert_same(listed(together, i), listed(way(model, alone, beams=beams, max_length=17), 0))
        assert_same(listed(straight, i), listed(greedy(model, alone, max_length=17), 0))


def all_outputs(
    model: Seq2Seq, memory: Memory, max_length: int, power: float
) -> list[tuple[tuple[int, ...], bool, float]]:
    """Every output there is, ranked: brute force through teacher forcing."""
    alphabet = sorted({*range(4, model.target_size), *(memory.copy[0].tolist() if model.copy else ())} - {PAD})
    outputs = []
    for length in range(max_length + 1):
        finished = length < max_length
        for tokens in product(alphabet, repeat=length):
            outputs.append((tokens, finished, teacher_forced(model, memory, list(tokens), finished=finished)))
    return sorted(outputs, key=lambda item: (not item[1], -item[2] / (len(item[0]) + item[1]) ** power))


@ways_to_search
@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(seed=SEEDS, ending=st.sampled_from([-1.0, 0.0, 2.0]), power=st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=8, deadline=None)
def test_a_beam_as_large_as_the_space_finds_everything_in_order(way, copy, seed, ending, power):
    model = tiny_model(seed=seed, source_size=7, target_size=6, copy=copy, scale=1.5)
    with torch.no_grad():
        model.generate.bias[EOS] += ending
    sources = torch.tensor([[4, 5, 4], [6, 0, 0]])
    copies = torch.tensor([[6, 5, 6], [4, 0, 0]])  # the first source adds a token beyond the vocabulary
    with torch.no_grad():
        memory = model.encode(sources, copies)
    expected = [all_outputs(model, row_of(memory, i), 3, power) for i in range(2)]
    found = way(model, memory, beams=max(map(len, expected)), max_length=3, length_power=power)
    for i in range(2):
        assert_same(listed(found, i), expected[i])


@ways_to_search
def test_the_search_goes_on_until_enough_have_finished_and_no_further(way):
    """Two tokens, an end that is always the likeliest: the k best of a geometric distribution."""
    model = tiny_model(source_size=5, target_size=6, copy=False)
    with torch.no_grad():
        for parameter in (model.generate.weight, model.generate.bias):
            parameter.zero_()
        model.generate.bias[:3] = -50.0
        model.generate.bias[EOS] = 2.0
        model.generate.bias[5] = -1.0
    with torch.no_grad():
        memory = model.encode(torch.tensor([[4]]), torch.tensor([[4]]))
    hypotheses = listed(way(model, memory, beams=3, max_length=50), 0)
    assert hypotheses[0][0] == ()
    assert all(finished for _, finished, _ in hypotheses)
    assert {len(tokens) for tokens, _, _ in hypotheses} <= {0, 1, 2}


def test_junk_that_finishes_early_does_not_end_the_search():
    """The likeliest output, sure at every step, is found however narrow the beam; an empty one finishes before it."""
    agent = toy.agent(hidden=24)
    pairs = [pair for pair in toy.examples() if "near" in pair.query]
    task = agent_task(
        agent, pairs, pairs, toy.domain(), optimizer=Adam(1e-2), batch_size=4, seed=1, search=Options(beams=1)
    )
    list(fit(task, Schedule(epochs=25, evaluate_from=25)))
    straight = find(agent, [pair.query for pair in pairs], Options(beams=1), rng=random.Random(0))
    for beams in (2, 3, 4, 5, 8):
        found = find(agent, [pair.query for pair in pairs], Options(beams=beams), rng=random.Random(0))
        for best, hypotheses in zip(straight, found, strict=True):
            assert hypotheses[0].tokens == best[0].tokens
            assert len(hypotheses) == beams


class ByPrefix:
    """A constraint whose places are what was written; `may` says which tokens may follow it."""

    def __init__(self, may: Callable[[tuple[int, ...]], Sequence[int]]):
        self.may = may

    def start(self) -> tuple[int, ...]:
        return ()

    def allowed(self, sources, places, *, left: int, width: int) -> np.ndarray:
        allowed = np.zeros((len(places), width), dtype=bool)
        for row, place in enumerate(places):
            allowed[row, [token for token in self.may(place) if token < width]] = True
        return allowed

    def after(self, sources, places, tokens) -> list[tuple[int, ...]]:
        return [(*place, token) for place, token in zip(places, tokens, strict=True)]


WIDTH = 8 + 5  # vocabulary of the tiny model and the longest source


@ways_to_search
@given(seed=SEEDS)
@few
def test_what_is_not_allowed_is_never_written(way, seed):
    model = models(seed, True, ending=1.0)
    memory = encoded(model, seed, 3)
    found = way(model, memory, max_length=9, walk=ByPrefix(lambda _: [t for t in range(WIDTH) if t not in (5, 6, 8)]))
    for i in range(3):
        for tokens, finished, log_prob in listed(found, i):
            assert not {5, 6, 8} & set(tokens)
            expected = teacher_forced(model, row_of(memory, i), list(tokens), finished=finished)
            assert log_prob == pytest.approx(expected, rel=1e-5, abs=1e-4), "what is left is not made likelier"


@ways_to_search
@given(seed=SEEDS, rows=st.sampled_from([1, 6]))
@few
def test_each_hypothesis_is_asked_what_may_follow_it(way, seed, rows):
    """No token twice in a row: only who knows what every hypothesis has written can say so."""
    model = models(seed, True, ending=-1.0)
    walk = ByPrefix(lambda place: [token for token in range(WIDTH) if not place or token != place[-1]])
    found = way(model, encoded(model, seed, rows), max_length=9, walk=walk)
    for i in range(rows):
        assert listed(found, i)
        for tokens, _, _ in listed(found, i):
            assert all(a != b for a, b in zip(tokens, tokens[1:], strict=False))


@ways_to_search
def test_a_constraint_that_allows_one_output_gets_it(way):
    wanted = [4, 6, 7, EOS]
    model = models(1, True)
    found = way(model, encoded(model, 1, 1), max_length=9, walk=ByPrefix(lambda place: [wanted[len(place)]]))
    assert [item[:2] for item in listed(found, 0)] == [((4, 6, 7), True)]


@ways_to_search
def test_a_constraint_that_allows_nothing_leaves_nothing(way):
    model = models(1, True)
    found = way(model, encoded(model, 1, 2), max_length=9, walk=ByPrefix(lambda place: []))
    assert listed(found, 0) == listed(found, 1) == []


@ways_to_search
@pytest.mark.parametrize("max_length", [1, 7, 8, 9])
def test_what_never_ends_is_cut_at_the_limit(way, max_length):
    model = models(2, True)
    walk = ByPrefix(lambda place: [token for token in range(WIDTH) if token != EOS])
    found = way(model, encoded(model, 2, 2), max_length=max_length, walk=walk)
    for i in range(2):
        hypotheses = listed(found, i)
        assert hypotheses
        assert all(len(tokens) == max_length and not finished for tokens, finished, _ in hypotheses)


@ways_to_search
def test_unfinished_hypotheses_come_last(way):
    model = models(3, True, ending=-3.0)
    found = way(model, encoded(model, 3, 4), beams=6, max_length=4)
    mixed = [i for i in range(4) if found.finished[i].any() and not found.finished[i].all()]
    assert mixed, "the example has both kinds"
    for i in mixed:
        flags = found.finished[i].tolist()
        assert flags == sorted(flags, reverse=True)


@ways_to_search
def test_search_leaves_no_gradient_behind(way):
    model = models(4, True)
    memory = encoded(model, 4, 2)
    way(model, memory, beams=2, max_length=5)
    greedy(model, memory, max_length=5)
    assert all(parameter.grad is None for parameter in model.parameters())


@needs_numba
@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(seed=SEEDS, beams=st.integers(1, 6), max_length=st.integers(1, 12), power=st.sampled_from([0.0, 0.7, 1.0]))
@few
def test_compiled_steps_find_what_the_others_find(copy, seed, beams, max_length, power):
    model = models(seed, copy, ending=1.0)
    memory, options = encoded(model, seed, 5), {"beams": beams, "max_length": max_length, "length_power": power}
    expected, found = beam(model, memory, **options), compiled(model, memory, **options)
    for i in range(5):
        assert_same(listed(found, i), listed(expected, i))


@needs_numba
def test_a_search_that_is_sure_of_its_way_keeps_the_digits_of_the_unlikely():
    """A copy gate near 0 or 1 must not round away what is left."""
    model = models(0, True)
    with torch.no_grad():
        model.gate.bias += 17.0
    memory = encoded(model, 0, 4)
    found = compiled(model, memory, beams=20, max_length=1)
    assert (found.tokens >= model.target_size).any(), "tokens that can only be copied are among the least likely"
    for i in range(4):
        for tokens, finished, log_prob in listed(found, i):
            expected = teacher_forced(model, row_of(memory, i), list(tokens), finished=finished)
            assert log_prob == pytest.approx(expected, rel=1e-5, abs=1e-4)


@ways_to_search
def test_an_empty_source_is_searched_like_any_other(way):
    model = models(1, True)
    nothing, something = torch.tensor([[PAD]]), torch.tensor([[4]])
    with torch.no_grad():
        memory, other = (model.encode(numbers, numbers) for numbers in (nothing, something))
    expected, found = beam(model, memory, beams=3, max_length=4), way(model, memory, beams=3, max_length=4)
    assert_same(listed(found, 0), listed(expected, 0))
    assert listed(found, 0) != listed(way(model, other, beams=3, max_length=4), 0)


# What is compiled is loaded when it pays off.


@pytest.fixture
def told(monkeypatch) -> list[str]:
    """Which way searches go, and when the compiled steps are loaded; they are not loaded before."""
    told: list[str] = []
    monkeypatch.setattr(kernels, "_loaded", False)
    ways = (("beam", dualparse.engines.plain, "beam"), ("compiled", dualparse.engines.numba.engine, "compiled_beam"))
    for name, module, function in ways:
        real = getattr(module, function)
        monkeypatch.setattr(
            module,
            function,
            lambda *a, _name=name, _real=real, **k: (told.append(_name), _real(*a, **k))[1],
        )
    return told


@needs_numba
def test_many_sources_are_searched_compiled_and_few_are_not(told):
    agent = toy.agent()
    sources = [pair.query for pair in toy.examples()][:4]
    options, rng = Options(beams=2, max_length=4), random.Random(0)
    find(agent, sources, options, rng=rng)
    assert set(told) == {"beam"}
    told.clear()
    find(agent, sources * (MANY // 4), options, rng=rng)
    assert set(told) == {"compiled"}
    told.clear()
    find(agent, sources, options, rng=rng)
    assert set(told) == {"compiled"}, "once it is loaded it serves few as well"
    told.clear()
    agent.model.double()
    find(agent, sources, options, rng=rng)
    assert set(told) == {"beam"}, "it knows single precision only"


@pytest.mark.parametrize("missing", ["numba", "cache", *kernels.KERNELS])
def test_without_numba_many_are_searched_all_the_same(told, monkeypatch, missing):
    """It is not installed, does not work with the NumPy at hand, or finds no folder it may write to."""
    if missing == "numba":
        monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    elif missing == "cache":
        monkeypatch.setattr(kernels, "import_module", Mock(side_effect=RuntimeError("cannot cache function")))
    else:
        monkeypatch.setitem(sys.modules, missing, None)  # importing it now fails
    agent = toy.agent()
    sources = [pair.query for pair in toy.examples()][:4] * (MANY // 4)
    assert not kernels.load()
    assert len(find(agent, sources, Options(beams=2, max_length=4), rng=random.Random(0))) == len(sources)
    assert set(told) == {"beam"}


# `find`: words in, words out.


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("direction", ["q2lf", "lf2q"])
def test_find_keeps_the_order_of_the_sources_whatever_the_batches(direction, beams):
    agent = toy.agent(direction)
    agent.model.initialize(scale=1.0, generator=torch.Generator().manual_seed(0))
    agent.model.double()  # near ties must not turn with the rounding of another batch
    pairs = toy.examples()[::3]
    sources = [pair.query if direction == "q2lf" else pair.lf for pair in pairs]
    by_batches = [
        find(agent, sources, Options(beams=beams, max_length=10), rng=random.Random(0), rows_at_once=size)
        for size in (1, 4, None)
    ]
    for found in by_batches[1:]:
        for expected, hypotheses in zip(by_batches[0], found, strict=True):
            assert [h.tokens for h in hypotheses] == [h.tokens for h in expected]
            assert [h.score for h in hypotheses] == pytest.approx([h.score for h in expected], rel=1e-4)


def test_find_gives_the_same_on_several_cores(monkeypatch):
    monkeypatch.setattr("dualparse.engines.cores._cores", None)
    agent = toy.agent()
    agent.model.initialize(scale=1.0, generator=torch.Generator().manual_seed(0))
    agent.model.double()
    sources = [pair.query for pair in toy.examples()]
    options, before = Options(beams=3, max_length=10), torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = find(agent, sources, options, rng=random.Random(0), rows_at_once=5)
        torch.set_num_threads(2)
        together = find(agent, sources, options, rng=random.Random(0), rows_at_once=5)
    finally:
        torch.set_num_threads(before)
    assert together == alone


@ways_to_search
@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(seed=SEEDS)
@few
def test_what_search_says_was_copied_is_what_a_second_look_says(way, seed, copy):
    model = tiny_model(seed=seed, copy=copy)
    memory = encoded(model, seed, 4)
    found = way(model, memory, beams=3, max_length=6, copies=True)
    assert found.copied is not None and found.copied.shape == found.tokens.shape
    for i in range(4):
        for k in range(3):
            tokens = found.tokens[i, k, : found.length[i, k]].tolist()
            if not tokens:
                continue
            read = [BOS, *(n if n < model.target_size else UNK for n in tokens[:-1])]
            with torch.no_grad():
                seen = model.look(row_of(memory, i), torch.tensor([read]), torch.tensor([tokens]))
            np.testing.assert_allclose(found.copied[i, k, : len(tokens)], seen.copied[0].numpy(), atol=1e-5)
    assert way(model, memory, beams=3, max_length=6).copied is None


def test_find_spells_words_beyond_the_vocabulary():
    agent = toy.agent()
    with torch.no_grad():
        agent.model.gate.weight.zero_()
        agent.model.gate.bias.fill_(-30.0)  # copies alone
    found = find(agent, [("quetzal",)], Options(beams=1, max_length=3), rng=random.Random(0))
    assert found[0][0].text == "quetzal quetzal quetzal"
    assert not found[0][0].finished
    assert found[0][0].score == pytest.approx(found[0][0].log_prob / 3)


def test_find_searches_in_eval_mode_and_leaves_the_mode_as_it_was():
    agent = toy.agent(dropout=0.5)
    sources = [pair.query for pair in toy.examples()[:4]]
    for training in (True, False):
        agent.model.train(training)
        found = [find(agent, sources, Options(beams=2, max_length=6), rng=random.Random(0)) for _ in range(2)]
        assert found[0] == found[1]
        assert agent.model.training is training


def test_find_of_nothing_is_nothing():
    assert find(toy.agent(), [], Options(), rng=random.Random(0)) == []


def test_a_source_without_words_is_searched_all_the_same():
    assert len(find(toy.agent(), [()], Options(beams=2, max_length=5), rng=random.Random(0))[0]) == 2


def test_more_beams_than_tokens():
    agent = toy.agent()
    found = find(agent, [("list", "all", "lakes")], Options(beams=90, max_length=3), rng=random.Random(0))
    assert len(found[0]) == 90
    assert len({h.tokens for h in found[0]}) == 90
