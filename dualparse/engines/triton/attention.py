"""Scores of additive attention and their gradients as three kernels of a GPU; `engine` says where they are used.

The tensor under the tanh, [B, T, S, n], exists in registers alone. A program handles a few steps of one row (or a few
of its positions, for the gradient of the keys) and walks over the positions (or steps) that count, not over padding.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from dualparse.engines.triton.optional import jit, tl, triton

BLOCK, WARPS = 4, 2  # steps (or positions) a program handles at once, and its warps; see benchmarks/fused_attention.py

entry = triton.jit(do_not_specialize=["T", "S"]) if triton else jit


def available(tensor: Tensor) -> bool:
    """Whether the kernels can be used for such tensors."""
    return triton is not None and tensor.is_cuda and tensor.dtype == torch.float32


def fused_scores(keys: Tensor, query: Tensor, vector: Tensor, positions: Tensor, steps: Tensor) -> Tensor:
    """As `attention.additive_scores`; positions and steps [B] say how many of each row count, the rest is 0."""
    return _FusedScores.apply(keys, query, vector, positions, steps)


class _FusedScores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, keys: Tensor, query: Tensor, vector: Tensor, positions: Tensor, steps: Tensor) -> Tensor:
        given = tuple(tensor.contiguous() for tensor in (keys, query, vector, positions.int(), steps.int()))
        ctx.save_for_backward(*given)
        (rows, places, size), length = keys.shape, query.shape[1]
        scores = keys.new_zeros(rows, length, places)
        grid = (rows, -(-length // BLOCK))
        _scores_kernel[grid](*given, scores, length, places, **_constants(size))
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        keys, query, vector, *_ = given = ctx.saved_tensors
        (rows, places, size), length = keys.shape, query.shape[1]
        gradient = gradient.contiguous()
        to_keys, to_query = torch.empty_like(keys), torch.empty_like(query)
        blocks = -(-length // BLOCK)
        to_vector = keys.new_empty(rows * blocks, size)  # one row per program
        constants = _constants(size)
        _to_query_kernel[(rows, blocks)](*given, gradient, to_query, to_vector, length, places, **constants)
        _to_keys_kernel[(rows, -(-places // BLOCK))](*given, gradient, to_keys, length, places, **constants)
        return to_keys, to_query, to_vector.sum(0), None, None


def _constants(size: int) -> dict[str, int]:
    return {"N": size, "NP": triton.next_power_of_2(size), "BLOCK": BLOCK, "num_warps": WARPS}


@jit
def _tanh(x):
    return 1.0 - 2.0 / (tl.exp(2.0 * x) + 1.0)


@entry
def _scores_kernel(
    keys, query, vector, positions, steps, scores, T, S, N: tl.constexpr, NP: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    """scores[b, t, s] = vector . tanh(keys[b, s] + query[b, t]) for a block of steps t and all positions s."""
    b, column = tl.program_id(0).to(tl.int64), tl.arange(0, NP)
    first = tl.program_id(1) * BLOCK
    t = first + tl.arange(0, BLOCK)
    inside = column < N
    v = tl.load(vector + column, mask=inside, other=0.0)
    here = (t < T)[:, None] & inside[None, :]
    q = tl.load(query + (b * T + t)[:, None] * N + column[None, :], mask=here, other=0.0)
    last = tl.where(first < tl.load(steps + b), tl.load(positions + b), 0)
    s = tl.full([], 0, tl.int32)
    while s < last:
        k = tl.load(keys + (b * S + s) * N + column, mask=inside, other=0.0)
        score = tl.sum(_tanh(q + k[None, :]) * v[None, :], axis=1)
        tl.store(scores + (b * T + t) * S + s, score, mask=t < T)
        s += 1


@entry
def _to_query_kernel(
    keys, query, vector, positions, steps, gradient, to_query, to_vector, T, S,
    N: tl.constexpr, NP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Gradients of a block of steps, and of the vector (one row per program, to be added up)."""
    b, column = tl.program_id(0).to(tl.int64), tl.arange(0, NP)
    first = tl.program_id(1) * BLOCK
    t = first + tl.arange(0, BLOCK)
    inside = column < N
    v = tl.load(vector + column, mask=inside, other=0.0)
    here = (t < T)[:, None] & inside[None, :]
    at = (b * T + t)[:, None] * N + column[None, :]
    q = tl.load(query + at, mask=here, other=0.0)
    slope = tl.zeros([BLOCK, NP], tl.float32)
    mixed = tl.zeros([BLOCK, NP], tl.float32)
    last = tl.where(first < tl.load(steps + b), tl.load(positions + b), 0)
    s = tl.full([], 0, tl.int32)
    while s < last:
        k = tl.load(keys + (b * S + s) * N + column, mask=inside, other=0.0)
        g = tl.load(gradient + (b * T + t) * S + s, mask=t < T, other=0.0)[:, None]
        m = _tanh(q + k[None, :])
        slope += g * (1.0 - m * m)
        mixed += g * m
        s += 1
    tl.store(to_query + at, slope * v[None, :], mask=here)
    part = b * tl.num_programs(1) + tl.program_id(1)
    tl.store(to_vector + part * N + column, tl.sum(mixed, axis=0), mask=inside)


@entry
def _to_keys_kernel(
    keys, query, vector, positions, steps, gradient, to_keys, T, S,
    N: tl.constexpr, NP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Gradients of the keys at a block of positions."""
    b, column = tl.program_id(0).to(tl.int64), tl.arange(0, NP)
    first = tl.program_id(1) * BLOCK
    s = first + tl.arange(0, BLOCK)
    inside = column < N
    v = tl.load(vector + column, mask=inside, other=0.0)
    here = (s < S)[:, None] & inside[None, :]
    at = (b * S + s)[:, None] * N + column[None, :]
    k = tl.load(keys + at, mask=here, other=0.0)
    slope = tl.zeros([BLOCK, NP], tl.float32)
    counts = s < tl.load(positions + b)
    last = tl.where(first < tl.load(positions + b), tl.load(steps + b), 0)
    t = tl.full([], 0, tl.int32)
    while t < last:
        q = tl.load(query + (b * T + t) * N + column, mask=inside, other=0.0)
        g = tl.load(gradient + (b * T + t) * S + s, mask=counts, other=0.0)[:, None]
        m = _tanh(k + q[None, :])
        slope += g * (1.0 - m * m)
        t += 1
    tl.store(to_keys + at, slope * v[None, :], mask=here)
