"""Examples -> rows of numbers -> padded batches (paper Section 2: copying, entity mapping, reverse entity mapping).

Direction is data: `"q2lf"` reads a query and writes a form, `"lf2q"` the other way round; everything else is the same.
Copying is an index, never a one-hot: every source position has the number of the target token it stands for. Tokens
outside the target vocabulary get a number beyond it, one per distinct token of that row ("extended" numbers).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dualparse.data.examples import Example
from dualparse.data.vocab import BOS, EOS, PAD, UNK, Vocab
from dualparse.domains.lexicon import Lexicon

Direction = Literal["q2lf", "lf2q"]
DIRECTIONS: tuple[Direction, Direction] = ("q2lf", "lf2q")

OTHER: dict[Direction, Direction] = {"q2lf": "lf2q", "lf2q": "q2lf"}


@dataclass(frozen=True, slots=True)
class Row:
    """One example as numbers. `words[j]` is the token with the extended number `len(target_vocab) + j`."""

    source: list[int]
    copy: list[int]
    words: tuple[str, ...]
    target: list[int]


@dataclass(frozen=True)
class Batch:
    """Padded rows; numpy arrays or tensors of the same names.

    source  [B, S]  source numbers, PAD behind the end
    copy    [B, S]  extended target number each source position can be copied as, PAD behind the end
    inputs  [B, T]  <s> y1 ... yn, what the decoder reads (plain numbers: an extended one reads as <unk>)
    targets [B, T]  y1 ... yn </s>, extended numbers, PAD behind the end
    """

    source: Any
    copy: Any
    inputs: Any
    targets: Any

    def arrays(self) -> tuple[Any, Any, Any, Any]:
        return self.source, self.copy, self.inputs, self.targets

    def map(self, function: Callable[[Any], Any]) -> Batch:
        return Batch(*map(function, self.arrays()))

    def take(self, rows: Any, source_length: int, target_length: int) -> Batch:
        """The named rows, cut to the lengths given."""
        return Batch(
            self.source[rows, :source_length],
            self.copy[rows, :source_length],
            self.inputs[rows, :target_length],
            self.targets[rows, :target_length],
        )


def sides(example: Example, direction: Direction) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """(source, target) of an example in a direction."""
    return (example.query, example.lf) if direction == "q2lf" else (example.lf, example.query)


def source_tokens(
    tokens: Sequence[str],
    direction: Direction,
    lexicon: Lexicon,
    *,
    paired_query: Sequence[str] | None = None,
    rng: random.Random,
) -> tuple[list[str], list[str]]:
    """What the encoder reads, and what each position can be copied as.

    q2lf: the words; each stands for the entity of the phrase it lies in, or for itself (entity mapping).
    lf2q: the form with every entity replaced by words of one of its phrases; each stands for itself (reverse mapping).
    """
    if direction == "q2lf":
        return list(tokens), list(lexicon.map_words(tokens))
    words: list[str] = []
    for token in tokens:
        words.extend(lexicon.choose_phrase(token, query=paired_query, rng=rng) or (token,))
    return words, words


def encode(
    tokens: Sequence[str],
    target: Sequence[str] | None,
    direction: Direction,
    source_vocab: Vocab,
    target_vocab: Vocab,
    lexicon: Lexicon,
    *,
    rng: random.Random,
) -> Row:
    """One example as numbers; `target` is None for a source to be decoded."""
    paired_query = target if direction == "lf2q" else None
    read, copied = source_tokens(tokens, direction, lexicon, paired_query=paired_query, rng=rng)
    size, index = len(target_vocab), target_vocab.index
    extended: dict[str, int] = {}
    copy = [index[token] if token in index else extended.setdefault(token, size + len(extended)) for token in copied]
    numbers = [index.get(token, extended.get(token, UNK)) for token in target or ()]
    return Row(source_vocab.ids(read), copy, tuple(extended), numbers)


def collate(rows: Sequence[Row], *, target_vocab_size: int) -> Batch:
    """Rows -> one padded batch of numpy arrays."""
    targets = [row.target + [EOS] for row in rows]
    inputs = [[BOS] + [n if n < target_vocab_size else UNK for n in row.target] for row in rows]
    return Batch(pad([row.source for row in rows]), pad([row.copy for row in rows]), pad(inputs), pad(targets))


def collate_texts(sequences: Sequence[Sequence[str]], vocab: Vocab) -> tuple[np.ndarray, np.ndarray]:
    """Token sequences for a language model: what it reads and what it predicts, both [B, T]."""
    numbers = [vocab.ids(tokens) for tokens in sequences]
    return pad([[BOS, *row] for row in numbers]), pad([[*row, EOS] for row in numbers])


def pad(sequences: Sequence[Sequence[int]]) -> np.ndarray:
    """Lists of numbers -> [len(sequences), longest], PAD behind the end."""
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    array = np.full((len(sequences), max(int(lengths.max(initial=1)), 1)), PAD, dtype=np.int64)
    array[np.arange(array.shape[1]) < lengths[:, None]] = list(itertools.chain.from_iterable(sequences))
    return array


@dataclass(frozen=True, slots=True)
class Slice:
    """Which rows make a batch and how long they are; `weight` is 0 for rows that only fill the batch up."""

    rows: np.ndarray
    weight: np.ndarray
    source_length: int
    target_length: int


def bucketed(
    source_lengths: np.ndarray,
    target_lengths: np.ndarray,
    *,
    batch_size: int,
    rng: random.Random,
    grid: int = 1,
) -> list[Slice]:
    """One epoch of batches whose rows have similar lengths, in random order.

    Lengths are rounded up to multiples of `grid`, so that few distinct shapes occur (a captured graph per shape).
    Every batch has `batch_size` rows; the last one is filled up with rows of weight 0.
    """
    count = len(target_lengths)
    order = list(range(count))
    rng.shuffle(order)
    order.sort(key=lambda i: -(-int(target_lengths[i]) // 4))  # stable: random within a step of four tokens
    slices = []
    for start in range(0, count, batch_size):
        chosen = np.array(order[start : start + batch_size], dtype=np.int64)
        longest_source = -(-int(source_lengths[chosen].max()) // grid) * grid
        longest_target = -(-int(target_lengths[chosen].max()) // grid) * grid
        missing = batch_size - len(chosen)
        weight = np.ones(batch_size, dtype=np.float32)
        if missing:
            weight[len(chosen) :] = 0.0
            chosen = np.concatenate([chosen, np.repeat(chosen[:1], missing)])
        slices.append(Slice(chosen, weight, longest_source, longest_target))
    rng.shuffle(slices)
    return slices
