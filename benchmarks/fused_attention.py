"""A candidate: the scores of additive attention and their gradients as three Triton kernels, against the package's way.

`models.additive` streams the tensor under the tanh, [B, T, S, n], through memory piece by piece; here it exists in
registers alone. The program compares results and gradients, then times both on a GPU at the shapes of a game's update.

    python -m benchmarks.fused_attention                       (on a GPU)
    TRITON_INTERPRET=1 python -m benchmarks.fused_attention    (results alone, tiny shapes, anywhere)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from dualparse.models.additive import additive_scores

BLOCK = 4  # steps (or positions) a program handles at once
SHAPES = ((512, 48, 24, 200), (512, 80, 48, 200), (512, 48, 80, 200))  # rows, steps, positions, width
TINY = ((2, 5, 3, 6), (1, 1, 1, 1), (3, 4, 9, 17))


@triton.jit
def _tanh(x):
    return 1.0 - 2.0 / (tl.exp(2.0 * x) + 1.0)


@triton.jit
def scores_kernel(keys, query, vector, out, T, S, N: tl.constexpr, NP: tl.constexpr, BLOCK: tl.constexpr):
    """out[b, t, s] = vector . tanh(keys[b, s] + query[b, t]) for a block of steps t and all s."""
    b, column = tl.program_id(0).to(tl.int64), tl.arange(0, NP)
    t = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < N
    v = tl.load(vector + column, mask=inside, other=0.0)
    here = (t < T)[:, None] & inside[None, :]
    q = tl.load(query + (b * T + t)[:, None] * N + column[None, :], mask=here, other=0.0)
    for s in range(S):
        k = tl.load(keys + (b * S + s) * N + column, mask=inside, other=0.0)
        score = tl.sum(_tanh(q + k[None, :]) * v[None, :], axis=1)
        tl.store(out + (b * T + t) * S + s, score, mask=t < T)


@triton.jit
def to_query_kernel(
    keys, query, vector, gradient, to_query, to_vector, T, S,
    N: tl.constexpr, NP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Gradients of the query, and of the vector (one row per program, to be added up)."""
    b, column = tl.program_id(0).to(tl.int64), tl.arange(0, NP)
    t = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < N
    v = tl.load(vector + column, mask=inside, other=0.0)
    here = (t < T)[:, None] & inside[None, :]
    at = (b * T + t)[:, None] * N + column[None, :]
    q = tl.load(query + at, mask=here, other=0.0)
    slope = tl.zeros([BLOCK, NP], tl.float32)
    mixed = tl.zeros([BLOCK, NP], tl.float32)
    for s in range(S):
        k = tl.load(keys + (b * S + s) * N + column, mask=inside, other=0.0)
        g = tl.load(gradient + (b * T + t) * S + s, mask=t < T, other=0.0)[:, None]
        m = _tanh(q + k[None, :])
        slope += g * (1.0 - m * m)
        mixed += g * m
    tl.store(to_query + at, slope * v[None, :], mask=here)
    part = b * tl.num_programs(1) + tl.program_id(1)
    tl.store(to_vector + part * N + column, tl.sum(mixed, axis=0), mask=inside)


@triton.jit
def to_keys_kernel(
    keys, query, vector, gradient, to_keys, T, S, N: tl.constexpr, NP: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """Gradients of the keys for a block of positions s."""
    b, column = tl.program_id(0).to(tl.int64), tl.arange(0, NP)
    s = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < N
    v = tl.load(vector + column, mask=inside, other=0.0)
    here = (s < S)[:, None] & inside[None, :]
    at = (b * S + s)[:, None] * N + column[None, :]
    k = tl.load(keys + at, mask=here, other=0.0)
    slope = tl.zeros([BLOCK, NP], tl.float32)
    for t in range(T):
        q = tl.load(query + (b * T + t) * N + column, mask=inside, other=0.0)
        g = tl.load(gradient + (b * T + t) * S + s, mask=s < S, other=0.0)[:, None]
        m = _tanh(k + q[None, :])
        slope += g * (1.0 - m * m)
    tl.store(to_keys + at, slope * v[None, :], mask=here)


class Fused(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, keys: Tensor, query: Tensor, vector: Tensor) -> Tensor:
        keys, query, vector = keys.contiguous(), query.contiguous(), vector.contiguous()
        ctx.save_for_backward(keys, query, vector)
        (B, S, N), T = keys.shape, query.shape[1]
        out = keys.new_empty(B, T, S)
        scores_kernel[(B, -(-T // BLOCK))](keys, query, vector, out, T, S, N, _up(N), BLOCK)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        keys, query, vector = ctx.saved_tensors
        (B, S, N), T = keys.shape, query.shape[1]
        gradient = gradient.contiguous()
        to_keys, to_query = torch.empty_like(keys), torch.empty_like(query)
        parts = keys.new_empty(B * -(-T // BLOCK), N)
        common = (keys, query, vector, gradient)
        to_query_kernel[(B, -(-T // BLOCK))](*common, to_query, parts, T, S, N, _up(N), BLOCK)
        to_keys_kernel[(B, -(-S // BLOCK))](*common, to_keys, T, S, N, _up(N), BLOCK)
        return to_keys, to_query, parts.sum(0)


def _up(size: int) -> int:
    return triton.next_power_of_2(size)


def tensors(shape: tuple[int, int, int, int], device: str) -> tuple[list[Tensor], Tensor]:
    rows, steps, positions, width = shape
    sizes = ((rows, positions, width), (rows, steps, width), (width,))
    return [torch.randn(s, device=device, requires_grad=True) for s in sizes], torch.randn(
        rows, steps, positions, device=device
    )


def compare(shape: tuple[int, int, int, int], device: str) -> float:
    """Largest difference of results and gradients, relative to the largest number there."""
    inputs, weights = tensors(shape, device)
    found = [Fused.apply(*inputs)]
    found += torch.autograd.grad(found[0], inputs, weights)
    expected = [additive_scores(*inputs)]
    expected += torch.autograd.grad(expected[0], inputs, weights)
    return max(float((a - b).abs().max() / b.abs().max()) for a, b in zip(found, expected, strict=True))


def milliseconds(function: Callable[..., Tensor], shape: tuple[int, int, int, int], repetitions: int = 20) -> float:
    """Forward and backward, by the card's clock."""
    inputs, weights = tensors(shape, "cuda")
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for i in range(repetitions + 3):
        if i == 3:
            start.record()
        torch.autograd.grad(function(*inputs), inputs, weights)
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / repetitions


def main() -> None:
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    for shape in TINY if interpreted else (*TINY, *SHAPES):
        print(f"{shape}: differs by {compare(shape, 'cpu' if interpreted else 'cuda'):.1e}")
    if interpreted:
        return
    for shape in SHAPES:
        ours, fused = milliseconds(additive_scores, shape), milliseconds(Fused.apply, shape)
        print(f"{shape}: package {ours:.2f} ms, fused {fused:.2f} ms, ratio {ours / fused:.1f}")


if __name__ == "__main__":
    main()
