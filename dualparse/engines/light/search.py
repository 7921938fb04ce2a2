"""Beam search for one source in NumPy: by the rules of `engines.beam`, step by step the same."""

from __future__ import annotations

import numpy as np

from dualparse.data.vocab import BOS, EOS
from dualparse.engines.found import Found, Options, Walk, trace
from dualparse.engines.light.network import LightNetwork, Memory, State

NOTHING = -np.inf
LEAST = np.finfo(np.float32).min


def search(
    network: LightNetwork, memory: Memory, options: Options, *, walk: Walk | None = None, copies: bool = False
) -> Found:
    """The best outputs of the only source of a memory, among those that `walk` allows; `copies` asks for what was
    copied."""
    beams = options.beams
    live, ended = np.full(beams, NOTHING, dtype=np.float32), np.full(beams, NOTHING, dtype=np.float32)
    live[0], ends, topped = 0.0, np.zeros(beams, dtype=np.int64), False
    tokens, state = np.full(beams, BOS), network.begin(memory, beams)
    places = None if walk is None else [walk.start()] + [None] * (beams - 1)
    history, copied = [], []
    for step in range(options.max_length):
        probabilities, state = network.step(memory, state, tokens)
        probabilities[:, :EOS] = 0.0
        if walk is not None and places is not None:
            probabilities *= _allowed(walk, places, live, probabilities.shape[1], options.max_length - step - 1)
        best = max(live[0], LEAST)
        weighed = (probabilities * np.exp(live - best)[:, None]).ravel()
        where = _top(weighed, 2 * beams)
        with np.errstate(divide="ignore"):
            value = np.log(weighed[where]) + best
        parent, token = np.divmod(where, probabilities.shape[1])
        ending = token == EOS

        # What ends among the k best joins the finished.
        rank = np.where(ending, value / (step + 1) ** options.length_power, NOTHING)[:beams]
        both = np.concatenate([ended, rank])
        kept = _top(both, beams)
        ended, ends = both[kept], np.concatenate([ends, step * beams + parent[:beams]])[kept]
        topped = topped or bool(ending[0])

        # The k best of the others go on.
        value = np.where(ending, NOTHING, value)
        kept = _top(value, beams)
        parent, token = parent[kept], token[kept]
        if copies:
            copied.append(_copied(memory.copy[0], state.copying, parent, token, value[kept] - live[parent]))
        live, tokens = value[kept].astype(np.float32), token
        history.append(token * beams + parent)
        state = State(state.hidden[parent], state.cell[parent])
        if walk is not None and places is not None:
            places = _followed(walk, [places[each] for each in parent], tokens, live)
        if (topped and ended[-1] > NOTHING) or live[0] == NOTHING:
            break
    return trace(
        np.array(history)[:, None],
        ended[None],
        ends[None],
        live[None],
        length_power=options.length_power,
        copied=np.array(copied, dtype=np.float32)[:, None] if copies else None,
    )


def _copied(
    numbers: np.ndarray, copying: np.ndarray | None, parent: np.ndarray, token: np.ndarray, log_prob: np.ndarray
) -> np.ndarray:
    """The share of each token's probability that came by copying, from whichever position stands for it."""
    if copying is None:
        return np.zeros(len(parent), dtype=np.float32)
    share = (copying[parent] * (numbers == token[:, None])).sum(-1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # of what did not go on nothing is read
        return share / np.exp(log_prob)


def _top(values: np.ndarray, count: int) -> np.ndarray:
    """The places of the largest, the largest first; of equal ones the earlier."""
    return np.argsort(-values, kind="stable")[:count]


def _allowed(walk: Walk, places: list, live: np.ndarray, width: int, left: int) -> np.ndarray:
    allowed = np.zeros((len(places), width), dtype=bool)
    on = [number for number in range(len(places)) if np.isfinite(live[number])]
    if on:
        allowed[on] = walk.allowed([0] * len(on), [places[number] for number in on], left=left, width=width)
    return allowed


def _followed(walk: Walk, places: list, tokens: np.ndarray, live: np.ndarray) -> list:
    on = [number for number in range(len(places)) if np.isfinite(live[number])]
    there = walk.after([0] * len(on), [places[number] for number in on], tokens[on].tolist())
    found: list = [None] * len(places)
    for number, place in zip(on, there, strict=True):
        found[number] = place
    return found
