"""The pseudo-labelling baseline (paper Section 4.4): pairs the pre-trained agents make up from what has no label.

In: the agents, unlabeled queries and forms. Out: pairs, each unlabeled side with the agents' best guess of the other.
They join the labeled pairs at a discount.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from dualparse.choosing.both import rerank
from dualparse.choosing.committee import find_by_committee
from dualparse.choosing.search import Hypothesis, find
from dualparse.data.batch import Direction
from dualparse.data.examples import Example
from dualparse.engines.found import Options
from dualparse.networks.agent import Agent

Teacher = Mapping[Direction, Agent]


def pseudo_pairs(
    teachers: Sequence[Teacher],
    queries: Sequence[Example],
    forms: Sequence[Example],
    options: Options,
    *,
    rng: random.Random,
    reconstruction: float = 0.0,
    distinct: bool = False,
) -> tuple[list[Example], list[Example]]:
    """A pair for every unlabeled query, whose form the teachers choose together, and pairs for every form, which each
    of them puts into words; `rng` words the entities of forms.

    A side for which nothing was found, or nothing that ended within the limit, is left out. With `reconstruction` the
    lf2q of the first teacher has a say in the choice of forms. If `distinct`, a form that is there several times is put
    into the same words only once.
    """
    texts = [example.query or () for example in queries]
    found = find_by_committee([teacher["q2lf"] for teacher in teachers], texts, options, rng=rng)
    if reconstruction:
        found = rerank([teachers[0]["lf2q"]], texts, found, reconstruction)
    read = [Example(query, lf) for query, lf in zip(texts, _best(found), strict=True)]
    texts = [example.lf or () for example in forms]
    said = [_best(find(teacher["lf2q"], texts, options, rng=rng)) for teacher in teachers]
    worded = [Example(query, lf) for lf, *ways in zip(texts, *said, strict=True) for query in dict.fromkeys(ways)]
    return _whole(read), _whole(list(dict.fromkeys(worded)) if distinct else worded)


def _best(found: Sequence[Sequence[Hypothesis]]) -> list[tuple[str, ...]]:
    """The best output for every source; empty where there is none."""
    return [hypotheses[0].tokens if hypotheses and hypotheses[0].finished else () for hypotheses in found]


def _whole(pairs: Sequence[Example]) -> list[Example]:
    return [pair for pair in pairs if pair.query and pair.lf]
