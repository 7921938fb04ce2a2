"""The stage `matcher`: each question of a labeled pair should be nearest to the utterance of its form.

In: the labeled pairs of a domain, or of all domains of a family. Out: a `Task` for the loop. It begins with the encoder
and the adapter that ships with the package; only the last layers learn, above states that are worked out once, so that
two cores do it in minutes. A question is told from utterances that were near before it learned and from some at random.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from dualparse.data.examples import Example
from dualparse.evaluate import percent
from dualparse.matching.adapter import open_matcher, shipped_for
from dualparse.matching.index import Index, open_index, templates_of
from dualparse.matching.learn import Settings, shown_to
from dualparse.matching.upper import States, Upper
from dualparse.training.loop import Task, epoch_seed
from dualparse.training.material import Relative
from dualparse.training.step import Adam, Loss, Stepper

STAGE = "matcher"
UPDATES = 25  # of an epoch at the least: few pairs are gone through several times
POOL = 2_000  # utterances of a large grammar that are told apart at the least; what is near a question is always there
TOLD = Settings(batch_size=32, others=96, learning_rate=1e-4)
OPTIMIZER = Adam(TOLD.learning_rate, clip=TOLD.clip)


@dataclass(frozen=True)
class Lesson:
    """What one domain has to teach, and what it is asked about: the states of questions, of utterances, which utterance
    each question means [Q], and which are near it [Q, n]."""

    utterances: States
    questions: States
    meant: Tensor
    near: Tensor
    dev: States
    dev_meant: Tensor
    dev_among: Tensor  # the utterances that dev questions are compared with


def matcher_task(
    taught: Sequence[Relative], *, encoder: str, layers: int, seed: int, device: torch.device
) -> tuple[Task, str]:
    """Train the last layers of a matcher; also says how much there is to learn from."""
    matcher = open_matcher(encoder).to(device)
    upper = Upper(matcher, layers, adapter=shipped_for(encoder))
    lessons = [_lesson(upper, relative, seed) for relative in taught]

    def loss(number: int, rows: Tensor, shown: Tensor, place: Tensor) -> Tensor:
        one = lessons[number]
        vectors = upper(one.questions.take(rows).beside(one.utterances.take(shown)))
        scores = upper.scale.exp() * vectors[: len(rows)] @ vectors[len(rows) :].T
        return F.cross_entropy(scores, place.to(scores.device))

    def others(number: int, rows: Tensor, noise: torch.Generator) -> tuple[Tensor, ...]:
        one = lessons[number]
        return shown_to(one.meant[rows], len(one.utterances), one.near[rows], TOLD, noise)

    meant = [one.meant for one in lessons]
    stepper = Stepper({STAGE: upper}, counted(loss), 2, OPTIMIZER)
    epoch = epochs(stepper, meant, others, stage=STAGE, size=TOLD.batch_size, seed=seed)
    pairs, utterances = sum(map(len, meant)), sum(len(one.utterances) for one in lessons)
    note = f"{STAGE}: {pairs} pairs, {utterances} utterances to tell apart, {layers} layers learn"
    return Task(STAGE, stepper, epoch, mean_loss, lambda: _scores(upper, lessons)), note


def counted(loss: Callable[..., Tensor]) -> Loss:
    """A loss of questions by their rows, with the figures that `mean_loss` is made of."""

    def figured(number: int, rows: Tensor, *others: Tensor) -> tuple[Tensor, Tensor]:
        value = loss(number, rows, *others)
        return value, torch.stack([value.detach() * len(rows), value.new_tensor(len(rows))])

    return figured


def mean_loss(figures: list[float]) -> dict[str, float]:
    """Of an epoch."""
    return {"loss": round(figures[0] / max(figures[1], 1.0), 5)}


def epochs(
    stepper: Stepper,
    meant: Sequence[Tensor],
    others: Callable[[int, Tensor, torch.Generator], tuple[Tensor, ...]],
    *,
    stage: str,
    size: int,
    seed: int,
) -> Callable[[int], Iterator[tuple[int, int]]]:
    """What goes through all pairs of some lessons once: each batch with the `others` its questions are told from."""
    noise = torch.Generator()

    def epoch(number: int) -> Iterator[tuple[int, int]]:
        noise.manual_seed(epoch_seed(seed, f"{stage}/others", number))
        batches = batches_of(meant, size, random.Random(epoch_seed(seed, f"{stage}/order", number)))
        for done, (one, rows) in enumerate(batches, start=1):
            stepper(one, (rows, *others(one, rows, noise)))
            yield done, len(batches)

    return epoch


def _lesson(upper: Upper, relative: Relative, seed: int) -> Lesson:
    """Of all the grammar says, what is near a question, and some more; pairs whose form it cannot say are left out."""
    index = open_index(templates_of(relative.domain), upper.matcher)
    known, dev = (known_pairs(index, some, TOLD.nearest) for some in (relative.labeled, relative.dev))
    count = len(index.templates)
    wanted = torch.zeros(count, dtype=torch.bool)
    for numbers in (known.meant, known.near, dev.meant, dev.near):
        wanted[numbers.flatten()] = True
    more = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    wanted[more[~wanted[more]][: max(POOL - int(wanted.sum()), 0)]] = True
    pool = wanted.nonzero().squeeze(1)
    place = torch.zeros(count, dtype=torch.long)
    place[pool] = torch.arange(len(pool))
    return Lesson(
        upper.states([index.templates.items[number].text for number in pool.tolist()]),
        upper.states(known.questions),
        place[known.meant],
        place[known.near],
        upper.states(dev.questions),
        place[dev.meant],
        place[torch.cat([dev.meant, dev.near.flatten()]).unique()],
    )


@dataclass(frozen=True)
class Known:
    """Questions whose form the grammar can say: the template that each means [Q], those near it [Q, n] and how near."""

    questions: list[str]
    meant: Tensor
    near: Tensor
    cosines: Tensor


def known_pairs(index: Index, examples: Sequence[Example], count: int) -> Known:
    """What labeled pairs are to an index; so many templates are near each of them."""
    pairs = [
        (example.query, number)
        for example in examples
        if example.query and example.lf and (number := index.templates.number(" ".join(example.lf))) is not None
    ]
    read = index.read_all([query for query, _ in pairs])
    near = [index.vectors.nearest(vector, count) for _, vector in read]
    width = min(count, len(index.templates))
    return Known(
        [masked.text for masked, _ in read],
        torch.tensor([number for _, number in pairs], dtype=torch.long),
        torch.stack([numbers for numbers, _ in near]) if near else torch.zeros(0, width, dtype=torch.long),
        torch.stack([cosines for _, cosines in near]) if near else torch.zeros(0, width),
    )


def batches_of(meant: Sequence[Tensor], size: int, rng: random.Random) -> list[tuple[int, Tensor]]:
    """All pairs of some lessons in random order, each batch of one lesson; as often as it takes for the least number of
    updates."""
    batches: list[tuple[int, Tensor]] = []
    while len(batches) < UPDATES and any(map(len, meant)):
        again = []
        for number, one in enumerate(meant):
            rows = list(range(len(one)))
            rng.shuffle(rows)
            again += [(number, part) for part in torch.tensor(rows, dtype=torch.long).split(size) if len(part)]
        rng.shuffle(again)
        batches += again
    return batches


@torch.no_grad()
def _scores(upper: Upper, lessons: Sequence[Lesson]) -> dict[str, float]:
    """Share of the dev questions that are nearest to what they mean, among all that was near one of them."""
    right: list[bool] = []
    for one in lessons:
        if len(one.dev):
            vectors = _vectors(upper, one.utterances.take(one.dev_among))
            best = one.dev_among[(_vectors(upper, one.dev) @ vectors.T).argmax(1).cpu()]
            right += (best == one.dev_meant).tolist()
    accuracy = percent(right)
    return {"score": accuracy, "accuracy": accuracy}


def _vectors(upper: Upper, some: States, *, at_once: int = 256) -> Tensor:
    return torch.cat([upper(some.take(rows)) for rows in torch.arange(len(some)).split(at_once)])
