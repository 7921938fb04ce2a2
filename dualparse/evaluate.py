"""How good predictions are: exact match, denotation, validity, BLEU, with a bootstrap interval.

In: a domain, gold forms and predicted ones, as text. Out: a verdict per example and the scores of a set. Every score
carries the name of its metric. No model is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import sacrebleu

from dualparse.domains.domain import Domain
from dualparse.domains.metrics import exact, meaning
from dualparse.lf.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Judged:
    """One prediction with all that was found out about it. Denotations are None where the domain has no executor
    or the form does not run."""

    query: str
    gold: str
    predicted: str
    verdict: Verdict
    exact: bool
    gold_denotation: str | None
    denotation: str | None
    correct: float  # by the domain's metric: a truth value, or a share

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def pick(domain: Domain, candidates: Sequence[str]) -> str:
    """The prediction of an n-best list: the first valid form, or the first when none is."""
    return next((text for text in candidates if domain.check(text).ok), candidates[0] if candidates else "")


def judge(domain: Domain, query: str, gold: str, predicted: str) -> Judged:
    """Compare one predicted form with the gold one."""
    return Judged(
        query,
        gold,
        predicted,
        domain.check(predicted),
        exact(gold, predicted, domain),
        meaning(gold, domain),
        meaning(predicted, domain),
        domain.metric(gold, predicted, domain),
    )


def summarize(judged: Sequence[Judged], *, domain: Domain) -> dict[str, float | int | str | list[float]]:
    """Scores of a set, in per cent; accuracy is by the domain's metric, whose name stands beside it."""
    has_denotations = any(item.gold_denotation is not None for item in judged)
    correct = np.array([item.correct for item in judged], dtype=float)
    low, high = bootstrap(correct)
    scores: dict[str, float | int | str | list[float]] = {
        "metric": domain.metric.__name__,
        "accuracy": percent(correct),
        "interval_95": [low, high],
        "exact": percent([item.exact for item in judged]),
        "valid": percent([item.verdict.ok for item in judged]),
        "examples": len(judged),
    }
    if has_denotations:
        scores["denotation"] = percent(
            [item.denotation is not None and item.denotation == item.gold_denotation for item in judged]
        )
    return scores


def percent(hits: Sequence[float] | np.ndarray) -> float:
    """
    >>> percent([True, False, True])
    66.67
    """
    return round(100 * float(np.mean(hits)), 2) if len(hits) else 0.0


def bootstrap(values: np.ndarray, *, resamples: int = 2000, seed: int = 0, level: float = 0.95) -> tuple[float, float]:
    """Interval of the mean in per cent, by resampling the examples."""
    if not len(values):
        return 0.0, 0.0
    rng = np.random.default_rng(seed)
    means = values[rng.integers(0, len(values), (resamples, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return round(100 * float(low), 2), round(100 * float(high), 2)


def bleu(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """Corpus BLEU of tokenised text (sacrebleu, its tokeniser off).

    >>> bleu(["show all huts with showers"], ["show all huts with showers"])
    100.0
    """
    if not predicted:
        return 0.0
    return round(sacrebleu.corpus_bleu(list(predicted), [list(gold)], tokenize="none", force=True).score, 2)
