"""How sure answers about a connected folder may be: fitted and measured on questions with the rows they should give.

In: an asker, graded questions, and questions that cannot be answered. Out: a `Trust` for the `confidence.json` of the
folder; a `Calibration`, as of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dualparse.asking.asker import FolderAsker
from dualparse.asking.calibrate import Calibration, summed_up
from dualparse.asking.confidence import held_out
from dualparse.asking.familiar import Familiar
from dualparse.asking.grounds import default_trust, topic_of
from dualparse.asking.question import take_apart
from dualparse.asking.reply import REFUSED, Reply
from dualparse.asking.strangers import strangers
from dualparse.asking.trust import FEW, PULL, Trust, learn_trust
from dualparse.domains.lexicon import Lexicon
from dualparse.grading.grade import is_right
from dualparse.grading.questions import Question
from dualparse.grading.wanted import Answers

NOWHERE = {
    "spoken": 0.0,
    "strange": 3.0,
    "strange_share": 1.0,
    "target": 0.0,
    "explained": 0.0,
    "score": -2.0,
    "things": 2.0,
    "unexplained": 4.0,
}


@dataclass(frozen=True)
class Weighed:
    """A question with what was known of its first reading, and whether the answer by that is right."""

    question: Question
    evidence: dict[str, float]
    right: float


def weigh(asker: FolderAsker, questions: Sequence[Question], wanted: Answers) -> list[Weighed]:
    """Ask each question, whatever its probability."""
    found = []
    for question in questions:
        judged, reply = asker.judged(question.text)
        right = question.answerable and _right(reply, question, wanted)
        found.append(Weighed(question, judged.evidence if judged else NOWHERE, float(right)))
    return found


def _right(reply: Reply, question: Question, wanted: Answers) -> bool:
    return reply.answered and is_right(reply, wanted(question))


def away(asker: FolderAsker, texts: Sequence[str]) -> list[dict[str, float]]:
    """What is known of texts that cannot be answered."""
    return [asker.grounds(text) or NOWHERE for text in texts]


def spoiled(questions: Sequence[Question]) -> list[str]:
    """Texts of no domain, and the questions with a word that none of them has."""
    words = [[word.text for word in take_apart(each.text).words] for each in questions if each.answerable]
    return strangers(words, Lexicon(), Familiar(words, Lexicon()))


def learn(asker: FolderAsker, found: Sequence[Weighed], *, precision: float, default: Trust | None = None) -> Trust:
    """What questions tell of the answers about a folder; those that cannot be answered are texts that cannot be."""
    own = [each for each in found if each.question.answerable]
    others = [each.evidence for each in found if not each.question.answerable]
    others += away(asker, spoiled([each.question for each in found]))
    return learn_trust(
        [each.evidence for each in own],
        [each.right for each in own],
        others,
        precision=precision,
        default=default or default_trust(),
    )


def measure(
    asker: FolderAsker,
    found: Sequence[Weighed],
    *,
    split: str,
    fitted: bool = False,
    away: Sequence[tuple[str, str]] = (),
) -> Calibration:
    """How well the probabilities hold; `fitted` on these very questions, they are those of what the others tell."""
    trust = asker.trust
    evidence, right = [each.evidence for each in found], [each.right for each in found]
    told = [trust.right.of(each) for each in evidence]
    if fitted and len(found) >= FEW:
        told = held_out(evidence, right, default=default_trust().right, pull=PULL)
    refused = [topic_of(each, trust.topic) < trust.topic_cut for each in evidence]
    answerable, others = [each.question.answerable for each in found], _refused(asker, found, refused, away)
    return summed_up(told, right, refused, trust, split=split, strangers=others, answerable=answerable)


def _refused(
    asker: FolderAsker, found: Sequence[Weighed], refused: Sequence[bool], away: Sequence[tuple[str, str]]
) -> dict[str, tuple[int, float]]:
    kinds: dict[str, list[bool]] = {}
    for each, gone in zip(found, refused, strict=True):
        if not each.question.answerable:
            kinds.setdefault("of the file", []).append(gone)
    for kind, text in away:
        kinds.setdefault(kind, []).append(asker.ask(text).status == REFUSED)
    if away:
        kinds["all"] = [gone for kind, told in kinds.items() if kind != "of the file" for gone in told]
    return {kind: (len(told), sum(told) / len(told)) for kind, told in kinds.items()}
