"""The game as a training task: batches from three sets, both loops, guidance, one update (see `dual`).

An epoch is as long as the longest of the three sets (queries, forms, labeled pairs); the shorter ones wrap around.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from dualparse.data.batch import Batch, Row, sides
from dualparse.data.examples import Example
from dualparse.data.vocab import PAD
from dualparse.domains.domain import Domain
from dualparse.engines.cores import each_on_a_core, each_on_a_stream
from dualparse.engines.engine import score
from dualparse.engines.found import Found, Options
from dualparse.game.dual import (
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
from dualparse.game.rewards import check_validity
from dualparse.game.searcher import Searcher, find_together
from dualparse.networks.agent import Agent
from dualparse.networks.language_model import length_normalized
from dualparse.networks.network import Network, TextModel, noise_apart, quiet
from dualparse.training.loop import Task, epoch_seed
from dualparse.training.step import Adam, Stepper
from dualparse.training.supervised import form_scores

MOST_LOSS = 50.0  # a loss per token beyond which its exponential is of no interest
ROOM = 8  # a hypothesis may be this much longer than the longest labeled target; beyond that it is surely astray
CHECKED = 1 << 16  # forms whose verdict is remembered
QUERY_GRID, FORM_GRID = 8, 16  # on a GPU lengths are rounded up to these, so that few shapes have to be captured


@dataclass(frozen=True)
class Players:
    """Who plays, and the fixed judges."""

    q2lf: Agent
    lf2q: Agent
    query_lm: TextModel | None
    lf_lm: TextModel | None


@dataclass(frozen=True)
class Sets:
    """What is played with: labeled pairs, queries and forms (those of the labeled pairs included); none is empty.

    read    as many pairs for q2lf, where these differ
    """

    labeled: Sequence[Example]
    queries: Sequence[Example]
    forms: Sequence[Example]
    read: Sequence[Example] = ()

    def __post_init__(self) -> None:
        if not (self.labeled and self.queries and self.forms):
            raise ValueError("the game needs labeled pairs, queries and forms")


@dataclass(frozen=True)
class GameOptions:
    """Settings of the game; see `config.GameSettings` for their meaning."""

    from_query: Rules
    from_form: Rules
    search: Options
    batch_size: int = 16
    updates: int = 1  # of an epoch, at the least
    graded: bool = False
    guidance: float = 1.0
    query_loop: bool = True
    form_loop: bool = True
    noisy_reward: bool = False
    noisy_search: bool = False
    seed: int = 1


@dataclass(frozen=True)
class Loop:
    """One of the two loops: who writes (0 is q2lf, 1 is lf2q; the other reads), whether its losses count, its rules,
    and the language model that judges what is written."""

    writer: int
    on: bool
    rules: Rules
    language_model: TextModel | None


@dataclass(frozen=True)
class Scored:
    """What an agent makes of its rows, as log-probabilities: its own hypotheses [n], the way back from those of the
    other agent [n], labeled pairs [P]; and the way back once more as a reward [n], without gradient. An agent that
    does not learn the way back has no gradient there either."""

    written: Tensor
    back: Tensor
    labeled: Tensor
    reward: Tensor


class Game:
    """The state kept between iterations: agents, searchers, encoded labeled pairs."""

    def __init__(self, players: Players, sets: Sets, domain: Domain, options: GameOptions, optimizer: Adam):
        self.players, self.sets, self.options = players, sets, options
        self.check = lru_cache(CHECKED)(domain.check)
        self.agents = agents = (players.q2lf, players.lf2q)
        self.loops = (
            Loop(0, options.query_loop, options.from_query, players.lf_lm),
            Loop(1, options.form_loop, options.from_form, players.query_lm),
        )
        self.searchers = [
            Searcher(agent, _within(options.search, agent, sets.labeled), noisy=options.noisy_search)
            for agent in agents
        ]
        rng = random.Random(f"{options.seed}/game/phrases")
        guides = (sets.read or sets.labeled, sets.labeled)
        self.labeled = [agent.encode(pairs, rng).rows for agent, pairs in zip(agents, guides, strict=True)]
        for judge in (players.query_lm, players.lf_lm):
            if judge is not None:
                judge.eval().requires_grad_(False)
        self.quiet = [quiet(agent.model) for agent in agents]
        modules: dict[str, nn.Module] = {agent.direction: agent.model for agent in agents}
        self.stepper = Stepper(modules, self.loss, 2 * len(FIGURES) + 4, optimizer)

    def epoch(self, number: int) -> Iterator[tuple[int, int]]:
        """One pass over the longest set, or as many as make up the least number of updates."""
        options = self.options
        rng = random.Random(epoch_seed(options.seed, "game/order", number))
        size = options.batch_size
        once = -(-max(len(self.sets.labeled), len(self.sets.queries), len(self.sets.forms)) // size)
        total = once * -(-options.updates // once)
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
        """Steps 1 and 2: the loop from queries and the loop from forms, without gradients. A search that is over is
        played with while the other goes on, so each has a generator of its own."""
        starts, judges = (queries, forms), (self._judge_forms, _judge_queries)
        drawing = [random.Random(rng.getrandbits(64)) for _ in starts]

        def played(writer: int, found: Found) -> Round:
            first, second = self.agents[writer], self.agents[1 - writer]
            return play(first, second, starts[writer], found, judges[writer], drawing[writer])

        rows = ([source.row for source in sources] for sources in starts)
        from_query, from_form = find_together(list(zip(self.searchers, rows, strict=True)), played)
        return from_query, from_form

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
            *(
                array
                for loop, played in zip(self.loops, rounds, strict=True)
                for array in (played.validity, *map(played.shares, loop.rules.powers))
            ),
        ]
        key = (*lengths[0], *lengths[1], *from_query.validity.shape, len(pairs))
        tensors = [torch.from_numpy(array) for array in arrays]
        if self.stepper.capture:
            tensors = [tensor.pin_memory() for tensor in tensors]
        return key, [tensor.to(self.stepper.device, non_blocking=True) for tensor in tensors]

    def loss(self, key: tuple[int, ...], *tensors: Tensor) -> tuple[list[Tensor], Tensor]:
        """Steps 3 to 5: the losses of both agents, and the figures of the log."""
        rows = (Batch(*tensors[:4]), Batch(*tensors[4:8]))
        shape = tensors[8].shape
        n = shape.numel()
        judgements = tensors[8::3]
        scored, validities = self._score(rows, judgements)
        guided = [-each.labeled.sum() for each in scored]
        labels = [_tokens(batch.targets[2 * n :]).sum() for batch in rows]
        losses = [self.options.guidance * each for each in guided]
        figures = []
        parts = (self.loops, judgements, validities, tensors[9::3], tensors[10::3])
        for loop, judged, validity, share, heard in zip(*parts, strict=True):
            first, second = loop.writer, 1 - loop.writer
            back = _back(rows[second], *shape)
            away = scored[second].reward
            reward = length_normalized(away, back.targets) if loop.rules.per_token else away
            log_probs = (scored[first].written, scored[second].back)
            shaped = (each.view_as(judged) for each in (reward, share, heard, *log_probs))
            taught = loop_losses(loop.rules, validity, *shaped)
            if loop.on:
                losses[first] = losses[first] + taught.first
                losses[second] = losses[second] + taught.second
            shown = (each.view_as(judged) for each in (away, _tokens(back.targets), share))
            figures.append(loop_figures(taught, judged, validity, *shown))
        figures.append(torch.stack([*guided, *labels]).detach())
        return losses, torch.cat(figures)

    def _score(self, rows: Sequence[Batch], judged: Sequence[Tensor]) -> tuple[list[Scored], list[Tensor]]:
        """Step 3 for both agents, and what the language models say of the hypotheses (the validity in each loop, from
        what the host has judged), all side by side. The rows of an agent are k hypotheses for each source, as many ways
        back, labeled pairs. The reward is measured without dropout, unless it shall be noisy. An agent that is not to
        learn the way back goes it for the reward alone.
        """
        sources, k = judged[0].shape
        models = [agent.model for agent in self.agents]
        learns = {1 - loop.writer: self._teaches(loop) for loop in self.loops}  # whether it learns the way back

        noisy = self.options.noisy_reward

        def away(model: Network, i: int) -> Tensor:
            with torch.no_grad():
                return score(model, _back(rows[i], sources, k))

        def teach(i: int) -> tuple[Tensor, Tensor | None]:
            """And a noisy reward, unless what is learned from says it: an agent has one source of noise, so passes that
            draw from it go one after the other."""
            batch = rows[i] if learns[i] else _without_back(rows[i], sources, k)
            taught = score(models[i], batch, shared=sources, times=k)
            return taught, away(models[i], i) if noisy and not learns[i] else None

        def reward(i: int) -> Tensor | None:
            return None if noisy else away(self.quiet[i], i)

        def judge(loop: Loop) -> Tensor:
            written, size = _written(rows[loop.writer], sources, k), len(self.agents[loop.writer].target_vocab)
            return validity_reward(loop.rules, judged[loop.writer], loop.language_model, written, size)

        work: list[Callable[[], Any]] = [partial(do, i) for do in (teach, reward) for i in (0, 1)]
        work += [partial(judge, loop) for loop in self.loops]
        done = self._beside_each_other(work)
        rewards = [done[i][1] if noisy else done[2 + i] for i in (0, 1)]
        return [_scored(done[i][0], rewards[i], sources * k, back=learns[i]) for i in (0, 1)], done[4:]

    def _beside_each_other(self, work: Sequence[Callable[[], Any]]) -> list[Any]:
        """The results of all: on streams of a GPU, on cores, or one after the other where neither may be."""
        if self.stepper.capture:
            return each_on_a_stream(work)
        with noise_apart([agent.model for agent in self.agents]) as apart:
            if apart and self.stepper.device.type == "cpu":
                return each_on_a_core(operator.call, work)
            return [do() for do in work]

    def _teaches(self, loop: Loop) -> bool:
        """Whether the agent that reads in a loop learns anything in it."""
        reader = self.agents[1 - loop.writer].direction
        return loop.on and loop.rules.teaches and self.stepper.settings.shares.get(reader, 1.0) > 0


def _scored(total: Tensor, reward: Tensor | None, n: int, *, back: bool) -> Scored:
    """What an agent makes of its rows, in parts; whether the way `back` is among them, or `reward` is all there is."""
    written, others = total[:n], total[n:]
    if not back:
        assert reward is not None
        return Scored(written, reward, others, reward)
    return Scored(written, others[:n], others[n:], others[:n].detach() if reward is None else reward)


def _judge_queries(texts: Sequence[str]) -> list[float]:
    """The host has no say on queries; the language model judges them on the device."""
    return [0.0] * len(texts)


def _tokens(targets: Tensor) -> Tensor:
    """[B, T] -> tokens of each row, the end included."""
    return (targets != PAD).sum(-1)


def _written(batch: Batch, sources: int, k: int) -> Batch:
    """The hypotheses among the rows of an agent."""
    n = sources * k
    return Batch(batch.source[:sources], batch.copy[:sources], batch.inputs[:n], batch.targets[:n])


def _back(batch: Batch, sources: int, k: int) -> Batch:
    """The ways back among the rows of an agent."""
    n = sources * k
    read, write = slice(sources, sources + n), slice(n, 2 * n)
    return Batch(batch.source[read], batch.copy[read], batch.inputs[write], batch.targets[write])


def _without_back(batch: Batch, sources: int, k: int) -> Batch:
    """The other rows."""
    n = sources * k

    def cut(tensor: Tensor, begin: int) -> Tensor:
        return torch.cat([tensor[:begin], tensor[begin + n :]])

    return Batch(cut(batch.source, sources), cut(batch.copy, sources), cut(batch.inputs, n), cut(batch.targets, n))


def _within(options: Options, agent: Agent, labeled: Sequence[Example]) -> Options:
    """One stray hypothesis of full length would pad the whole batch."""
    longest = max(len(sides(example, agent.direction)[1] or ()) for example in labeled)
    return replace(options, max_length=min(options.max_length, longest + ROOM))


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
        if loop == "query":
            named["query_valid"] = sums["valid"] / count
        for name in ("validity", "back", "reward"):
            mean = sums[name] / count
            named[f"{loop}_{name}"] = mean
            named[f"{loop}_{name}_spread"] = max(sums[f"{name}_square"] / count - mean**2, 0.0) ** 0.5
        named[f"{loop}_advantage"] = sums["advantage"] / count
        loss_back = -sums["back"] / max(sums["back_tokens"], 1.0)
        named[f"{loop}_back_perplexity"] = math.exp(min(loss_back, MOST_LOSS))
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
    return Task("dual", game.stepper, game.epoch, summarize, lambda: form_scores(players.q2lf, dev, domain, dev_search))
