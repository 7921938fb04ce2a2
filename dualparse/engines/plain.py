"""The plain engine: every network as it is written, in PyTorch. It is the truth that other engines are compared with.

On a CPU rows of very different lengths are scored in groups of similar ones: what is padding costs no time. In training
a GPU is quicker with all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from dualparse.data.batch import Batch
from dualparse.data.vocab import PAD
from dualparse.engines.beam import beam, greedy
from dualparse.engines.found import Found, Options, Walk
from dualparse.networks.network import Memory, Network, TextModel

ROWS = 32  # of a group: fewer leave less padding, more make better use of the matrix products


class Plain:
    """Runs every network."""

    name = "plain"

    def supports(self, network: nn.Module) -> bool:
        return True

    def score(self, network: Network, batch: Batch, *, shared: int = 0, times: int = 1) -> Tensor:
        if batch.targets.is_cuda or len(batch.targets) <= ROWS:
            return score(network, batch, shared=shared, times=times)
        return by_length(score, network, batch, shared=shared, times=times, rows=ROWS)

    def score_texts(self, model: TextModel, inputs: Tensor, targets: Tensor) -> Tensor:
        return model.log_probs(inputs, targets).sum(-1)

    def read(self, network: Network, source: Tensor, copy: Tensor) -> Memory:
        return network.encode(source, copy)

    def search(
        self, network: Network, memory: Memory, options: Options, *, walk: Walk | None = None, copies: bool = False
    ) -> Found:
        """`copies` asks for what was copied, which greedy search does not know."""
        if options.beams == 1 and walk is None:
            return greedy(network, memory, max_length=options.max_length)
        return beam(network, memory, **vars(options), walk=walk, copies=copies)


def score(network: Network, batch: Batch, *, shared: int = 0, times: int = 1) -> Tensor:
    """Log-probability of each row's target, [B]. The first `shared` sources have `times` targets each, one after the
    other, and are read once; the others have one."""
    memory = network.encode(batch.source, batch.copy)
    if shared:
        memory = memory.repeated(shared, times)
    return network.log_probs(memory, batch.inputs, batch.targets).sum(-1)


def by_length(
    scored: Callable[..., Tensor], network: Network, batch: Batch, *, shared: int = 0, times: int = 1, rows: int
) -> Tensor:
    """`scored(network, batch, ...)`, [B], group by group, so many rows each; with dropout, of other random draws."""
    many = shared * times
    parts = tuple(zip(batch.arrays(), (shared, shared, many, many), strict=True))
    first, rest = Batch(*(part[:end] for part, end in parts)), Batch(*(part[end:] for part, end in parts))
    work = ((first, times), (rest, 1))
    return torch.cat([_in_groups(scored, network, part, n, rows) for part, n in work if len(part.source)])


def _in_groups(scored: Callable[..., Tensor], network: Network, batch: Batch, times: int, size: int) -> Tensor:
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
        parts.append(scored(network, part, shared=len(chosen) if times > 1 else 0, times=times))
    return torch.cat(parts).view(-1, times)[order.argsort()].flatten()
