"""Grading: each question is asked, and the answer compared with the right one.

In: an asker, questions, what their answers should be. Out: a `Graded` for each as it is answered, and `Scores` of any
number of them. A reply that offers readings to choose from is no answer; whether the right one was offered is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from time import perf_counter
from typing import Any

from dualparse.asking.reply import AMBIGUOUS, ANSWERED, ERROR, REFUSED, Asker, Reply
from dualparse.domains.results import ROWS
from dualparse.grading.questions import Question
from dualparse.grading.rows import MORE_COLUMNS, Match, match
from dualparse.grading.wanted import Answers, Wanted

RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True)
class Graded:
    """A question with its reply.

    outcome  "right" or "wrong" of an answer; else the status of the reply: "ambiguous", "refused", "error"
    wider    whether a right answer shows more columns than asked for
    offered  whether the right reading was among those offered, of an ambiguous reply
    """

    question: Question
    wanted: Wanted
    reply: Reply
    outcome: str
    seconds: float
    wider: bool = False
    offered: bool = False

    @property
    def good(self) -> bool:
        """Whether nothing else was to be done: a right answer, or a refusal where there is none."""
        return self.outcome == (RIGHT if self.question.answerable else REFUSED)

    def as_json(self) -> dict[str, Any]:
        """What is stored of it; rows are left out but for their number."""
        return {
            "question": self.question.text,
            "kind": self.question.kind,
            "line": self.question.line,
            "outcome": self.outcome,
            "wider": self.wider,
            "offered": self.offered,
            "form": self.reply.form,
            "probability": round(self.reply.probability, 4),
            "reason": self.reply.reason,
            "rows": len(self.reply.rows),
            "wanted_rows": len(self.wanted.rows),
            "seconds": round(self.seconds, 4),
        }


def grade(asker: Asker, questions: Iterable[Question], wanted: Answers) -> Iterator[Graded]:
    """Ask one question after the other."""
    for question in questions:
        right = wanted(question)
        start = perf_counter()
        reply = asker.ask(question.text)
        seconds = perf_counter() - start
        found = _match(reply, right) if question.answerable else Match.NO
        outcome = reply.status if reply.status != ANSWERED else WRONG if found is Match.NO else RIGHT
        offered = question.answerable and reply.status == AMBIGUOUS and _offers(asker, reply, right)
        wider = outcome == RIGHT and found is Match.WIDER
        yield Graded(question, right, reply, outcome, seconds, wider, offered)


def is_right(reply: Reply, wanted: Wanted) -> bool:
    """Whether the rows of a reply are the wanted ones."""
    return _match(reply, wanted) is not Match.NO


def _match(reply: Reply, wanted: Wanted) -> Match:
    more = MORE_COLUMNS if reply.kind == ROWS else 0
    return match(reply.rows, wanted.rows, ordered=wanted.ordered, more=more)


def _offers(asker: Asker, reply: Reply, wanted: Wanted) -> bool:
    readings = (asker.run(choice.form, reply.question) for choice in reply.choices)
    return any(each.answered and is_right(each, wanted) for each in readings)


@dataclass(frozen=True)
class Scores:
    """How many of a set of questions came out how; `wrong` counts answers to what cannot be answered, too."""

    questions: int
    answerable: int
    right: int
    wrong: int
    wider: int
    ambiguous: int
    offered: int
    error: int
    refused: int
    refused_rightly: int

    @property
    def unanswerable(self) -> int:
        """How many questions have no answer."""
        return self.questions - self.answerable

    @property
    def given(self) -> int:
        """How many answers were given."""
        return self.right + self.wrong

    def shares(self) -> dict[str, dict[str, float | int | None]]:
        """The three figures, in per cent: right among the answerable, right among the given, refused rightly."""
        return {
            "right_of_answerable": _share(self.right, self.answerable),
            "right_of_given": _share(self.right, self.given),
            "refused_of_unanswerable": _share(self.refused_rightly, self.unanswerable),
        }

    def as_json(self) -> dict[str, Any]:
        """Counts and shares."""
        return {**asdict(self), "given": self.given, "unanswerable": self.unanswerable, **self.shares()}


def scores_of(graded: Sequence[Graded]) -> Scores:
    """Count a set of graded questions."""

    def count(outcome: str) -> int:
        return sum(each.outcome == outcome for each in graded)

    return Scores(
        questions=len(graded),
        answerable=sum(each.question.answerable for each in graded),
        right=count(RIGHT),
        wrong=count(WRONG),
        wider=sum(each.wider for each in graded),
        ambiguous=count(AMBIGUOUS),
        offered=sum(each.offered for each in graded),
        error=count(ERROR),
        refused=count(REFUSED),
        refused_rightly=sum(each.good and not each.question.answerable for each in graded),
    )


def by_kind(graded: Sequence[Graded]) -> dict[str, Scores]:
    """The scores of each kind of question, in the order the kinds first come."""
    kinds = dict.fromkeys(each.question.kind for each in graded)
    return {kind: scores_of([each for each in graded if each.question.kind == kind]) for kind in kinds}


def _share(part: int, whole: int) -> dict[str, float | int | None]:
    """A share in per cent with the bounds within which it is known (Wilson, 95 %); None of nothing."""
    if not whole:
        return {"of": 0, "percent": None, "low": None, "high": None}
    z, share = 1.96, part / whole
    middle = (share + z * z / (2 * whole)) / (1 + z * z / whole)
    width = z * sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole)) / (1 + z * z / whole)
    low, high = max(0.0, middle - width), min(1.0, middle + width)
    return {"of": whole, "percent": round(100 * share, 1), "low": round(100 * low, 1), "high": round(100 * high, 1)}
