"""Beam search on a CPU with compiled steps: between the matrix products of a step there is one pass over memory.

A model and the encoder's memory in, the arrays out that `found.trace` reads. What is found is what `beam.beam`
finds, up to rounding. Only hypotheses that are alive have a row in the products: one of each source at the first step,
and none of a source that is done.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from dualparse.data.vocab import BOS
from dualparse.networks.lstm import Memory, Plan, Seq2Seq

NO_GATE = np.zeros((0, 0, 0), np.float32), np.zeros((0, 0), np.float32)


@torch.no_grad()
def compiled_beam(
    model: Seq2Seq, memory: Memory, *, beams: int, max_length: int, length_power: float
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
    sources = len(memory.mask)
    for step in range(max_length):
        count = int(now.first[sources])
        if not count:
            break
        hidden = torch.from_numpy(now.hidden[:count])
        torch.mm(hidden, plan.recurrent, out=gates[:count])
        remember(now, gates.numpy()[:count], input_gates)
        torch.mm(hidden, outward, out=read[:count])
        sources = choose(step, sources, now, read.numpy(), source, outcome, length_power, then)
        now, then = then, now
    else:
        step = max_length
    return outcome.history[:step], outcome.ended, outcome.ends, outcome.live, outcome.copied[:step]


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
