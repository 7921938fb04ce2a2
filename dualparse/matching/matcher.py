"""The matcher: which of a domain's utterances says what a question says?

A matcher makes a vector of every text by itself, so the utterances are read once and kept; a question costs one vector
and a product. A second reader may look at the first few; the score of a candidate is the sum of what both say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from dualparse.networks.encoder import Encoder

SCALE = 3.0  # logarithm of what cosines are multiplied by before training
READ = 20  # candidates that the second reader looks at


class Matcher(nn.Module):
    """An encoder, and how steeply a cosine turns into a probability."""

    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder = encoder
        self.scale = nn.Parameter(torch.tensor(SCALE))

    @torch.no_grad()
    def scores(self, questions: Tensor, utterances: Tensor) -> Tensor:
        """[Q, n] and [U, n] vectors -> [Q, U] scores, logarithms of a probability up to a constant."""
        return self.scale.exp().cpu() * (questions @ utterances.T)


class Reads(Protocol):
    """A second reader (`dualparse.matching.reader`), as far as ranking asks it."""

    def scores(self, questions: Sequence[str], utterances: Sequence[Sequence[str]]) -> list[Tensor]:
        """For every question the scores of its utterances."""
        ...


@dataclass(frozen=True)
class Ranked:
    """The candidates of a question, best first: their numbers, and what the matcher and the second reader say of each.
    Candidates that the reader has not seen have no place here."""

    numbers: Tensor
    matcher: Tensor
    reader: Tensor | None = None

    def weighed(self, weight: float) -> Ranked:
        """In the order of the matcher's score and so much of the reader's."""
        if self.reader is None:
            return self
        order = (self.matcher + weight * self.reader).argsort(descending=True, stable=True)
        return Ranked(self.numbers[order], self.matcher[order], self.reader[order])


def rank(
    matcher: Matcher,
    questions: Sequence[str],
    utterances: Sequence[str],
    *,
    k: int = READ,
    reader: Reads | None = None,
) -> list[Ranked]:
    """The k best utterances for every question, as the matcher has them; a reader adds its scores."""
    scores = matcher.scores(matcher.encoder.vectors(questions), matcher.encoder.vectors(utterances))
    best = scores.topk(min(k, len(utterances)), dim=1)
    if reader is None:
        return [Ranked(*row) for row in zip(best.indices, best.values, strict=True)]
    shown = [[utterances[number] for number in row] for row in best.indices.tolist()]
    read = reader.scores(questions, shown)
    return [Ranked(*row) for row in zip(best.indices, best.values, read, strict=True)]
