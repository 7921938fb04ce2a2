"""`networks.encoder.Encoder` in NumPy: texts in, the same vectors of length 1 out up to rounding, without torch.

The weights stay in their file but for the rows of the words that are read and the matrices of the blocks, into which an
adapter is worked once. It reads encoders of BERT's build alone, of which MiniLM is one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from typing import Any, cast

import numpy as np
from safetensors import SafetensorError, safe_open

from dualparse.errors import InputError
from dualparse.networks.minilm import INSTALL, LONGEST, WEIGHTS

Array = np.ndarray
AT_ONCE = 32  # texts of similar length that are read together

# Abramowitz and Stegun 7.1.26: the error function to 1.5e-7, which is what single precision holds.
_P, _A = 0.3275911, (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)


@dataclass(frozen=True)
class _Norm:
    weight: Array
    bias: Array
    eps: float

    def __call__(self, x: Array) -> Array:
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps) * self.weight + self.bias


@dataclass(frozen=True)
class _Linear:
    weight: Array  # [in, out]
    bias: Array

    def __call__(self, x: Array) -> Array:
        return x @ self.weight + self.bias


@dataclass(frozen=True)
class _Block:
    """One layer of the transformer: what it looks at, and what it makes of that."""

    mixed: _Linear  # query, key and value side by side
    out: _Linear
    after_looking: _Norm
    wide: _Linear
    narrow: _Linear
    after_thinking: _Norm

    def __call__(self, x: Array, hidden: Array, heads: int) -> Array:
        """x [B, S, n]; hidden [B, 1, 1, S] is added to what a word may look at."""
        rows, length, width = x.shape
        parts = self.mixed(x).reshape(rows, length, 3, heads, width // heads).transpose(2, 0, 3, 1, 4)
        query, key, value = parts
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(sqrt(width // heads)) + hidden
        raised = np.exp(scores - scores.max(-1, keepdims=True))
        seen = (raised / raised.sum(-1, keepdims=True)) @ value
        x = self.after_looking(x + self.out(seen.transpose(0, 2, 1, 3).reshape(rows, length, width)))
        return self.after_thinking(x + self.narrow(_gelu(self.wide(x))))


def _gelu(x: Array) -> Array:
    z = np.abs(x) * np.float32(sqrt(0.5))
    t = 1 / (1 + np.float32(_P) * z)
    series = np.zeros_like(t)
    for factor in reversed(_A):
        series = (series + np.float32(factor)) * t
    below = np.float32(0.5) * series * np.exp(-z * z)  # the part of a normal distribution that lies beyond |x|
    return x * np.where(x > 0, 1 - below, below)


class _Weights:
    """The arrays of a file, changed as an adapter says; each is read when it is asked for."""

    def __init__(self, path: Path, adapter: Path | None):
        self._file = safe_open(path, framework="np")
        self._changes = safe_open(adapter, framework="np") if adapter else None
        self._changed = frozenset(self._changes.keys()) if self._changes else frozenset()

    def __call__(self, name: str) -> Array:
        return np.asarray(self._file.get_tensor(name), dtype=np.float32)

    def row(self, name: str, number: int) -> Array:
        """One row of an array; the others stay on the disk."""
        return np.asarray(self._file.get_slice(name)[number : number + 1][0], dtype=np.float32)

    def norm(self, name: str, eps: float) -> _Norm:
        return _Norm(self(f"{name}.weight"), self(f"{name}.bias"), eps)

    def linear(self, *names: str) -> _Linear:
        """A layer, or several that read the same, side by side."""
        weights = [self._adapted(name) for name in names]
        return _Linear(np.concatenate(weights).T, np.concatenate([self(f"{name}.bias") for name in names]))

    def _adapted(self, name: str) -> Array:
        weight = self(f"{name}.weight")
        if self._changes is None or f"{name}.up" not in self._changed:
            return weight
        up, down = (self._changes.get_tensor(f"{name}.{part}").astype(np.float32) for part in ("up", "down"))
        return weight + up @ down

    def block(self, name: str, eps: float) -> _Block:
        look = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        return _Block(
            self.linear(*look),
            self.linear(f"{name}.attention.output.dense"),
            self.norm(f"{name}.attention.output.LayerNorm", eps),
            self.linear(f"{name}.intermediate.dense"),
            self.linear(f"{name}.output.dense"),
            self.norm(f"{name}.output.LayerNorm", eps),
        )


class LightEncoder:
    """An encoder for a question or two, and for the names of a schema."""

    def __init__(self, tokenizer: Any, weights: _Weights, config: Mapping[str, Any]):
        self._tokenizer, self._weights, self._known = tokenizer, weights, dict[int, Array]()
        self._threads = import_module("threadpoolctl").ThreadpoolController()
        eps = float(config["layer_norm_eps"])
        self._heads = int(config["num_attention_heads"])
        self._places = weights("embeddings.position_embeddings.weight")[:LONGEST]
        self._places = self._places + weights("embeddings.token_type_embeddings.weight")[0]
        self._norm = weights.norm("embeddings.LayerNorm", eps)
        with self._alone():
            self._blocks = [weights.block(f"encoder.layer.{i}", eps) for i in range(int(config["num_hidden_layers"]))]

    @property
    def width(self) -> int:
        return int(self._places.shape[1])

    def vectors(self, texts: Sequence[str]) -> Array:
        """[N, n] vectors of length 1, in single precision; similar lengths go together."""
        read = [item.ids for item in self._tokenizer.encode_batch(list(texts))]
        found = np.zeros((len(read), self.width), dtype=np.float32)
        order = sorted(range(len(read)), key=lambda number: len(read[number]))
        with self._alone():
            for start in range(0, len(order), AT_ONCE):
                some = order[start : start + AT_ONCE]
                found[some] = self._means([read[number] for number in some])
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)

    def _alone(self) -> AbstractContextManager[object]:
        """On one thread: with matrices this small, several of them mostly wait for each other."""
        return cast(AbstractContextManager[object], self._threads.limit(limits=1, user_api="blas"))

    def _means(self, read: Sequence[Sequence[int]]) -> Array:
        """[N, n] the mean over the tokens of each text."""
        lengths = np.array([len(ids) for ids in read])
        inside = np.arange(lengths.max()) < lengths[:, None]
        x = np.zeros((*inside.shape, self.width), dtype=np.float32)
        for row, ids in zip(x, read, strict=True):
            row[: len(ids)] = [self._word(number) for number in ids]
        x = self._norm(x + self._places[: inside.shape[1]])
        hidden = np.where(inside, np.float32(0), np.finfo(np.float32).min)[:, None, None, :]
        for block in self._blocks:
            x = block(x, hidden, self._heads)
        return (x * inside[..., None]).sum(1, dtype=np.float32) / lengths[:, None].astype(np.float32)

    def _word(self, number: int) -> Array:
        if number not in self._known:
            self._known[number] = self._weights.row("embeddings.word_embeddings.weight", number)
        return self._known[number]


def open_light_encoder(folder: Path, *, adapter: Path | None = None) -> LightEncoder:
    """The encoder of a folder as transformers saves one, changed as an adapter says."""
    if find_spec("tokenizers") is None or find_spec("threadpoolctl") is None:
        raise InputError(f"a pretrained encoder needs tokenizers and threadpoolctl: {INSTALL}")
    try:
        config = json.loads((folder / "config.json").read_bytes())
        if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
            raise InputError("not an encoder of BERT's build, which alone is read without torch", path=folder)
        tokenizer = import_module("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)
        encoder = LightEncoder(tokenizer, _Weights(folder / WEIGHTS, adapter), config)
        if tokenizer.get_vocab_size() > config["vocab_size"] or not np.isfinite(encoder.vectors(["a"])).all():
            raise ValueError("its weights are damaged, or its tokenizer is another's")
        return encoder
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise InputError(f"no encoder that can be read ({error})", path=folder) from None
