"""Dropout as torch has it, made cheap on a CPU, where torch draws one random number after the other for it.

Here one draw of 64 bits serves four elements, or, where Numba is loaded (`compiled`), one draw is mixed with the place
of each. The probability is that of the nearest 65536th, and so is the factor that keeps the mean. On a GPU it is
torch's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from dualparse.engines.numba import loading as compiled

_LEVELS = 1 << 16
_LOWEST = torch.iinfo(torch.int64).min


Rule = tuple[np.uint32, np.uint32, np.uint32, np.float32]


class Dropout(nn.Dropout):
    """A drop-in for `nn.Dropout`. On a CPU it draws from `generator`, where there is one: threads that drew from
    torch's own would get in each other's way."""

    generator: torch.Generator | None = None

    def forward(self, input: Tensor) -> Tensor:
        if not self.training or self.p == 0 or input.device.type != "cpu":
            return super().forward(input)
        if compiled.usable(input):
            return _Drop.apply(input, self.draw())
        dropped, factor = self._share()
        count = input.numel()
        drawn = torch.empty(-(-count // 4), dtype=torch.int64).random_(_LOWEST, None, generator=self.generator)
        levels = drawn.view(torch.int16)[:count].view(input.shape)
        return input * (levels >= dropped - _LEVELS // 2).to(input.dtype).mul_(factor)

    def draw(self) -> Rule:
        """What a kernel needs to drop something: two seeds, how many in 65536 are dropped, the factor of the others."""
        seed = int(torch.randint(1 << 62, (), generator=self.generator))
        dropped, factor = self._share()
        return np.uint32(seed & 0xFFFFFFFF), np.uint32(seed >> 32), np.uint32(dropped), np.float32(factor)

    def _share(self) -> tuple[int, float]:
        dropped = min(round(self.p * _LEVELS), _LEVELS - 1)
        return dropped, _LEVELS / (_LEVELS - dropped)


@contextmanager
def own_noise(layers: Sequence[Dropout]) -> Iterator[None]:
    """Each draws from a generator of its own, seeded by torch's: what one draws does not hang on the others."""
    for layer in layers:
        layer.generator = torch.Generator().manual_seed(int(torch.randint(1 << 62, ())))
    try:
        yield
    finally:
        for layer in layers:
            layer.generator = None


class _Drop(torch.autograd.Function):
    """Nothing is stored: what a seed draws is drawn again for the gradient."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, rule: Rule) -> Tensor:
        ctx.rule = rule
        return _drop(input, rule)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return _drop(gradient, ctx.rule), None


def _drop(values: Tensor, rule: Rule) -> Tensor:
    from dualparse.engines.numba.layer_kernels import drop

    kept = torch.empty_like(values, memory_format=torch.contiguous_format)
    source, target = (tensor.detach().contiguous().view(-1).numpy() for tensor in (values, kept))
    drop(source, target, *rule)
    return kept
