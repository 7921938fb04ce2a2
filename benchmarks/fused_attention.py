"""Attention scores and their gradients: the kernels of `models.fused_attention` against `models.additive` in parts.

The program compares results and gradients, then times both on a GPU at the shapes of a game's update, with all rows of
full length and with rows of all lengths.

    python -m benchmarks.fused_attention                       (on a GPU)
    TRITON_INTERPRET=1 python -m benchmarks.fused_attention    (results alone, tiny shapes, anywhere)
"""

from __future__ import annotations

import os
from collections.abc import Callable

import torch
from torch import Tensor

from dualparse.engines.triton import attention as fused_attention
from dualparse.engines.triton.attention import fused_scores
from dualparse.networks.attention import additive_scores

SHAPES = ((256, 48, 24, 200), (256, 80, 48, 200), (256, 48, 80, 200))  # rows, steps, positions, width
TINY = ((2, 5, 3, 6), (1, 1, 1, 1), (3, 4, 9, 17))
VARIANTS = ((2, 1), (4, 1), (8, 1), (4, 2), (8, 2), (8, 4), (16, 4))  # steps a program handles, its warps

Shape = tuple[int, int, int, int]


def tensors(shape: Shape, device: str) -> tuple[list[Tensor], Tensor]:
    """Keys, query and vector, and the gradient of the scores."""
    rows, steps, positions, width = shape
    sizes = ((rows, positions, width), (rows, steps, width), (width,))
    inputs = [torch.randn(size, device=device, requires_grad=True) for size in sizes]
    return inputs, torch.randn(rows, steps, positions, device=device)


def counts(shape: Shape, device: str, *, full: bool) -> list[Tensor]:
    """How many positions and steps of each row count."""
    rows, steps, positions, _ = shape
    lowest = (positions, steps) if full else (1, 1)
    pairs = zip(lowest, (positions, steps), strict=True)
    return [torch.randint(low, high + 1, (rows,), device=device) for low, high in pairs]


def compare(shape: Shape, device: str, *, full: bool) -> float:
    """Largest difference of results and gradients where they count, relative to the largest number there."""
    inputs, weights = tensors(shape, device)
    numbers = counts(shape, device, full=full)
    s, t = (torch.arange(n, device=device) < number[:, None] for n, number in zip(shape[2:0:-1], numbers, strict=True))
    inside = (t[:, :, None] & s[:, None, :]).float()
    found = [fused_scores(*inputs, *numbers) * inside]
    found += torch.autograd.grad(found[0], inputs, weights)
    expected = [additive_scores(*inputs) * inside]
    expected += torch.autograd.grad(expected[0], inputs, weights)
    return max(float(((a - b).abs().max() / b.abs().max()).detach()) for a, b in zip(found, expected, strict=True))


def milliseconds(function: Callable[..., Tensor], shape: Shape, *given: Tensor, repetitions: int = 20) -> float:
    """Forward and backward, by the card's clock."""
    inputs, weights = tensors(shape, "cuda")
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for i in range(repetitions + 3):
        if i == 3:
            start.record()
        torch.autograd.grad(function(*inputs, *given), inputs, weights)
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / repetitions


def main() -> None:
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    device = "cpu" if interpreted else "cuda"
    for shape in TINY if interpreted else (*TINY, *SHAPES):
        for full in (True, False):
            print(f"{shape}, {'full' if full else 'all'} lengths: differs by {compare(shape, device, full=full):.1e}")
    if interpreted:
        return
    for shape in SHAPES:
        parts = milliseconds(additive_scores, shape)
        for block, warps in VARIANTS:
            fused_attention.BLOCK, fused_attention.WARPS = block, warps
            times = [milliseconds(fused_scores, shape, *counts(shape, device, full=full)) for full in (True, False)]
            ratios = " and ".join(f"{parts / time:.1f}" for time in times)
            told = f"fused {times[0]:.2f} ms, rows of all lengths {times[1]:.2f} ms, ratios {ratios}"
            print(f"{shape}, {block} steps, {warps} warps: in parts {parts:.2f} ms, {told}")


if __name__ == "__main__":
    main()
