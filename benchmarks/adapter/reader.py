"""The training of the second reader that ships: the last layers of the adapted MiniLM, from batches as for the adapter.

Each question is read beside the wording it means and beside those that the matcher finds nearest to it; of a share of
the questions the meant wording is taken away, and then all others are to stay below zero. What was learned is kept as a
change of low rank to the layers as the adapter has them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.adapter.batches import Batch, draw_batch
from benchmarks.adapter.heldout import Heldout
from benchmarks.adapter.schema import Schema
from dualparse.matching.learn import rate_at
from dualparse.matching.matcher import READ, Matcher
from dualparse.matching.reader import SecondReader

MEAN = 0.7  # cosine at which a score begins to be above zero


@dataclass(frozen=True)
class Settings:
    """How a reader learns; a batch is `forms` forms in `voices` voices, each told from `others` wordings."""

    updates: int = 700
    rank: int = 32  # of what is kept
    learning_rate: float = 2e-4
    head_rate: float = 1e-3
    forms: int = 8
    voices: int = 2
    nearest: int = 5
    others: int = 9
    missing: float = 0.25  # share of the questions whose wording is not among those shown
    clip: float = 1.0
    seed: int = 1


def learn(reader: SecondReader, matcher: Matcher, schemas: Sequence[Schema], settings: Settings) -> Iterator[float]:
    """Train; yields the loss of every update."""
    torch.manual_seed(settings.seed)
    rng = random.Random(f"{settings.seed}/reader")
    with torch.no_grad():
        reader.score.bias.fill_(-MEAN * float(matcher.scale.exp()))
    layers = list(reader.layers.parameters())
    head = [p for name, p in reader.named_parameters() if not name.startswith("layers.")]
    groups = [{"params": layers}, {"params": head, "lr": settings.head_rate}]
    optimizer = torch.optim.AdamW(groups, lr=settings.learning_rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: rate_at(update, settings.updates))
    reader.train()
    for _ in range(settings.updates):
        batch = draw_batch(schemas, rng, forms=settings.forms, voices=settings.voices, nearest=settings.nearest)
        loss = _loss(reader, matcher, batch, settings)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), settings.clip)
        optimizer.step()
        schedule.step()
        yield float(loss.detach())
    reader.eval()


def _loss(reader: SecondReader, matcher: Matcher, batch: Batch, settings: Settings) -> Tensor:
    meant = torch.tensor(batch.meant)
    near = matcher.encoder.vectors(batch.questions) @ matcher.encoder.vectors(batch.candidates).T
    near.scatter_(1, meant[:, None], -torch.inf)
    others = near.topk(min(settings.others, near.shape[1] - 1), dim=1).indices
    shown = torch.cat([meant[:, None], others], 1)
    asked, said = reader.states(batch.questions), reader.states(batch.candidates)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = reader.read_all(asked, said, shown).float()
    gone = torch.rand(len(meant)) < settings.missing
    scores[:, 0] = scores[:, 0].masked_fill(gone, -torch.inf)
    scores = torch.cat([scores, torch.zeros(len(meant), 1)], 1)  # the last: none of these
    return F.cross_entropy(scores, torch.where(gone, shown.shape[1], 0))


def keep(path: Path, reader: SecondReader, first: SecondReader, rank: int, about: dict[str, str]) -> None:
    """Write what `reader` has learned since it was as `first`: of matrices the change, as near as that rank comes."""
    tensors: dict[str, Tensor] = {}
    before = dict(first.named_parameters())
    for name, parameter in reader.named_parameters():
        learned = parameter.detach()
        if name.startswith("layers.") and learned.dim() == 2:
            left, size, right = torch.linalg.svd(learned - before[name].detach(), full_matrices=False)
            part = name.removesuffix(".weight")
            tensors[f"{part}.up"] = left[:, :rank] * size[:rank]
            tensors[f"{part}.down"] = right[:rank]
        else:
            tensors[name] = learned
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.half().contiguous() for name, tensor in tensors.items()}, path, metadata=about)


def accuracy(reader: SecondReader, matcher: Matcher, heldout: Sequence[Heldout]) -> dict[str, float]:
    """Per cent of the questions for which matcher and reader together choose the right utterance, by schema."""
    found = {}
    for one in heldout:
        near = matcher.scores(matcher.encoder.vectors(one.questions), matcher.encoder.vectors(one.utterances))
        first = near.topk(min(READ, near.shape[1]), dim=1)
        shown = [[one.utterances[number] for number in row] for row in first.indices.tolist()]
        both = first.values + torch.stack(reader.scores(one.questions, shown))
        best = first.indices.gather(1, both.argmax(1, keepdim=True)).squeeze(1)
        found[one.name] = round(100 * float((best == torch.tensor(one.meant)).float().mean()), 1)
    return found
