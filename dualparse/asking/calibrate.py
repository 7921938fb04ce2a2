"""Fits what a run says of its own answers on dev, and measures on any split how well that holds.

In: a parser of a trained run. Out: a `Trust` for `confidence.json`; a `Calibration`: the reliability table, its
expected calibration error, the share of questions that get an answer at the cut, and how many are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from dualparse.asking.confidence import Bin, at_cut, calibration_error, error_by_chance, held_out, reliability
from dualparse.asking.strangers import strangers
from dualparse.asking.trust import PULL, Trust, learn_trust
from dualparse.asking.weighing import Scales, Weighed
from dualparse.config import LEARNED_FROM_DEV, Recipe
from dualparse.data.examples import Example, load_examples
from dualparse.domains.domain import Domain
from dualparse.domains.text import Reading
from dualparse.errors import InputError
from dualparse.lines import numbered_lines

AT_ONCE = 128  # questions that are searched together


class Weighs(Protocol):
    """What can be asked how likely the readings of a question are right: a parser of a trained run."""

    domain: Domain
    recipe: Recipe

    @property
    def scales(self) -> Scales: ...

    def read(self, question: str) -> Reading: ...

    def weigh(self, readings: Sequence[Reading]) -> list[Weighed]: ...


@dataclass(frozen=True)
class Calibration:
    """How well the probabilities of a run hold on a split.

    error, by_chance the expected calibration error, and what it would be if every probability were exact
    answered, right  share of the questions whose probability reaches the cut, and of right ones among these
    refused, lost    share of the questions that are taken for something else; the same of those whose likeliest
                     reading is right
    strangers        kind of questions that cannot be answered -> how many there are, and the share that is refused
    """

    split: str
    examples: int
    accuracy: float
    error: float
    by_chance: float
    wanted: float
    cut: float
    answered: float
    right: float
    refused: float
    lost: float
    bins: tuple[Bin, ...]
    strangers: dict[str, tuple[int, float]]

    def told(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def weighed(parser: Weighs, questions: Sequence[str]) -> list[Weighed]:
    """Many questions, some at a time."""
    found: list[Weighed] = []
    for start in range(0, len(questions), AT_ONCE):
        found += parser.weigh([parser.read(question) for question in questions[start : start + AT_ONCE]])
    return found


def judged(parser: Weighs, examples: Sequence[Example]) -> tuple[list[Weighed], list[float]]:
    """What labeled questions may mean, and whether the likeliest option is right by the metric of the domain."""
    found = weighed(parser, [" ".join(example.query or ()) for example in examples])
    domain = parser.domain
    right = [
        float(domain.metric(" ".join(example.lf or ()), each.options[0].form, domain)) if each.options else 0.0
        for example, each in zip(examples, found, strict=True)
    ]
    return found, right


def examples_of(parser: Weighs, split: str) -> list[Example]:
    """The labeled questions of a split; dev is none where it was learned from."""
    if split == "dev" and parser.recipe.data.everything:
        raise InputError(LEARNED_FROM_DEV)
    splits = load_examples(parser.domain, dev_seed=parser.recipe.data.split_seed)
    return list(getattr(splits, split))


def calibrate(parser: Weighs, *, precision: float) -> Trust:
    """Fit on dev. A run that has learned from dev keeps what it has."""
    if parser.recipe.data.everything:
        return parser.scales.trust
    dev = examples_of(parser, "dev")
    found, right = judged(parser, dev)
    questions = [example.query for example in dev if example.query]
    others = strangers(questions, parser.domain.lexicon, parser.scales.familiar)
    away = weighed(parser, others)
    return learn_trust([each.evidence for each in found], right, [each.evidence for each in away], precision=precision)


def measure(parser: Weighs, split: str, *, away: Sequence[tuple[str, str]] = ()) -> Calibration:
    """How well the probabilities hold; on dev those of each question by what was fitted on the others. `away` are
    questions that cannot be answered, with their kind."""
    trust = parser.scales.trust
    examples = examples_of(parser, split)
    if not examples:
        raise InputError(f"the domain {parser.domain.name!r} has no {split} examples")
    found, right = judged(parser, examples)
    told = [each.probability for each in found]
    if split == "dev" and trust.fitted:
        told = held_out([each.evidence for each in found], right, pull=PULL)
    refused = [each.topic < trust.topic_cut for each in found]
    return summed_up(told, right, refused, trust, split=split, strangers=_refused(parser, away))


def summed_up(
    told: Sequence[float],
    right: Sequence[float],
    refused: Sequence[bool],
    trust: Trust,
    *,
    split: str,
    strangers: dict[str, tuple[int, float]],
    answerable: Sequence[bool] | None = None,
) -> Calibration:
    """The figures of some questions, each with its probability, whether its likeliest reading is right, and whether it
    is taken for something else; all can be answered where `answerable` does not say otherwise."""
    given = [0.0 if gone else each for each, gone in zip(told, refused, strict=True)]
    own = [gone for gone, one in zip(refused, answerable or [True] * len(refused), strict=True) if one]
    cut, bins = at_cut(given, right, trust.cut), reliability(told, right)
    return Calibration(
        split=split,
        examples=len(told),
        accuracy=sum(right) / len(right),
        error=calibration_error(bins),
        by_chance=error_by_chance(told),
        wanted=trust.wanted,
        cut=trust.cut,
        answered=cut.coverage,
        right=cut.precision,
        refused=sum(own) / max(len(own), 1),
        lost=sum(one * gone for one, gone in zip(right, refused, strict=True)) / max(sum(right), 1.0),
        bins=tuple(bins),
        strangers=strangers,
    )


def _refused(parser: Weighs, away: Sequence[tuple[str, str]]) -> dict[str, tuple[int, float]]:
    found = weighed(parser, [question for _, question in away])
    cut, kinds = parser.scales.trust.topic_cut, dict.fromkeys(kind for kind, _ in away)
    told: dict[str, tuple[int, float]] = {}
    for kind in (*kinds, *(["all"] if kinds else [])):
        gone = [
            each.topic < cut or not (each.options and each.options[0].valid)
            for each, (own, _) in zip(found, away, strict=True)
            if kind in (own, "all")
        ]
        told[kind] = len(gone), sum(gone) / len(gone)
    return told


def read_strangers(path: Path) -> list[tuple[str, str]]:
    """Questions that cannot be answered, from lines `kind<TAB>question`; `#` begins a comment."""
    found: list[tuple[str, str]] = []
    for number, line in numbered_lines(path):
        if not line.strip() or line.startswith("#"):
            continue
        kind, tab, question = line.partition("\t")
        if not tab or not kind.strip() or not question.strip():
            raise InputError("expected kind<TAB>question", path=path, line=number)
        found.append((kind.strip(), question.strip()))
    return found
