"""The n-best outputs of an agent for many sources: words in, hypotheses out, best first. How they are ranked, and when
a search ends, stands in `engines.beam`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial

import torch

from dualparse.choosing.constraint import Constraint
from dualparse.choosing.ranking import Hypothesis, hypotheses
from dualparse.engines.cores import cores, each_on_a_core
from dualparse.engines.engine import read, search
from dualparse.engines.found import Options
from dualparse.engines.numba import loading
from dualparse.networks.agent import Agent

MANY = 100  # sources for which it pays off to load what is compiled
MOST_ON_GPU, MOST_ON_CPU, LEAST_ON_CPU = 512, 128, 8  # sources that `find` searches together


def find(
    agent: Agent,
    sources: Sequence[Sequence[str]],
    options: Options,
    *,
    rng: random.Random | None = None,
    rows_at_once: int | None = None,
    constraint: Constraint | None = None,
    copies: bool = False,
) -> list[list[Hypothesis]]:
    """The n-best outputs of an agent for many sources, in their order, of those a `constraint` allows; see `search` for
    `copies`. Without `rng` every source is read as it would be alone: its neighbours decide nothing."""
    rows = [agent.row(source, None, rng or random.Random(0)) for source in sources]
    if len(rows) >= MANY and agent.device.type == "cpu":
        loading.load()
    size = rows_at_once or _rows_at_once(agent.device, len(rows))
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].source), reverse=True)  # similar lengths: little padding
    results: list[list[Hypothesis]] = [[] for _ in rows]

    @torch.no_grad()  # here, because threads do not share it
    def search_some(chosen: list[int]) -> None:
        batch = agent.encode_rows([rows[i] for i in chosen]).batch
        memory = read(agent.model, batch.source, batch.copy)
        walk = constraint.walk([rows[i] for i in chosen]) if constraint else None
        found = search(agent.model, memory, options, walk=walk, copies=copies)
        score = found.score(options.length_power)
        for place, i in enumerate(chosen):
            results[i] = hypotheses(found, place, partial(agent.words, row=rows[i]), score)

    parts = [order[start : start + size] for start in range(0, len(order), size)]
    was_training = agent.model.training
    agent.model.eval()
    if agent.device.type == "cpu":
        each_on_a_core(search_some, parts)
    else:
        for part in parts:
            search_some(part)
    agent.model.train(was_training)
    return results


def _rows_at_once(device: torch.device, count: int) -> int:
    """How many sources to search together; on a CPU every core gets as many parts as the others."""
    if device.type == "cuda":
        return MOST_ON_GPU
    rounds = -(-count // (MOST_ON_CPU * cores()))
    return max(-(-count // max(rounds * cores(), 1)), LEAST_ON_CPU)
