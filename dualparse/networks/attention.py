"""Scores of additive attention (paper Eq. 4) without keeping what is largest in the whole network.

The tensor under the tanh, [B, T, S, n], is made for a few rows at a time and made again for the gradient. On a CPU it
then never leaves the cache, on a GPU the memory of a step shrinks to a fraction; both matter more than one more tanh.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

ROOM = {"cpu": 1 << 18, "cuda": 1 << 26}  # numbers under the tanh at a time
CLOSED = -1e4  # a gate or score so far down that its exponential is exactly 0, and finite so that gradients are
LARGEST = 22.0  # the powers of two such numbers have a finite product; one alone makes a tanh 1 in single precision


def additive_scores(
    keys: Tensor, query: Tensor, vector: Tensor, positions: Tensor | None = None, steps: Tensor | None = None
) -> Tensor:
    """keys [B, S, n], query [B, T, n], vector [n] -> vector . tanh(keys + query), [B, T, S].

    positions, steps [B]: how many keys and queries of each row count, for who can make use of it. Scores beyond are of
    no interest, and whoever gives these numbers must not look at them.
    """
    return _AdditiveScores.apply(keys, query, vector)


class _AdditiveScores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, keys: Tensor, query: Tensor, vector: Tensor) -> Tensor:
        ctx.save_for_backward(keys, query, vector)
        scores = keys.new_empty(len(keys), query.shape[1], keys.shape[1])
        for rows in _parts(keys, query):
            torch.matmul(_mix(keys[rows], query[rows]), vector, out=scores[rows])
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        keys, query, vector = ctx.saved_tensors
        to_keys, to_query, to_vector = torch.empty_like(keys), torch.empty_like(query), torch.zeros_like(vector)
        for rows in _parts(keys, query):
            mixed = _mix(keys[rows], query[rows])
            to_vector += gradient[rows].flatten() @ mixed.flatten(0, 2)
            slope = mixed.square_().neg_().add_(1).mul_(gradient[rows].unsqueeze(-1))
            torch.sum(slope, 1, out=to_keys[rows])
            torch.sum(slope, 2, out=to_query[rows])
        return to_keys.mul_(vector), to_query.mul_(vector), to_vector


def _mix(keys: Tensor, query: Tensor) -> Tensor:
    return (keys.unsqueeze(1) + query.unsqueeze(2)).tanh_()


def _parts(keys: Tensor, query: Tensor) -> list[slice]:
    """Runs of rows that fit the room."""
    size = max(1, query.shape[1] * keys.shape[1] * keys.shape[2])
    rows = max(1, ROOM[keys.device.type] // size)
    return [slice(start, start + rows) for start in range(0, len(keys), rows)]


def small(tensor: Tensor) -> bool:
    """Whether nothing is lost in `powers_of`."""
    return bool(tensor.detach().abs().max() <= LARGEST) if tensor.numel() else True


def powers_of(keys: Tensor) -> Tensor:
    """e^2x, kept so small that the product of two is finite."""
    return keys.clamp(-LARGEST, LARGEST).mul_(2).exp_()


@torch.no_grad()
def scores_of_powers(powers: Tensor, query: Tensor, vector: Tensor) -> Tensor:
    """As `additive_scores` of the keys behind the powers [B, S, n], up to one constant for all positions; for search.

    tanh(x + y) = 1 - 2 / (e^2x e^2y + 1): the powers of the keys serve all steps, and no tanh is left.
    """
    scores = query.new_empty(len(query), query.shape[1], powers.shape[1])
    factor, weight, one = powers_of(query), -2 * vector, vector.new_ones(())
    for rows in _parts(powers, query):
        mixed = torch.addcmul(one, powers[rows].unsqueeze(1), factor[rows].unsqueeze(2)).reciprocal_()
        torch.matmul(mixed, weight, out=scores[rows])
    return scores
