"""One round of the game for one source, told in full: hypotheses, rewards, advantages, and what comes back (paper
Section 3.1). The same functions play it as in training (`dual`); nothing is learned.

In: a trained run and a query or a form. Out: a `Told`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dualparse.choosing.search import find
from dualparse.data.batch import Direction
from dualparse.domains.domain import Domain
from dualparse.engines.engine import read, score, search
from dualparse.engines.found import Found, Options
from dualparse.engines.scoring import without_dropout
from dualparse.game.dual import Rules, Source, loop_losses, play, validity_reward
from dualparse.game.game import GameOptions, Loop, Players
from dualparse.game.rewards import validity, verdict_of
from dualparse.lf.verdict import Verdict
from dualparse.networks.agent import Agent
from dualparse.networks.language_model import length_normalized
from dualparse.runs import Run
from dualparse.training.stages import game_options


@dataclass(frozen=True)
class Move:
    """One hypothesis of the agent that writes.

    log_prob        under the agent that wrote it (</s> included where `finished`)
    verdict         what the check says of a form; None for a query
    validity        its part of the reward: check, language model or both; None where neither is there
    reconstruction  log-probability of the source under the agent that reads (per token where the rules say so)
    said_back       what that agent would say by itself
    """

    text: str
    log_prob: float
    finished: bool
    verdict: Verdict | None
    validity: float | None
    reconstruction: float
    reward: float
    advantage: float
    said_back: str


@dataclass(frozen=True)
class Told:
    """A round: who wrote, from what, by which rules, and the hypotheses, best first."""

    writer: Direction
    source: str
    rules: Rules
    moves: tuple[Move, ...]


def open_players(run: Run, domain: Domain, device: torch.device, *, before: bool = False) -> Players:
    """Agents and judges of a run; `before` takes the agents as they were before the game. Judges may be missing."""
    prefix = "pretrained-" if before else ""
    judges = [run.language_model(n, device) if run.weights(n).exists() else None for n in ("query_lm", "lf_lm")]
    return Players(
        run.agent("q2lf", domain, device, weights=f"{prefix}q2lf"),
        run.agent("lf2q", domain, device, weights=f"{prefix}lf2q"),
        *judges,
    )


def tell_round(
    run: Run, players: Players, domain: Domain, source: Sequence[str], writer: Direction, *, beams: int | None = None
) -> Told:
    """Play one round from a query (`writer` is q2lf) or a form (lf2q) by the rules of the run's recipe."""
    recipe = run.recipe
    options = game_options(recipe.game, recipe)
    limits = Options(beams or options.search.beams, options.search.max_length, options.search.length_power)
    if writer == "q2lf":
        loop = Loop(0, True, options.from_query, players.lf_lm)
    else:
        loop = Loop(1, True, options.from_form, players.query_lm)
    return play_round(players, domain, source, loop, limits, options)


@torch.no_grad()
def play_round(
    players: Players, domain: Domain, source: Sequence[str], loop: Loop, limits: Options, options: GameOptions
) -> Told:
    """One loop of the game with a single source."""
    rng = random.Random(0)
    agents = (players.q2lf, players.lf2q)
    first, second = agents[loop.writer], agents[1 - loop.writer]
    start = Source(tuple(source), first.row(source, None, rng))
    verdicts: list[Verdict | None] = []

    def judge(texts: Sequence[str]) -> list[float]:
        if loop.writer == 1:
            verdicts.extend(None for _ in texts)
            return [0.0] * len(texts)
        found = [verdict_of(domain.check, text) for text in texts]
        verdicts.extend(found)
        return validity(found, graded=options.graded)

    found = _search(first, start, limits)
    played = play(first, second, [start], found, judge, rng)
    written = played.written.map(lambda array: torch.from_numpy(array).to(first.device))
    shares = played.shares(loop.rules.sharpness)
    judged, share = (torch.from_numpy(array).to(first.device) for array in (played.validity, shares))
    valid = validity_reward(loop.rules, judged, loop.language_model, written, len(first.target_vocab))
    back = second.encode_rows(played.back).batch
    with without_dropout(second.model):
        reward = score(second.model, back)
    if loop.rules.per_token:
        reward = length_normalized(reward, back.targets)
    reward = reward.view_as(judged)
    nothing = torch.zeros_like(reward)
    losses = loop_losses(loop.rules, valid, reward, share, share, nothing, nothing)
    said = find(second, [tuple(text.split()) for text in played.texts], Options(1, limits.max_length), rng=rng)
    has_validity = bool(loop.rules.check and loop.writer == 0) or loop.language_model is not None
    moves = [
        Move(
            text=played.texts[i],
            log_prob=float(found.log_prob[0, i]),
            finished=bool(found.finished[0, i]),
            verdict=verdicts[i],
            validity=float(valid[0, i]) if has_validity else None,
            reconstruction=float(reward[0, i]),
            reward=float(losses.reward[0, i]),
            advantage=float(losses.advantage[0, i]),
            said_back=said[i][0].text if said[i] else "",
        )
        for i in range(len(played.texts))
        if shares[0, i]
    ]
    return Told(first.direction, " ".join(source), loop.rules, tuple(moves))


def _search(agent: Agent, source: Source, limits: Options) -> Found:
    batch = agent.encode_rows([source.row]).batch
    with without_dropout(agent.model):
        return search(agent.model, read(agent.model, batch.source, batch.copy), limits)
