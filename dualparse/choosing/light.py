"""Agents without torch: what chooses forms for a question or two, a third of a second after the command was typed.

In: the weights of a finished run whose networks are the paper's. Out: what a `Parser` asks of its models, with the
same answers as torch gives, up to rounding.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from dualparse.choosing.constraint import Constraint
from dualparse.choosing.ranking import Hypothesis, NBest, Queries, by_query, hypotheses
from dualparse.data.batch import Direction, Row, collate, encode
from dualparse.data.vocab import PAD, Vocab
from dualparse.domains.lexicon import Lexicon
from dualparse.engines.found import Options
from dualparse.engines.light.network import LightNetwork
from dualparse.engines.light.search import search


@dataclass(frozen=True)
class LightAgent:
    """One of the two players; as `networks.agent.Agent`."""

    direction: Direction
    model: LightNetwork
    source_vocab: Vocab
    target_vocab: Vocab
    lexicon: Lexicon

    def row(self, source: Sequence[str], target: Sequence[str] | None) -> Row:
        """One pair, or one source to be decoded, as numbers; every source is read as it would be alone."""
        rng = random.Random(0)
        return encode(source, target, self.direction, self.source_vocab, self.target_vocab, self.lexicon, rng=rng)

    def words(self, numbers: Sequence[int], row: Row) -> tuple[str, ...]:
        """Extended target numbers -> tokens."""
        tokens, size = self.target_vocab.tokens, len(self.target_vocab)
        return tuple(tokens[n] if n < size else row.words[n - size] for n in numbers)

    def choose(
        self,
        queries: Queries,
        options: Options,
        *,
        k: int = 1,
        constraint: Constraint | None = None,
        copies: bool = False,
    ) -> list[list[Hypothesis]]:
        """The n-best outputs for each source; the search is at least `k` wide."""
        wide = replace(options, beams=max(k, options.beams))
        return [self._choose(query, wide, constraint, copies) for query in queries]

    def _choose(
        self, query: Sequence[str], options: Options, constraint: Constraint | None, copies: bool
    ) -> list[Hypothesis]:
        row = self.row(query, None)
        batch = collate([row], target_vocab_size=len(self.target_vocab))
        memory = self.model.encode(batch.source, batch.copy)
        walk = constraint.walk([row]) if constraint else None
        found = search(self.model, memory, options, walk=walk, copies=copies)
        return hypotheses(found, 0, partial(self.words, row=row), found.score(options.length_power))

    def likelihood(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> list[float]:
        """log P(target | source) of each pair."""
        return [float(np.logaddexp(*ways).sum()) for ways in self._two_ways(sources, targets)]

    def copied(self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> list[list[float]]:
        """How much of each token of each target was copied."""
        return [
            (1 / (1 + np.exp(np.clip(generated - copied, -80, 80))))[:-1].tolist()
            for generated, copied in self._two_ways(sources, targets)
        ]

    def _two_ways(
        self, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """By generating and by copying, </s> at the end included."""
        rows = [self.row(source, target) for source, target in zip(sources, targets, strict=True)]
        if not rows:
            return []
        batch = collate(rows, target_vocab_size=len(self.target_vocab))
        ways = self.model.two_ways(self.model.encode(batch.source, batch.copy), batch.inputs, batch.targets)
        lengths = (batch.targets != PAD).sum(-1)
        return [(one[:end], other[:end]) for one, other, end in zip(*ways, lengths, strict=True)]


def way_back(lf2q: LightAgent, queries: Queries, found: NBest) -> list[np.ndarray]:
    """log P(query | form) for every form, as `scorers.WayBack`."""
    pairs = [(form.tokens, query) for query, forms in zip(queries, found, strict=True) for form in forms]
    return by_query(lf2q.likelihood([form for form, _ in pairs], [query for _, query in pairs]), found)
