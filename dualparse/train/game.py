"""The game as a training task: batches from three sets, both loops, guidance, one update (see `dual`).

An epoch is as long as the longest of the three sets (queries, forms, labeled pairs); the shorter ones wrap around.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from dualparse.data.batch import Batch, Row
from dualparse.data.examples import Example
from dualparse.domains.domain import Domain
from dualparse.models.agent import Agent
from dualparse.models.language_model import LanguageModel, length_normalized
from dualparse.rewards import check_validity
from dualparse.search import Options
from dualparse.train.dual import (
    FIGURES,
    Round,
    Rules,
    Source,
    loop_figures,
    loop_losses,
    play,
    stack,
    validity_reward,
)
from dualparse.train.loop import Task, epoch_seed
from dualparse.train.searcher import Searcher, find_together
from dualparse.train.step import Adam, Stepper
from dualparse.train.supervised import form_scores

QUERY_GRID, FORM_GRID = 8, 16  # on a GPU lengths are rounded up to these, so that few shapes have to be captured


@dataclass(frozen=True)
class Players:
    """Who plays, and the fixed judges."""

    q2lf: Agent
    lf2q: Agent
    query_lm: LanguageModel | None
    lf_lm: LanguageModel | None


@dataclass(frozen=True)
class Sets:
    """What is played with: labeled pairs, queries and forms (those of the labeled pairs included)."""

    labeled: Sequence[Example]
    queries: Sequence[Example]
    forms: Sequence[Example]


@dataclass(frozen=True)
class GameOptions:
    """Settings of the game; see `config.GameSettings` for their meaning."""

    from_query: Rules
    from_form: Rules
    search: Options
    batch_size: int = 16
    graded: bool = False
    guidance: float = 1.0
    query_loop: bool = True
    form_loop: bool = True
    noisy_reward: bool = False
    seed: int = 1


class Game:
    """The state kept between iterations: agents, searchers, encoded labeled pairs."""

    def __init__(self, players: Players, sets: Sets, domain: Domain, options: GameOptions, optimizer: Adam):
        self.players, self.sets, self.options = players, sets, options
        self.check = domain.check
        agents = (players.q2lf, players.lf2q)
        self.searchers = [Searcher(agent, options.search) for agent in agents]
        rng = random.Random(f"{options.seed}/game/phrases")
        self.labeled = [agent.encode(sets.labeled, rng).rows for agent in agents]
        for judge in (players.query_lm, players.lf_lm):
            if judge is not None:
                judge.eval().requires_grad_(False)
        modules = {agent.direction: agent.model for agent in agents}
        self.stepper = Stepper(modules, self.loss, 2 * len(FIGURES) + 4, optimizer)

    def epoch(self, number: int) -> Iterator[tuple[int, int]]:
        """One pass over the longest set."""
        options = self.options
        rng = random.Random(epoch_seed(options.seed, "game/order", number))
        size = options.batch_size
        total = -(-max(len(self.sets.labeled), len(self.sets.queries), len(self.sets.forms)) // size)
        queries = _batches(_sources(self.players.q2lf, self.sets.queries, rng), total, size, rng)
        forms = _batches(_sources(self.players.lf2q, self.sets.forms, rng), total, size, rng)
        pairs = _batches(range(len(self.sets.labeled)), total, size, rng)
        for i in range(total):
            self.iterate(queries[i], forms[i], pairs[i], rng)
            yield i + 1, total

    def iterate(
        self, queries: Sequence[Source], forms: Sequence[Source], pairs: Sequence[int], rng: random.Random
    ) -> None:
        """One iteration: both loops played, then one update."""
        rounds = self.rounds(queries, forms, rng)
        key, inputs = self.inputs(rounds, pairs)
        self.stepper(key, inputs)

    def rounds(self, queries: Sequence[Source], forms: Sequence[Source], rng: random.Random) -> tuple[Round, Round]:
        """Steps 1 and 2: the loop from queries and the loop from forms, without gradients."""
        q2lf, lf2q = self.players.q2lf, self.players.lf2q
        found = find_together(
            [
                (s, [source.row for source in sources])
                for s, sources in zip(self.searchers, (queries, forms), strict=True)
            ]
        )
        return (
            play(q2lf, lf2q, queries, found[0], self._judge_forms, rng),
            play(lf2q, q2lf, forms, found[1], _judge_queries, rng),
        )

    def _judge_forms(self, texts: Sequence[str]) -> list[float]:
        return check_validity(self.check, texts, graded=self.options.graded)

    def inputs(self, rounds: tuple[Round, Round], pairs: Sequence[int]) -> tuple[tuple[int, ...], list[Tensor]]:
        """Everything the update needs, as tensors on the device, and the shape they have."""
        from_query, from_form = rounds
        labeled = [[rows[i] for i in pairs] for rows in self.labeled]
        q_rows, l_rows = from_form.back + labeled[0], from_query.back + labeled[1]
        lengths = _lengths(from_query.written, q_rows), _lengths(from_form.written, l_rows)
        if self.stepper.capture:
            query = _up(max(lengths[0][0], lengths[1][1]), QUERY_GRID)
            form = _up(max(lengths[0][1], lengths[1][0]), FORM_GRID)
            lengths = (query, form), (form, query)
        arrays = [
            *stack(self.players.q2lf, from_query.written, q_rows, lengths[0]).arrays(),
            *stack(self.players.lf2q, from_form.written, l_rows, lengths[1]).arrays(),
            *(array for round_ in rounds for array in (round_.validity, round_.present)),
        ]
        key = (*lengths[0], *lengths[1], *from_query.validity.shape, len(pairs))
        tensors = [torch.from_numpy(array) for array in arrays]
        if self.stepper.capture:
            tensors = [tensor.pin_memory() for tensor in tensors]
        return key, [tensor.to(self.stepper.device, non_blocking=True) for tensor in tensors]

    def _score(self, agent: Agent, rows: Batch, back: Batch) -> tuple[Tensor, Tensor]:
        """Log-probabilities of all rows, with gradients, and of the way back as a reward, without dropout's noise.

        On a GPU, where the number of steps counts and not the number of rows, the rows of the reward ride along.
        """
        n = len(back.source)
        if self.options.noisy_reward:
            log_probs = agent.model(rows)
            return log_probs, log_probs[n : 2 * n].detach()
        if not self.stepper.capture:
            return agent.model(rows), _without_dropout(agent, back)
        log_probs = agent.model(Batch(*map(_above, back.arrays(), rows.arrays())), clean=n)
        return log_probs[n:], log_probs[:n].detach()

    def loss(self, key: tuple[int, ...], *tensors: Tensor) -> tuple[Tensor, Tensor]:
        """Steps 3 to 5: the loss of both agents together, and the figures of the log."""
        players, options = self.players, self.options
        q, l = Batch(*tensors[:4]), Batch(*tensors[4:8])  # noqa: E741 - the two agents' rows
        q_judged, q_present, l_judged, l_present = tensors[8:]
        shape, n = q_judged.shape, q_judged.numel()
        q_back, l_back = _part(q, n, 2 * n), _part(l, n, 2 * n)
        log_q, q_reward = self._score(players.q2lf, q, q_back)
        log_l, l_reward = self._score(players.lf2q, l, l_back)
        loops = (
            # from queries: q2lf wrote, lf2q finds the way back
            (options.query_loop, options.from_query, q_judged, q_present, players.lf_lm, _part(q, 0, n), log_q[:n]),
            # from forms: lf2q wrote, q2lf finds the way back
            (options.form_loop, options.from_form, l_judged, l_present, players.query_lm, _part(l, 0, n), log_l[:n]),
        )
        ways_back = ((l_reward, log_l[n : 2 * n], l_back.targets), (q_reward, log_q[n : 2 * n], q_back.targets))
        sizes = (len(players.q2lf.target_vocab), len(players.lf2q.target_vocab))
        loss = log_q.new_zeros(())
        figures = []
        for (on, rules, judged, present, judge, written, log_written), (reward, log_back, targets), size in zip(
            loops, ways_back, sizes, strict=True
        ):
            validity = validity_reward(rules, judged, judge, written, size)
            normalized = length_normalized(reward, targets) if rules.per_token else reward
            first, second, advantage = loop_losses(
                rules, validity, normalized.view(shape), present, log_written.view(shape), log_back.view(shape)
            )
            if on:
                loss = loss + first + second
            tokens = (targets != 0).sum(-1).view(shape)
            figures.append(loop_figures(validity, reward.view(shape), advantage, present, tokens))
        guided_q, guided_l = -log_q[2 * n :].sum(), -log_l[2 * n :].sum()
        loss = loss + options.guidance * (guided_q + guided_l)
        counts = [(batch.targets[2 * n :] != 0).sum() for batch in (q, l)]
        figures.append(torch.stack([guided_q, guided_l, *counts]).detach())
        return loss, torch.cat(figures)


def _without_dropout(agent: Agent, rows: Batch) -> Tensor:
    """Log-probabilities as in evaluation."""
    training = agent.model.training
    agent.model.eval()
    with torch.no_grad():
        log_probs = agent.model(rows)
    agent.model.train(training)
    return log_probs


def _judge_queries(texts: Sequence[str]) -> list[float]:
    """The host has no say on queries; the language model judges them on the device."""
    return [0.0] * len(texts)


def _above(upper: Tensor, lower: Tensor) -> Tensor:
    return torch.cat([upper, lower])


def _part(batch: Batch, start: int, end: int) -> Batch:
    return batch.map(lambda tensor: tensor[start:end])


def _up(length: int, grid: int) -> int:
    return -(-length // grid) * grid


def _lengths(written: Batch, rows: Sequence[Row]) -> tuple[int, int]:
    """(source, target) lengths that hold everything."""
    source = max(written.source.shape[1], max((len(row.source) for row in rows), default=1))
    return source, max(written.targets.shape[1], max((len(row.target) + 1 for row in rows), default=1))


def _sources(agent: Agent, examples: Sequence[Example], rng: random.Random) -> list[Source]:
    """Where loops start; a form is worded anew every epoch (paired: as its query words it, else at random)."""
    sources = []
    for example in examples:
        if agent.direction == "q2lf":
            tokens, row = example.query or (), agent.row(example.query or (), None, rng)
        else:
            tokens = example.lf or ()
            row = replace(agent.row(tokens, example.query, rng), target=[])
        sources.append(Source(tokens, row))
    return sources


def _batches(items: Sequence, count: int, size: int, rng: random.Random) -> list[list]:
    """`count` batches in random order; a set that is too short starts over in a new order."""
    drawn: list = []
    while len(drawn) < count * size:
        again = list(items)
        rng.shuffle(again)
        drawn.extend(again)
    return [drawn[i * size : (i + 1) * size] for i in range(count)]


def summarize(figures: list[float]) -> dict[str, float]:
    """Named figures of an epoch: per loop the means and spreads of the rewards, and the losses of the guidance."""
    named: dict[str, float] = {}
    for loop, start in (("query", 0), ("form", len(FIGURES))):
        sums = dict(zip(FIGURES, figures[start : start + len(FIGURES)], strict=True))
        count = max(sums["hypotheses"], 1.0)
        for name in ("validity", "back"):
            mean = sums[name] / count
            named[f"{loop}_{name}"] = mean
            named[f"{loop}_{name}_spread"] = max(sums[f"{name}_square"] / count - mean**2, 0.0) ** 0.5
        named[f"{loop}_advantage"] = sums["advantage"] / count
        named[f"{loop}_back_perplexity"] = float(np.exp(min(sums["back_loss"] / max(sums["back_tokens"], 1.0), 50.0)))
    q_loss, l_loss, q_tokens, l_tokens = figures[2 * len(FIGURES) :]
    named |= {"q2lf_loss": q_loss / max(q_tokens, 1.0), "lf2q_loss": l_loss / max(l_tokens, 1.0)}
    return {name: round(value, 5) for name, value in named.items()}


def game_task(
    players: Players,
    sets: Sets,
    dev: Sequence[Example],
    domain: Domain,
    options: GameOptions,
    *,
    optimizer: Adam,
    dev_search: Options,
) -> Task:
    """The game as a task of the loop; the best epoch is the one whose q2lf does best on dev."""
    game = Game(players, sets, domain, options, optimizer)
    evaluate: Callable[[], dict[str, float]] = lambda: form_scores(players.q2lf, dev, domain, dev_search)  # noqa: E731
    return Task("dual", game.stepper, game.epoch, summarize, evaluate)
