"""One round of the game for one source, told in full: hypotheses, every reward by name, advantages, and what comes back
(paper Section 3.1). The same functions play it as in training (`play`, `update`); nothing is learned.

In: a trained run and a query or a form. Out: a `Told`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dualparse.choosing.search import find
from dualparse.data.batch import Direction, collate
from dualparse.domains.domain import Domain
from dualparse.engines.engine import read, score, search
from dualparse.engines.found import Options
from dualparse.engines.scoring import without_dropout
from dualparse.game.play import Players, Source, play
from dualparse.game.rewards import VALID, Rewards, rewards_of, verdict_of
from dualparse.game.update import fluency_of, way_back, worth
from dualparse.lf.verdict import Verdict
from dualparse.runs import Run


@dataclass(frozen=True)
class Move:
    """One hypothesis of the agent that writes.

    log_prob        under the agent that wrote it (</s> included where `finished`)
    verdict         what the check says of a form; None for a query
    rewards         what each reward says, by name
    said_back       what the agent that reads would say by itself
    """

    text: str
    log_prob: float
    finished: bool
    verdict: Verdict | None
    rewards: dict[str, float]
    reward: float
    advantage: float
    said_back: str


@dataclass(frozen=True)
class Told:
    """A round: who wrote, from what, the weight of each reward and of what the reader learns, whether a mean is
    subtracted, and the hypotheses, best first."""

    writer: Direction
    source: str
    weights: dict[str, float]
    lesson: float
    baseline: bool
    moves: tuple[Move, ...]


def open_players(run: Run, domain: Domain, device: torch.device, *, before: bool = False) -> Players:
    """Agents and judges of a run; `before` takes the agents as they were before the game. Language models may be
    missing; the matcher is there where the recipe asks it."""
    prefix = "pretrained-" if before else ""
    query_lm, lf_lm = (
        run.language_model(n, device) if run.weights(n).exists() else None for n in ("query_lm", "lf_lm")
    )
    return Players(
        run.agent("q2lf", domain, device, weights=f"{prefix}q2lf"),
        run.agent("lf2q", domain, device, weights=f"{prefix}lf2q"),
        query_lm,
        lf_lm,
        run.index(domain, device) if run.recipe.game.uses("meaning") else None,
    )


def tell_round(
    run: Run, players: Players, domain: Domain, source: Sequence[str], writer: Direction, *, beams: int | None = None
) -> Told:
    """Play one round from a query (`writer` is q2lf) or a form (lf2q) with the rewards of the run's recipe."""
    settings = run.recipe.game
    loop = "query" if writer == "q2lf" else "form"
    judges = {"query_lm": players.query_lm, "lf_lm": players.lf_lm}
    rewards = rewards_of(settings, loop, domain, **judges, index=players.index)
    return play_round(players, domain, source, writer, rewards, Options(beams or settings.beams, settings.max_length))


@torch.no_grad()
def play_round(
    players: Players, domain: Domain, source: Sequence[str], writer: Direction, rewards: Rewards, limits: Options
) -> Told:
    """One loop of the game with a single source."""
    rng = random.Random(0)
    first, second = (players.q2lf, players.lf2q) if writer == "q2lf" else (players.lf2q, players.q2lf)
    start = Source(tuple(source), first.row(source, None, rng))
    batch = collate([start.row], target_vocab_size=len(first.target_vocab))
    with without_dropout(first.model):
        sent = (torch.from_numpy(array).to(first.device) for array in (batch.source, batch.copy))
        memory = read(first.model, *sent)
        found = search(first.model, memory, limits)
    # 1 and 2. search, judge, hand over
    played = play(first, second, [start], batch, found, rewards, rng)
    # 3. and 4. what language models and the way back say, and what it comes to
    written = played.written.map(lambda array: torch.from_numpy(array).to(first.device))
    judged, present = (torch.from_numpy(array).to(first.device) for array in (played.judged, played.present))
    size = len(first.target_vocab)
    columns = [*judged, *(fluency_of(each, written.targets, written.inputs, size)[None] for each in rewards.fluent)]
    if rewards.back:
        back = second.encode_rows(played.back).batch
        with without_dropout(second.model):
            columns.append(way_back(rewards.back, score(second.model, back), back.targets)[None])
    reward, advantage = worth(rewards, columns, present)
    said = find(second, [tuple(text.split()) for text in played.texts], Options(1, limits.max_length), rng=rng)
    named = {each.name: column for each, column in zip(rewards.all, columns, strict=True) if each.name != VALID}
    moves = [
        Move(
            text=text,
            log_prob=float(found.log_prob[0, i]),
            finished=bool(found.finished[0, i]),
            verdict=verdict_of(domain.check, text) if writer == "q2lf" else None,
            rewards={name: float(column[0, i]) for name, column in named.items()},
            reward=float(reward[0, i]),
            advantage=float(advantage[0, i]),
            said_back=said[i][0].text if said[i] else "",
        )
        for i, text in enumerate(played.texts)
        if played.present[0, i]
    ]
    weights = {each.name: each.weight for each in rewards.all if each.name in named}
    return Told(first.direction, " ".join(source), weights, rewards.lesson, rewards.baseline, tuple(moves))
