"""Rows of very different lengths, scored in groups of similar ones: what is padding costs no time.

For a CPU, and where rows are too many for one batch. In training a GPU is quicker with all rows at once, and its graphs
want few shapes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dualparse.data.batch import Batch
from dualparse.data.vocab import PAD
from dualparse.engines.numba import loading as compiled
from dualparse.networks.lstm import Seq2Seq

ROWS = 32  # of a group: fewer leave less padding, more make better use of the matrix products


def grouped_log_probs(
    model: Seq2Seq, batch: Batch, *, shared: int = 0, times: int = 1, rows: int | None = None
) -> Tensor:
    """`model(batch, ...)`, [B], group by group, so many rows each; with dropout, of other random draws. Where the model
    leaves out padding itself, and no number of rows is given, they go together."""
    if rows is None and compiled.usable(model.generate.weight):
        return model(batch, shared=shared, times=times)
    many = shared * times
    parts = tuple(zip(batch.arrays(), (shared, shared, many, many), strict=True))
    first, rest = Batch(*(part[:end] for part, end in parts)), Batch(*(part[end:] for part, end in parts))
    work = ((first, times), (rest, 1))
    return torch.cat([_in_groups(model, part, count, rows or ROWS) for part, count in work if len(part.source)])


def _in_groups(model: Seq2Seq, batch: Batch, times: int, size: int) -> Tensor:
    """Every source has `times` targets."""
    sources, targets = ((part != PAD).sum(-1) for part in (batch.source, batch.targets))
    longest = targets.view(-1, times).amax(-1)
    order = (sources + longest).argsort(stable=True)
    parts = []
    for chosen in order.split(max(size // times, 1)):
        rows = (chosen[:, None] * times + torch.arange(times, device=chosen.device)).flatten()
        source, target = max(int(sources[chosen].max()), 1), max(int(longest[chosen].max()), 1)
        part = Batch(
            batch.source[chosen, :source],
            batch.copy[chosen, :source],
            batch.inputs[rows, :target],
            batch.targets[rows, :target],
        )
        parts.append(model(part, shared=len(chosen) if times > 1 else 0, times=times))
    return torch.cat(parts).view(-1, times)[order.argsort()].flatten()
