"""The game as a training task: batches from three sets, both loops, guidance, one update (see `game.play`).

In: players, what is played with, the settings of the game. Out: a `Task` for the loop. An epoch is as long as the
longest of the three sets (queries, forms, labeled pairs); the shorter ones wrap around.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import nn

from dualparse.config import GameSettings
from dualparse.data.batch import collate, sides
from dualparse.data.examples import Example
from dualparse.domains.domain import Domain
from dualparse.engines import graphs
from dualparse.engines.found import Found, Options
from dualparse.game.play import LOOPS, Inputs, Players, Round, Source, inputs_of, nothing_played, play
from dualparse.game.rewards import rewards_of
from dualparse.game.update import Update, summarize
from dualparse.networks.agent import Agent
from dualparse.training.loop import Task, epoch_seed
from dualparse.training.searcher import Searcher, find_together
from dualparse.training.step import Adam, Stepper
from dualparse.training.supervised import form_scores

ROOM = 8  # a hypothesis may be this much longer than the longest labeled target; beyond that it is surely astray
GRIDS = 8, 16  # on a GPU lengths of queries and forms are rounded up to these, so that few shapes have to be captured


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


class Game:
    """The state kept between iterations: agents, searchers, rewards, encoded labeled pairs."""

    def __init__(
        self,
        players: Players,
        sets: Sets,
        domain: Domain,
        settings: GameSettings,
        *,
        optimizer: Adam,
        seed: int = 1,
    ):
        self.players, self.sets, self.settings, self.seed = players, sets, settings, seed
        self.agents = agents = (players.q2lf, players.lf2q)
        models = {"query_lm": players.query_lm, "lf_lm": players.lf_lm}
        self.rewards = [rewards_of(settings, loop, domain, **models, index=players.index) for loop in LOOPS]
        search = Options(settings.beams, settings.max_length)
        self.searchers = [
            Searcher(agent, _within(search, agent, sets.labeled), noisy=settings.noisy_search) for agent in agents
        ]
        rng = random.Random(f"{seed}/game/phrases")
        guides = (sets.read or sets.labeled, sets.labeled)
        self.labeled = [agent.encode(pairs, rng).rows for agent, pairs in zip(agents, guides, strict=True)]
        for judge in filter(None, models.values()):
            judge.eval().requires_grad_(False)
        captured = graphs.captures_steps(*(agent.model for agent in agents))
        self.update = Update(agents, self.rewards, guidance=settings.guidance, graphs=captured)
        modules: dict[str, nn.Module] = {agent.direction: agent.model for agent in agents}
        self.stepper = Stepper(modules, self.update, len(self.update.names), optimizer)

    def epoch(self, number: int) -> Iterator[tuple[int, int]]:
        """One pass over the longest set, or as many as make up the least number of updates."""
        rng = random.Random(epoch_seed(self.seed, "game/order", number))
        size = self.settings.batch_size
        once = -(-max(len(self.sets.labeled), len(self.sets.queries), len(self.sets.forms)) // size)
        total = once * -(-self.settings.updates // once)
        queries = batches(sources(self.players.q2lf, self.sets.queries, rng), total, size, rng)
        forms = batches(sources(self.players.lf2q, self.sets.forms, rng), total, size, rng)
        pairs = batches(range(len(self.sets.labeled)), total, size, rng)
        for i in range(total):
            self.iterate(queries[i], forms[i], pairs[i], rng)
            yield i + 1, total

    def iterate(
        self, queries: Sequence[Source], forms: Sequence[Source], pairs: Sequence[int], rng: random.Random
    ) -> None:
        """One iteration: both loops played (steps 1 and 2), then one update (steps 3 to 5)."""
        rounds = self.rounds(queries, forms, rng)
        self.stepper(*self.inputs(rounds, pairs))

    def rounds(self, queries: Sequence[Source], forms: Sequence[Source], rng: random.Random) -> list[Round]:
        """Steps 1 and 2: the loop from queries and the loop from forms, without gradients. A search that is over is
        played with while the other goes on, so each has a generator of its own."""
        starts = (queries, forms)
        drawing = [random.Random(rng.getrandbits(64)) for _ in starts]
        played = [writer for writer in (0, 1) if self.rewards[writer].count]
        read = {
            writer: collate(
                [source.row for source in starts[writer]], target_vocab_size=len(self.agents[writer].target_vocab)
            )
            for writer in played
        }

        def then(number: int, found: Found) -> Round:
            writer = played[number]
            first, second = self.agents[writer], self.agents[1 - writer]
            return play(first, second, starts[writer], read[writer], found, self.rewards[writer], drawing[writer])

        found = find_together([(self.searchers[writer], read[writer]) for writer in played], then)
        rounds = dict(zip(played, found, strict=True))
        return [rounds.get(writer) or nothing_played(self.rewards[writer]) for writer in (0, 1)]

    def inputs(self, rounds: Sequence[Round], pairs: Sequence[int]) -> tuple[tuple[int, ...], Inputs]:
        """Everything the update needs, as tensors on the device, and the shape they have."""
        labeled = [[rows[i] for i in pairs] for rows in self.labeled]
        capture = self.stepper.capture
        arrays = inputs_of(self.agents, rounds, labeled, grid=GRIDS if capture else (1, 1))
        key = tuple(size for array in arrays for size in array.shape)
        tensors = [torch.from_numpy(array) for array in arrays]
        if capture:
            tensors = [tensor.pin_memory() for tensor in tensors]
        return key, Inputs(*(tensor.to(self.stepper.device, non_blocking=True) for tensor in tensors))


def sources(agent: Agent, examples: Sequence[Example], rng: random.Random) -> list[Source]:
    """Where loops start; a form is worded anew every epoch (paired: as its query words it, else at random)."""
    made = []
    for example in examples:
        if agent.direction == "q2lf":
            tokens, row = example.query or (), agent.row(example.query or (), None, rng)
        else:
            tokens = example.lf or ()
            row = replace(agent.row(tokens, example.query, rng), target=[])
        made.append(Source(tokens, row))
    return made


def batches(items: Sequence, count: int, size: int, rng: random.Random) -> list[list]:
    """`count` batches in random order; a set that is too short starts over in a new order."""
    drawn: list = []
    while len(drawn) < count * size:
        again = list(items)
        rng.shuffle(again)
        drawn.extend(again)
    return [drawn[i * size : (i + 1) * size] for i in range(count)]


def _within(options: Options, agent: Agent, labeled: Sequence[Example]) -> Options:
    """One stray hypothesis of full length would pad the whole batch."""
    longest = max(len(sides(example, agent.direction)[1] or ()) for example in labeled)
    return replace(options, max_length=min(options.max_length, longest + ROOM))


def game_task(
    players: Players,
    sets: Sets,
    dev: Sequence[Example],
    domain: Domain,
    settings: GameSettings,
    *,
    optimizer: Adam,
    seed: int,
    dev_search: Options,
) -> Task:
    """The game as a task of the loop; the best epoch is the one whose q2lf does best on dev."""
    game = Game(players, sets, domain, settings, optimizer=optimizer, seed=seed)
    summary = partial(summarize, game.update.names)
    return Task("dual", game.stepper, game.epoch, summary, lambda: form_scores(players.q2lf, dev, domain, dev_search))
