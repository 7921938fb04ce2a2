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
from itertools import chain, islice

import numpy as np

from dualparse.choosing.search import Hypothesis
from dualparse.data.vocab import Vocab
from dualparse.engines.scoring import fluency, reconstruction
from dualparse.networks.agent import Agent
from dualparse.networks.network import TextModel

FORMS_AT_ONCE = 256  # that a language model reads

Found = Sequence[Sequence[Hypothesis]]  # the forms of every query


@dataclass(frozen=True, slots=True)
class Prior:
    """How much it counts that a form is a common one: language models of forms, the mean over which is taken."""

    models: Sequence[TextModel]
    weight: float


def rerank(
    listeners: Sequence[Agent],
    queries: Sequence[Sequence[str]],
    found: Found,
    weight: float,
    *,
    prior: Prior | None = None,
) -> list[list[Hypothesis]]:
    """The hypotheses of every query in their new order, each with its new score."""
    back = ways_back(listeners, queries, found)
    if prior is None:
        return [_scored(forms, _ranks(forms, weight, ways)) for forms, ways in zip(found, back, strict=True)]
    common = commonness(prior.models, listeners[0].source_vocab, found)
    return [
        _scored(forms, _ranks(forms, weight, ways) + prior.weight * usual)
        for forms, ways, usual in zip(found, back, common, strict=True)
    ]


def ways_back(listeners: Sequence[Agent], queries: Sequence[Sequence[str]], found: Found) -> list[np.ndarray]:
    """For every query log P(query | form) of its forms, the mean over the lf2q."""
    pairs = [(form.tokens, query) for query, forms in zip(queries, found, strict=True) for form in forms]
    forms, said = [form for form, _ in pairs], [query for _, query in pairs]
    heard = [reconstruction(lf2q, forms, said, random.Random(0)) for lf2q in listeners]
    return _by_query(np.mean(heard, axis=0).tolist(), found)


def commonness(models: Sequence[TextModel], vocab: Vocab, found: Found) -> list[np.ndarray]:
    """For every query log P(form) of its forms, the mean over the language models. Many queries have the same forms
    among theirs, and each is asked about once."""
    forms = sorted({form.tokens for form in chain.from_iterable(found)}, key=lambda form: (len(form), form))
    parts = [forms[start : start + FORMS_AT_ONCE] for start in range(0, len(forms), FORMS_AT_ONCE)]
    told = [[each for part in parts for each in fluency(model, vocab, part, per_token=False)] for model in models]
    known = dict(zip(forms, np.mean(told, axis=0).tolist(), strict=True))
    return _by_query([known[form.tokens] for form in chain.from_iterable(found)], found)


def _by_query(values: Sequence[float], found: Found) -> list[np.ndarray]:
    left = iter(values)
    return [np.array(list(islice(left, len(forms)))) for forms in found]


def _ranks(forms: Sequence[Hypothesis], weight: float, back: np.ndarray) -> np.ndarray:
    return np.array([form.log_prob for form in forms]) + weight * back


def _scored(forms: Sequence[Hypothesis], ranks: np.ndarray) -> list[Hypothesis]:
    """The forms by rank, each with its share."""
    whole = np.logaddexp.reduce(ranks) if len(ranks) else 0.0
    scored = [replace(form, score=score) for form, score in zip(forms, (ranks - whole).tolist(), strict=True)]
    return sorted(scored, key=lambda form: -form.score)
