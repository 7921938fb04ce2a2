"""Sequences as a forest: beginnings that several rows have in common are nodes of one tree, and worked out once.

The k hypotheses of a search begin alike and part late, so that many of their tokens need no work of their own; and
nothing is padding. On a CPU both pay off; a GPU is quicker with rows of one length.

A node is a token after a beginning. Nodes are numbered by depth, behind the starts: start b has number b.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F


@dataclass(frozen=True)
class Forest:
    """The trees over rows of tokens; P tokens in N nodes.

    starts            how many states rows may start from
    levels            where the nodes of each depth begin, starts not counted, and where the last end, twice
    parent, first     [N] the node or start before each node; the first of the P tokens that is this node
    place             [P] the node of each token, row after row
    end               [B] the last node of each row, its start where the row is empty
    """

    starts: int
    levels: list[int]
    parent: np.ndarray
    first: np.ndarray
    place: np.ndarray
    end: np.ndarray

    @property
    def nodes(self) -> int:
        return len(self.parent)

    def steps(self) -> Iterator[tuple[int, int, int]]:
        """Of every depth: where its nodes begin and end, and where those of the next end."""
        return zip(self.levels, self.levels[1:], self.levels[2:], strict=False)

    def split(self, *tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
        """What tensors [N, ...] have for each depth."""
        sizes = [hi - lo for lo, hi, _ in self.steps()]
        return (tensor.split(sizes) for tensor in tensors)


def grow(tokens: np.ndarray, lengths: np.ndarray, start: np.ndarray, starts: int, kin: np.ndarray) -> Forest:
    """The forest over rows [B, T] of such lengths, each from one of the starts. Rows of the same kin [B], which must
    have the same start, share nodes if they are near each other."""
    from dualparse.engines.numba.forest_kernels import lend, number

    rows, longest = tokens.shape
    lender, common = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    lend(tokens, lengths, kin, lender, common)
    count = int((lengths - common).sum())
    level, place = np.empty(longest + 1, dtype=np.int64), np.zeros((rows, longest), dtype=np.int64)
    parent, first = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    number(lengths, start, starts, lender, common, level, place, parent, first)
    depth = max(int(lengths.max(initial=0)), 0)
    levels = [*level[: depth + 1].tolist(), count]
    end = np.where(lengths > 0, place[np.arange(rows), lengths - 1], start)
    return Forest(starts, levels, parent, first, place[np.arange(longest) < lengths[:, None]], end)


def joined(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tokens [P], whose places in two forests are given, in groups that share a node of either: the group of each, and
    the first token of each group."""
    from dualparse.engines.numba.forest_kernels import join

    group = np.empty(len(one), dtype=np.int64)
    first = np.empty(join(one, other, group), dtype=np.int64)
    first[group[::-1]] = np.arange(len(one))[::-1]
    return group, first


def input_gates(lstm: nn.LSTM, read: Tensor, *, backward: bool = False) -> Tensor:
    """What is read, [N, E], adds to the gates of an LSTM, or of its second direction: [N, 4n], biases included."""
    suffix = "_reverse" if backward else ""
    names = ("weight_ih_l0", "bias_ih_l0", "bias_hh_l0")
    inward, one, other = (lstm.get_parameter(name + suffix) for name in names)
    return F.linear(read, inward[:, : read.shape[1]], one + other)


def forest_lstm(
    lstm: nn.LSTM, gates: Tensor, start: tuple[Tensor, Tensor], forest: Forest, *, backward: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """What an LSTM makes of the nodes, with `backward` its second direction: hidden states [N, n], and hidden and cell
    [B, n] at the ends of the rows. gates [N, 4n]: `input_gates` of each node, which are overwritten; start: hidden,
    cell [starts, n]."""
    recurrent = lstm.get_parameter("weight_hh_l0_reverse" if backward else "weight_hh_l0")
    return _ForestLSTM.apply(gates, *start, recurrent, forest)


class _ForestLSTM(torch.autograd.Function):
    """Two calls for each depth, a product and a kernel: agents that learn side by side wait for each other at every
    call."""

    @staticmethod
    def forward(
        ctx: Any, gates: Tensor, hidden: Tensor, cell: Tensor, recurrent: Tensor, forest: Forest
    ) -> tuple[Tensor, Tensor, Tensor]:
        from dualparse.engines.numba.forest_kernels import step

        starts, n = forest.starts, recurrent.shape[1]
        gates, weight = gates.detach(), recurrent.T.contiguous()
        states, cells = (gates.new_empty(starts + forest.nodes, n) for _ in range(2))
        states[:starts], cells[:starts] = hidden, cell
        before = gates.new_empty(forest.nodes, n)
        arrays = (gates.numpy(), forest.parent, cells.numpy(), states.numpy(), before.numpy(), starts)
        step(*arrays, 0, 0, forest.levels[1])
        for here, last, (lo, hi, following) in zip(*forest.split(gates, before), forest.steps(), strict=True):
            here.addmm_(last, weight)
            step(*arrays, lo, hi, following)
        ctx.save_for_backward(recurrent, before)
        ctx.gates, ctx.cells, ctx.forest = gates, cells, forest
        end = torch.from_numpy(forest.end)
        return states[starts:], states[end], cells[end]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_nodes: Tensor, to_last: Tensor, to_last_cell: Tensor) -> tuple[Tensor | None, ...]:
        from dualparse.engines.numba.forest_kernels import step_back

        recurrent, before = ctx.saved_tensors
        forest: Forest = ctx.forest
        gates, cells, ctx.gates = ctx.gates, ctx.cells, None  # made into gradients in place, so once only
        starts, end = forest.starts, torch.from_numpy(forest.end)
        to_hidden, to_cells, to_before = torch.empty_like(cells), torch.zeros_like(cells), torch.empty_like(before)
        to_hidden[:starts], to_hidden[starts:] = 0.0, to_nodes
        to_hidden.index_add_(0, end, to_last)
        to_cells.index_add_(0, end, to_last_cell)
        given, asked = (gates.numpy(), forest.parent, cells.numpy()), (to_hidden.numpy(), to_cells.numpy())
        arrays = (*given, *asked, to_before.numpy(), starts)
        parts = zip(*forest.split(gates, to_before), forest.steps(), strict=True)
        for here, last, (lo, hi, following) in reversed(list(parts)):
            step_back(*arrays, lo, hi, following)
            torch.mm(here, recurrent, out=last)
        step_back(*arrays, 0, 0, forest.levels[1])
        return gates, to_hidden[:starts], to_cells[:starts], (before.T @ gates).T, None
