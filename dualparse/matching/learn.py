"""How a matcher and a second reader learn: each question should be nearest to the utterance of the form it means.

In: an encoder, and lessons: questions and utterances of one or several domains, with the utterance each question means.
Out: the same modules, trained; progress is yielded, the caller shows or stores it. Every update is about one domain,
drawn by its number of questions. The matcher tells the right utterance from the others of its domain by their vectors.
The second reader reads question and utterance together, and tells it from those the matcher finds hardest to tell.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dualparse.matching.encoder import Encoder, Tokens
from dualparse.matching.matcher import Matcher, Reader

WARM_UP = 0.06  # share of the updates in which the rate grows
LOOK_EVERY = 50  # updates from one record of progress to the next


@dataclass(frozen=True)
class Settings:
    """How to learn; `others` is how many utterances are told from the meant ones at a time."""

    updates: int = 2500
    batch_size: int = 64
    others: int = 320
    learning_rate: float = 5e-5
    weight_decay: float = 0.01
    clip: float = 1.0
    seed: int = 1


@dataclass(frozen=True)
class ReaderSettings(Settings):
    """The same for the second reader: of the `nearest` utterances by the matcher, `others` and the right one."""

    batch_size: int = 32
    others: int = 11
    nearest: int = 30


@dataclass(frozen=True)
class Lesson:
    """What one domain has to teach: questions, utterances, and which utterance each question means [Q]."""

    questions: Tokens
    utterances: Tokens
    meant: Tensor

    def to(self, device: torch.device) -> Lesson:
        return Lesson(self.questions.to(device), self.utterances.to(device), self.meant.to(device))


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


def learn_to_match(matcher: Matcher, lessons: Sequence[Lesson], settings: Settings) -> Iterator[Progress]:
    """Train the vectors and the scale."""
    drawn = random.Random(f"{settings.seed}/matcher")
    noise = torch.Generator(device="cpu").manual_seed(settings.seed)

    def loss(one: Lesson, rows: Tensor) -> Tensor:
        gold, place = one.meant[rows].unique(return_inverse=True)
        shuffled = torch.randperm(len(one.utterances), generator=noise).to(gold.device)
        rest = shuffled[~torch.isin(shuffled, gold)][: settings.others]
        vectors = matcher.encoder(one.utterances.take(torch.cat([gold, rest])))
        scores = matcher.encoder(one.questions.take(rows)) @ vectors.T
        return F.cross_entropy(matcher.scale.exp() * scores, place)

    yield from _learn(matcher, lessons, loss, settings, drawn)


def learn_to_read(
    reader: Reader, matcher: Matcher, lessons: Sequence[Lesson], settings: ReaderSettings
) -> Iterator[Progress]:
    """Train a second reader behind a matcher that is fixed."""
    drawn = random.Random(f"{settings.seed}/reader")
    noise = torch.Generator(device="cpu").manual_seed(settings.seed)
    near = {id(one): _nearest(matcher, one, settings.nearest) for one in lessons}

    def loss(one: Lesson, rows: Tensor) -> Tensor:
        hard, gold = near[id(one)][rows], one.meant[rows]
        order = torch.rand(hard.shape, generator=noise).to(hard.device).masked_fill(hard == gold[:, None], 2.0)
        others = hard.gather(1, order.argsort(1)[:, : min(settings.others, hard.shape[1] - 1)])
        shown = torch.cat([gold[:, None], others], 1)
        questions = one.questions.take(rows.repeat_interleave(shown.shape[1]))
        scores = reader(questions.joined(one.utterances.take(shown.flatten()))).view(shown.shape)
        return F.cross_entropy(scores, torch.zeros(len(rows), dtype=torch.long, device=scores.device))

    yield from _learn(reader, lessons, loss, settings, drawn)


def _learn(
    module: nn.Module,
    lessons: Sequence[Lesson],
    loss: Callable[[Lesson, Tensor], Tensor],
    settings: Settings,
    drawn: random.Random,
) -> Iterator[Progress]:
    """AdamW with a warm-up and a linear decay. Lessons with fewer than two utterances have nothing to tell apart."""
    taught = [one for one in lessons if len(one.questions) and len(one.utterances) > 1]
    if not taught:
        raise ValueError("there is no lesson with a question and two utterances")
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
        with _half(device):
            value = loss(one, rows.to(device))
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
def _nearest(matcher: Matcher, one: Lesson, count: int) -> Tensor:
    """[Q, count] the utterances nearest to each question, by the matcher."""
    matcher.eval()
    with _half(one.meant.device):
        vectors = torch.cat([matcher.encoder(one.utterances.take(rows)) for rows in _parts(one.utterances)])
        asked = torch.cat([matcher.encoder(one.questions.take(rows)) for rows in _parts(one.questions)])
    return (asked @ vectors.T).topk(min(count, len(vectors)), dim=1).indices


def _parts(tokens: Tokens, size: int = 512) -> Sequence[Tensor]:
    return torch.arange(len(tokens), device=tokens.ids.device).split(size)


def _half(device: torch.device) -> AbstractContextManager[object]:
    """Half precision in the products, where the processor is made for it."""
    return torch.autocast("cuda", dtype=torch.bfloat16) if device.type == "cuda" else nullcontext()
