"""Vectors of many texts, and the nearest of them: exact, for up to a million on two cores within tens of milliseconds.

In: vectors of length 1, in half precision as they lie on the disk. Out: for a question's vector the cosines with all of
them, or the k nearest. Reading a million vectors from memory is what takes the time, so many of them are looked at in 8
bits first; whatever could be among the nearest by more than what rounding does is then looked at once more.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

MANY = 50_000  # vectors from which on 8 bits pay
ROWS = 65_536  # that are turned into 8 bits at a time


@dataclass(frozen=True)
class Vectors:
    """half [N, n] in half precision; of many also codes [N, n] in 8 bits with a scale [N] each, and how far the
    farthest of them is from its codes; of few, whole [N, n] in single precision."""

    half: Tensor
    whole: Tensor | None
    codes: Tensor | None
    scale: Tensor | None
    off: float

    @classmethod
    def of(cls, half: Tensor, *, many: int = MANY) -> Vectors:
        """Made ready to be searched."""
        if len(half) < many:
            return cls(half, half.float(), None, None, 0.0)
        codes, scale, off = torch.empty(half.shape, dtype=torch.int8), torch.empty(len(half)), 0.0
        for start in range(0, len(half), ROWS):
            rows = half[start : start + ROWS].float()
            some, by = _in_8_bits(rows)
            codes[start : start + ROWS], scale[start : start + ROWS] = some, by
            off = max(off, float((rows - some * by[:, None]).norm(dim=1).max()))
        return cls(half, None, codes, scale, off)

    def __len__(self) -> int:
        return len(self.half)

    @torch.no_grad()
    def cosines(self, questions: Tensor) -> Tensor:
        """[Q, n] -> [Q, N]."""
        whole = self.half.float() if self.whole is None else self.whole
        return questions @ whole.T

    @torch.no_grad()
    def nearest(self, question: Tensor, k: int, *, more: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The numbers of the k nearest to a vector [n], best first, and their scores: cosines, with what is to be added
        to each (`more` [N])."""
        k = min(k, len(self))
        if self.codes is None or self.scale is None:
            found = _added(self.cosines(question[None])[0], more).topk(k)
            return found.indices, found.values
        coded, by = _in_8_bits(question[None])
        off = self.off + float((question - coded[0] * by).norm()) * (1 + self.off)
        rough = torch._int_mm(self.codes, coded.T.contiguous()).squeeze(1).float().mul_(self.scale).mul_(float(by))
        rough = _added(rough, more)
        # No figure is off by more than `off`, so the k nearest are among those that come that close.
        close = (rough >= rough.topk(k).values[-1] - 2 * off).nonzero().squeeze(1)
        scores = self.half[close].float() @ question
        found = _added(scores, None if more is None else more[close]).topk(k)
        return close[found.indices], found.values


def _added(scores: Tensor, more: Tensor | None) -> Tensor:
    return scores if more is None else scores + more


def _in_8_bits(rows: Tensor) -> tuple[Tensor, Tensor]:
    """[N, n] -> codes [N, n], and what one of them is worth in each row [N]."""
    by = rows.abs().amax(1).clamp_min(1e-12) / 127
    return (rows / by[:, None]).round_().to(torch.int8), by
