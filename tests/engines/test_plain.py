"""Rows in groups get what they get together."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import random_sources, tiny_model

from dualparse.data.batch import Batch, Row, collate
from dualparse.engines import engine, plain
from dualparse.engines.plain import by_length, score

V = 8


def batch_of(seed: int, rows: int):
    """Rows of all lengths, the first with neither source nor target: the game has such where search found too few."""
    sources, copies = random_sources(seed, rows, target_size=V, longest=9)
    targets = [[4 + (seed + i + j) % (V - 4) for j in range((seed * i) % 7)] for i in range(rows)]
    made = [Row(source, copy, (), target) for source, copy, target in zip(sources, copies, targets, strict=True)]
    batch = collate([Row([], [], (), []), *made], target_vocab_size=V).map(torch.from_numpy)
    batch.targets[0] = 0
    return batch


@pytest.mark.parametrize("copy", [True, False], ids=["AttPtr", "Att"])
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 12), size=st.integers(1, 14))
@settings(max_examples=25, deadline=None)
def test_groups_of_any_size_give_what_one_batch_gives(copy, seed, rows, size):
    model = tiny_model(seed=seed, copy=copy)
    batch = batch_of(seed, rows)
    parameters = list(model.parameters())
    grouped = by_length(score, model, batch, rows=size)
    together = score(model, batch)
    torch.testing.assert_close(grouped, together)
    weights = torch.linspace(-1, 1, len(together), dtype=together.dtype)
    for one, other in zip(*(torch.autograd.grad(x @ weights, parameters) for x in (grouped, together)), strict=True):
        torch.testing.assert_close(one, other)


@given(seed=st.integers(0, 1000), shared=st.integers(1, 4), times=st.integers(1, 3), rest=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_sources_with_several_targets_are_read_once(seed, shared, times, rest):
    """As if the source stood before each of its targets, in groups and together."""
    model = tiny_model(seed=seed, copy=True)
    many = batch_of(seed, shared * times + rest - 1)
    sources = [*range(0, shared * times, times), *range(shared * times, shared * times + rest)]
    repeated = [i - i % times if i < shared * times else i for i in range(shared * times + rest)]
    repeated_batch = Batch(many.source[repeated], many.copy[repeated], many.inputs, many.targets)
    once = Batch(many.source[sources], many.copy[sources], many.inputs, many.targets)
    expected = score(model, repeated_batch)
    torch.testing.assert_close(score(model, once, shared=shared, times=times), expected)
    torch.testing.assert_close(by_length(score, model, once, shared=shared, times=times, rows=4), expected)


def test_padding_is_cut_off(monkeypatch):
    model, batch, widths = tiny_model(seed=1, copy=True), batch_of(1, 12), []
    real = model.log_probs
    monkeypatch.setattr(
        model, "log_probs", lambda memory, *both: widths.append(both[1].shape[1]) or real(memory, *both)
    )
    monkeypatch.setattr(plain, "ROWS", 4)
    plain.Plain().score(model, batch)
    assert len(widths) == 4
    assert min(widths) < max(widths) == batch.targets.shape[1]


def test_so_many_rows_at_a_time_give_what_all_give():
    model, batch = tiny_model(seed=2), batch_of(2, 9)
    torch.testing.assert_close(engine.score(model, batch, rows=3), score(model, batch))
