"""What was found for a query, and its order: hypotheses, and scorers that have a say besides whoever found them.

A scorer is a function: queries and the forms of each in, one figure for every form out. Each counts with its weight, so
a form's rank is log P(form | query) + the sum of weight * figure; its score is the logarithm of its share among the
forms found, so that 0 is certainty. There is no torch here: who ranks need not know what found the forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from dualparse.engines.found import Found


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One output: its tokens, its log-probability, and the score by which outputs are ranked; `copied`, where it was
    asked for and is known, is the share of each token that came by copying; `parts`, where others than who found it
    have a say, is what each of them added to its rank, by name."""

    tokens: tuple[str, ...]
    log_prob: float
    score: float
    finished: bool
    copied: tuple[float, ...] | None = None
    parts: tuple[tuple[str, float], ...] = ()

    @property
    def text(self) -> str:
        return " ".join(self.tokens)


FOUND = "q2lf"  # the part of whoever found a form: its log-probability

Queries = Sequence[Sequence[str]]
NBest = Sequence[Sequence[Hypothesis]]  # the best forms of every query
Scorer = Callable[[Queries, NBest], Sequence[np.ndarray]]  # for every query one figure a form


@dataclass(frozen=True, slots=True)
class Weighted:
    """A scorer, its name where scores are told, and what it counts."""

    name: str
    scorer: Scorer
    weight: float


def hypotheses(
    found: Found, place: int, words: Callable[[Sequence[int]], tuple[str, ...]], score: np.ndarray
) -> list[Hypothesis]:
    """The outputs of one source, best first; `words` turns extended numbers into tokens."""
    return [
        Hypothesis(
            words(found.tokens[place, k, : found.length[place, k]].tolist()),
            float(found.log_prob[place, k]),
            float(score[place, k]),
            bool(found.finished[place, k]),
            None if found.copied is None else tuple(found.copied[place, k, : found.length[place, k]].tolist()),
        )
        for k in range(found.length.shape[1])
        if np.isfinite(found.log_prob[place, k])
    ]


def rerank(queries: Queries, found: NBest, scorers: Sequence[Weighted]) -> list[list[Hypothesis]]:
    """The hypotheses of every query in their new order, each with its new score; in that of the search, where nobody
    else has a say."""
    if not scorers:
        return [list(forms) for forms in found]
    parts = [{FOUND: np.array([form.log_prob for form in forms])} for forms in found]
    for each in (each for each in scorers if each.weight):
        for said, figure in zip(parts, each.scorer(queries, found), strict=True):
            said[each.name] = each.weight * np.asarray(figure)
    return [_scored(forms, said) for forms, said in zip(found, parts, strict=True)]


def with_forms(
    queries: Queries,
    found: NBest,
    forms: Sequence[Iterable[tuple[str, ...]]],
    likely: Callable[[Queries, Queries], list[float]],
) -> list[list[Hypothesis]]:
    """What was found, and behind it the other `forms` of each query, with the log-probability of each."""
    there = [{each.tokens for each in row} for row in found]
    asked = [(place, form) for place, some in enumerate(forms) for form in some if form not in there[place]]
    joined = [list(row) for row in found]
    if asked:
        log_probs = likely([queries[place] for place, _ in asked], [form for _, form in asked])
        for (place, form), log_prob in zip(asked, log_probs, strict=True):
            joined[place].append(Hypothesis(form, log_prob, log_prob / (len(form) + 1), True))
    return joined


def by_query(values: Sequence[float], found: NBest) -> list[np.ndarray]:
    """One figure a form, in the order of all of them -> those of each query."""
    left = iter(values)
    return [np.array(list(islice(left, len(forms)))) for forms in found]


def _scored(forms: Sequence[Hypothesis], parts: Mapping[str, np.ndarray]) -> list[Hypothesis]:
    """The forms by rank, each with its share; the rank is the sum of the parts."""
    ranks = np.sum(list(parts.values()), axis=0)
    whole = np.logaddexp.reduce(ranks) if len(ranks) else 0.0
    told = [tuple((name, float(said[place])) for name, said in parts.items()) for place in range(len(forms))]
    scored = [
        replace(form, score=score, parts=said)
        for form, score, said in zip(forms, (ranks - whole).tolist(), told, strict=True)
    ]
    return sorted(scored, key=lambda form: -form.score)
