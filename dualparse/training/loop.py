"""The loop of every kind of training: epochs, dev scores, the best weights, checkpoints. It yields; the caller writes.

Randomness of an epoch depends on (seed, stage, epoch) alone and a checkpoint holds everything else, so a run that was
killed and taken up again gives, on a CPU, exactly what an uninterrupted one gives.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from dualparse.errors import InputError
from dualparse.networks.tensors import load_tensors, save_tensors
from dualparse.training.step import Stepper

CHECKPOINT_SECONDS = 20.0  # a checkpoint costs tens of milliseconds; more often than this gains nothing


@dataclass(frozen=True)
class Task:
    """What is trained.

    epoch      epoch number -> steps taken one by one, yielding (done, all)
    summarize  the figures the stepper added up -> named training figures
    evaluate   named dev scores; "score" decides which epoch is best
    """

    stage: str
    stepper: Stepper
    epoch: Callable[[int], Iterator[tuple[int, int]]]
    summarize: Callable[[list[float]], dict[str, float]]
    evaluate: Callable[[], dict[str, float]]


@dataclass(frozen=True)
class Schedule:
    """How long to train and when to look (see `config.TrainSettings`). `stop_at`, where it is not 0, is the last epoch,
    and its weights count without a look at dev."""

    epochs: int
    patience: int = 1000
    evaluate_from: int = 1
    evaluate_every: int = 1
    seed: int = 1
    stop_at: int = 0

    @property
    def last(self) -> int:
        return self.stop_at or self.epochs

    def looks_at(self, epoch: int) -> bool:
        """Whether dev is asked after an epoch."""
        if self.stop_at:
            return False
        since = epoch - self.evaluate_from
        return epoch == self.epochs or (since >= 0 and since % self.evaluate_every == 0)


@dataclass(frozen=True)
class Tick:
    """Progress inside an epoch."""

    stage: str
    epoch: int
    epochs: int
    done: int
    total: int


@dataclass(frozen=True)
class Record:
    """What is known at the end of an epoch."""

    stage: str
    epoch: int
    figures: dict[str, float]
    scores: dict[str, float]
    best: bool
    seconds: float


@dataclass
class _Progress:
    """What survives an interruption besides the tensors."""

    epoch: int = 0
    best_epoch: int = 0
    best_score: float | None = None
    records: list[dict[str, object]] = field(default_factory=list)


def epoch_seed(seed: int, stage: str, epoch: int) -> int:
    """A number for the generators of one epoch, unrelated to that of any other."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{stage}/{epoch}".encode()).digest()[:6], "big")


def fit(task: Task, schedule: Schedule, *, checkpoint: Path | None = None) -> Iterator[Tick | Record]:
    """Train; afterwards the task's modules hold the weights of the best epoch on dev, or of the one to stop at.

    1. take up the checkpoint if there is one, telling again what it knows
    2. an epoch of steps   3. dev scores   4. remember the best   5. checkpoint
    """
    stepper = task.stepper
    best = {name: parameter.detach().clone() for name, parameter in zip(stepper.names, stepper.parameters, strict=True)}
    progress = _take_up(checkpoint, stepper, best)
    for values in progress.records:
        yield Record(**values)  # type: ignore[arg-type]
    saved_at = time.monotonic()
    while progress.epoch < schedule.last and not _out_of_patience(progress, schedule):
        epoch = progress.epoch + 1
        started = time.perf_counter()
        torch.manual_seed(epoch_seed(schedule.seed, task.stage, epoch))
        for module in stepper.modules.values():
            module.train()
        for done, total in task.epoch(epoch):
            yield Tick(task.stage, epoch, schedule.last, done, total)
        figures = task.summarize(stepper.take_figures())
        _stop_where_it_diverged(task, epoch, figures, checkpoint)
        scores: dict[str, float] = {}
        is_best = False
        if schedule.looks_at(epoch):
            scores, is_best = _evaluate(task, progress, epoch, best)
        elif epoch == schedule.stop_at:
            _keep(stepper, best)
            is_best = True
        record = Record(task.stage, epoch, figures, scores, is_best, round(time.perf_counter() - started, 3))
        progress.epoch = epoch
        progress.records.append(vars(record).copy())
        if checkpoint is not None and time.monotonic() - saved_at > CHECKPOINT_SECONDS:
            _save(checkpoint, stepper, best, progress)
            saved_at = time.monotonic()
        yield record
    with torch.no_grad():
        for name, parameter in zip(stepper.names, stepper.parameters, strict=True):
            parameter.copy_(best[name])


def _stop_where_it_diverged(task: Task, epoch: int, figures: dict[str, float], checkpoint: Path | None) -> None:
    """Figures or weights that are no numbers any more never become numbers again, and are no result."""
    bad = [name for name, figure in figures.items() if not math.isfinite(figure)]
    weights = zip(task.stepper.names, task.stepper.parameters, strict=True)
    bad += [name for name, weight in weights if not bool(torch.isfinite(weight).all())]
    if bad:
        kept = checkpoint is not None and checkpoint.exists()
        last = f"the last good state is in {checkpoint}" if kept else "there is no earlier state of this stage"
        shown = ", ".join(bad[:3]) + (", ..." if len(bad) > 3 else "")
        raise InputError(
            f"{task.stage}, epoch {epoch}: training diverged ({shown}: not a finite number); a lower learning_rate or "
            f"clip may help; {last}"
        )


def _out_of_patience(progress: _Progress, schedule: Schedule) -> bool:
    """Only a dev score can end training: an epoch that was not evaluated says nothing about the ones before it."""
    evaluated = bool(progress.records) and bool(progress.records[-1]["scores"])
    return evaluated and progress.epoch - progress.best_epoch >= schedule.patience


def _evaluate(task: Task, progress: _Progress, epoch: int, best: dict[str, Tensor]) -> tuple[dict[str, float], bool]:
    """Dev scores of the weights (or of their average), remembering them if they are the best so far."""
    stepper = task.stepper
    stepper.swap_averages()
    for module in stepper.modules.values():
        module.eval()
    scores = task.evaluate()
    stepper.swap_averages()
    is_best = progress.best_score is None or scores["score"] > progress.best_score
    if is_best:
        progress.best_score, progress.best_epoch = scores["score"], epoch
        _keep(stepper, best)
    return scores, is_best


def _keep(stepper: Stepper, best: dict[str, Tensor]) -> None:
    """Remember the weights, or their average."""
    for name, weights in zip(stepper.names, stepper.averages or stepper.parameters, strict=True):
        best[name].copy_(weights.detach())


def _save(path: Path, stepper: Stepper, best: dict[str, Tensor], progress: _Progress) -> None:
    save_tensors(path, stepper.state() | _prefixed(best), {"progress": json.dumps(vars(progress))})


def _prefixed(best: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"best/{name}": tensor for name, tensor in best.items()}


def _take_up(path: Path | None, stepper: Stepper, best: dict[str, Tensor]) -> _Progress:
    if path is None or not path.exists():
        return _Progress()
    tensors, metadata = load_tensors(path)
    shapes = {name: tensor.shape for name, tensor in (stepper.state() | _prefixed(best)).items()}
    if shapes != {name: tensor.shape for name, tensor in tensors.items()} or "progress" not in metadata:
        raise InputError("does not fit the settings or vocabularies of this run", path=path)
    stepper.load_state(tensors)
    for name, tensor in best.items():
        tensor.copy_(tensors[f"best/{name}"])
    try:
        progress = _Progress(**json.loads(metadata["progress"]))
        _ = [Record(**values) for values in progress.records]  # type: ignore[arg-type]
    except (ValueError, TypeError):
        raise InputError("does not say how far training had come", path=path) from None
    return progress
