"""The training of an adapter: low-rank changes to all layers of MiniLM, from batches made as they are needed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.adapter.batches import draw_batch
from benchmarks.adapter.schema import Schema
from dualparse.matching.adapter import LowRank, make_adaptable
from dualparse.matching.learn import rate_at
from dualparse.matching.matcher import Matcher
from dualparse.networks.encoder import Encoder


@dataclass(frozen=True)
class Settings:
    """How an adapter learns; a batch is `forms` forms in `voices` voices, with `nearest` forms near to each."""

    updates: int = 900
    rank: int = 16
    learning_rate: float = 8e-4
    forms: int = 16
    voices: int = 2
    nearest: int = 5
    clip: float = 1.0
    seed: int = 1


def learn(matcher: Matcher, schemas: Sequence[Schema], settings: Settings) -> Iterator[tuple[int, float]]:
    """Train; yields the number of every update and its loss. The changes are `changes_of(matcher)`."""
    torch.manual_seed(settings.seed)
    rng = random.Random(f"{settings.seed}/adapter")
    changes = make_adaptable(matcher.encoder, settings.rank)
    learning = [p for change in changes.values() for p in (change.down, change.up)]
    optimizer = torch.optim.AdamW(
        [{"params": learning}, {"params": [matcher.scale], "lr": 1e-3}], lr=settings.learning_rate, weight_decay=0.0
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: rate_at(update, settings.updates))
    matcher.eval()  # without dropout: no question is drawn twice
    for update in range(1, settings.updates + 1):
        batch = draw_batch(schemas, rng, forms=settings.forms, voices=settings.voices, nearest=settings.nearest)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            vectors = _vectors(matcher.encoder, (*batch.questions, *batch.candidates))
        questions, candidates = vectors.split([len(batch.questions), len(batch.candidates)])
        scores = matcher.scale.exp() * (questions @ candidates.T)
        loss = F.cross_entropy(scores, torch.tensor(batch.meant))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(learning, settings.clip)
        optimizer.step()
        schedule.step()
        yield update, float(loss.detach())


def _vectors(encoder: Encoder, texts: Sequence[str], parts: int = 4) -> Tensor:
    """[N, n] with gradients; texts of similar length go together, which saves the work on what is no text."""
    tokens = encoder.tokens(texts)
    order = tokens.length.argsort(stable=True)
    found = [encoder(tokens.take(rows)).float() for rows in order.chunk(parts)]
    return torch.cat(found)[order.argsort()]


def changes_of(matcher: Matcher) -> dict[str, LowRank]:
    return {name: module for name, module in matcher.encoder.body.named_modules() if isinstance(module, LowRank)}
