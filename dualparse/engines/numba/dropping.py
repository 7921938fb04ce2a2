"""Dropout on a CPU as one pass over memory: one draw is mixed with the place of each number.

Nothing is stored for the gradient: what a seed draws is drawn again. The probability and the factor are those of
`dropout.Dropout`, the draws are others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dualparse.networks.dropout import Dropout

Rule = tuple[np.uint32, np.uint32, np.uint32, np.float32]
"""What a kernel needs to drop something: two seeds, how many in 65536 are dropped, the factor of the others."""


def noisy(layer: Dropout) -> bool:
    """Whether the layer drops anything now."""
    return layer.training and layer.p > 0


def draw(layer: Dropout) -> Rule:
    """The rule for one use of a layer, from its generator."""
    seed = int(torch.randint(1 << 62, (), generator=layer.generator))
    dropped, factor = layer.share
    return np.uint32(seed & 0xFFFFFFFF), np.uint32(seed >> 32), np.uint32(dropped), np.float32(factor)


def drop(layer: Dropout, values: Tensor) -> Tensor:
    """`layer(values)`."""
    return _Drop.apply(values, draw(layer)) if noisy(layer) else values


class _Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, rule: Rule) -> Tensor:
        ctx.rule = rule
        return _dropped(values, rule)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _dropped(gradient, ctx.rule), None


def _dropped(values: Tensor, rule: Rule) -> Tensor:
    from dualparse.engines.numba.layer_kernels import drop as drop_kernel

    kept = torch.empty_like(values, memory_format=torch.contiguous_format)
    source, target = (tensor.detach().contiguous().view(-1).numpy() for tensor in (values, kept))
    drop_kernel(source, target, *rule)
    return kept
