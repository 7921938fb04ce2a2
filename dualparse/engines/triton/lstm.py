"""An LSTM over whole sequences as one kernel of a GPU, and its gradients as another.

cuDNN multiplies matrices anew at every step, for all rows of a batch, padding included: many small kernels that each
fill the card. Here a program takes a few rows through all their steps, in both directions or in one, and stops where
its longest row ends. What its threads have to tell each other from one step to the next (the hidden state; the way
back, its gradient) goes through a small buffer in global memory, in practice the card's cache, with a barrier between
writing and reading; there are two of each, so that one barrier a step is enough. A step costs what it costs to read the
recurrent weights, in half precision. Sums are in single precision.

A network has few rows, so this leaves most of the card idle, and alone cuDNN is quicker. Where processes share a card
(DUALPARSE_SHARED_GPU=1; a sweep with several jobs says so) idle parts are room for the others, and together they get
further (benchmarks/fused_lstm.py, benchmarks/game.py).

Precision is that of matrix products on tensor cores, so this may be used where these are allowed ("high" in
`torch.set_float32_matmul_precision`), which is in training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from dualparse.engines.shared_gpu import is_shared
from dualparse.engines.triton.optional import jit, tl, triton

ROWS = 16  # rows a program handles, which is the least a matrix product has
LARGEST = 256  # hidden units for which the weights of a part of them fit into a multiprocessor


@dataclass(frozen=True)
class Tiling:
    """Units at once, how far ahead the weights of the next ones are fetched, and the warps of a program."""

    units: int
    stages: int
    warps: int


FORWARD, BACKWARD = Tiling(64, 2, 8), Tiling(16, 3, 4)

entry = triton.jit(do_not_specialize=["B", "T"]) if triton else jit


def available(lstm: nn.LSTM, tensor: Tensor) -> bool:
    """Whether the kernels can be used for such tensors, may be, and pay off."""
    possible = triton is not None and tensor.is_cuda and tensor.dtype == torch.float32 and lstm.hidden_size <= LARGEST
    return possible and is_shared() and torch.get_float32_matmul_precision() != "highest"


def fused_lstm(
    lstm: nn.LSTM, inputs: Tensor, lengths: Tensor, start: tuple[Tensor, Tensor] | None = None
) -> tuple[Tensor, Tensor]:
    """[B, T, E] inputs of which the first `lengths` [B] of a row count -> states [B, T, D * n], 0 beyond the lengths,
    and the last cells [B, D, n] of the D directions. A layer with one direction may start from (hidden, cell) [B, n].
    """
    directions = ("", "_reverse") if lstm.bidirectional else ("",)

    def parameters(kind: str) -> list[Tensor]:
        return [lstm.get_parameter(f"{kind}_l0{direction}") for direction in directions]

    bias = torch.cat(parameters("bias_ih")) + torch.cat(parameters("bias_hh"))
    gates = F.linear(inputs, torch.cat(parameters("weight_ih")), bias)
    zero = inputs.new_zeros(len(inputs), len(directions), lstm.hidden_size)
    hidden, cell = (part.unsqueeze(1) for part in start) if start else (zero, zero)
    return _FusedLSTM.apply(gates, torch.stack(parameters("weight_hh")), hidden, cell, lengths, torch.is_grad_enabled())


class _FusedLSTM(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, gates: Tensor, weight: Tensor, hidden: Tensor, cell: Tensor, lengths: Tensor, keep: bool
    ) -> tuple[Tensor, Tensor]:
        gates, hidden, cell, lengths = (each.contiguous() for each in (gates, hidden, cell, lengths.int()))
        (rows, steps), (directions, _, size) = gates.shape[:2], weight.shape
        states = gates.new_zeros(rows, steps, directions * size)
        kept = steps if keep else 0
        cells = gates.new_empty(rows, kept, directions * size)
        opened = gates.new_empty(rows, kept, directions * 4 * size)  # the gates behind their sigmoid or tanh
        last = cell.clone()
        seen = hidden.half().repeat(2, 1, 1, 1)
        _forward_kernel[(-(-rows // ROWS), directions)](
            gates,
            weight.half(),
            lengths,
            seen,
            states,
            last,
            cells,
            opened,
            rows,
            steps,
            keep,
            **_constants(size, FORWARD),
        )
        ctx.save_for_backward(weight, hidden, cell, lengths, states, cells, opened)
        return states, last

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_states: Tensor, to_last: Tensor) -> tuple[Tensor | None, ...]:
        weight, hidden, cell, lengths, states, cells, opened = ctx.saved_tensors
        (rows, steps), (directions, _, size) = opened.shape[:2], weight.shape
        to_gates = torch.zeros_like(opened)
        to_hidden = hidden.new_zeros(2, *hidden.shape)
        to_cell = to_last.clone(memory_format=torch.contiguous_format)
        kind = torch.bfloat16 if weight.is_cuda else weight.dtype  # Triton's interpreter has no bfloat16
        _backward_kernel[(-(-rows // ROWS), directions)](
            to_states.contiguous(), weight.to(kind), cell, lengths, cells, opened, to_gates, to_hidden, to_cell,
            rows, steps, **_constants(size, BACKWARD),
        )  # fmt: skip
        before = _before(states, hidden, size)
        split = to_gates.view(rows * steps, directions, 4 * size)
        to_weight = torch.stack([split[:, d].T @ before[d].flatten(0, 1) for d in range(directions)])
        return to_gates, to_weight, to_hidden[0], to_cell, None, None


def _before(states: Tensor, hidden: Tensor, size: int) -> list[Tensor]:
    """The hidden state every step of a direction read, [B, T, n]."""
    forward = torch.cat([hidden[:, :1], states[:, :-1, :size]], dim=1)
    if hidden.shape[1] == 1:
        return [forward]
    return [forward, torch.cat([states[:, 1:, size:], torch.zeros_like(hidden[:, 1:])], dim=1)]


def _constants(size: int, tiling: Tiling) -> dict[str, int]:
    wide = max(2 * ROWS, triton.next_power_of_2(size))  # a matrix product has at least 16 of everything
    return {
        "N": size,
        "HALF": wide // 2,
        "WIDE": wide,
        "ROWS": ROWS,
        "UNITS": tiling.units,
        "STAGES": tiling.stages,
        "num_warps": tiling.warps,
    }


@jit
def _tanh(x):
    return 1.0 - 2.0 / (tl.exp(2.0 * x) + 1.0)


@entry
def _forward_kernel(
    gates, weight, lengths, seen, states, last, cells, opened, B, T, KEEP: tl.constexpr,
    N: tl.constexpr, HALF: tl.constexpr, WIDE: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """All steps of some rows in one direction. `seen` [2, B, D, n] holds the hidden state before and after a step,
    `last` the cell; KEEP leaves the cells and gates of all steps for the way back."""
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    direction, D = tl.program_id(1), tl.num_programs(1)
    there = row < B
    count = tl.load(lengths + row, mask=there, other=0)
    longest = tl.max(count, 0)
    weight += direction * 4 * N * N
    place = (row * D + direction) * N  # of a row in [B, D, n]
    half = tl.arange(0, HALF)
    step = tl.full([], 0, tl.int32)
    while step < longest:
        now = tl.where(direction == 0, step, count - 1 - step)
        goes = there & (step < count)
        read = seen + (step % 2) * B * D * N
        old = read + place[:, None] + half[None, :]
        left = tl.load(old, mask=there[:, None] & (half < N)[None, :], other=0.0)
        right = tl.load(old + HALF, mask=there[:, None] & (half < N - HALF)[None, :], other=0.0)
        write = seen + ((step + 1) % 2) * B * D * N
        moment = (row * T + now) * D + direction  # of a row in [B, T, D]
        for start in tl.range(0, N, UNITS, num_stages=STAGES):
            unit = start + tl.arange(0, UNITS)
            inside = (unit < N)[None, :]
            here = goes[:, None] & inside
            gate = (moment * 4 * N)[:, None] + unit[None, :]
            mine = place[:, None] + unit[None, :]
            cell = tl.load(last + mine, mask=here, other=0.0)
            entered = tl.load(gates + gate, mask=here, other=0.0)
            kept = tl.load(gates + gate + N, mask=here, other=0.0)
            proposed = tl.load(gates + gate + 2 * N, mask=here, other=0.0)
            shown = tl.load(gates + gate + 3 * N, mask=here, other=0.0)
            at = weight + unit[None, :] * N + half[:, None]
            low, high = inside & (half < N)[:, None], inside & (half < N - HALF)[:, None]
            entered += tl.dot(left, tl.load(at, mask=low, other=0.0))
            entered += tl.dot(right, tl.load(at + HALF, mask=high, other=0.0))
            kept += tl.dot(left, tl.load(at + N * N, mask=low, other=0.0))
            kept += tl.dot(right, tl.load(at + N * N + HALF, mask=high, other=0.0))
            proposed += tl.dot(left, tl.load(at + 2 * N * N, mask=low, other=0.0))
            proposed += tl.dot(right, tl.load(at + 2 * N * N + HALF, mask=high, other=0.0))
            shown += tl.dot(left, tl.load(at + 3 * N * N, mask=low, other=0.0))
            shown += tl.dot(right, tl.load(at + 3 * N * N + HALF, mask=high, other=0.0))
            entered, kept, shown = tl.sigmoid(entered), tl.sigmoid(kept), tl.sigmoid(shown)
            proposed = _tanh(proposed)
            cell = kept * cell + entered * proposed
            state = shown * _tanh(cell)
            tl.store(last + mine, cell, mask=here)
            tl.store(write + mine, state.to(seen.dtype.element_ty), mask=here)
            output = (moment * N)[:, None] + unit[None, :]
            tl.store(states + output, state, mask=here)
            if KEEP:
                tl.store(cells + output, cell, mask=here)
                tl.store(opened + gate, entered, mask=here)
                tl.store(opened + gate + N, kept, mask=here)
                tl.store(opened + gate + 2 * N, proposed, mask=here)
                tl.store(opened + gate + 3 * N, shown, mask=here)
        tl.debug_barrier()
        step += 1


@entry
def _backward_kernel(
    to_states, weight, first_cell, lengths, cells, opened, to_gates, to_hidden, to_cell, B, T,
    N: tl.constexpr, HALF: tl.constexpr, WIDE: tl.constexpr, ROWS: tl.constexpr, UNITS: tl.constexpr,
    STAGES: tl.constexpr,
):  # fmt: skip
    """The way back of some rows in one direction, from the last step to the first. `to_hidden` [2, B, D, n] and
    `to_cell` [B, D, n] hold what a step owes the one before it; in the end the first of the two is for the start."""
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    direction, D = tl.program_id(1), tl.num_programs(1)
    there = row < B
    count = tl.load(lengths + row, mask=there, other=0)
    longest = tl.max(count, 0)
    weight += direction * 4 * N * N
    place = (row * D + direction) * N
    wide = tl.arange(0, WIDE)
    left = longest
    while left > 0:
        step = left - 1
        now = tl.where(direction == 0, step, count - 1 - step)
        before = tl.where(direction == 0, now - 1, now + 1)
        goes = there & (step < count)
        moment = (row * T + now) * D + direction
        earlier = (row * T + before) * D + direction
        read = to_hidden + (left % 2) * B * D * N
        write = to_hidden + (step % 2) * B * D * N
        owed = tl.zeros([ROWS, WIDE], tl.float32)
        for start in tl.range(0, N, UNITS, num_stages=STAGES):
            unit = start + tl.arange(0, UNITS)
            here = goes[:, None] & (unit < N)[None, :]
            gate = (moment * 4 * N)[:, None] + unit[None, :]
            mine = place[:, None] + unit[None, :]
            output = (moment * N)[:, None] + unit[None, :]
            entered = tl.load(opened + gate, mask=here, other=0.0)
            kept = tl.load(opened + gate + N, mask=here, other=0.0)
            proposed = tl.load(opened + gate + 2 * N, mask=here, other=0.0)
            shown = tl.load(opened + gate + 3 * N, mask=here, other=0.0)
            bent = _tanh(tl.load(cells + output, mask=here, other=0.0))
            past = tl.load(first_cell + mine, mask=here & (step == 0), other=0.0)
            past += tl.load(cells + (earlier * N)[:, None] + unit[None, :], mask=here & (step > 0), other=0.0)
            state = tl.load(to_states + output, mask=here, other=0.0) + tl.load(read + mine, mask=here, other=0.0)
            cell = tl.load(to_cell + mine, mask=here, other=0.0) + state * shown * (1.0 - bent * bent)
            tl.store(to_cell + mine, cell * kept, mask=here)
            d_entered = cell * proposed * entered * (1.0 - entered)
            d_kept = cell * past * kept * (1.0 - kept)
            d_proposed = cell * entered * (1.0 - proposed * proposed)
            d_shown = state * bent * shown * (1.0 - shown)
            tl.store(to_gates + gate, d_entered, mask=here)
            tl.store(to_gates + gate + N, d_kept, mask=here)
            tl.store(to_gates + gate + 2 * N, d_proposed, mask=here)
            tl.store(to_gates + gate + 3 * N, d_shown, mask=here)
            at = weight + unit[:, None] * N + wide[None, :]
            known = (unit < N)[:, None] & (wide < N)[None, :]
            kind = weight.dtype.element_ty
            owed += tl.dot(d_entered.to(kind), tl.load(at, mask=known, other=0.0))
            owed += tl.dot(d_kept.to(kind), tl.load(at + N * N, mask=known, other=0.0))
            owed += tl.dot(d_proposed.to(kind), tl.load(at + 2 * N * N, mask=known, other=0.0))
            owed += tl.dot(d_shown.to(kind), tl.load(at + 3 * N * N, mask=known, other=0.0))
        tl.store(write + place[:, None] + wide[None, :], owed, mask=there[:, None] & (wide < N)[None, :])
        tl.debug_barrier()
        left -= 1
