"""Dropout as torch has it, made cheap on a CPU, where torch draws one random number after the other for it.

Here one draw of 64 bits serves four elements. The probability is that of the nearest 65536th, and so is the factor that
keeps the mean. On a GPU it is torch's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from dualparse.data.vocab import UNK

_LEVELS = 1 << 16
_LOWEST = torch.iinfo(torch.int64).min


class Dropout(nn.Dropout):
    """A drop-in for `nn.Dropout`. On a CPU it draws from `generator`, where there is one: threads that drew from
    torch's own would get in each other's way."""

    generator: torch.Generator | None = None

    def forward(self, input: Tensor) -> Tensor:
        if not self.training or self.p == 0 or input.device.type != "cpu":
            return super().forward(input)
        dropped, factor = self.share
        count = input.numel()
        drawn = torch.empty(-(-count // 4), dtype=torch.int64).random_(_LOWEST, None, generator=self.generator)
        levels = drawn.view(torch.int16)[:count].view(input.shape)
        return input * (levels >= dropped - _LEVELS // 2).to(input.dtype).mul_(factor)

    @property
    def share(self) -> tuple[int, float]:
        """How many in 65536 are dropped, and the factor of the others."""
        dropped = min(round(self.p * _LEVELS), _LEVELS - 1)
        return dropped, _LEVELS / (_LEVELS - dropped)


def misread(source: Tensor, mask: Tensor, share: float, generator: torch.Generator | None) -> Tensor:
    """A source with a share of its words unknown."""
    drawn = torch.rand(source.shape, device=source.device, generator=generator)
    return source.masked_fill((drawn < share) & mask, UNK)


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
