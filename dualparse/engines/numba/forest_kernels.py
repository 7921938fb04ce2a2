"""Loops over a forest of tokens (`forest`) on a CPU, compiled by Numba: growing one, and the gates of an LSTM along it.

Every inner loop touches few arrays, so that it becomes vector instructions.
"""

from __future__ import annotations

import numpy as np

from dualparse.engines.numba.math_kernels import compiled, inlined, sigmoid, single, tanh

WINDOW = 8  # so many rows before it a row is compared with


@compiled
def lend(tokens, lengths, kin, lender, common):
    """For every row, the one of its kin shortly before it that begins most like it, and for how long."""
    for row in range(len(tokens)):
        lender[row], common[row] = row, 0
        for other in range(max(0, row - WINDOW), row):
            if kin[other] == kin[row]:
                most, same = min(lengths[row], lengths[other]), 0
                while same < most and tokens[row, same] == tokens[other, same]:
                    same += 1
                if same > common[row]:
                    lender[row], common[row] = other, same


@compiled
def number(lengths, start, starts, lender, common, level, place, parent, first):
    """Number the nodes by depth: `level` [T + 1] has where each depth begins. A row's place at a depth is its own node,
    or that of the row it has this beginning from."""
    level[:] = 0
    for row in range(len(lengths)):
        for t in range(common[row], lengths[row]):
            level[t + 1] += 1
    for t in range(len(level) - 1):
        level[t + 1] += level[t]
    filled = level.copy()
    token = 0
    for row in range(len(lengths)):
        for t in range(lengths[row]):
            if t < common[row]:
                place[row, t] = place[lender[row], t]
            else:
                node = filled[t]
                filled[t] += 1
                place[row, t] = starts + node
                parent[node] = place[row, t - 1] if t else start[row]
                first[node] = token + t
        token += lengths[row]


@inlined
def root(group, i):
    """The first of those that i is known to belong to."""
    while group[i] != i:
        group[i] = group[group[i]]
        i = group[i]
    return i


@compiled
def join(one, other, group):
    """Number groups of tokens [P] that are the same node of one forest or of the other, in the order of their first;
    how many there are."""
    if not len(group):
        return 0
    for i in range(len(group)):
        group[i] = i
    for place in (one, other):
        first = np.full(place.max() + 1, -1)
        for i in range(len(group)):
            if first[place[i]] < 0:
                first[place[i]] = i
            a, b = root(group, i), root(group, first[place[i]])
            group[max(a, b)] = min(a, b)
    count = 0
    for i in range(len(group)):
        if group[i] == i:
            group[i] = -count - 1  # a first one: from now on its number, told from a place by the sign
            count += 1
        else:
            group[i] = group[group[i]]
    for i in range(len(group)):
        group[i] = -group[i] - 1
    return count


@compiled
def step(gates, parent, cells, hidden, before, starts, lo, hi, following):
    """The nodes from `lo` to `hi` of an LSTM: their gates [N, 4n] (in, forget, content, out) become activations, they
    get cells and hidden states, and the nodes after them, up to `following`, the hidden states before them."""
    n = cells.shape[1]
    for node in range(lo, hi):
        gate, last, cell, shown = gates[node], cells[parent[node]], cells[starts + node], hidden[starts + node]
        entered, kept, content, out = gate[:n], gate[n : 2 * n], gate[2 * n : 3 * n], gate[3 * n :]
        for j in range(2 * n):
            gate[j] = sigmoid(gate[j])
        for j in range(n):
            content[j] = tanh(content[j])
        for j in range(n):
            out[j] = sigmoid(out[j])
        for j in range(n):
            cell[j] = kept[j] * last[j] + entered[j] * content[j]
        for j in range(n):
            shown[j] = out[j] * tanh(cell[j])
    for node in range(hi, following):
        before[node] = hidden[parent[node]]


@compiled
def step_back(gates, parent, cells, to_hidden, to_cells, to_before, starts, lo, hi, following):
    """The same backwards: hidden states get what `to_before` has for them, activations become the gradients of the
    gates, and the cells of parents get theirs."""
    n, one = cells.shape[1], single(1.0)
    told, slope = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32)
    for node in range(hi, following):
        target, given = to_hidden[parent[node]], to_before[node]
        for j in range(n):
            target[j] += given[j]
    for node in range(lo, hi):
        gate, last, cell = gates[node], cells[parent[node]], cells[starts + node]
        asked, to_cell, to_last = to_hidden[starts + node], to_cells[starts + node], to_cells[parent[node]]
        entered, kept, content, out = gate[:n], gate[n : 2 * n], gate[2 * n : 3 * n], gate[3 * n :]
        for j in range(n):
            told[j] = tanh(cell[j])
        for j in range(n):
            slope[j] = to_cell[j] + asked[j] * out[j] * (one - told[j] * told[j])
        for j in range(n):
            out[j] = asked[j] * told[j] * out[j] * (one - out[j])
        for j in range(n):
            to_last[j] += slope[j] * kept[j]
        for j in range(n):
            kept[j] = slope[j] * last[j] * kept[j] * (one - kept[j])
        for j in range(n):
            told[j] = slope[j] * content[j] * entered[j] * (one - entered[j])
        for j in range(n):
            content[j] = slope[j] * entered[j] * (one - content[j] * content[j])
        for j in range(n):
            entered[j] = told[j]
