"""The paper's claims, and whether our numbers support them.

A claim is a list of comparisons: on this dataset, this method scores more than (or not more than) that one. Both sides
were trained alike: with the same seeds, and the same settings wherever both have them. Our difference is the mean over
seeds; its interval comes from resampling the test examples, both methods on the same ones (paired bootstrap). Older
results have no verdict per example; these are taken as independent samples, which makes it wider. A comparison is
supported when the whole interval says so, a claim when that of the mean of its comparisons does; "not more" is at best
not refuted. The interval knows the chance in test examples; the chance in training shows in the spread over seeds.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from dualparse.lab.report.paper import DATASETS, LM_VALIDITY, paper_score
from dualparse.lab.report.results import Outcome, Side, alike

RESAMPLES = 2000
RATIOS = (0.2, 0.4)  # where the paper sees the largest gain


class Verdict(StrEnum):
    """What our numbers say."""

    SUPPORTED = "supported"
    NOT_REFUTED = "not refuted"  # all that can be said for "not more"
    NOT_SUPPORTED = "not supported"
    NOT_RUN = "not run yet"


@dataclass(frozen=True)
class Comparison:
    """On a dataset, `one` scores more than `other`; with `more` off, not more."""

    dataset: str
    one: Side
    other: Side
    more: bool = True

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

    @property
    def paired(self) -> bool:
        """Whether all runs tell example by example what came out right, on the same examples."""
        runs = self.one + self.other
        return len({len(run.correct) for run in runs}) == 1 and bool(runs[0].correct)


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

    @property
    def borne_out(self) -> int:
        """Comparisons that say by themselves what the claim says."""
        return sum(finding.verdict in (Verdict.SUPPORTED, Verdict.NOT_REFUTED) for finding in self.findings)


def claims(outcomes: Sequence[Outcome]) -> list[Claim]:
    """Every claim, with what our results say about it; `outcomes` are all there are."""
    gain = _largest_gain(outcomes)
    return [*(_claim(outcomes, text, stated) for text, stated in _stated().items()), Claim(gain, [gain])]


def _claim(outcomes: Sequence[Outcome], text: str, stated: list[Comparison]) -> Claim:
    """The claim stands on the mean of its comparisons, as far as they have been run."""
    terms = {comparison: _terms(outcomes, comparison) for comparison in stated}
    run = [comparison for comparison in stated if terms[comparison]]
    weighted = [Term(t.domain, t.weight / len(run), t.one, t.other) for comparison in run for t in terms[comparison]]
    known = [paper for comparison in run if (paper := comparison.paper) is not None]
    paper = statistics.mean(known) if run and len(known) == len(run) else None
    together = _judge(text, weighted, paper, more=stated[0].more)
    return Claim(together, [_judge(c.text, terms[c], c.paper, more=c.more) for c in stated])


def _stated() -> dict[str, list[Comparison]]:
    both, bases, half = tuple(DATASETS), ("Att", "AttPtr"), 0.5

    def pairs(one: str, other: str, labeled: float = 1.0) -> list[Comparison]:
        sides = [(Side(base + one, labeled), Side(base + other, labeled)) for base in bases]
        return [Comparison(dataset, *pair) for dataset in both for pair in sides]

    last = ("", "+Dual+LF")
    return {
        "Dual learning beats supervised training": pairs("+Dual", "") + pairs("+Dual+LF+Q", "", half),
        "Dual learning beats pseudo-labelling": pairs("+Dual+LF", "+Pseudo(LF)")
        + pairs("+Dual+LF+Q", "+Pseudo(LF+Q)", half),
        "Synthesised forms help dual learning": pairs("+Dual+LF", "+Dual"),
        "Queries and forms without labels help dual learning": pairs("+Dual+LF+Q", "+Dual", half),
        "Copying helps on ATIS": [Comparison("ATIS", Side("AttPtr" + m), Side("Att" + m)) for m in last],
        "Copying does not help on OVERNIGHT": [
            Comparison("OVERNIGHT", Side("AttPtr" + m), Side("Att" + m), more=False) for m in last
        ],
        "A hard check judges forms better than a language model": pairs("+Dual+LF+Q", "+Dual+LF+Q" + LM_VALIDITY, half),
        "With 30 % of the labels, dual learning wins even without unlabeled data": [
            Comparison("ATIS", Side("AttPtr+Dual+LF+Q", 0.3, 0.0), Side("AttPtr", 0.3))
        ],
    }


def find(outcomes: Sequence[Outcome], comparison: Comparison) -> Finding:
    """Our difference with its interval."""
    return _judge(comparison.text, _terms(outcomes, comparison), comparison.paper, more=comparison.more)


def _terms(outcomes: Sequence[Outcome], comparison: Comparison) -> list[Term]:
    """Domain by domain; nothing unless all domains of the dataset have been run."""
    domains, one, other = DATASETS[comparison.dataset], comparison.one, comparison.other
    runs = alike(outcomes, (one, other), domains)
    return [Term(d, 1 / len(domains), one.of(runs, d), other.of(runs, d)) for d in domains if runs]


def _judge(text: str, terms: list[Term], paper: float | None, *, more: bool) -> Finding:
    if not terms:
        return Finding(text, Verdict.NOT_RUN, paper)
    difference = sum(term.weight * (_mean(term.one) - _mean(term.other)) for term in terms)
    low, high = _interval(terms)
    good = low > 0 if more else low <= 0
    notes = ["ahead, but within the noise"] if more and not good and difference > 0 else []
    loose = sum(not term.paired for term in terms)
    if loose:
        notes.append(f"interval {'partly ' if loose < len(terms) else ''}of independent samples")
    verdict = (Verdict.SUPPORTED if more else Verdict.NOT_REFUTED) if good else Verdict.NOT_SUPPORTED
    return Finding(text, verdict, paper, difference, (low, high), "; ".join(notes))


def _mean(runs: Sequence[Outcome]) -> float:
    return statistics.mean(run.test for run in runs)


def _interval(terms: Sequence[Term], *, seed: int = 0) -> tuple[float, float]:
    """95 % of the differences when the examples of every domain are drawn anew, the same for all runs on it. Where a
    term has scores alone, its sides are drawn as if each had been tested on examples of its own."""
    rng = np.random.default_rng(seed)
    total = np.zeros(RESAMPLES)
    tests: dict[tuple[str, int], list[Term]] = {}
    for term in terms:
        if term.paired:
            tests.setdefault((term.domain, len(term.one[0].correct)), []).append(term)
        else:
            total += term.weight * rng.normal(_mean(term.one) - _mean(term.other), _loose_error(term), RESAMPLES)
    for (_, size), paired in tests.items():
        gain = np.sum([term.weight * (_by_example(term.one) - _by_example(term.other)) for term in paired], axis=0)
        total += 100 * gain[rng.integers(0, size, (RESAMPLES, size))].mean(axis=1)
    low, high = np.quantile(total, [0.025, 0.975])
    return float(low), float(high)


def _by_example(runs: Sequence[Outcome]) -> np.ndarray:
    """How often every example came out right, over the seeds."""
    return np.array([[character == "1" for character in run.correct] for run in runs], dtype=float).mean(axis=0)


def _loose_error(term: Term) -> float:
    """Standard error of a difference between two sides that share no examples, in points."""
    shares = [(_mean(side) / 100, max(1, side[0].examples)) for side in (term.one, term.other)]
    return 100 * math.sqrt(sum(share * (1 - share) / size for share, size in shares))


def _largest_gain(outcomes: Sequence[Outcome]) -> Finding:
    """Where on the curve of Figure 3 the gain is largest. There must be points below, inside and above the range."""
    text = "The gain over supervised training is largest with 20 to 40 % of the labels"
    gains = {}
    for labeled in sorted({outcome.labeled for outcome in outcomes} - {1.0}):
        terms = _terms(outcomes, Comparison("ATIS", Side("AttPtr+Dual+LF+Q", labeled), Side("AttPtr", labeled)))
        if terms:
            gains[labeled] = _mean(terms[0].one) - _mean(terms[0].other)
    low, high = RATIOS
    inside = [labeled for labeled in gains if low <= labeled <= high]
    if not inside or min(gains) >= low or max(gains) <= high:
        return Finding(text, Verdict.NOT_RUN)
    best = max(gains, key=lambda labeled: gains[labeled])
    verdict = Verdict.SUPPORTED if best in inside and gains[best] > 0 else Verdict.NOT_SUPPORTED
    told = ", ".join(f"{100 * labeled:.0f} %: {gain:+.1f}" for labeled, gain in gains.items())
    note = f"largest with {100 * best:.0f} %; {told}"
    return Finding(text, verdict, difference=gains[best], note=note)
