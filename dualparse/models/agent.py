"""An agent: a network with its direction, vocabularies and lexicon. Words in, tensors for the network out.

`q2lf` and `lf2q` are the same class with the roles of the vocabularies swapped.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from dualparse.data.batch import Batch, Direction, Row, collate, encode, sides
from dualparse.data.examples import Example
from dualparse.data.vocab import Vocab
from dualparse.domains.lexicon import Lexicon
from dualparse.models.seq2seq import Seq2Seq


@dataclass(frozen=True)
class Encoded:
    """Examples as one padded batch on the agent's device, and their lengths on the host."""

    batch: Batch
    rows: list[Row]
    source_lengths: np.ndarray
    target_lengths: np.ndarray  # the end token included

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Agent:
    """One of the two players."""

    direction: Direction
    model: Seq2Seq
    source_vocab: Vocab
    target_vocab: Vocab
    lexicon: Lexicon

    @property
    def device(self) -> torch.device:
        return self.model.generate.weight.device

    def row(self, source: Sequence[str], target: Sequence[str] | None, rng: random.Random) -> Row:
        """One pair, or one source to be decoded, as numbers."""
        return encode(source, target, self.direction, self.source_vocab, self.target_vocab, self.lexicon, rng=rng)

    def encode(self, examples: Sequence[Example], rng: random.Random) -> Encoded:
        """Labeled examples, or examples of which only the source side is known."""
        rows = []
        for example in examples:
            source, target = sides(example, self.direction)
            rows.append(self.row(source or (), target, rng))
        return self.encode_rows(rows)

    def encode_rows(self, rows: list[Row]) -> Encoded:
        batch = collate(rows, target_vocab_size=len(self.target_vocab))
        return Encoded(
            batch.map(lambda array: torch.from_numpy(array).to(self.device)),
            rows,
            np.array([len(row.source) for row in rows], dtype=np.int64),
            np.array([len(row.target) + 1 for row in rows], dtype=np.int64),
        )

    def words(self, numbers: Sequence[int], row: Row) -> tuple[str, ...]:
        """Extended target numbers -> tokens; `row` knows the words beyond the vocabulary."""
        tokens, size = self.target_vocab.tokens, len(self.target_vocab)
        return tuple(tokens[n] if n < size else row.words[n - size] for n in numbers)
