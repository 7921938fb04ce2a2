"""The steps of a beam search on a CPU, compiled by Numba: all between two matrix products, in one pass over the rows.

A row is a hypothesis that is alive; those of a source stand together, the best first. Loops run over whole contiguous
lines without branches, so that the compiler makes vector instructions of them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dualparse.data.vocab import EOS, UNK
from dualparse.engines.numba.math_kernels import compiled, exp, sigmoid, single, tanh
from dualparse.networks.attention import LARGEST

BLOCK = 32  # probabilities looked at together for one that is large enough
NOTHING = single(-np.inf)


class Source(NamedTuple):
    """What all steps read of the sources; names and shapes as in `lstm.Plan` and `Memory`.

    powers [B, S, n]    weight [n] of attention's mix    length [B]    shown [B, S, W]    copy [B, S]
    gate_shown [B, S, 1], gate_read [V, 1]; empty without copying
    """

    powers: np.ndarray
    weight: np.ndarray
    length: np.ndarray
    shown: np.ndarray
    copy: np.ndarray
    gate_shown: np.ndarray
    gate_read: np.ndarray


class Rows(NamedTuple):
    """The hypotheses alive: source [B] and first [B + 1] say whose rows begin where; the rest is [B * k] and their
    decoder states [B * k, n]."""

    source: np.ndarray
    first: np.ndarray
    live: np.ndarray
    tokens: np.ndarray
    hidden: np.ndarray
    cell: np.ndarray

    @classmethod
    def start(cls, hidden: np.ndarray, cell: np.ndarray, beams: int, token: int) -> Rows:
        """One row for each source, with room for all beams."""
        batch, n = hidden.shape
        rows = cls.empty(batch, beams, n)
        rows.source[:], rows.first[:] = np.arange(batch), np.arange(batch + 1)
        rows.live[:batch], rows.tokens[:batch] = 0.0, token
        rows.hidden[:batch], rows.cell[:batch] = hidden, cell
        return rows

    @classmethod
    def empty(cls, batch: int, beams: int, n: int) -> Rows:
        count = batch * beams
        return cls(
            np.empty(batch, np.int64),
            np.zeros(batch + 1, np.int64),
            np.empty(count, np.float32),
            np.empty(count, np.int64),
            np.empty((count, n), np.float32),
            np.empty((count, n), np.float32),
        )


class Outcome(NamedTuple):
    """What a search leaves, as in `beam.Beam`: history [T, B, k]; ended, ends, live [B, k]; topped [B]; copied
    [T, B, k]."""

    history: np.ndarray
    ended: np.ndarray
    ends: np.ndarray
    live: np.ndarray
    topped: np.ndarray
    copied: np.ndarray

    @classmethod
    def empty(cls, batch: int, beams: int, max_length: int) -> Outcome:
        return cls(
            np.zeros((max_length, batch, beams), np.int64),
            np.full((batch, beams), NOTHING),
            np.zeros((batch, beams), np.int64),
            np.full((batch, beams), NOTHING),
            np.zeros(batch, np.bool_),
            np.zeros((max_length, batch, beams), np.float32),
        )


@compiled
def remember(rows, gates, input_gates):
    """The LSTM: `gates` [R, 4n] are those of the states before; states and cells of the rows become the next."""
    size, n = input_gates.shape[0], rows.cell.shape[1]
    for r in range(len(gates)):
        token = rows.tokens[r]
        line, read = gates[r], input_gates[token if token < size else UNK]
        for j in range(len(line)):
            line[j] += read[j]
        opened, proposed = line[: 3 * n], line[3 * n :]
        for j in range(len(opened)):
            opened[j] = sigmoid(opened[j])
        for j in range(len(proposed)):
            proposed[j] = tanh(proposed[j])
        entered, kept, shown = line[:n], line[n : 2 * n], line[2 * n : 3 * n]
        cell, hidden = rows.cell[r], rows.hidden[r]
        for j in range(n):
            cell[j] = kept[j] * cell[j] + entered[j] * proposed[j]
        for j in range(n):
            proposed[j] = tanh(cell[j])
        for j in range(n):
            hidden[j] = shown[j] * proposed[j]


@compiled
def choose(step, sources, now, read, source, allowed, outcome, length_power, then):
    """From what the states say, `read` [R, n + W (+ 1)], to the rows of the next step; how many sources have some.
    `allowed` [R, W] is empty where every token is."""
    beams = outcome.ended.shape[1]
    n, width = source.powers.shape[2], source.shown.shape[2]
    attention = np.empty((beams, source.powers.shape[1]), np.float32)
    value = np.empty(2 * beams, np.float32)
    parent, token = np.empty(2 * beams, np.int64), np.empty(2 * beams, np.int64)
    power = single((step + 1.0) ** length_power)
    left, rows = 0, 0
    for i in range(sources):
        b, first = now.source[i], now.first[i]
        best, found = now.live[first], 0
        for place in range(now.first[i + 1] - first):
            r = first + place
            likely = single(math.exp(now.live[r] - best))
            _read(read[r], now.tokens[r], likely, b, n, width, source, attention[place])
            if len(allowed):
                _bar(read[r, n : n + width], allowed[r])
            found = _pick(read[r, n : n + width], place, value, parent, token, found)
        _finish(step, b, best, found, value, parent, token, power, outcome)
        outcome.live[b] = NOTHING
        if outcome.topped[b] and outcome.ended[b, beams - 1] > NOTHING:
            continue
        then.first[left] = rows
        slot = 0
        for c in range(found):
            if token[c] == EOS or slot == beams:
                continue
            r = first + parent[c]
            then.tokens[rows], then.live[rows] = token[c], math.log(value[c]) + best
            then.hidden[rows], then.cell[rows] = now.hidden[r], now.cell[r]
            outcome.live[b, slot] = then.live[rows]
            outcome.history[step, b, slot] = token[c] * beams + parent[c]
            if len(source.gate_read):
                copied = _copied(source.copy[b], attention[parent[c]], source.length[b], token[c])
                outcome.copied[step, b, slot] = copied / value[c]
            rows += 1
            slot += 1
        if slot:
            then.source[left] = b
            left += 1
    then.first[left] = rows
    return left


@compiled
def _read(line, token, likely, b, n, width, source, attention):
    """Turn a row's logits into probabilities times `likely`, and `attention` into the part that came by copying."""
    size, length = len(source.gate_read), source.length[b]
    query, logits = line[:n], line[n : n + width]
    for j in range(n):
        query[j] = exp(single(2.0) * min(max(query[j], single(-LARGEST)), single(LARGEST)))
    for s in range(length):
        powers, score = source.powers[b, s], single(0.0)
        for j in range(n):
            score += source.weight[j] / (powers[j] * query[j] + single(1.0))
        attention[s] = score
    total = _powers(attention[:length])
    for s in range(length):
        attention[s] /= total
        weight, shown = attention[s], source.shown[b, s]
        for v in range(width):
            logits[v] += weight * shown[v]
    scale = likely / _powers(logits)
    if size:
        balance = line[n + width] + source.gate_read[token if token < size else UNK, 0]
        for s in range(length):
            balance += attention[s] * source.gate_shown[b, s, 0]
        scale *= sigmoid(balance)
        copies = likely * sigmoid(-balance)
        for s in range(length):
            attention[s] *= copies
    for v in range(width):
        logits[v] *= scale
    if size:
        for s in range(length):
            logits[source.copy[b, s]] += attention[s]
    logits[:EOS] = 0.0


@compiled
def _bar(probabilities, allowed):
    """Nothing is left of what may not come next."""
    for v in range(len(probabilities)):
        if not allowed[v]:
            probabilities[v] = single(0.0)


@compiled
def _powers(scores):
    """Replace scores by e^(score - largest); their sum."""
    largest, total = scores[0], single(0.0)
    for i in range(len(scores)):
        largest = max(largest, scores[i])
    for i in range(len(scores)):
        scores[i] = exp(scores[i] - largest)
    for i in range(len(scores)):
        total += scores[i]
    return total


@compiled
def _pick(probabilities, place, value, parent, token, found):
    """Put the largest of a row into the sorted list of the best so far, of which there are `found`."""
    most = len(value)
    for start in range(0, len(probabilities), BLOCK):
        block = probabilities[start : start + BLOCK]
        largest = block[0]
        for i in range(len(block)):
            largest = max(largest, block[i])
        least = value[most - 1] if found == most else single(0.0)
        if largest <= least:
            continue
        for i in range(len(block)):
            x = block[i]
            if x <= least:
                continue
            found = min(found + 1, most)
            at = found - 1
            while at > 0 and value[at - 1] < x:
                value[at], parent[at], token[at] = value[at - 1], parent[at - 1], token[at - 1]
                at -= 1
            value[at], parent[at], token[at] = x, place, start + i
            least = value[most - 1] if found == most else single(0.0)
    return found


@compiled
def _finish(step, b, best, found, value, parent, token, power, outcome):
    """What ends among the k best joins the finished."""
    beams = outcome.ended.shape[1]
    ended, ends = outcome.ended[b], outcome.ends[b]
    for c in range(min(found, beams)):
        if token[c] != EOS:
            continue
        rank = single((math.log(value[c]) + best) / power)
        at = beams - 1
        if rank <= ended[at]:
            continue
        while at > 0 and ended[at - 1] < rank:
            ended[at], ends[at] = ended[at - 1], ends[at - 1]
            at -= 1
        ended[at], ends[at] = rank, step * beams + parent[c]
    if found and token[0] == EOS:
        outcome.topped[b] = True


@compiled
def _copied(numbers, attention, length, token):
    """The probability with which a token was copied, from whichever position stands for it."""
    total = single(0.0)
    for s in range(length):
        if numbers[s] == token:
            total += attention[s]
    return total
