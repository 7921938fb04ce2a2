"""Beam search on a CPU with compiled steps: between the matrix products of a step there is one pass over memory.

A model and the encoder's memory in, the arrays out that `found.trace` reads. What is found is what `beam.beam`
finds, up to rounding. Only hypotheses that are alive have a row in the products: one of each source at the first step,
and none of a source that is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from dualparse.data.vocab import BOS
from dualparse.engines.found import Place, Walk
from dualparse.networks.lstm import Memory, Plan, Seq2Seq

if TYPE_CHECKING:
    from dualparse.engines.numba.search_kernels import Rows, Source

ALL = np.ones((0, 0), np.bool_)  # no constraint
NO_GATE = np.zeros((0, 0, 0), np.float32), np.zeros((0, 0), np.float32)


@torch.no_grad()
def compiled_beam(
    model: Seq2Seq, memory: Memory, *, beams: int, max_length: int, length_power: float, walk: Walk | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """history [T, B, k], ended, ends, live [B, k] and copied [T, B, k], as `found.trace` wants them."""
    from dualparse.engines.numba.search_kernels import Outcome, Rows, Source, choose, remember

    plan = model.begin(memory, 1).plan
    outward, n = plan.outward.T.contiguous(), model.decoder.hidden_size
    source = Source(*_source(model, memory, plan))
    outcome = Outcome.empty(len(memory.mask), beams, max_length)
    now = Rows.start(_array(memory.hidden), _array(memory.cell), beams, BOS)
    then = Rows.empty(len(memory.mask), beams, n)
    input_gates = _array(plan.input_gates)
    gates, read = (torch.empty(len(now.live), width) for width in (4 * n, outward.shape[1]))
    sources, places = len(memory.mask), [] if walk is None else [walk.start()] * len(memory.mask)
    for step in range(max_length):
        count = int(now.first[sources])
        if not count:
            break
        hidden = torch.from_numpy(now.hidden[:count])
        torch.mm(hidden, plan.recurrent, out=gates[:count])
        remember(now, gates.numpy()[:count], input_gates)
        torch.mm(hidden, outward, out=read[:count])
        allowed = ALL if walk is None else _allowed(walk, now, sources, places, max_length - step - 1, source)
        left = choose(step, sources, now, read.numpy(), source, allowed, outcome, length_power, then)
        if walk is not None:
            places = _after(walk, now, sources, places, then, left, outcome.history[step])
        sources = left
        now, then = then, now
    else:
        step = max_length
    return outcome.history[:step], outcome.ended, outcome.ends, outcome.live, outcome.copied[:step]


def _allowed(walk: Walk, now: Rows, sources: int, places: Sequence[Place], left: int, source: Source) -> np.ndarray:
    """[R, W] what the rows may write next."""
    return walk.allowed(_owners(now, sources), places, left=left, width=source.shown.shape[2])


def _owners(rows: Rows, sources: int) -> list[int]:
    """[R] the source of every row."""
    return np.repeat(rows.source[:sources], np.diff(rows.first[: sources + 1])).tolist()


def _after(
    walk: Walk, now: Rows, sources: int, places: Sequence[Place], then: Rows, left: int, history: np.ndarray
) -> list[Place]:
    """Where the next rows stand, from where those before stood; `history` [B, k] as in `Outcome`."""
    first = dict(zip(now.source[:sources].tolist(), now.first[:sources].tolist(), strict=True))
    owners, beams = _owners(then, left), history.shape[1]
    slots = np.arange(len(owners)) - np.repeat(then.first[:left], np.diff(then.first[: left + 1]))
    parents = (history[owners, slots] % beams).tolist()
    came = [places[first[owner] + parent] for owner, parent in zip(owners, parents, strict=True)]
    return walk.after(owners, came, then.tokens[: len(owners)].tolist())


def _source(model: Seq2Seq, memory: Memory, plan: Plan) -> tuple[np.ndarray, ...]:
    """What all steps read, in the order of `search_kernels.Source`."""
    gate = NO_GATE
    if plan.gate_shown is not None and plan.gate_read is not None:
        gate = _array(plan.gate_shown), _array(plan.gate_read)
    return (
        _array(plan.powers),
        _array(-2 * model.attention_score.weight[0]),
        _array(memory.mask.sum(-1).clamp_min(1)),  # of an empty source the first padding, as in a batch of its own
        _array(plan.shown),
        _array(memory.copy),
        *gate,
    )


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.contiguous().numpy()
