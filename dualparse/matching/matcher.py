"""The matcher: which of a domain's utterances says what a question says? And a second reader for the first few.

A matcher makes a vector of every text by itself, so the utterances are read once and kept; a question costs one vector
and a product. The second reader reads a question and an utterance together, which is slower and tells finer things
apart; it looks at the first few alone. The score of a candidate is the sum of what both say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dualparse.networks.encoder import Encoder, Tokens

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


class Reader(nn.Module):
    """The second reader: question and utterance together in, a score out."""

    def __init__(self, encoder: Encoder):
        super().__init__()
        self.encoder = encoder
        self.score = nn.Linear(encoder.width, 1)

    def forward(self, tokens: Tokens) -> Tensor:
        """[N] scores of joined texts."""
        return self.score(self.encoder.means(tokens)).squeeze(-1).float()

    @torch.no_grad()
    def scores(
        self, questions: Sequence[str], utterances: Sequence[Sequence[str]], *, at_once: int = 256
    ) -> list[Tensor]:
        """For every question the scores of its utterances."""
        pairs = [(question, text) for question, texts in zip(questions, utterances, strict=True) for text in texts]
        if not pairs:
            return [torch.zeros(0) for _ in questions]
        one, other = (self.encoder.tokens([pair[side] for pair in pairs]) for side in (0, 1))
        joined, was_training = one.joined(other), self.training
        order = joined.length.argsort(stable=True)
        self.eval()
        parts = [self(joined.take(rows).to(self.encoder.device)).cpu() for rows in order.split(at_once)]
        self.train(was_training)
        return list(torch.cat(parts)[order.argsort()].split([len(texts) for texts in utterances]))


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
    reader: Reader | None = None,
) -> list[Ranked]:
    """The k best utterances for every question, as the matcher has them; a reader adds its scores."""
    scores = matcher.scores(matcher.encoder.vectors(questions), matcher.encoder.vectors(utterances))
    best = scores.topk(min(k, len(utterances)), dim=1)
    if reader is None:
        return [Ranked(*row) for row in zip(best.indices, best.values, strict=True)]
    shown = [[utterances[number] for number in row] for row in best.indices.tolist()]
    read = reader.scores(questions, shown)
    return [Ranked(*row) for row in zip(best.indices, best.values, read, strict=True)]
