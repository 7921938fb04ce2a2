"""Both agents choose: forms that q2lf found for a query, ranked by what lf2q makes of them as well.

The game teaches that a good form lets the other agent find the way back; the same holds when a question is answered. A
form's rank is log P(form | query) + weight * log P(query | form), for several lf2q the mean over them; its score the
logarithm of its share among the forms found, so that 0 is certainty.

The way back says how well a form explains the query, not how likely anybody is to mean it: an odd form can be put into
the same words. So a `Prior` may add weight * log P(form), by language models of forms, as Bayes' rule would have it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dualparse.models.agent import Agent
from dualparse.models.language_model import LanguageModel
from dualparse.rewards import fluency, reconstruction
from dualparse.search import Hypothesis

FORMS = 256  # whose probability is worked out at once

Form = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prior:
    """How much it counts that a form is a common one: language models of forms, the mean over which is taken."""

    models: Sequence[LanguageModel]
    weight: float


def rerank(
    listeners: Sequence[Agent],
    queries: Sequence[Sequence[str]],
    found: Sequence[Sequence[Hypothesis]],
    weight: float,
    *,
    prior: Prior | None = None,
) -> list[list[Hypothesis]]:
    """The hypotheses of every query in their new order, each with its new score."""
    pairs = [(form.tokens, query) for query, forms in zip(queries, found, strict=True) for form in forms]
    forms, said = [form for form, _ in pairs], [query for _, query in pairs]
    heard = [reconstruction(lf2q, forms, said, random.Random(0)) for lf2q in listeners]
    added = weight * np.mean(heard, axis=0)
    if prior:
        common = _common(prior, listeners[0], forms)
        added += prior.weight * np.array([common[form] for form in forms])
    more = iter(added.tolist())
    return [_scored(forms, [form.log_prob + next(more) for form in forms]) for forms in found]


def _common(prior: Prior, lf2q: Agent, forms: Sequence[Form]) -> dict[Form, float]:
    """The mean log-probability of every form; many queries have the same ones among theirs."""
    distinct = sorted(set(forms), key=len)
    parts = [distinct[start : start + FORMS] for start in range(0, len(distinct), FORMS)]
    told = [
        [each for part in parts for each in fluency(model, lf2q.source_vocab, part, per_token=False)]
        for model in prior.models
    ]
    return dict(zip(distinct, np.mean(told, axis=0).tolist(), strict=True))


def _scored(forms: Sequence[Hypothesis], ranks: Sequence[float]) -> list[Hypothesis]:
    """The forms by rank, each with its share."""
    whole = float(np.logaddexp.reduce(ranks)) if ranks else 0.0
    scored = [replace(form, score=rank - whole) for form, rank in zip(forms, ranks, strict=True)]
    return sorted(scored, key=lambda form: -form.score)
