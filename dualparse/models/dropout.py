"""Dropout as torch has it, made cheap on a CPU, where torch draws one random number after the other for it.

Here one draw of 64 bits serves four elements. The probability is that of the nearest 65536th, and so is the factor that
keeps the mean. On a GPU it is torch's own.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

_LEVELS = 1 << 16
_LOWEST = torch.iinfo(torch.int64).min


class Dropout(nn.Dropout):
    """A drop-in for `nn.Dropout`. On a CPU it draws from `generator`, where there is one: threads that drew from
    torch's own would get in each other's way."""

    generator: torch.Generator | None = None

    def forward(self, input: Tensor) -> Tensor:
        if not self.training or self.p == 0 or input.device.type != "cpu":
            return super().forward(input)
        return input * _factors(input, self.p, self.generator)


def _factors(like: Tensor, probability: float, generator: torch.Generator | None) -> Tensor:
    """A tensor of the same shape: 0 with the probability given, else what keeps the mean."""
    count = like.numel()
    drawn = torch.empty(-(-count // 4), dtype=torch.int64).random_(_LOWEST, None, generator=generator)
    levels = drawn.view(torch.int16)[:count].view(like.shape)
    dropped = min(round(probability * _LEVELS), _LEVELS - 1)
    return (levels >= dropped - _LEVELS // 2).to(like.dtype).mul_(_LEVELS / (_LEVELS - dropped))
