"""Steps 1 and 2 of the game (paper Section 3.1): what an agent wrote is judged and handed to the other agent.

In: sources, what search found for them, the rewards of the loop. Out: a `Round` for each loop, and from both and some
labeled pairs the `Inputs` of one update. The steps of an iteration, numbered as in the code here and in `update`:

1. Loop from queries: q2lf searches k forms for each query; functions of the recipe judge them (`play`).
2. Loop from forms: the same with the roles swapped; lf2q writes queries.
3. One teacher-forced pass per agent over everything it learns from: what it wrote itself (policy), the way back from
   what the other wrote (reconstruction), and labeled pairs (guidance); and the way back once more, as a reward.
4. Rewards: their weighted sum, less its mean over the k hypotheses of a source.
5. Policy gradient for the writer, likelihood of the way back for the reader, likelihood of the labeled pairs for both;
   everything is added up and both agents are updated once.

Search never trains: it runs without gradients; what it found is scored again in an ordinary pass (step 3).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dualparse.data.batch import Batch, Row, collate
from dualparse.data.vocab import BOS, EOS, PAD, UNK
from dualparse.engines.found import Found
from dualparse.game.rewards import Judged, Rewards
from dualparse.matching.index import Index
from dualparse.networks.agent import Agent
from dualparse.networks.network import TextModel

LOOPS = ("query", "form")  # by the number of the agent that writes: 0 is q2lf, 1 is lf2q


@dataclass(frozen=True)
class Players:
    """Who plays, and the fixed judges."""

    q2lf: Agent
    lf2q: Agent
    query_lm: TextModel | None
    lf_lm: TextModel | None
    index: Index | None = None


@dataclass(frozen=True)
class Source:
    """Where a loop starts: tokens, and the same as a row of the first agent."""

    tokens: tuple[str, ...]
    row: Row


@dataclass(frozen=True)
class Round:
    """What one loop found, ready for both agents: rows are ordered source by source, k each.

    written   rows of the first agent, as numpy arrays: every source once, and its k hypotheses one after the other
    back      rows of the second agent, hypothesis -> source; none where nobody asks for the way back
    texts     the hypotheses
    judged    [R, B, k] what each function of the rewards says; 0 where search found fewer
    present   [B, k] 1 for a hypothesis, 0 where search found fewer
    """

    written: Batch
    back: list[Row]
    texts: list[str]
    judged: np.ndarray
    present: np.ndarray


def play(
    first: Agent,
    second: Agent,
    sources: Sequence[Source],
    read: Batch,
    found: Found,
    rewards: Rewards,
    rng: random.Random,
) -> Round:
    """Steps 1 and 2: one loop without gradients. `read`: the sources as one batch, as search was given them."""
    present = np.isfinite(found.log_prob)
    back: list[Row] = []
    texts: list[str] = []
    judged = np.zeros((len(rewards.judged), *present.shape), dtype=np.float32)
    k, numbers, sizes = present.shape[1], found.tokens.tolist(), found.length.tolist()
    for place, source in enumerate(sources):
        words = [first.words(n[:size], source.row) for n, size in zip(numbers[place], sizes[place], strict=True)]
        if rewards.back:
            back += [second.row(each, source.tokens, rng) for each in words]
        texts += map(" ".join, words)
        _judge(judged[:, place], rewards.judged, " ".join(source.tokens), texts[-k:], present[place])
    return Round(_written(first, read, found), back, texts, judged, present.astype(np.float32))


def _judge(
    judged: np.ndarray, rewards: Sequence[Judged], source: str, texts: Sequence[str], present: np.ndarray
) -> None:
    """What every function says of the hypotheses that are there, [R, k]."""
    there = np.flatnonzero(present).tolist()
    hypotheses = [texts[place] for place in there]
    for row, reward in zip(judged, rewards, strict=True):
        row[there] = reward.score(source, hypotheses) if hypotheses else 0.0


def _written(agent: Agent, read: Batch, found: Found) -> Batch:
    """The agent's own hypotheses as rows to be scored again; an unfinished one has no end token."""
    batch, k, longest = found.tokens.shape
    targets = np.full((batch * k, longest + 1), PAD, dtype=np.int64)
    targets[:, :longest] = found.tokens.reshape(batch * k, longest)
    ends = np.flatnonzero(found.finished)
    targets[ends, found.length.ravel()[ends]] = EOS
    inputs = np.full_like(targets, BOS)
    inputs[:, 1:] = targets[:, :-1]
    inputs[inputs == EOS] = PAD
    inputs[inputs >= len(agent.target_vocab)] = UNK
    return Batch(read.source, read.copy, inputs, targets)


def nothing_played(rewards: Rewards) -> Round:
    """The round of a loop without rewards: no sources."""
    none = np.zeros((0, 1), dtype=np.int64)
    judged = np.zeros((len(rewards.judged), 0, 0), dtype=np.float32)
    return Round(Batch(none, none, none, none), [], [], judged, np.zeros((0, 0), dtype=np.float32))


class Inputs(NamedTuple):
    """All that an update reads, as numpy arrays or tensors; loops from queries and forms have B and B' sources with k
    hypotheses each, and there are P labeled pairs.

    An agent's rows (`data.batch.Batch`, padded to its source length S and target length T) stand in this order:
    source, copy     [B + B'k + P, S]   its own sources, once each; the hypotheses of the other agent; labeled sources
    inputs, targets  [Bk + B'k + P, T]  its own hypotheses; the way back to the other's sources; labeled targets
    (for lf2q B and B' change places; the rows in the middle are missing where nobody asks for the way back).

    Of each loop: judged [R, B, k] what the functions of its rewards say, present [B, k] which hypotheses there are.
    """

    q2lf_source: Any
    q2lf_copy: Any
    q2lf_inputs: Any
    q2lf_targets: Any
    lf2q_source: Any
    lf2q_copy: Any
    lf2q_inputs: Any
    lf2q_targets: Any
    query_judged: Any
    query_present: Any
    form_judged: Any
    form_present: Any

    @property
    def rows(self) -> tuple[Batch, Batch]:
        """Of q2lf and of lf2q."""
        q2lf = Batch(self.q2lf_source, self.q2lf_copy, self.q2lf_inputs, self.q2lf_targets)
        return q2lf, Batch(self.lf2q_source, self.lf2q_copy, self.lf2q_inputs, self.lf2q_targets)

    @property
    def judged(self) -> tuple[Any, Any]:
        return self.query_judged, self.form_judged

    @property
    def present(self) -> tuple[Any, Any]:
        return self.query_present, self.form_present


def inputs_of(
    agents: Sequence[Agent], rounds: Sequence[Round], labeled: Sequence[list[Row]], *, grid: tuple[int, int] = (1, 1)
) -> Inputs:
    """Both rounds and the labeled rows of both agents, as arrays. The lengths of (queries, forms) are rounded up to
    multiples of `grid`, and where that is more than 1 they are the same for both agents."""
    others = [rounds[1 - i].back + labeled[i] for i in (0, 1)]
    lengths = [_lengths(played.written, rows) for played, rows in zip(rounds, others, strict=True)]
    if grid != (1, 1):
        (query, form), (form_too, query_too) = lengths
        query, form = _up(max(query, query_too), grid[0]), _up(max(form, form_too), grid[1])
        lengths = [(query, form), (form, query)]
    rows = [stack(*each) for each in zip(agents, (played.written for played in rounds), others, lengths, strict=True)]
    arrays = [array for batch in rows for array in batch.arrays()]
    return Inputs(*arrays, *(array for played in rounds for array in (played.judged, played.present)))


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


def _lengths(written: Batch, rows: Sequence[Row]) -> tuple[int, int]:
    """(source, target) lengths that hold everything."""
    source = max(written.source.shape[1], max((len(row.source) for row in rows), default=1))
    return source, max(written.targets.shape[1], max((len(row.target) + 1 for row in rows), default=1))


def _up(length: int, grid: int) -> int:
    return -(-length // grid) * grid
