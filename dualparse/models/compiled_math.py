"""What compiled loops are made of: how they are compiled, and functions that become vector instructions inside them."""

from __future__ import annotations

import numpy as np
from numba import njit

REORDERED = {"reassoc", "contract", "nsz", "arcp", "afn"}  # sums in any order; infinities stay what they are

compiled = njit(cache=True, nogil=True, fastmath=REORDERED, error_model="numpy")
inlined = njit(inline="always", fastmath=REORDERED, error_model="numpy")
single = np.float32


@inlined
def exp(x):
    """e^x to single precision: 2^k times a polynomial of what is left (Cephes); 0 where it is next to nothing."""
    y = min(max(x, single(-87.0)), single(88.0))
    k = np.floor(y * single(1.44269504) + single(0.5))
    rest = y - k * single(0.693147181)
    p = single(1.9875691500e-4)
    p = p * rest + single(1.3981999507e-3)
    p = p * rest + single(8.3334519073e-3)
    p = p * rest + single(4.1665795894e-2)
    p = p * rest + single(1.6666665459e-1)
    p = p * rest + single(5.0000001201e-1)
    p = p * rest * rest + rest + single(1.0)
    power = p * np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)
    return power if x > single(-87.0) else single(0.0)


@inlined
def sigmoid(x):
    return single(1.0) / (single(1.0) + exp(-x))


@inlined
def tanh(x):
    return single(1.0) - single(2.0) / (single(1.0) + exp(single(2.0) * x))


@inlined
def mixed(place, seed, other):
    """32 bits for a place, which two seeds decide (the multipliers are those of lowbias32, by Chris Wellons)."""
    x = np.uint32(place) + seed
    x = np.uint32((x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D))
    x = np.uint32((x ^ (x >> np.uint32(15))) ^ other)
    x = np.uint32(x * np.uint32(0x846CA68B))
    return np.uint32(x ^ (x >> np.uint32(16)))


@compiled
def drop_and_weigh(values, weight, kept, sums, seed, other, dropped, factor):
    """As `drop`, of values [N, n]; and each row times the weights, without loss, [N]."""
    n = len(weight)
    for r in range(len(values)):
        row, out, total = values[r], kept[r], single(0.0)
        for j in range(n):
            total += row[j] * weight[j]
        for j in range(n):
            out[j] = row[j] * factor if (mixed(r * n + j, seed, other) >> np.uint32(16)) >= dropped else single(0.0)
        sums[r] = total


@compiled
def drop_and_weigh_back(to_kept, to_sums, weight, to_values, seed, other, dropped, factor):
    """What the values get."""
    n = len(weight)
    for r in range(len(to_kept)):
        given, out, g = to_kept[r], to_values[r], to_sums[r]
        for j in range(n):
            passed = given[j] * factor if (mixed(r * n + j, seed, other) >> np.uint32(16)) >= dropped else single(0.0)
            out[j] = passed + g * weight[j]


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


@compiled
def drop(values, kept, seed, other, dropped, factor):
    """Values [N] times the factor, and 0 for so many in 65536 of them."""
    for i in range(len(values)):
        kept[i] = values[i] * factor if (mixed(i, seed, other) >> np.uint32(16)) >= dropped else single(0.0)
