"""An agent: a network with its direction, vocabularies and lexicon. Words in, tensors for the network out.

`q2lf` and `lf2q` are the same class with the roles of the vocabularies swapped.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from dualparse.data.batch import Batch, Direction, Row, collate, encode, sides
from dualparse.data.examples import Example
from dualparse.data.vocab import Vocab
from dualparse.domains.lexicon import Lexicon
from dualparse.networks.network import Memory, Network


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
    model: Network
    source_vocab: Vocab
    target_vocab: Vocab
    lexicon: Lexicon

    @property
    def device(self) -> torch.device:
        return self.model.device

    def row(self, source: Sequence[str], target: Sequence[str] | None, rng: random.Random) -> Row:
        """One pair, or one source to be decoded, as numbers."""
        return encode(source, target, self.direction, self.source_vocab, self.target_vocab, self.lexicon, rng=rng)

    def rows(self, examples: Sequence[Example], rng: random.Random) -> list[Row]:
        """Labeled examples, or examples of which only the source side is known."""
        both = (sides(example, self.direction) for example in examples)
        return [self.row(source or (), target, rng) for source, target in both]

    def encode(self, examples: Sequence[Example], rng: random.Random) -> Encoded:
        """The same as a batch."""
        return self.encode_rows(self.rows(examples, rng))

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


@dataclass(frozen=True, slots=True)
class Seen:
    """What a teacher-forced pass looked at for one target, without its end token: `network.Look`, for one row.

    attention [T, S], gate [T], copied [T]
    """

    row: Row
    attention: np.ndarray
    gate: np.ndarray
    copied: np.ndarray


@torch.no_grad()
def look_all(
    agent: Agent,
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[Sequence[str]]],
    *,
    sources_at_once: int = 32,
    targets_at_once: int = 48,
) -> list[list[Seen]]:
    """What an agent looks at on its way from each source to each of its targets; of a network that shows nothing no
    attention at all, and nothing copied. Similar lengths go together."""
    seen: dict[tuple[int, int], Seen] = {}
    order = sorted((i for i in range(len(sources)) if targets[i]), key=lambda i: len(sources[i]))
    for start in range(0, len(order), sources_at_once):
        chosen = order[start : start + sources_at_once]
        read = agent.encode_rows([agent.row(sources[i], None, random.Random(0)) for i in chosen]).batch
        memory = agent.model.encode(read.source, read.copy)
        keys = [(place, i, j) for place, i in enumerate(chosen) for j in range(len(targets[i]))]
        keys.sort(key=lambda key: len(targets[key[1]][key[2]]))
        for first in range(0, len(keys), targets_at_once):
            some = keys[first : first + targets_at_once]
            rows = [agent.row(sources[i], targets[i][j], random.Random(0)) for _, i, j in some]
            owners = memory.rows(torch.tensor([place for place, _, _ in some], device=agent.device))
            for (_, i, j), found in zip(some, _look(agent, owners, rows), strict=True):
                seen[i, j] = found
    return [[seen[i, j] for j in range(len(targets[i]))] for i in range(len(sources))]


def _look(agent: Agent, memory: Memory, rows: list[Row]) -> Iterator[Seen]:
    """One pass over some rows, whose sources are read already."""
    batch = agent.encode_rows(rows).batch
    look = agent.model.look(memory, batch.inputs, batch.targets)
    if look is None:
        for row in rows:
            nothing = np.zeros(len(row.target), dtype=np.float32)
            yield Seen(row, np.zeros((len(row.target), 0), dtype=np.float32), nothing, nothing)
        return
    parts = (tensor.cpu().numpy() for tensor in (look.attention, look.gate, look.copied))
    for row, attention, gate, copied in zip(rows, *parts, strict=True):
        length, width = len(row.target), len(row.source)
        yield Seen(row, attention[:length, :width], gate[:length], copied[:length])
