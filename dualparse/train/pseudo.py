"""The pseudo-labelling baseline (paper Section 4.4): pairs the pre-trained agents make up from what has no label.

In: the agents, unlabeled queries and forms. Out: pairs, each unlabeled side with the agent's best guess of the other.
They join the labeled pairs at a discount.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from dualparse.data.batch import Direction
from dualparse.data.examples import Example
from dualparse.models.agent import Agent
from dualparse.search import Options, find


def pseudo_pairs(
    agents: Mapping[Direction, Agent],
    queries: Sequence[Example],
    forms: Sequence[Example],
    options: Options,
    *,
    rng: random.Random,
) -> list[Example]:
    """A pair for every unlabeled query and form; `rng` words the entities of forms.

    A side for which the agent found nothing, or nothing that ended within the limit, is left out.
    """
    texts = [example.query or () for example in queries]
    made = [Example(query, lf) for query, lf in zip(texts, _guesses(agents["q2lf"], texts, options, rng), strict=True)]
    texts = [example.lf or () for example in forms]
    made += [Example(query, lf) for query, lf in zip(_guesses(agents["lf2q"], texts, options, rng), texts, strict=True)]
    return [pair for pair in made if pair.query and pair.lf]


def _guesses(
    agent: Agent, sources: Sequence[tuple[str, ...]], options: Options, rng: random.Random
) -> list[tuple[str, ...]]:
    """The best output for every source; empty where there is none."""
    found = find(agent, sources, options, rng=rng)
    return [hypotheses[0].tokens if hypotheses and hypotheses[0].finished else () for hypotheses in found]
