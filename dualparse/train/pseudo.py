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
    agents: Mapping[Direction, Agent], queries: Sequence[Example], forms: Sequence[Example], options: Options
) -> list[Example]:
    """A pair for every unlabeled query and form; a source for which nothing was found is left out."""
    rng = random.Random("pseudo phrases")
    made = []
    guesses = find(agents["q2lf"], [example.query or () for example in queries], options, rng=rng) if queries else []
    for example, found in zip(queries, guesses, strict=True):
        if found and found[0].tokens:
            made.append(Example(example.query, found[0].tokens))
    guesses = find(agents["lf2q"], [example.lf or () for example in forms], options, rng=rng) if forms else []
    for example, found in zip(forms, guesses, strict=True):
        if found and found[0].tokens:
            made.append(Example(found[0].tokens, example.lf))
    return made
