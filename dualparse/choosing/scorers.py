"""What has a say in the order of the forms that were found, besides the parser that found them.

A scorer is a function: queries and the forms of each in, one figure for every form out. Each counts with its weight, so
a form's rank is log P(form | query) + the sum of weight * figure; its score is the logarithm of its share among the
forms found, so that 0 is certainty.

`WayBack` lets both agents choose. The game teaches that a good form lets the other agent find the way back; the same
holds when a question is answered. The way back says how well a form explains the query, not how likely anybody is to
mean it: an odd form can be put into the same words. So `Commonness` may count as well, as Bayes' rule would have it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np

from dualparse.choosing.search import Hypothesis
from dualparse.data.vocab import Vocab
from dualparse.engines.scoring import fluency, reconstruction
from dualparse.networks.agent import Agent
from dualparse.networks.network import TextModel

FORMS_AT_ONCE = 256  # that a language model reads

Queries = Sequence[Sequence[str]]
Found = Sequence[Sequence[Hypothesis]]  # the forms of every query
Scorer = Callable[[Queries, Found], Sequence[np.ndarray]]  # for every query one figure a form


@dataclass(frozen=True, slots=True)
class Weighted:
    """A scorer, its name where scores are told, and what it counts."""

    name: str
    scorer: Scorer
    weight: float


@dataclass(frozen=True, slots=True)
class WayBack:
    """log P(query | form), the mean over agents that word forms (lf2q)."""

    listeners: Sequence[Agent]

    def __call__(self, queries: Queries, found: Found) -> list[np.ndarray]:
        pairs = [(form.tokens, query) for query, forms in zip(queries, found, strict=True) for form in forms]
        forms, said = [form for form, _ in pairs], [query for _, query in pairs]
        heard = [reconstruction(lf2q, forms, said) for lf2q in self.listeners]
        return _by_query(np.mean(heard, axis=0).tolist(), found)


@dataclass(frozen=True, slots=True)
class Commonness:
    """log P(form), the mean over language models of forms. Many queries have the same forms among theirs, and each is
    asked about once."""

    models: Sequence[TextModel]
    vocab: Vocab

    def __call__(self, queries: Queries, found: Found) -> list[np.ndarray]:
        forms = sorted({form.tokens for form in chain.from_iterable(found)}, key=lambda form: (len(form), form))
        parts = [forms[start : start + FORMS_AT_ONCE] for start in range(0, len(forms), FORMS_AT_ONCE)]
        told = [
            [each for part in parts for each in fluency(model, self.vocab, part, per_token=False)]
            for model in self.models
        ]
        known = dict(zip(forms, np.mean(told, axis=0).tolist(), strict=True))
        return _by_query([known[form.tokens] for form in chain.from_iterable(found)], found)


def rerank(queries: Queries, found: Found, scorers: Sequence[Weighted]) -> list[list[Hypothesis]]:
    """The hypotheses of every query in their new order, each with its new score; in that of the search, where nobody
    else has a say."""
    if not scorers:
        return [list(forms) for forms in found]
    ranks = [np.array([form.log_prob for form in forms]) for forms in found]
    for each in scorers:
        figures = each.scorer(queries, found)
        ranks = [rank + each.weight * figure for rank, figure in zip(ranks, figures, strict=True)]
    return [_scored(forms, rank) for forms, rank in zip(found, ranks, strict=True)]


def _by_query(values: Sequence[float], found: Found) -> list[np.ndarray]:
    left = iter(values)
    return [np.array(list(islice(left, len(forms)))) for forms in found]


def _scored(forms: Sequence[Hypothesis], ranks: np.ndarray) -> list[Hypothesis]:
    """The forms by rank, each with its share."""
    whole = np.logaddexp.reduce(ranks) if len(ranks) else 0.0
    scored = [replace(form, score=score) for form, score in zip(forms, (ranks - whole).tolist(), strict=True)]
    return sorted(scored, key=lambda form: -form.score)
