"""The stage `reader`: of the utterances that the matcher finds nearest to a question, the second reader tells the one
that is meant.

In: the labeled pairs of a domain, or of all domains of a family, and the trained matcher. Out: a `Task` for the loop.
What the layers below make of every text is worked out once, as for the matcher.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from dualparse.evaluate import percent
from dualparse.matching.index import open_index, templates_of
from dualparse.matching.learn import ReaderSettings, beside
from dualparse.matching.matcher import READ, Matcher
from dualparse.matching.reader import SecondReader, open_reader
from dualparse.matching.upper import States
from dualparse.training.loop import Task
from dualparse.training.matcher import counted, epochs, known_pairs, mean_loss
from dualparse.training.material import Relative
from dualparse.training.step import Adam, Stepper

STAGE = "reader"
TOLD = ReaderSettings(batch_size=16, others=7, nearest=READ, learning_rate=5e-5)
OPTIMIZER = Adam(TOLD.learning_rate, clip=TOLD.clip)


@dataclass(frozen=True)
class Lesson:
    """What one domain has to teach, and what it is asked about: the states of utterances and of questions, which
    utterance each question means [Q], and which are near it [Q, n]; of dev also how near the matcher finds them."""

    utterances: States
    questions: States
    meant: Tensor
    near: Tensor
    dev: States
    dev_meant: Tensor
    dev_near: Tensor
    dev_scores: Tensor


def reader_task(
    taught: Sequence[Relative], matcher: Matcher, *, encoder: str, seed: int, device: torch.device
) -> tuple[Task, str]:
    """Train a second reader behind a matcher that stays as it is; also says how much there is to learn from."""
    reader = open_reader(matcher.to(device), encoder).to(device).requires_grad_(True)
    lessons = [_lesson(reader, matcher, relative) for relative in taught]

    def loss(number: int, rows: Tensor, shown: Tensor) -> Tensor:
        one = lessons[number]
        scores = reader.read_all(one.questions.take(rows), one.utterances, shown)
        return F.cross_entropy(scores, torch.zeros(len(rows), dtype=torch.long, device=scores.device))

    def others(number: int, rows: Tensor, noise: torch.Generator) -> tuple[Tensor, ...]:
        return (beside(lessons[number].meant[rows], lessons[number].near[rows], TOLD.others, noise),)

    meant = [one.meant for one in lessons]
    stepper = Stepper({STAGE: reader}, counted(loss), 2, OPTIMIZER)
    epoch = epochs(stepper, meant, others, stage=STAGE, size=TOLD.batch_size, seed=seed)
    pairs = sum(len(one.meant) for one in lessons)
    note = f"{STAGE}: {pairs} pairs, each told from {TOLD.others} of the {TOLD.nearest} utterances nearest to it"
    return Task(STAGE, stepper, epoch, mean_loss, lambda: _scores(reader, lessons)), note


def _lesson(reader: SecondReader, matcher: Matcher, relative: Relative) -> Lesson:
    """Of all the grammar says, what is near a question; pairs whose form it cannot say are left out."""
    index = open_index(templates_of(relative.domain), matcher)
    known, dev = (known_pairs(index, some, TOLD.nearest) for some in (relative.labeled, relative.dev))
    wanted = torch.cat([known.meant, known.near.flatten(), dev.meant, dev.near.flatten()]).unique()
    place = torch.zeros(len(index), dtype=torch.long)
    place[wanted] = torch.arange(len(wanted))
    return Lesson(
        reader.states([index.templates.items[number].text for number in wanted.tolist()]),
        reader.states(known.questions),
        place[known.meant],
        place[known.near],
        reader.states(dev.questions),
        place[dev.meant],
        place[dev.near],
        index.steepness * dev.cosines,
    )


@torch.no_grad()
def _scores(reader: SecondReader, lessons: Sequence[Lesson], *, at_once: int = 8) -> dict[str, float]:
    """Share of the dev questions whose first utterance, by matcher and reader, is the one they mean."""
    right: list[bool] = []
    for one in lessons:
        for rows in torch.arange(len(one.dev)).split(at_once) if len(one.dev) else ():
            near = one.dev_near[rows]
            read = reader.read_all(one.dev.take(rows), one.utterances, near).cpu()
            best = near.gather(1, (one.dev_scores[rows] + read).argmax(1, keepdim=True))
            right += (best.squeeze(1) == one.dev_meant[rows]).tolist()
    accuracy = percent(right)
    return {"score": accuracy, "accuracy": accuracy}
