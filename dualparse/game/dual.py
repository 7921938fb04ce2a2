"""The two-agent game (paper Section 3 and Appendix A): the agents teach each other on queries and forms without labels.

One iteration, numbered as in the code:

1. Loop from queries: `play(q2lf, lf2q)`. q2lf searches k forms for each query; a check says which are valid.
2. Loop from forms: `play(lf2q, q2lf)`. The same with the roles swapped; a language model says how fluent queries are.
3. One teacher-forced pass per agent over everything it learns from: what it wrote itself (policy), the way back from
   what the other wrote (reconstruction), and labeled pairs (guidance); and the way back once more, as a reward.
4. Rewards: r = a * validity + (1 - a) * reconstruction, less their mean over the k hypotheses.
5. Policy gradient for the writer, likelihood weighted by (1 - a) / k for the reader, likelihood of the labeled pairs
   for both; everything is added up and both agents are updated once. With `Rules.lesson` the reader learns less.

The paper lets the k hypotheses of a source count alike. With `Rules.sharpness` they count by how likely they are.

Search never trains: it runs without gradients; what it found is scored again in an ordinary pass (step 3).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dualparse.data.batch import Batch, Row, collate
from dualparse.data.vocab import BOS, EOS, PAD, UNK
from dualparse.engines.engine import score_texts
from dualparse.engines.found import Found
from dualparse.game.rewards import less_mean
from dualparse.networks.agent import Agent
from dualparse.networks.language_model import length_normalized
from dualparse.networks.network import TextModel

Judge = Callable[[Sequence[str]], list[float]]
"""Texts -> validity of each, as far as the host can tell (the check of forms; 0 for queries)."""

FIGURES = (
    "hypotheses",
    "valid",
    "validity",
    "validity_square",
    "back",
    "back_square",
    "back_tokens",
    "reward",
    "reward_square",
    "advantage",
)


@dataclass(frozen=True)
class Rules:
    """How one loop rewards its first agent.

    weight      alpha (or beta): share of validity in the reward
    check, lm   what validity is made of: weight of the host's judgement and of the language model's score
    baseline    subtract the mean over the hypotheses of an input
    per_token   divide the reconstruction reward by the length of what is reconstructed
    sharpness   a hypothesis counts by its probability to this power: 0 all alike, as in the paper; 1 the expected
                reward, as far as the k hypotheses hold what there is
    hearing     what is added to the power for what the second agent learns from
    lesson      weight of what the second agent learns; the paper's is 1
    """

    weight: float = 0.5
    check: float = 1.0
    lm: float = 0.0
    baseline: bool = True
    per_token: bool = False
    sharpness: float = 0.0
    hearing: float = 0.0
    lesson: float = 1.0

    @property
    def teaches(self) -> bool:
        """Whether the second agent learns anything."""
        return self.lesson > 0 and self.weight < 1

    @property
    def powers(self) -> tuple[float, float]:
        """Sharpness for the first agent and for the second."""
        return self.sharpness, self.sharpness + self.hearing


@dataclass(frozen=True)
class Round:
    """What one loop found, ready for both agents: rows are ordered source by source, k each.

    written   rows of the first agent, as numpy arrays: every source once, and its k hypotheses one after the other
    back      rows of the second agent, hypothesis -> source
    texts     the hypotheses
    validity  [B, k] the host's judgement    log_prob [B, k] as searched; -inf where search found fewer
    """

    written: Batch
    back: list[Row]
    texts: list[str]
    validity: np.ndarray
    log_prob: np.ndarray

    def shares(self, sharpness: float) -> np.ndarray:
        """[B, k] how much each hypothesis of a source counts, see `Rules.sharpness`: all k together k, less where they
        count alike and some are missing. 0 where there is none."""
        there = np.isfinite(self.log_prob)
        if not sharpness:
            return there.astype(np.float32)
        best = self.log_prob.max(1, keepdims=True)
        weight = np.exp(sharpness * (self.log_prob - np.where(np.isfinite(best), best, 0.0)))
        return (there.shape[1] * weight / np.maximum(weight.sum(1, keepdims=True), 1.0)).astype(np.float32)


@dataclass(frozen=True)
class Source:
    """Where a loop starts: tokens, and the same as a row of the first agent."""

    tokens: tuple[str, ...]
    row: Row


def play(
    first: Agent, second: Agent, sources: Sequence[Source], found: Found, judge: Judge, rng: random.Random
) -> Round:
    """One loop without gradients: what the first agent found for the sources is judged and handed to the second."""
    back: list[Row] = []
    texts: list[str] = []
    numbers = found.tokens.tolist()
    for source, hypotheses, lengths in zip(sources, numbers, found.length.tolist(), strict=True):
        for hypothesis, length in zip(hypotheses, lengths, strict=True):
            words = first.words(hypothesis[:length], source.row)
            back.append(second.row(words, source.tokens, rng))
            texts.append(" ".join(words))
    validity = np.array(judge(texts), dtype=np.float32).reshape(found.log_prob.shape)
    return Round(_written(first, sources, found), back, texts, validity, found.log_prob)


def _written(agent: Agent, sources: Sequence[Source], found: Found) -> Batch:
    """The agent's own hypotheses as rows to be scored again; an unfinished one has no end token."""
    batch, k, longest = found.tokens.shape
    read = collate([source.row for source in sources], target_vocab_size=len(agent.target_vocab))
    targets = np.full((batch * k, longest + 1), PAD, dtype=np.int64)
    targets[:, :longest] = found.tokens.reshape(batch * k, longest)
    ends = np.flatnonzero(found.finished)
    targets[ends, found.length.ravel()[ends]] = EOS
    inputs = np.full_like(targets, BOS)
    inputs[:, 1:] = targets[:, :-1]
    inputs[inputs == EOS] = PAD
    inputs[inputs >= len(agent.target_vocab)] = UNK
    return Batch(read.source, read.copy, inputs, targets)


def validity_reward(
    rules: Rules, judged: Tensor, language_model: TextModel | None, written: Batch, vocab_size: int
) -> Tensor:
    """[B, k] validity: the host's judgement and the language model's score, as the rules weigh them."""
    reward = rules.check * judged
    if rules.lm and language_model is not None:
        targets = torch.where(written.targets < vocab_size, written.targets, UNK)
        scores = length_normalized(score_texts(language_model, written.inputs, targets), targets)
        reward = reward + rules.lm * scores.view_as(judged)
    return reward


@dataclass(frozen=True)
class Losses:
    """What a loop teaches: a loss for each agent, and the rewards [B, k] behind them."""

    first: Tensor
    second: Tensor
    reward: Tensor
    advantage: Tensor


def loop_losses(
    rules: Rules,
    validity: Tensor,
    reward_back: Tensor,
    share: Tensor,
    heard: Tensor,
    log_written: Tensor,
    log_back: Tensor,
) -> Losses:
    """Steps 4 and 5 of one loop; all tensors are [B, k].

    reward_back is the reconstruction reward (no gradient); log_written and log_back carry the gradients of the first
    and the second agent; share and heard say how much each hypothesis counts for the one and for the other
    (`Round.shares`). The baselines of validity and reconstruction add up to that of their mix.
    """
    k = validity.shape[1]
    reward = rules.weight * validity + (1 - rules.weight) * reward_back
    advantage = less_mean(reward, share) if rules.baseline else reward * (share > 0)
    first = -(advantage.detach() * log_written * share).sum() / k
    second = -(1 - rules.weight) * rules.lesson * (log_back * heard).sum() / k
    return Losses(first, second, reward, advantage)


def loop_figures(
    losses: Losses, judged: Tensor, validity: Tensor, back: Tensor, tokens: Tensor, share: Tensor
) -> Tensor:
    """Sums of what the log shows, in the order of FIGURES; `back` as log-probability, all tensors [B, k]."""
    reward, present = losses.reward, (share > 0).to(share.dtype)
    values = (
        torch.ones_like(present),
        (judged >= 1.0).to(present.dtype),
        validity,
        validity**2,
        back,
        back**2,
        tokens.to(present.dtype),
        reward,
        reward**2,
        losses.advantage.abs(),
    )
    return torch.stack([(value * present).sum() for value in values]).detach()


def stack(agent: Agent, written: Batch, rows: list[Row], lengths: tuple[int, int]) -> Batch:
    """Rows written by search, then other rows, as one batch padded to (source, target) lengths."""
    other = collate(rows, target_vocab_size=len(agent.target_vocab))
    widths = (lengths[0], lengths[0], lengths[1], lengths[1])
    return Batch(*map(_stack, written.arrays(), other.arrays(), widths))


def _stack(above: np.ndarray, below: np.ndarray, width: int) -> np.ndarray:
    joined = np.full((len(above) + len(below), width), PAD, dtype=np.int64)
    joined[: len(above), : above.shape[1]] = above
    joined[len(above) :, : below.shape[1]] = below
    return joined
