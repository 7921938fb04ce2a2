"""Dropout and the end of the network on a CPU, compiled by Numba; `dropout` and `packed` say where they are used."""

from __future__ import annotations

import numpy as np

from dualparse.engines.numba.math_kernels import compiled, exp, inlined, single


@inlined
def mixed(place, seed, other):
    """32 bits for a place, which two seeds decide (the multipliers are those of lowbias32, by Chris Wellons)."""
    x = np.uint32(place) + seed
    x = np.uint32((x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D))
    x = np.uint32((x ^ (x >> np.uint32(15))) ^ other)
    x = np.uint32(x * np.uint32(0x846CA68B))
    return np.uint32(x ^ (x >> np.uint32(16)))


@inlined
def passed(value, place, seed, other, dropped, factor):
    """The value times the factor, or 0 for so many in 65536 places."""
    return value * factor if (mixed(place, seed, other) >> np.uint32(16)) >= dropped else single(0.0)


@compiled
def drop(values, kept, seed, other, dropped, factor):
    """Values [N] times the factor, and 0 for so many in 65536 of them."""
    for i in range(len(values)):
        kept[i] = passed(values[i], i, seed, other, dropped, factor)


@compiled
def drop_and_weigh(values, weight, kept, sums, seed, other, dropped, factor):
    """As `drop`, of values [N, n]; and each row times the weights, without loss, [N]."""
    n = len(weight)
    for r in range(len(values)):
        row, out, total = values[r], kept[r], single(0.0)
        for j in range(n):
            total += row[j] * weight[j]
        for j in range(n):
            out[j] = passed(row[j], r * n + j, seed, other, dropped, factor)
        sums[r] = total


@compiled
def drop_and_weigh_back(to_kept, to_sums, weight, to_values, seed, other, dropped, factor):
    """What the values get."""
    n = len(weight)
    for r in range(len(to_kept)):
        given, out, g = to_kept[r], to_values[r], to_sums[r]
        for j in range(n):
            out[j] = passed(given[j], r * n + j, seed, other, dropped, factor) + g * weight[j]


@compiled
def pick(logits, node, target, log_sums, sums):
    """log_sums [N] of the powers of the logits [N, V], and what is picked [P] of their log-softmax."""
    for i in range(len(logits)):
        line, highest, total = logits[i], logits[i, 0], single(0.0)
        for v in range(len(line)):
            highest = max(highest, line[v])
        for v in range(len(line)):
            total += exp(line[v] - highest)
        log_sums[i] = highest + np.log(total)
    for p in range(len(node)):
        sums[p] = logits[node[p], target[p]] - log_sums[node[p]]


@compiled
def pick_back(logits, node, target, log_sums, to_picked, together, to_logits):
    """What the logits get; `together` [N] is 0 to begin with."""
    for p in range(len(node)):
        together[node[p]] += to_picked[p]
    for i in range(len(logits)):
        line, out, lost, least = logits[i], to_logits[i], together[i], log_sums[i]
        for v in range(len(line)):
            out[v] = -lost * exp(line[v] - least)
    for p in range(len(node)):
        to_logits[node[p], target[p]] += to_picked[p]
