"""Teacher forcing without padding gives what it gives with padding."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import random_sources, tiny_model

from dualparse.data.batch import Batch, Row, collate
from dualparse.data.vocab import UNK
from dualparse.engines.engine import score, score_texts
from dualparse.engines.numba import loading as compiled
from dualparse.engines.numba import packed
from dualparse.engines.numba.dropping import drop
from dualparse.networks.dropout import Dropout
from dualparse.networks.language_model import LanguageModel

if not compiled.load():
    pytest.skip("needs the extra `fast`", allow_module_level=True)

V = 8
COPY = pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])


def batch_of(seed: int, rows: int) -> Batch:
    """Rows of all lengths whose beginnings are often alike, the first with neither source nor target."""
    sources, copies = random_sources(seed, rows, target_size=V, longest=9)
    targets = [[4 + (seed + j + (i > j)) % (V - 4) for j in range((seed * i) % 7)] for i in range(rows)]
    made = [Row(source, copy, (), target) for source, copy, target in zip(sources, copies, targets, strict=True)]
    batch = collate([Row([], [], (), []), *made], target_vocab_size=V).map(torch.from_numpy)
    batch.targets[0] = 0
    return batch


def with_padding(model, batch, *, shared=0, times=1):
    memory = model.encode(batch.source, batch.copy)
    memory = memory.repeated(shared, times) if shared else memory
    return model.log_probs(memory, batch.inputs, batch.targets).sum(-1)


def assert_same(model, found, wanted) -> None:
    weights = torch.linspace(-1, 1, len(wanted))
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-5)
    parameters = list(model.parameters())
    gradients = [torch.autograd.grad(x @ weights, parameters) for x in (found, wanted)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


@COPY
@given(seed=st.integers(0, 10_000), shared=st.integers(0, 3), times=st.integers(1, 4), rest=st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_without_padding_everything_is_the_same(copy, seed, shared, times, rest):
    """Whatever the number of targets of a source, gradients included."""
    model = tiny_model(seed=seed, copy=copy).float()
    many = batch_of(seed, shared * times + rest - 1)
    sources = [*range(0, shared * times, times), *range(shared * times, shared * times + rest)]
    batch = Batch(many.source[sources], many.copy[sources], many.inputs, many.targets)
    sizes = {"shared": shared, "times": times}
    assert_same(model, packed.packed_log_probs(model, batch, **sizes), with_padding(model, batch, **sizes))


@COPY
@given(seed=st.integers(0, 10_000), rows=st.integers(0, 30))
@settings(max_examples=30, deadline=None)
def test_search_reads_its_sources_without_padding_as_with_it(copy, seed, rows):
    """Few tokens and more than the vocabulary has, from which on a table serves; an empty source among them."""
    model, batch = tiny_model(seed=seed, copy=copy).float().eval(), batch_of(seed, rows)
    with torch.no_grad():
        wanted = model.encode(batch.source, batch.copy)
        found = packed.packed_memory(model, batch.source, batch.copy)
        scored = packed.packed_log_probs(model, batch)
    torch.testing.assert_close(scored, with_padding(model, batch), atol=1e-4, rtol=1e-5)
    assert torch.equal(found.mask, wanted.mask) and torch.equal(found.copy, wanted.copy)
    for name in ("states", "keys"):
        one, other = (getattr(memory, name) for memory in (found, wanted))
        assert one.shape == other.shape and not one[~found.mask].any()
        torch.testing.assert_close(one[found.mask], other[found.mask], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found.hidden, wanted.hidden, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found.cell, wanted.cell, atol=1e-5, rtol=1e-5)


def test_a_noisy_search_draws_for_every_source():
    model = noisy_model()
    source = torch.full((6, 5), 5)
    with torch.no_grad():
        states = packed.packed_memory(model, source, source).states
    assert len({tuple(row) for row in states[:, 0].tolist()}) == 6


@pytest.mark.parametrize("size", [15, 16, 17])
def test_room_behind_an_output_layer_has_no_probability(size):
    layer, features = torch.nn.Linear(3, size), torch.randn(5, 3)
    logits = packed._logits(layer, features).detach()
    assert logits.shape == (5, -(-size // 16) * 16)
    torch.testing.assert_close(logits[:, :size], layer(features))
    assert float(logits.softmax(-1)[:, size:].sum()) == 0.0


@COPY
def test_numbers_too_large_for_the_kernel_are_right_too(copy, monkeypatch):
    model, batch = tiny_model(seed=3, copy=copy).float(), batch_of(3, 9)
    monkeypatch.setattr(packed, "small", lambda tensor: False)
    assert_same(model, packed.packed_log_probs(model, batch), with_padding(model, batch))


def test_the_network_takes_this_way_where_it_can(monkeypatch):
    model, batch, asked = tiny_model(seed=3, copy=True).float(), batch_of(3, 4), []
    monkeypatch.setattr(
        "dualparse.engines.numba.engine.packed_log_probs",
        lambda model, batch, **sizes: asked.append(sizes) or torch.zeros(len(batch.targets)),
    )
    score(model, batch, shared=1, times=2)
    assert asked == [{"shared": 1, "times": 2}]
    score(model.double(), batch)
    monkeypatch.setattr(compiled, "_loaded", False)
    score(model.float(), batch)
    assert len(asked) == 1, "single precision only, and only with Numba"


def rows_of(*pairs: tuple[list[int], list[int]]) -> Batch:
    rows = [Row(source, [V + i for i in range(len(source))], (), target) for source, target in pairs]
    return collate(rows, target_vocab_size=V).map(torch.from_numpy)


def noisy_model(**settings):
    torch.manual_seed(1)
    model = tiny_model(seed=1, copy=True, **settings).float().train()
    model.dropout.p = settings.get("dropout", 0.5)
    return model


def test_hypotheses_of_a_source_share_their_draws_as_far_as_they_are_alike(monkeypatch):
    """The same target of a source twice is as likely; so is one target of the same source read twice. Examples that
    only happen to be alike have draws of their own."""
    model = noisy_model()
    once = rows_of(([4, 5, 6], [4, 5]), ([4, 5, 6], [4, 5]))
    first, second = score(model, Batch(once.source[:1], once.copy[:1], once.inputs, once.targets), shared=1, times=2)
    assert first == second
    first, second = score(model, rows_of(([4, 5, 6], [4, 5]), ([4, 5, 6], [4, 5])))
    assert first != second, "the decoder has draws of its own for each source"
    drawn = []
    monkeypatch.setattr(packed, "drop", lambda layer, values: drawn.append(len(values)) or drop(layer, values))
    score(model, rows_of(([4, 5, 6], [4, 5]), ([4, 7, 6], [4, 5])))
    score(model, rows_of(([4, 5, 6], [4, 5]), ([4, 7, 6], [4, 6])))
    assert drawn[0::3] == [4, 6], "a token that begins or ends alike is drawn once, for hypotheses of one target"


def test_dropping_and_weighing_in_one_go_is_both_one_after_the_other():
    torch.manual_seed(2)
    values, weight = torch.randn(7, 6, requires_grad=True), torch.randn(6, requires_grad=True)
    dropout = Dropout(0.4).train()
    dropout.generator = torch.Generator().manual_seed(5)
    found = packed._drop_and_weigh(dropout, values, weight)
    dropout.generator.manual_seed(5)
    wanted = drop(dropout, values), values @ weight
    assert (found[0] == 0).any()
    outward = [torch.randn(tensor.shape) for tensor in wanted]
    gradients = []
    for pair in (found, wanted):
        loss = sum((tensor * out).sum() for tensor, out in zip(pair, outward, strict=True))
        gradients.append(torch.autograd.grad(loss, [values, weight]))
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(*gradients)


def test_unknown_words_are_unknown_in_both_directions():
    model = noisy_model()
    model.dropout.p, model.word_dropout = 0.0, 0.999999
    batch = rows_of(([4, 5, 6], [4, 5]), ([5], [6]))
    unknown = Batch(batch.source.where(batch.source == 0, UNK), batch.copy, batch.inputs, batch.targets)
    torch.testing.assert_close(score(model, batch), with_padding(model.eval(), unknown))


@given(st.lists(st.lists(st.integers(4, 6), max_size=6), min_size=1, max_size=9), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_language_models_too(texts, seed):
    torch.manual_seed(seed)
    model = LanguageModel(7, embedding=4, hidden=5, dropout=0.0)
    batch = collate([Row([], [], (), text) for text in texts], target_vocab_size=7).map(torch.from_numpy)
    found = score_texts(model, batch.inputs, batch.targets)
    assert_same(model, found, model.log_probs(batch.inputs, batch.targets).sum(-1))
