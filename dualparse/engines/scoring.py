"""What a trained model makes of texts: log-probability of pairs under an agent, of texts under a language model.

Words in, lists of floats out; no gradients, no dropout. The game's rewards and whoever chooses among forms ask here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import nn

from dualparse.data.batch import collate_texts
from dualparse.data.vocab import Vocab
from dualparse.engines.engine import score, score_texts
from dualparse.networks.agent import Agent
from dualparse.networks.language_model import length_normalized
from dualparse.networks.network import TextModel

ROWS = 64  # whose way back is worked out at once


@torch.no_grad()
def fluency(model: TextModel, vocab: Vocab, texts: Sequence[Sequence[str]], *, per_token: bool = True) -> list[float]:
    """Eq. 10: log-probability per token under a language model (of queries; of forms for the paper's Table 5); of the
    whole text if asked."""
    if not texts:
        return []
    device = model.device
    inputs, targets = (torch.from_numpy(array).to(device) for array in collate_texts(texts, vocab))
    with without_dropout(model):
        log_probs = score_texts(model, inputs, targets)
    return (length_normalized(log_probs, targets) if per_token else log_probs).tolist()


@torch.no_grad()
def reconstruction(
    agent: Agent,
    sources: Sequence[Sequence[str]],
    targets: Sequence[Sequence[str]],
    rng: random.Random | None = None,
    *,
    per_token: bool = False,
) -> list[float]:
    """log P(target | source) under an agent: how well it finds the way back; per token if asked. Without `rng` every
    source is read as it would be alone: its neighbours decide nothing."""
    rows = [agent.row(source, target, rng or random.Random(0)) for source, target in zip(sources, targets, strict=True)]
    if not rows:
        return []
    batch = agent.encode_rows(rows).batch
    with without_dropout(agent.model):
        log_probs = score(agent.model, batch, rows=ROWS)
    return (length_normalized(log_probs, batch.targets) if per_token else log_probs).tolist()


@contextmanager
def without_dropout(module: nn.Module) -> Iterator[None]:
    """The module as in evaluation; afterwards as it was."""
    training = module.training
    module.eval()
    try:
        yield
    finally:
        module.train(training)
