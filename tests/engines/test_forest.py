"""Forests against the rows they are made of, and the LSTM along one against the LSTM along every row."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dualparse.engines.numba import loading as compiled

if not compiled.load():
    pytest.skip("needs the extra `fast`", allow_module_level=True)

from dualparse.engines.numba.forest import forest_lstm, grow, input_gates, joined
from dualparse.engines.numba.forest_kernels import WINDOW

texts = st.lists(st.lists(st.integers(4, 6), max_size=5), min_size=1, max_size=WINDOW)


def padded(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.array([len(row) for row in rows])
    tokens = np.zeros((len(rows), max(lengths.max(), 1)), dtype=np.int64)
    for i, row in enumerate(rows):
        tokens[i, : len(row)] = row
    return tokens, lengths


def forest_of(rows: list[list[int]], start: list[int], starts: int, kin: list[int] | None = None):
    return grow(*padded(rows), np.array(start), starts, np.array(start if kin is None else kin))


@given(texts, st.data())
def test_what_rows_of_a_kin_have_in_common_at_the_beginning_is_one_path(rows, data):
    start = sorted(data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows))))
    forest = forest_of(rows, start, 3)
    flat = [token for row in rows for token in row]
    beginnings = [(owner, tuple(row[: t + 1])) for owner, row in zip(start, rows, strict=True) for t in range(len(row))]
    assert len(forest.place) == len(flat)
    assert len(set(zip(forest.place, beginnings, strict=True))) == len(set(beginnings)) == forest.nodes

    def path(node: int) -> tuple[int, tuple[int, ...]]:
        """The start below a node and the tokens on the way."""
        if node < 3:
            return node, ()
        below, read = path(forest.parent[node - 3])
        return below, (*read, flat[forest.first[node - 3]])

    assert [path(node) for node in forest.place] == beginnings
    assert [path(node) for node in forest.end] == [(o, tuple(row)) for o, row in zip(start, rows, strict=True)]


@given(texts)
def test_nodes_are_in_the_order_of_their_depth(rows):
    forest = forest_of(rows, [0] * len(rows), 1)
    depths = [t for row in rows for t in range(len(row))]
    bounds = forest.levels
    assert bounds[0] == 0 and bounds[-1] == bounds[-2] == forest.nodes
    assert len(bounds) - 2 == max(map(len, rows))
    for node, depth in zip(forest.place - 1, depths, strict=True):
        assert bounds[depth] <= node < bounds[depth + 1]


def test_rows_that_are_no_kin_share_nothing():
    rows = [[4, 5], [4, 5], [4, 5]]
    assert forest_of(rows, [0, 0, 0], 1, kin=[0, 1, 2]).nodes == 6
    assert forest_of(rows, [0, 0, 0], 1, kin=[0, 1, 1]).nodes == 4
    assert forest_of([[4, 5]] * (WINDOW + 2), [0] * (WINDOW + 2), 1).nodes == 2, "each has it from the one before"


@given(texts)
def test_tokens_are_joined_as_far_as_nodes_of_either_forest_reach(rows):
    """Groups are what a search from token to token finds."""
    zero = [0] * len(rows)
    forth = forest_of(rows, zero, 1).place
    turned = forest_of([row[::-1] for row in rows], zero, 1).place
    offsets = np.cumsum([0, *map(len, rows)])
    back = np.concatenate([[], *(turned[a:b][::-1] for a, b in zip(offsets, offsets[1:], strict=False))]).astype(int)
    group, first = joined(forth, back)
    for i in range(len(forth)):
        reached, waiting = {i}, [i]
        while waiting:
            here = waiting.pop()
            near = set(np.flatnonzero((forth == forth[here]) | (back == back[here]))) - reached
            reached |= near
            waiting += near
        assert set(np.flatnonzero(group == group[i])) == reached
        assert first[group[i]] == min(reached)
    assert sorted(set(group)) == list(range(len(first)))


@given(texts, st.integers(0, 999), st.booleans(), st.data())
@settings(max_examples=50, deadline=None)
def test_along_a_forest_an_lstm_is_what_it_is_along_every_row(rows, seed, backward, data):
    torch.manual_seed(seed)
    start = sorted(data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows))))
    forest = forest_of(rows, start, 3)
    lstm = torch.nn.LSTM(5, 7, batch_first=True, bidirectional=True)
    vectors = torch.randn(7, 5, requires_grad=True)
    begin = [torch.randn(3, 7, requires_grad=True) for _ in range(2)]
    flat = torch.tensor([token for row in rows for token in row], dtype=torch.long)
    read = vectors[flat[torch.from_numpy(forest.first)]]
    found = forest_lstm(lstm, input_gates(lstm, read, backward=backward), tuple(begin), forest, backward=backward)
    suffix = "_reverse" if backward else ""
    single = torch.nn.LSTM(5, 7, batch_first=True)
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    plain = {name: lstm.get_parameter(name + suffix) for name in names}
    expected, last, cells = [], [], []
    for row, owner in zip(rows, start, strict=True):
        hidden, cell = (tensor[owner].view(1, 1, 7) for tensor in begin)
        if row:
            out, (hidden, cell) = torch.func.functional_call(single, plain, (vectors[row].unsqueeze(0), (hidden, cell)))
            expected.append(out[0])
        last.append(hidden.view(7))
        cells.append(cell.view(7))
    wanted = torch.cat([torch.zeros(0, 7), *expected]), torch.stack(last), torch.stack(cells)
    found = found[0][torch.from_numpy(forest.place - 3)], *found[1:]
    weights = [torch.randn(tensor.shape) for tensor in wanted]
    inputs = [vectors, *begin, *plain.values()]
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)
    losses = [sum((t * w).sum() for t, w in zip(pair, weights, strict=True)) for pair in (found, wanted)]
    gradients = [torch.autograd.grad(loss, inputs, allow_unused=True, materialize_grads=True) for loss in losses]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
