"""The rewards of the game (paper Section 3.2): plain functions, lists in, floats out.

A loop judges what its first agent wrote: is it valid (a form that checks or runs, a query that sounds like one), and
can the second agent find the way back? Only a bad logical form scores 0; any other error is a bug and stops the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from dualparse.data.batch import collate_texts
from dualparse.data.vocab import Vocab
from dualparse.lf.verdict import Verdict
from dualparse.models.agent import Agent
from dualparse.models.language_model import LanguageModel, length_normalized


def validity(verdicts: Sequence[Verdict], *, graded: bool = False) -> list[float]:
    """Eq. 9: 1 for a form without error, else 0; graded, a complete tree alone is worth a half.

    >>> fine, tree, soup = Verdict(True, True), Verdict(True, False), Verdict(False, False)
    >>> validity([fine, tree, soup]), validity([fine, tree, soup], graded=True)
    ([1.0, 0.0, 0.0], [1.0, 0.5, 0.0])
    """
    half = 0.5 if graded else 0.0
    return [1.0 if verdict.ok else half if verdict.surface else 0.0 for verdict in verdicts]


def check_validity(check: Callable[[str], Verdict], texts: Sequence[str], *, graded: bool = False) -> list[float]:
    """The same from the text of the forms."""
    return validity([check(text) for text in texts], graded=graded)


@torch.no_grad()
def fluency(model: LanguageModel, vocab: Vocab, texts: Sequence[Sequence[str]]) -> list[float]:
    """Eq. 10: log-probability per token under a language model (of queries; of forms for the paper's Table 5)."""
    device = model.predict.weight.device
    inputs, targets = (torch.from_numpy(array).to(device) for array in collate_texts(texts, vocab))
    return length_normalized(model(inputs, targets), targets).tolist()


@torch.no_grad()
def reconstruction(
    agent: Agent,
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    rng: object,
    *,
    per_token: bool = False,
) -> list[float]:
    """log P(target | source) under an agent: how well it finds the way back; per token if asked."""
    rows = [agent.row(source, target, rng) for source, target in zip(sources, targets, strict=True)]
    batch = agent.encode_rows(rows).batch
    log_probs = agent.model(batch)
    return (length_normalized(log_probs, batch.targets) if per_token else log_probs).tolist()


def mix(rewards: Sequence[Sequence[float]], weights: Sequence[float]) -> list[float]:
    """A weighted sum of rewards.

    >>> mix([[1.0, 0.0], [-2.0, -4.0]], [0.5, 0.5])
    [-0.5, -2.0]
    """
    return [sum(w * r for w, r in zip(weights, column, strict=True)) for column in zip(*rewards, strict=True)]


def less_mean(rewards: Tensor, present: Tensor) -> Tensor:
    """Rewards [B, k] less their mean over the hypotheses of the same input; absent ones give 0."""
    mean = (rewards * present).sum(-1, keepdim=True) / present.sum(-1, keepdim=True).clamp_min(1.0)
    return (rewards - mean) * present
