"""Scores of additive attention and their gradients on a CPU, compiled by Numba; `additive` says where they are used.

tanh(x + y) = 1 - 2 r with r = 1 / (e^2x e^2y + 1), and its slope is 4 r (1 - r): one division is all that is left for
each number, and nothing of the size [B, T, S, n] is ever stored. Positions and steps that do not count are left out.
"""

from __future__ import annotations

from dualparse.models.compiled_math import compiled, single


@compiled
def scores_of(keys, query, vector, positions, steps, scores):
    """keys [B, S, n], query [B, T, n] as powers, vector [n] -> scores [B, T, S]."""
    n = len(vector)
    for b in range(len(keys)):
        for t in range(steps[b]):
            asked = query[b, t]
            for s in range(positions[b]):
                key, total = keys[b, s], single(0.0)
                for j in range(n):
                    total += vector[j] - single(2.0) * vector[j] / (key[j] * asked[j] + single(1.0))
                scores[b, t, s] = total


@compiled
def gradients_of(keys, query, positions, steps, gradient, to_keys, to_query, to_vector):
    """With the gradient g [B, T, S] of the scores: sums of g r (1 - r) over steps and over positions, and of g tanh."""
    n = len(to_vector)
    for b in range(len(keys)):
        for t in range(steps[b]):
            asked, to_asked = query[b, t], to_query[b, t]
            for s in range(positions[b]):
                key, to_key, g = keys[b, s], to_keys[b, s], gradient[b, t, s]
                for j in range(n):
                    r = single(1.0) / (key[j] * asked[j] + single(1.0))
                    slope = g * r * (single(1.0) - r)
                    to_key[j] += slope
                    to_asked[j] += slope
                    to_vector[j] += g * (single(1.0) - single(2.0) * r)
