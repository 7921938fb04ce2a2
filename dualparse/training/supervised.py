"""Maximum likelihood training of an agent or a language model on the labeled pairs (paper Section 3.1).

In: an agent and examples. Out: a `Task` for the loop.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from dualparse.choosing.search import find
from dualparse.data.batch import Slice, bucketed, collate_texts, sides
from dualparse.data.examples import Example
from dualparse.data.vocab import PAD, Vocab
from dualparse.domains.domain import Domain
from dualparse.engines.engine import score, score_texts
from dualparse.engines.found import Options
from dualparse.evaluate import bleu, judge, percent
from dualparse.networks.agent import Agent
from dualparse.networks.network import TextModel
from dualparse.training.loop import Task, epoch_seed
from dualparse.training.material import Relative
from dualparse.training.step import Adam, Stepper

GPU_GRID = 8  # lengths are rounded up to this on a GPU, so that few shapes have to be captured


def agent_task(
    agent: Agent,
    train: Sequence[Example],
    dev: Sequence[Example],
    domain: Domain,
    *,
    optimizer: Adam,
    batch_size: int,
    updates: int = 1,
    seed: int,
    search: Options,
    weights: Sequence[float] | None = None,
    others: Sequence[Relative] = (),
    joint: bool = False,
) -> Task:
    """Train an agent on pairs; `weights` discounts some of them (1 for all by default). The pairs of `others` are
    learned as well, by the names these domains have for their entities; where it is `joint`, their dev pairs count as
    well."""
    stage, model = agent.direction, agent.model
    rng = random.Random(f"{seed}/{stage}/phrases")
    rows = agent.rows(train, rng)
    for other in others:
        rows += replace(agent, lexicon=other.domain.lexicon).rows(other.pairs_of(stage), rng)
    data = agent.encode_rows(rows)
    share = [*(weights or [1.0] * len(train)), *[1.0] * (len(rows) - len(train))]
    importance = torch.tensor(share, device=agent.device)

    def loss(key: tuple[int, int], rows: Tensor, filled: Tensor) -> tuple[Tensor, Tensor]:
        batch = data.batch.take(rows, *key)
        log_probs = score(model, batch)
        tokens = ((batch.targets != PAD).sum(-1) * filled).sum()
        figures = torch.stack([-(log_probs * filled).sum(), tokens])
        return -(log_probs * filled * importance[rows]).sum(), figures

    stepper = Stepper({stage: model}, loss, 2, optimizer)
    epoch = _epochs(stepper, data.source_lengths, data.target_lengths, stage, (batch_size, updates), seed)
    judged = [(domain, dev), *((other.domain, other.dev) for other in others if joint)]
    return Task(stage, stepper, epoch, _summarize, lambda: _scores(agent, judged, search))


def _scores(agent: Agent, judged: Sequence[tuple[Domain, Sequence[Example]]], search: Options) -> dict[str, float]:
    """Scores on dev; on that of several domains their means, by the number of pairs."""
    evaluate = form_scores if agent.direction == "q2lf" else query_scores
    found = [evaluate(replace(agent, lexicon=domain.lexicon), dev, domain, search) for domain, dev in judged]
    sizes = [len(dev) for _, dev in judged]
    return {name: float(np.average([scores[name] for scores in found], weights=sizes)) for name in found[0]}


def language_model_task(
    model: TextModel,
    stage: str,
    vocab: Vocab,
    train: Sequence[Sequence[str]],
    dev: Sequence[Sequence[str]],
    *,
    optimizer: Adam,
    batch_size: int,
    updates: int = 1,
    seed: int,
) -> Task:
    """Train a language model on token sequences; the dev score is minus the loss per token."""
    device = model.device
    inputs, targets = (torch.from_numpy(array).to(device) for array in collate_texts(train, vocab))
    dev_inputs, dev_targets = (torch.from_numpy(array).to(device) for array in collate_texts(dev, vocab))
    lengths = np.array([len(tokens) + 1 for tokens in train])

    def loss(key: tuple[int, int], rows: Tensor, filled: Tensor) -> tuple[Tensor, Tensor]:
        length = key[1]
        chosen = targets[rows, :length]
        total = -(score_texts(model, inputs[rows, :length], chosen) * filled).sum()
        return total, torch.stack([total.detach(), ((chosen != PAD).sum(-1) * filled).sum()])

    @torch.no_grad()
    def evaluate() -> dict[str, float]:
        parts = zip(dev_inputs.split(64), dev_targets.split(64), strict=True)
        total = sum(float(score_texts(model, *part).sum()) for part in parts)
        per_token = total / max(int((dev_targets != PAD).sum()), 1)
        return {"score": per_token, "perplexity": float(np.exp(-per_token))}

    stepper = Stepper({stage: model}, loss, 2, optimizer)
    return Task(
        stage, stepper, _epochs(stepper, lengths, lengths, stage, (batch_size, updates), seed), _summarize, evaluate
    )


def _epochs(
    stepper: Stepper,
    source_lengths: np.ndarray,
    target_lengths: np.ndarray,
    stage: str,
    size: tuple[int, int],
    seed: int,
) -> Callable[[int], Iterator[tuple[int, int]]]:
    """Epochs of length-bucketed batches; the row numbers of a whole epoch go to the device at once. `size`: pairs of a
    batch, and batches of an epoch at the least."""
    grid = GPU_GRID if stepper.capture else 1
    batch_size, updates = size

    def epoch(number: int) -> Iterator[tuple[int, int]]:
        rng = random.Random(epoch_seed(seed, stage + "/order", number))
        slices: list[Slice] = []
        while len(slices) < updates:
            slices += bucketed(source_lengths, target_lengths, batch_size=batch_size, rng=rng, grid=grid)
        rows = torch.from_numpy(np.stack([s.rows for s in slices])).to(stepper.device)
        filled = torch.from_numpy(np.stack([s.weight for s in slices])).to(stepper.device)
        for i, part in enumerate(slices):
            stepper((part.source_length, part.target_length), (rows[i], filled[i]))
            yield i + 1, len(slices)

    return epoch


def _summarize(figures: list[float]) -> dict[str, float]:
    loss, tokens = figures
    return {"loss": round(loss / max(tokens, 1.0), 5)}


def form_scores(agent: Agent, dev: Sequence[Example], domain: Domain, search: Options) -> dict[str, float]:
    """Accuracy of q2lf on dev, by the domain's metric."""
    predicted = _best(agent, dev, search)
    judged = [
        judge(domain, " ".join(example.query or ()), " ".join(example.lf or ()), text)
        for example, text in zip(dev, predicted, strict=True)
    ]
    accuracy = percent([item.correct for item in judged])
    return {"score": accuracy, "accuracy": accuracy, "valid": percent([item.verdict.ok for item in judged])}


def query_scores(agent: Agent, dev: Sequence[Example], domain: Domain, search: Options) -> dict[str, float]:
    """BLEU of lf2q on dev."""
    predicted = _best(agent, dev, search)
    score = bleu(predicted, [" ".join(example.query or ()) for example in dev])
    return {"score": score, "bleu": score}


def _best(agent: Agent, examples: Sequence[Example], search: Options) -> list[str]:
    """The best output for every example, as text."""
    sources = [sides(example, agent.direction)[0] or () for example in examples]
    found = find(agent, sources, search, rng=random.Random("dev phrases"))
    return [hypotheses[0].text if hypotheses else "" for hypotheses in found]
