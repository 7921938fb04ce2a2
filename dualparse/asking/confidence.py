"""A probability that means something: of a hundred answers given at 0.9, about ninety are right.

In: evidence, which is numbers with names, and of labeled questions whether their answer was right. Out: a `Confidence`,
which turns evidence into a probability; how well that holds (`reliability`, `calibration_error`); and the probability
from which on answers are right often enough (`choose_cut`). It is plain logistic regression whose weights are drawn to
stated ones, so that a few labels correct the default and many replace it. benchmarks/calibration.py compares it with
isotonic regression and with a temperature.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Evidence = Mapping[str, float]
BINS = 10
ROUNDS = 60  # of Newton's method at the most
FOLDS = 10


@dataclass(frozen=True, slots=True)
class Feature:
    """What a number of the evidence may be, and how it is scaled; one that is missing counts as the centre."""

    low: float
    high: float
    centre: float
    scale: float
    meaning: str

    def scaled(self, value: float | None) -> float:
        if value is None or math.isnan(value):
            return 0.0
        return (min(max(value, self.low), self.high) - self.centre) / self.scale


FEATURES: dict[str, Feature] = {
    "share": Feature(-8, 9.2, 3.0, 3.0, "log-odds of the share of the answer among all that was found"),
    "margin": Feature(0, 9.2, 3.0, 3.0, "how much likelier than the next answer, a logarithm"),
    "form": Feature(-12, 0, -1.0, 1.5, "log-probability of the form"),
    "token": Feature(-3, 0, -0.1, 0.2, "the same per token"),
    "back": Feature(-10, 0, -1.5, 0.7, "log-probability of the question given the form, per word"),
    "forms": Feature(0, 2.5, 1.0, 0.7, "how many of the forms found come to the answer, a logarithm"),
    "valid": Feature(0, 1, 1.0, 0.5, "1 where the form is valid"),
    "cosine": Feature(0, 1, 0.7, 0.15, "likeness of the question and the wording of the form, by the matcher"),
    "strange": Feature(0, 3, 0.0, 1.0, "words that no known question has and that are no common words"),
    "strange_share": Feature(0, 1, 0.0, 0.2, "their share of the words"),
    "new": Feature(0, 4, 0.0, 1.5, "words that no known question has"),
    "unread": Feature(0, 3, 0.0, 1.0, "words whose spelling was mended"),
    "fluency": Feature(-9, 0, -3.0, 1.0, "log-probability per word of the question, by pairs of words of known ones"),
    "nearest": Feature(0, 1, 0.6, 0.2, "how much of the question the most similar known one has"),
    # of a reading about a connected folder: the figures of `dualparse.asking.weigh`
    "score": Feature(-2, 8, 3.0, 1.5, "the weighted sum of the figures"),
    "explained": Feature(0, 1, 0.7, 0.25, "share of the words that the reading explains"),
    "missed": Feature(0, 3, 0.0, 0.7, "what the question asks for and the reading does not take up"),
    "unsaid": Feature(0, 2, 0.2, 0.3, "names of the schema that no word speaks of"),
    "structure": Feature(-1, 3, 0.2, 0.4, "the cost of what was guessed"),
    "named": Feature(-0.5, 1.5, 0.1, 0.3, "how surely its names are those of the question"),
    "target": Feature(0, 1, 0.8, 0.4, "how surely the table it asks for is spoken of"),
    "spoken": Feature(0, 6, 2.0, 1.5, "words that speak of a name of the schema or of the data"),
    "things": Feature(0, 2, 0.0, 0.5, "words that ask for something by a name that nothing has"),
    "unexplained": Feature(0, 4, 0.5, 1.0, "words that the reading does not explain"),
    "behind": Feature(0, 0.6, 0.03, 0.08, "how much nearer the wording of another reading is to the question"),
    "empty": Feature(0, 1, 0.0, 0.5, "1 where the answer is nothing, or 0"),
}


@dataclass(frozen=True)
class Confidence:
    """Evidence -> probability.

    weights   of scaled features; evidence that has none does not count
    examples  labeled questions it was fitted on; 0 for a default

    >>> Confidence(0.0, {"share": 1.0}).of({"share": 3.0})
    0.5
    """

    bias: float
    weights: Mapping[str, float]
    examples: int = 0

    def of(self, evidence: Evidence) -> float:
        total = self.bias + sum(
            weight * FEATURES[name].scaled(evidence.get(name)) for name, weight in self.weights.items()
        )
        return _sigmoid(total)

    def told(self) -> dict[str, object]:
        """As plain values, for a file."""
        weights = {name: round(weight, 5) for name, weight in self.weights.items()}
        return {"bias": round(self.bias, 5), "weights": weights, "examples": self.examples}

    def because(self, evidence: Evidence) -> list[str]:
        """The features that speak against it, the strongest first."""
        against = {name: weight * FEATURES[name].scaled(evidence.get(name)) for name, weight in self.weights.items()}
        return [name for name, amount in sorted(against.items(), key=lambda item: item[1]) if amount < -0.1]


def read_confidence(told: Mapping[str, object]) -> Confidence:
    """What `Confidence.told` wrote; ValueError, KeyError or TypeError for anything else."""
    weights = {str(name): float(weight) for name, weight in dict(told["weights"]).items()}  # type: ignore[call-overload]
    if unknown := weights.keys() - FEATURES.keys():
        raise ValueError(f"unknown evidence {sorted(unknown)}")
    if not all(math.isfinite(number) for number in (*weights.values(), float(told["bias"]))):  # type: ignore[arg-type]
        raise ValueError("a weight is no number")
    return Confidence(float(told["bias"]), weights, int(told["examples"]))  # type: ignore[call-overload, arg-type]


# As benchmarks/calibration.py prints it of the dev questions of the runs it was given, all together.
DEFAULT = Confidence(1.3, {"share": 1.0, "form": 0.8, "back": 0.4, "forms": 0.0, "strange": -0.3})
DEFAULT_TOPIC = Confidence(3.0, {"strange": -3.0, "strange_share": -0.8, "fluency": 0.7, "nearest": 0.8, "back": 0.6})


def fit(
    rows: Sequence[Evidence], right: Sequence[float], *, default: Confidence = DEFAULT, pull: float = 1.0
) -> Confidence:
    """The weights that explain best which answers were right, drawn to those of the default by `pull`."""
    if not len(rows):
        return default
    names = list(default.weights)
    features = np.array([[1.0, *(FEATURES[name].scaled(row.get(name)) for name in names)] for row in rows])
    wanted, start = np.asarray(right, dtype=float), np.array([default.bias, *default.weights.values()])
    drawn = np.diag([pull / 4, *[pull] * len(names)])  # the share of right answers differs most from run to run

    def worth(weights: np.ndarray) -> float:
        odds = features @ weights
        return float(np.logaddexp(0, odds).sum() - odds @ wanted + (weights - start) @ drawn @ (weights - start) / 2)

    weights = start.copy()
    for _ in range(ROUNDS):
        told = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        slope = features.T @ (told - wanted) + drawn @ (weights - start)
        curve = features.T @ (features * (told * (1 - told))[:, None]) + drawn
        step = np.linalg.solve(curve, slope)
        while worth(weights - step) > worth(weights) and float(np.abs(step).max()) > 1e-8:
            step = step / 2  # a full step of Newton's may lead away where probabilities are near 0 and 1
        weights = weights - step
        if float(np.abs(step).max()) < 1e-8:
            break
    bias, *others = weights.tolist()
    return Confidence(bias, dict(zip(names, others, strict=True)), len(rows))


def held_out(
    rows: Sequence[Evidence], right: Sequence[float], *, default: Confidence = DEFAULT, pull: float = 1.0
) -> list[float]:
    """The probability of each row by what was fitted on the others: what the numbers are worth on new questions."""
    order = np.random.default_rng(0).permutation(len(rows))
    told = [0.0] * len(rows)
    for part in range(min(FOLDS, len(rows))):
        chosen = set(order[part::FOLDS].tolist())
        rest = [number for number in range(len(rows)) if number not in chosen]
        fitted = fit([rows[number] for number in rest], [right[number] for number in rest], default=default, pull=pull)
        for number in chosen:
            told[number] = fitted.of(rows[number])
    return told


@dataclass(frozen=True, slots=True)
class Bin:
    """The answers whose probability lies between `low` and `high`."""

    low: float
    high: float
    count: int
    probability: float
    right: float


def reliability(probabilities: Sequence[float], right: Sequence[float], *, bins: int = BINS) -> list[Bin]:
    """The bins that have answers, of equal width.

    >>> reliability([0.9, 0.92, 0.1], [1, 0, 0], bins=2)[1]
    Bin(low=0.5, high=1.0, count=2, probability=0.91, right=0.5)
    """
    found: dict[int, list[tuple[float, float]]] = {}
    for told, correct in zip(probabilities, right, strict=True):
        found.setdefault(min(int(told * bins), bins - 1), []).append((told, float(correct)))
    return [
        Bin(
            number / bins,
            (number + 1) / bins,
            len(pairs),
            round(math.fsum(told for told, _ in pairs) / len(pairs), 6),
            round(math.fsum(correct for _, correct in pairs) / len(pairs), 6),
        )
        for number, pairs in sorted(found.items())
    ]


def calibration_error(bins: Sequence[Bin]) -> float:
    """Expected calibration error: how far probability and share of right answers are apart, by the size of the bins."""
    whole = sum(each.count for each in bins)
    return math.fsum(each.count * abs(each.probability - each.right) for each in bins) / whole if whole else 0.0


def error_by_chance(probabilities: Sequence[float], *, draws: int = 200) -> float:
    """The calibration error to be expected of so many questions if every probability were exact: none is smaller but
    by luck."""
    drawn = np.random.default_rng(0)
    told = np.asarray(probabilities)
    found = [
        calibration_error(reliability(probabilities, (drawn.random(len(told)) < told).astype(float).tolist()))
        for _ in range(draws)
    ]
    return float(np.mean(found)) if found else 0.0


@dataclass(frozen=True, slots=True)
class Cut:
    """From which probability on questions are answered: the share of right answers and of answered questions there."""

    at: float
    precision: float
    coverage: float


NEVER = Cut(1.01, 0.0, 0.0)


def choose_cut(probabilities: Sequence[float], right: Sequence[float], precision: float) -> Cut:
    """The lowest probability from which on enough answers are right; `NEVER` where no answers are.

    >>> choose_cut([0.9, 0.8, 0.7, 0.2], [1, 1, 1, 0], 0.95)
    Cut(at=0.7, precision=1.0, coverage=0.75)
    """
    order = sorted(range(len(probabilities)), key=lambda number: -probabilities[number])
    best, correct = NEVER, 0.0
    for count, number in enumerate(order, start=1):
        correct += right[number]
        last = count == len(order) or probabilities[order[count]] < probabilities[number]
        if last and correct / count >= precision:
            best = Cut(probabilities[number], correct / count, count / len(order))
    return best


def sure_enough(probabilities: Sequence[float], right: Sequence[float], precision: float) -> Cut:
    """The lowest probability from which on so many answers are right by their own probabilities; `NEVER` where even the
    surest answer is not. All labels have made these. A cut that counts right answers above it is moved by every single
    mistake there: on OVERNIGHT's dev questions it gave fewer answers, and fewer right ones among them.

    >>> sure_enough([0.99, 0.92, 0.6, 0.2], [1, 1, 1, 0], 0.95)
    Cut(at=0.92, precision=1.0, coverage=0.5)
    """
    order, whole, at = sorted(probabilities, reverse=True), 0.0, NEVER.at
    for count, told in enumerate(order, start=1):
        whole += told
        if order[count : count + 1] != [told] and whole / count >= precision:
            at = told
    return NEVER if at == NEVER.at else at_cut(probabilities, right, at)


def at_cut(probabilities: Sequence[float], right: Sequence[float], cut: float) -> Cut:
    """What a cut comes to on other questions."""
    given = [correct for told, correct in zip(probabilities, right, strict=True) if told >= cut]
    if not given:
        return Cut(cut, 0.0, 0.0)
    return Cut(cut, math.fsum(given) / len(given), len(given) / len(probabilities))


def _sigmoid(total: float) -> float:
    return 1 / (1 + math.exp(-min(max(total, -30.0), 30.0)))
