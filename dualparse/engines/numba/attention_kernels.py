"""Additive attention and its gradients on a CPU, compiled by Numba; `packed` says where they are used.

tanh(x + y) = 1 - 2 r with r = 1 / (e^2x e^2y + 1), and its slope is 4 r (1 - r): with the powers of keys and queries at
hand, one division is all that is left for each number. Nothing of the size [N, S, n] is ever stored.

Keys [M, n] and states [M, 2n] of all sources lie one after the other: those of source b from begin[b] on, length[b] of
them. A query [N, n] looks at the source `owner` says. Keys and queries come as powers.
"""

from __future__ import annotations

import numpy as np

from dualparse.engines.numba.math_kernels import compiled, exp, single


@compiled
def attend(keys, states, hidden, query, vector, owner, begin, length, log_weights, features):
    """log_weights [N, S], of which only what belongs to the source is written; features [N, 3n]: the hidden states of
    the decoder, and what they look at."""
    n, wide = len(vector), states.shape[1]
    for i in range(len(query)):
        asked, weights, seen = query[i], log_weights[i], features[i][n:]
        features[i][:n] = hidden[i]
        begins, count = begin[owner[i]], length[owner[i]]
        highest = single(-np.inf)
        for s in range(count):
            key, total = keys[begins + s], single(0.0)
            for j in range(n):
                total += vector[j] - single(2.0) * vector[j] / (key[j] * asked[j] + single(1.0))
            weights[s] = total
            highest = max(highest, total)
        together = single(0.0)
        for s in range(count):
            together += exp(weights[s] - highest)
        together = highest + np.log(together)
        seen[:] = single(0.0)
        for s in range(count):
            weights[s] -= together
            state, weight = states[begins + s], exp(weights[s])
            for j in range(wide):
                seen[j] += weight * state[j]


@compiled
def attend_back(
    keys,
    states,
    query,
    owner,
    begin,
    length,
    log_weights,
    to_weights,
    to_features,
    to_keys,
    to_states,
    to_query,
    to_vector,
):
    """With gradients g of log_weights and features, and from them d of the scores: sums of d r (1 - r) over queries and
    over keys, of -2 d r, and what the states get. `to_weights` is overwritten."""
    n, wide = len(to_vector), states.shape[1]
    for i in range(len(query)):
        asked, weights, told, seen, to_asked = query[i], log_weights[i], to_weights[i], to_features[i][n:], to_query[i]
        begins, count = begin[owner[i]], length[owner[i]]
        together = single(0.0)
        for s in range(count):
            state, to_state, weight, total = states[begins + s], to_states[begins + s], exp(weights[s]), single(0.0)
            for j in range(wide):
                total += seen[j] * state[j]
            for j in range(wide):
                to_state[j] += weight * seen[j]
            told[s] += weight * total
            together += told[s]
        for s in range(count):
            key, to_key = keys[begins + s], to_keys[begins + s]
            d = told[s] - exp(weights[s]) * together
            for j in range(n):
                r = single(1.0) / (key[j] * asked[j] + single(1.0))
                slope = d * r * (single(1.0) - r)
                to_key[j] += slope
                to_asked[j] += slope
                to_vector[j] -= single(2.0) * d * r
