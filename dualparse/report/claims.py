"""The paper's claims, and whether our numbers support them.

A claim is a list of comparisons: on this dataset, this method scores more than (or not more than) that one. Each method
has the settings that are best for it on dev; where a claim is about one part of the game, the rest of it is the same on
both sides. Our difference is the mean over seeds; its interval comes from resampling the test examples, both methods on
the same ones (paired bootstrap). Older results have no verdict per example; there the interval is that of independent
samples, which is wider. A comparison is supported when the whole interval says so, a claim when that of the mean of its
comparisons does; "not more" is at best not refuted. The interval knows the chance in test examples; the chance in
training shows in the spread over seeds.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dualparse.report.paper import DATASETS, LM_VALIDITY, paper_score
from dualparse.report.results import Outcome, alike, chosen, select

RESAMPLES = 2000
RATIOS = (0.2, 0.4)  # where the paper sees the largest gain


class Verdict(StrEnum):
    """What our numbers say."""

    SUPPORTED = "supported"
    NOT_REFUTED = "not refuted"  # all that can be said for "not more"
    NOT_SUPPORTED = "not supported"
    NOT_RUN = "not run yet"


@dataclass(frozen=True)
class Side:
    """A method with an amount of data."""

    method: str
    labeled: float = 1.0
    unlabeled: float = 1.0


@dataclass(frozen=True)
class Comparison:
    """On a dataset, `one` scores more than `other`; with `more` off, not more. With `alike` both are played alike."""

    dataset: str
    one: Side
    other: Side
    more: bool = True
    alike: bool = False

    @property
    def text(self) -> str:
        amount = "all labels" if self.one.labeled == 1.0 else f"{100 * self.one.labeled:.0f} % of the labels"
        if self.one.unlabeled < 1.0:
            amount += f" and {100 * self.one.unlabeled:.0f} % of the other pairs"
        return f"{self.dataset}, {amount}: {self.one.method} against {self.other.method}"

    @property
    def paper(self) -> float | None:
        """The paper's difference, where its tables have both numbers."""
        pair = [paper_score(self.dataset, side.method, side.labeled) for side in (self.one, self.other)]
        return None if pair[0] is None or pair[1] is None else pair[0] - pair[1]


@dataclass(frozen=True)
class Term:
    """The runs of both sides on one domain, and their weight in a mean of differences."""

    domain: str
    weight: float
    one: list[Outcome]
    other: list[Outcome]


@dataclass(frozen=True)
class Finding:
    """A comparison, or several together, with what we found."""

    text: str
    verdict: Verdict
    paper: float | None = None
    difference: float | None = None
    interval: tuple[float, float] | None = None
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """What the paper says, what our comparisons say together, and one by one."""

    together: Finding
    findings: list[Finding]

    @property
    def run(self) -> int:
        return sum(finding.verdict != Verdict.NOT_RUN for finding in self.findings)


def claims(outcomes: Sequence[Outcome]) -> list[Claim]:
    """Every claim, with what our results say about it; `outcomes` are all that were tested."""
    gain = _largest_gain(chosen(outcomes))
    return [*(_claim(outcomes, text, stated) for text, stated in _stated().items()), Claim(gain, [gain])]


def _claim(outcomes: Sequence[Outcome], text: str, stated: list[Comparison]) -> Claim:
    """The claim stands on the mean of its comparisons, as far as they have been run."""
    found = [(comparison, terms) for comparison in stated if (terms := _terms(outcomes, comparison))]
    weighted = [Term(t.domain, t.weight / len(found), t.one, t.other) for _, terms in found for t in terms]
    known = [paper for comparison, _ in found if (paper := comparison.paper) is not None]
    paper = statistics.mean(known) if found and len(known) == len(found) else None
    together = _judge(text, weighted, paper, more=stated[0].more)
    return Claim(together, [find(outcomes, comparison) for comparison in stated])


def _stated() -> dict[str, list[Comparison]]:
    both, bases, half = tuple(DATASETS), ("Att", "AttPtr"), 0.5

    def pairs(one: str, other: str, labeled: float = 1.0, *, alike: bool = False) -> list[Comparison]:
        sides = [(Side(base + one, labeled), Side(base + other, labeled)) for base in bases]
        return [Comparison(dataset, *pair, alike=alike) for dataset in both for pair in sides]

    last = ("", "+Dual+LF")
    return {
        "Dual learning beats supervised training": pairs("+Dual", "") + pairs("+Dual+LF+Q", "", half),
        "Dual learning beats pseudo-labelling": pairs("+Dual+LF", "+Pseudo(LF)")
        + pairs("+Dual+LF+Q", "+Pseudo(LF+Q)", half),
        "Synthesised forms help dual learning": pairs("+Dual+LF", "+Dual", alike=True),
        "Queries and forms without labels help dual learning": pairs("+Dual+LF+Q", "+Dual", half, alike=True),
        "Copying helps on ATIS": [Comparison("ATIS", Side("AttPtr" + m), Side("Att" + m)) for m in last],
        "Copying does not help on OVERNIGHT": [
            Comparison("OVERNIGHT", Side("AttPtr" + m), Side("Att" + m), more=False) for m in last
        ],
        "A hard check judges forms better than a language model": pairs(
            "+Dual+LF+Q", "+Dual+LF+Q" + LM_VALIDITY, half, alike=True
        ),
        "With 30 % of the labels, dual learning wins even without unlabeled data": [
            Comparison("ATIS", Side("AttPtr+Dual+LF+Q", 0.3, 0.0), Side("AttPtr", 0.3))
        ],
    }


def find(outcomes: Sequence[Outcome], comparison: Comparison) -> Finding:
    """Our difference with its interval."""
    return _judge(comparison.text, _terms(outcomes, comparison), comparison.paper, more=comparison.more)


def _terms(outcomes: Sequence[Outcome], comparison: Comparison) -> list[Term]:
    """Domain by domain; nothing unless all domains of the dataset have been run."""
    domains, sides, terms = DATASETS[comparison.dataset], (comparison.one, comparison.other), []
    if comparison.alike:
        amounts = {"labeled": comparison.one.labeled, "unlabeled": comparison.one.unlabeled}
        runs = alike(outcomes, [side.method for side in sides], domains, **amounts)
    else:
        runs = chosen(outcomes)
    for domain in domains:
        one, other = (
            select(runs, side.method, domain, labeled=side.labeled, unlabeled=side.unlabeled) for side in sides
        )
        if not (one and other):
            return []
        terms.append(Term(domain, 1 / len(domains), one, other))
    return terms


def _judge(text: str, terms: list[Term], paper: float | None, *, more: bool) -> Finding:
    if not terms:
        return Finding(text, Verdict.NOT_RUN, paper)
    difference = sum(term.weight * (_mean(term.one) - _mean(term.other)) for term in terms)
    paired = all(_comparable([run for t in terms if t.domain == d for run in t.one + t.other]) for d in _domains(terms))
    low, high = _paired_interval(terms) if paired else _loose_interval(terms, difference)
    good = low > 0 if more else low <= 0
    notes = ["ahead, but within the noise"] if more and not good and difference > 0 else []
    notes += [] if paired else ["interval of independent samples"]
    verdict = (Verdict.SUPPORTED if more else Verdict.NOT_REFUTED) if good else Verdict.NOT_SUPPORTED
    return Finding(text, verdict, paper, difference, (low, high), "; ".join(notes))


def _domains(terms: Sequence[Term]) -> list[str]:
    return list(dict.fromkeys(term.domain for term in terms))


def _mean(runs: Sequence[Outcome]) -> float:
    return statistics.mean(run.test for run in runs)


def _comparable(runs: Sequence[Outcome]) -> bool:
    """Whether all of them tell example by example what came out right, on the same examples."""
    return len({len(run.correct) for run in runs}) == 1 and bool(runs[0].correct)


def _paired_interval(terms: Sequence[Term], *, seed: int = 0) -> tuple[float, float]:
    """95 % of the differences when the examples of every domain are drawn anew, the same for all runs on it."""
    rng = np.random.default_rng(seed)
    total = np.zeros(RESAMPLES)
    for domain in _domains(terms):
        of_domain = [term for term in terms if term.domain == domain]
        gain = np.sum([term.weight * (_by_example(term.one) - _by_example(term.other)) for term in of_domain], axis=0)
        total += gain[rng.integers(0, len(gain), (RESAMPLES, len(gain)))].mean(axis=1)
    low, high = np.quantile(100 * total, [0.025, 0.975])
    return float(low), float(high)


def _by_example(runs: Sequence[Outcome]) -> np.ndarray:
    """How often every example came out right, over the seeds."""
    return np.array([[character == "1" for character in run.correct] for run in runs], dtype=float).mean(axis=0)


def _loose_interval(terms: Sequence[Term], difference: float) -> tuple[float, float]:
    """The same from the scores alone, as if every side had been tested on examples of its own."""
    variance = 0.0
    for term in terms:
        for side in (term.one, term.other):
            share = _mean(side) / 100
            variance += term.weight**2 * share * (1 - share) / max(1, side[0].examples)
    reach = 1.96 * 100 * math.sqrt(variance)
    return difference - reach, difference + reach


def _largest_gain(outcomes: Sequence[Outcome]) -> Finding:
    """Where on the curve of Figure 3 the gain is largest. There must be points below, inside and above the range."""
    text = "The gain over supervised training is largest with 20 to 40 % of the labels"
    gains = {}
    for labeled in sorted({outcome.labeled for outcome in outcomes} - {1.0}):
        one, other = (select(outcomes, m, "atis", labeled=labeled) for m in ("AttPtr+Dual+LF+Q", "AttPtr"))
        if one and other:
            gains[labeled] = _mean(one) - _mean(other)
    low, high = RATIOS
    inside = [labeled for labeled in gains if low <= labeled <= high]
    if not inside or min(gains) >= low or max(gains) <= high:
        return Finding(text, Verdict.NOT_RUN)
    best = max(gains, key=lambda labeled: gains[labeled])
    verdict = Verdict.SUPPORTED if best in inside and gains[best] > 0 else Verdict.NOT_SUPPORTED
    told = ", ".join(f"{100 * labeled:.0f} %: {gain:+.1f}" for labeled, gain in gains.items())
    note = f"largest with {100 * best:.0f} %; {told}"
    return Finding(text, verdict, difference=gains[best], note=note)
