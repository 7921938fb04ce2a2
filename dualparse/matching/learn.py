"""How a matcher and a second reader learn: each question should be nearest to the utterance of the form it means.

In: an encoder, and lessons: questions and utterances of one or several domains, with the utterance each question means.
Out: the same modules, trained; progress is yielded, the caller shows or stores it. Every update is about one domain,
drawn by its number of questions. The matcher tells the right utterance from others of its domain by their vectors:
from some that it found near before it learned, and from some at random. The second reader reads question and utterance
together, and tells it from those the matcher finds hardest to tell.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dualparse.matching.matcher import Matcher
from dualparse.matching.reader import SecondReader
from dualparse.networks.encoder import Encoder, Tokens, in_half

WARM_UP = 0.06  # share of the updates in which the rate grows
LOOK_EVERY = 50  # updates from one record of progress to the next


@dataclass(frozen=True)
class Settings:
    """How to learn; `others` is how many utterances are told from the meant ones at a time, `hard` how many of them for
    each question are drawn from the `nearest` by the matcher as it begins."""

    updates: int = 2500
    batch_size: int = 64
    others: int = 192
    hard: int = 2
    nearest: int = 30
    learning_rate: float = 5e-5
    weight_decay: float = 0.01
    clip: float = 1.0
    seed: int = 1


@dataclass(frozen=True)
class ReaderSettings(Settings):
    """The same for the second reader: of the `nearest` utterances by the matcher, `others` and the right one."""

    batch_size: int = 32
    others: int = 11


@dataclass(frozen=True)
class Lesson:
    """What one domain has to teach: questions, utterances, and which utterance each question means [Q], on the host."""

    questions: Tokens
    utterances: Tokens
    meant: Tensor

    def to(self, device: torch.device) -> Lesson:
        return Lesson(self.questions.to(device), self.utterances.to(device), self.meant)


@dataclass(frozen=True)
class Progress:
    """The mean loss since the last record."""

    update: int
    updates: int
    loss: float


def lesson(encoder: Encoder, questions: Sequence[str], utterances: Sequence[str], meant: Sequence[int]) -> Lesson:
    """A lesson from texts."""
    numbers = torch.tensor(meant, dtype=torch.long)
    return Lesson(encoder.tokens(questions), encoder.tokens(utterances), numbers)


def worth_it(lessons: Sequence[Lesson]) -> list[Lesson]:
    """The lessons that have something to tell apart: those with a question and two utterances."""
    taught = [one for one in lessons if len(one.questions) and len(one.utterances) > 1]
    if not taught:
        raise ValueError("there is no lesson with a question and two utterances")
    return taught


def learn_to_match(matcher: Matcher, lessons: Sequence[Lesson], settings: Settings) -> Iterator[Progress]:
    """Train the vectors and the scale."""
    drawn = random.Random(f"{settings.seed}/matcher")
    noise = torch.Generator().manual_seed(settings.seed)
    taught = worth_it(lessons)
    near = {id(one): nearest(matcher, one, settings.nearest) for one in taught if settings.hard}

    def loss(one: Lesson, rows: Tensor) -> Tensor:
        known = near.get(id(one))
        hard = None if known is None else known[rows]
        shown, place = shown_to(one.meant[rows], len(one.utterances), hard, settings, noise)
        vectors = matcher.encoder(one.questions.take(rows).beside(one.utterances.take(shown)))
        scores = vectors[: len(rows)] @ vectors[len(rows) :].T
        return F.cross_entropy(matcher.scale.exp() * scores, place.to(scores.device, non_blocking=True))

    yield from _learn(matcher, taught, loss, settings, drawn)


def shown_to(
    meant: Tensor, count: int, near: Tensor | None, settings: Settings, noise: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Which of `count` utterances some questions are compared with, and for each question where the one it means is
    among them; `near` [Q, n] has those that are hard to tell from it."""
    meant, place = meant.unique(return_inverse=True)
    free = torch.ones(count, dtype=torch.bool)
    free[meant] = False
    hard = meant[:0]
    if near is not None:
        drawn = torch.randint(near.shape[1], (len(near), settings.hard), generator=noise)
        hard = near.gather(1, drawn).flatten().unique()
        hard = hard[free[hard]][: settings.others]
        free[hard] = False
    shuffled = torch.randperm(count, generator=noise)
    return torch.cat([meant, hard, shuffled[free[shuffled]][: settings.others - len(hard)]]), place


def learn_to_read(
    reader: SecondReader, matcher: Matcher, lessons: Sequence[Lesson], settings: ReaderSettings
) -> Iterator[Progress]:
    """Train a second reader behind a matcher that is fixed."""
    drawn = random.Random(f"{settings.seed}/reader")
    noise = torch.Generator().manual_seed(settings.seed)
    taught = worth_it(lessons)
    near = {id(one): nearest(matcher, one, settings.nearest) for one in taught}
    states = {id(one): (reader.states_of(one.questions), reader.states_of(one.utterances)) for one in taught}

    def loss(one: Lesson, rows: Tensor) -> Tensor:
        asked, said = states[id(one)]
        shown = beside(one.meant[rows], near[id(one)][rows], settings.others, noise)
        scores = reader.read_all(asked.take(rows), said, shown)
        return F.cross_entropy(scores, torch.zeros(len(rows), dtype=torch.long, device=scores.device))

    yield from _learn(reader, taught, loss, settings, drawn)


def beside(meant: Tensor, near: Tensor, others: int, noise: torch.Generator) -> Tensor:
    """[Q, 1 + others] the utterance each question means, and some of those near it that it does not mean."""
    last = torch.rand(near.shape, generator=noise).masked_fill(near == meant[:, None], 2.0)
    return torch.cat([meant[:, None], near.gather(1, last.argsort(1)[:, : min(others, near.shape[1] - 1)])], 1)


def _learn(
    module: nn.Module,
    taught: Sequence[Lesson],
    loss: Callable[[Lesson, Tensor], Tensor],
    settings: Settings,
    drawn: random.Random,
) -> Iterator[Progress]:
    """AdamW with a warm-up and a linear decay."""
    device = next(module.parameters()).device
    torch.manual_seed(settings.seed)
    optimizer = torch.optim.AdamW(
        [p for p in module.parameters() if p.requires_grad],
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=device.type == "cuda",
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: rate_at(update, settings.updates))
    sizes, total, since = [len(one.questions) for one in taught], torch.zeros((), device=device), 0
    module.train()
    for update in range(1, settings.updates + 1):
        (one,) = drawn.choices(taught, sizes)
        rows = torch.tensor(drawn.sample(range(len(one.questions)), min(settings.batch_size, len(one.questions))))
        with in_half(device):
            value = loss(one, rows)
        optimizer.zero_grad(set_to_none=True)
        value.backward()
        nn.utils.clip_grad_norm_(module.parameters(), settings.clip)
        optimizer.step()
        schedule.step()
        total += value.detach()
        since += 1
        if update % LOOK_EVERY == 0 or update == settings.updates:
            mean = float(total) / since
            if not math.isfinite(mean):
                raise FloatingPointError(f"the loss is {mean} at update {update}")
            yield Progress(update, settings.updates, mean)
            total.zero_()
            since = 0
    module.eval()


def rate_at(update: int, updates: int) -> float:
    """Share of the learning rate at an update.

    >>> [round(rate_at(update, 100), 2) for update in (0, 3, 6, 53, 100)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    warm = max(WARM_UP * updates, 1.0)
    return min(update / warm, max(updates - update, 0) / max(updates - warm, 1.0))


@torch.no_grad()
def nearest(matcher: Matcher, one: Lesson, count: int) -> Tensor:
    """[Q, count] the utterances nearest to each question, by the matcher as it is."""
    matcher.eval()
    with in_half(next(matcher.parameters()).device):
        vectors = torch.cat([matcher.encoder(one.utterances.take(rows)) for rows in _parts(one.utterances)])
        asked = torch.cat([matcher.encoder(one.questions.take(rows)) for rows in _parts(one.questions)])
    return (asked @ vectors.T).topk(min(count, len(vectors)), dim=1).indices.cpu()


def _parts(tokens: Tokens, size: int = 512) -> Sequence[Tensor]:
    return torch.arange(len(tokens)).split(size)
