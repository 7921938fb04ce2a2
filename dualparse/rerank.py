"""Both agents choose: forms that q2lf found for a query, ranked by what lf2q makes of them as well.

The game teaches that a good form lets the other agent find the way back; the same holds when a question is answered. A
form's rank is log P(form | query) + weight * log P(query | form), for several lf2q the mean over them; its score the
logarithm of its share among the forms found, so that 0 is certainty.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dualparse.models.agent import Agent
from dualparse.rewards import reconstruction
from dualparse.search import Hypothesis


def rerank(
    listeners: Sequence[Agent],
    queries: Sequence[Sequence[str]],
    found: Sequence[Sequence[Hypothesis]],
    weight: float,
) -> list[list[Hypothesis]]:
    """The hypotheses of every query in their new order, each with its new score."""
    pairs = [(form.tokens, query) for query, forms in zip(queries, found, strict=True) for form in forms]
    forms, said = [form for form, _ in pairs], [query for _, query in pairs]
    heard = [reconstruction(lf2q, forms, said, random.Random(0)) for lf2q in listeners]
    back = iter(np.mean(heard, axis=0).tolist())
    return [_scored(forms, [form.log_prob + weight * next(back) for form in forms]) for forms in found]


def _scored(forms: Sequence[Hypothesis], ranks: Sequence[float]) -> list[Hypothesis]:
    """The forms by rank, each with its share."""
    whole = float(np.logaddexp.reduce(ranks)) if ranks else 0.0
    scored = [replace(form, score=rank - whole) for form, rank in zip(forms, ranks, strict=True)]
    return sorted(scored, key=lambda form: -form.score)
