"""Several parsers choose together: every form that one of them found, ranked by what all of them make of it.

Parsers trained from different seeds err in different places. In: agents with the same vocabularies, and queries. Out:
for every query the forms found, best first, as `find` gives those of one.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from dualparse.choosing.constraint import Constraint
from dualparse.choosing.ranking import Hypothesis
from dualparse.choosing.search import find
from dualparse.engines.found import Options
from dualparse.engines.scoring import reconstruction
from dualparse.networks.agent import Agent


def find_by_committee(
    parsers: Sequence[Agent],
    queries: Sequence[Sequence[str]],
    options: Options,
    *,
    rng: random.Random | None = None,
    constraint: Constraint | None = None,
    copies: bool = False,
) -> list[list[Hypothesis]]:
    """Finished forms, each with its mean log-probability under all parsers: one that a single parser finds absurd is no
    common choice. Where no parser comes to an end, what the first one has. A parser alone chooses as ever, and may tell
    of its `copies`."""
    copies = copies and len(parsers) == 1
    searches = [find(each, queries, options, rng=rng, constraint=constraint, copies=copies) for each in parsers]
    if len(parsers) == 1:
        return searches[0]
    forms = [
        list(dict.fromkeys(form.tokens for found in lists for form in found if form.finished))
        for lists in zip(*searches, strict=True)
    ]
    judged = [_judged(*each, queries, forms, rng) for each in zip(parsers, searches, strict=True)]
    ranks = iter(np.mean(judged, axis=0).tolist())
    return [
        _ranked([(form, next(ranks)) for form in found], options) if found else first
        for found, first in zip(forms, searches[0], strict=True)
    ]


def _judged(
    parser: Agent,
    found: Sequence[Sequence[Hypothesis]],
    queries: Sequence[Sequence[str]],
    forms: Sequence[Sequence[tuple[str, ...]]],
    rng: random.Random | None,
) -> list[float]:
    """The log-probability of every form under a parser; of those it found itself, search has told it."""
    told = [{form.tokens: form.log_prob for form in own if form.finished} for own in found]
    asked = [
        (query, form) for query, all_, own in zip(queries, forms, told, strict=True) for form in all_ if form not in own
    ]
    others = iter(reconstruction(parser, [query for query, _ in asked], [form for _, form in asked], rng))
    return [own[form] if form in own else next(others) for all_, own in zip(forms, told, strict=True) for form in all_]


def _ranked(forms: Sequence[tuple[tuple[str, ...], float]], options: Options) -> list[Hypothesis]:
    """By the same rule as one parser's: </s> counts."""
    made = [
        Hypothesis(form, log_prob, log_prob / (len(form) + 1) ** options.length_power, True) for form, log_prob in forms
    ]
    return sorted(made, key=lambda form: -form.score)
