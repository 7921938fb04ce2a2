"""`networks.lstm.Seq2Seq` in NumPy: trained weights in, the same numbers out up to rounding; for answers alone.

There is neither dropout nor a gradient, and what a batch could share is worked out anew: one question has five forms
and a dozen words. Equations as in the network itself, which the tests compare this with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dualparse.data.vocab import PAD, UNK
from dualparse.errors import InputError

CLOSED = -1e4  # a score so far down that its exponential is 0
TINY = 1e-30  # weights below this are 0, as in `Run`

Array = np.ndarray


@dataclass(frozen=True)
class Memory:
    """What the encoder leaves: states [B, S, 2n], keys [B, S, n], mask and copy [B, S], hidden and cell [B, n]."""

    states: Array
    keys: Array
    mask: Array
    copy: Array
    hidden: Array
    cell: Array


@dataclass(frozen=True)
class State:
    """The decoder of k hypotheses of one source: hidden, cell [k, n]; copying [k, S], None without copying."""

    hidden: Array
    cell: Array
    copying: Array | None = None


class LightNetwork:
    """P(target | source), from the arrays of a weights file."""

    def __init__(self, arrays: Mapping[str, Array], *, copy: bool):
        self.copy = copy
        get = {name: np.where(np.abs(array) < TINY, 0, array).astype(np.float32) for name, array in arrays.items()}
        self.source_embedding, self.target_embedding = get["source_embedding.weight"], get["target_embedding.weight"]
        self.forward, self.backward = (_layer(get, "encoder", end) for end in ("", "_reverse"))
        self.decoder = _layer(get, "decoder", "")
        self.keys, self.keys_bias = get["attention_keys.weight"].T, get["attention_keys.bias"]
        self.query, self.vector = get["attention_query.weight"].T, get["attention_score.weight"][0]
        self.out, self.out_bias = get["generate.weight"].T, get["generate.bias"]
        self.gate: Array | None = get["gate.weight"][0] if copy else None
        self.gate_bias = float(get["gate.bias"][0]) if copy else 0.0
        self.source_size, self.target_size = len(self.source_embedding), len(self.target_embedding)

    def encode(self, source: Array, copy: Array) -> Memory:
        """[B, S] numbers -> memory (Eqs. 1-3)."""
        mask = source != PAD
        marked = np.concatenate([self.source_embedding[source], (~mask)[..., None].astype(np.float32)], axis=-1)
        start = np.zeros((len(source), self.query.shape[0]), dtype=np.float32)
        onward, _ = _run(self.forward, marked, start, start)
        back, cell = _run(self.backward, marked[:, ::-1], start, start)
        states = np.concatenate([onward, back[:, ::-1]], axis=-1)
        return Memory(states, states @ self.keys + self.keys_bias, mask, copy, back[:, -1], cell)

    def begin(self, memory: Memory, beams: int) -> State:
        """The decoder's state before the first step of a search for the only source of a memory."""
        return State(np.repeat(memory.hidden, beams, axis=0), np.repeat(memory.cell, beams, axis=0))

    def step(self, memory: Memory, state: State, tokens: Array) -> tuple[Array, State]:
        """[k] tokens read -> probabilities of the next, [k, V + S] (extended; without copying [k, V])."""
        embedded = self.target_embedding[np.where(tokens < self.target_size, tokens, UNK)]
        hidden, cell = _step(self.decoder, embedded @ self.decoder.inward + self.decoder.bias, state.hidden, state.cell)
        scores = np.tanh(memory.keys[0] + (hidden @ self.query)[:, None]) @ self.vector
        attention = _softmax(np.where(memory.mask[0], scores, CLOSED))
        features = np.concatenate([hidden, attention @ memory.states[0]], axis=-1)
        generated = _softmax(features @ self.out + self.out_bias)
        if self.gate is None:
            return generated, State(hidden, cell)
        balance = np.concatenate([features, embedded], axis=-1) @ self.gate + self.gate_bias
        own = _sigmoid(balance)[:, None]
        copied = attention * (1 - own)
        width = max(self.target_size, int(memory.copy.max(initial=0)) + 1)
        probabilities = copied @ (memory.copy[0][:, None] == np.arange(width)).astype(np.float32)
        probabilities[:, : self.target_size] += generated * own
        return probabilities, State(hidden, cell, copied)

    def two_ways(self, memory: Memory, inputs: Array, targets: Array) -> tuple[Array, Array]:
        """Teacher forcing: log P of each target by generating and by copying, both [B, T]; what stands at padding means
        nothing."""
        embedded = self.target_embedding[inputs]
        hidden, _ = _run(self.decoder, embedded, memory.hidden, memory.cell)
        query = hidden @ self.query
        scores = np.stack(
            [np.tanh(keys + asked[:, None]) @ self.vector for keys, asked in zip(memory.keys, query, strict=True)]
        )
        attention = _log_softmax(np.where(memory.mask[:, None], scores, CLOSED))
        features = np.concatenate([hidden, np.exp(attention) @ memory.states], axis=-1)
        known = targets < self.target_size
        logits = _log_softmax(features @ self.out + self.out_bias)
        generated = np.take_along_axis(logits, np.where(known, targets, UNK)[..., None], axis=-1)[..., 0]
        if self.gate is None:
            return generated, np.full(generated.shape, CLOSED, dtype=np.float32)
        balance = np.concatenate([features, embedded], axis=-1) @ self.gate + self.gate_bias
        matches = memory.copy[:, None] == targets[:, :, None]
        copied = np.logaddexp.reduce(np.where(matches, attention, CLOSED), axis=-1)
        return np.where(known, generated, CLOSED) - np.logaddexp(0, -balance), copied - np.logaddexp(0, balance)


@dataclass(frozen=True)
class _Layer:
    """An LSTM in one direction: inward [E, 4n], recurrent [n, 4n], bias [4n]; gates in torch's order."""

    inward: Array
    recurrent: Array
    bias: Array


def _layer(arrays: Mapping[str, Array], name: str, end: str) -> _Layer:
    inward, recurrent, one, other = (
        arrays[f"{name}.{kind}_l0{end}"] for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    return _Layer(np.ascontiguousarray(inward.T), np.ascontiguousarray(recurrent.T), one + other)


def _run(layer: _Layer, inputs: Array, hidden: Array, cell: Array) -> tuple[Array, Array]:
    """[B, T, E] -> states [B, T, n] and the last cells [B, n]."""
    gates, states = inputs @ layer.inward + layer.bias, []
    for t in range(inputs.shape[1]):
        hidden, cell = _step(layer, gates[:, t], hidden, cell)
        states.append(hidden)
    return np.stack(states, axis=1), cell


def _step(layer: _Layer, gates: Array, hidden: Array, cell: Array) -> tuple[Array, Array]:
    entered, kept, written, shown = np.split(gates + hidden @ layer.recurrent, 4, axis=-1)
    cell = _sigmoid(kept) * cell + _sigmoid(entered) * np.tanh(written)
    return _sigmoid(shown) * np.tanh(cell), cell


def _sigmoid(values: Array) -> Array:
    return 0.5 + 0.5 * np.tanh(0.5 * values)


def _softmax(values: Array) -> Array:
    raised = np.exp(values - values.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def _log_softmax(values: Array) -> Array:
    moved = values - values.max(-1, keepdims=True)
    return moved - np.log(np.exp(moved).sum(-1, keepdims=True))


def load_light(path: Path, *, copy: bool) -> LightNetwork:
    """The network of a weights file that was checked before (`manifest.json`)."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return LightNetwork(load_file(path), copy=copy)
    except (SafetensorError, OSError) as error:
        raise InputError(f"damaged or cut short ({error})", path=path) from None
    except KeyError as error:
        raise InputError(f"{error.args[0]} is missing: weights of another kind of model", path=path) from None
