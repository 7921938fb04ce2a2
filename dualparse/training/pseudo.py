"""The pseudo-labelling baseline (paper Section 4.4): pairs the pre-trained agents make up from what has no label.

In: the agents, unlabeled queries and forms. Out: pairs, each unlabeled side with the agents' best guess of the other.
They join the labeled pairs at a discount.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from dualparse.choosing.chooser import Search
from dualparse.choosing.ranking import Hypothesis
from dualparse.data.examples import Example
from dualparse.engines.found import Options
from dualparse.networks.agent import Agent


def pseudo_pairs(
    q2lf: Agent,
    lf2q: Agent,
    queries: Sequence[Example],
    forms: Sequence[Example],
    options: Options,
    *,
    rng: random.Random,
) -> list[Example]:
    """A pair for every unlabeled query and for every form; `rng` words the entities of forms. A side for which nothing
    was found, or nothing that ended within the limit, is left out."""
    asked, written = [example.query or () for example in queries], [example.lf or () for example in forms]
    read = zip(asked, _best(Search([q2lf], options).choose(asked, rng=rng)), strict=True)
    worded = zip(_best(Search([lf2q], options).choose(written, rng=rng)), written, strict=True)
    return [Example(query, lf) for query, lf in (*read, *worded) if query and lf]


def _best(found: Sequence[Sequence[Hypothesis]]) -> list[tuple[str, ...]]:
    """The best output for every source; empty where there is none."""
    return [hypotheses[0].tokens if hypotheses and hypotheses[0].finished else () for hypotheses in found]
