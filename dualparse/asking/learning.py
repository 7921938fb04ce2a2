"""Learning from what people said of the answers: lessons in, a q2lf out that has learned them and kept the rest.

Lessons are remembered at once (`dualparse.asking.memory`): the corrected question is answered right, and others of its
kind more often. Then q2lf goes on from its weights for a few epochs, over its old pairs and the new ones; where that
costs more than a point on dev, the old weights stay. Nothing is learned from an answer that was called wrong but that
its question is worth a label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from dualparse.asking.memory import Lesson
from dualparse.data.examples import Example
from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.manifest import changing
from dualparse.runs import Run, search_options
from dualparse.training.loop import Record as Epoch
from dualparse.training.loop import Schedule, Tick, fit
from dualparse.training.material import load_material
from dualparse.training.stages import adam
from dualparse.training.supervised import agent_task, form_scores

EPOCHS, RATE, TIMES = 4, 3e-4, 4  # of the warm start: passes, learning rate, how often a lesson is among the pairs
MAY_LOSE = 1.0  # points of accuracy on dev


@dataclass(frozen=True)
class Warmed:
    """What a warm start came to on dev, in per cent; `kept` says whether its weights are the run's now."""

    before: float
    after: float
    kept: bool


def warm_start(
    run: Run, domain: Domain, lessons: Sequence[Lesson], *, epochs: int = EPOCHS, device: torch.device
) -> Iterator[Tick | Epoch | Warmed]:
    """Go on with q2lf over the old pairs and the new ones; yields progress, and at the end what came of it."""
    recipe = run.recipe
    if "q2lf" not in recipe.stages:
        raise InputError("this run has no parser to go on with: its recipe trains no q2lf", path=run.folder)
    material = load_material(recipe, domain)
    agent = run.agent("q2lf", domain, device)
    search = search_options(recipe, beams=recipe.search.dev_beams)
    before = form_scores(agent, material.dev, domain, search)["score"] if material.dev else 0.0
    taught = [Example(each.words, each.form) for each in lessons]
    task = agent_task(
        agent,
        [*material.pairs_of("q2lf"), *taught * TIMES],
        material.dev,
        domain,
        optimizer=replace(adam(recipe.train), learning_rate=RATE, average=0.0),
        batch_size=recipe.train.batch_size,
        seed=recipe.seed,
        search=search,
    )
    after = before
    for event in fit(task, Schedule(epochs, seed=recipe.seed, stop_at=0 if material.dev else epochs)):
        if isinstance(event, Epoch) and event.best and event.scores:
            after = event.scores["score"]
        yield event
    kept = after >= before - MAY_LOSE
    if kept:
        path = run.weights("q2lf")
        with changing(run.folder, path.name):
            run.save_weights("q2lf", agent.model, metadata={"stage": "q2lf", "learned": str(len(lessons))})
    yield Warmed(before, after, kept)
