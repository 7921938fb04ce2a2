"""How far a sweep is: the jobs it has, the files they write while they work, and a guess of the time left.

In: the work, and every job as it ends. Out: counts, the jobs that run with what they say, seconds left.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dualparse.config import make_recipe
from dualparse.lab.sweep.jobs import Job, is_running, read_progress
from dualparse.lab.sweep.plan import Work
from dualparse.training.run_parts import all_stages


@dataclass(frozen=True)
class Running:
    """A job at work: for how long, and what it said last (see `jobs.read_progress`)."""

    job: Job
    seconds: float
    told: dict[str, Any]


@dataclass
class Board:
    """What is known about a sweep under way."""

    waiting: dict[str, Job] = field(default_factory=dict)
    done: list[Job] = field(default_factory=list)
    failed: list[Job] = field(default_factory=list)
    running: list[Running] = field(default_factory=list)
    clock: Callable[[], float] = time.time
    _begun: dict[str, float] = field(default_factory=dict)
    _took: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, work: Work) -> Board:
        return cls(waiting={job.name: job for job in (*work.stages, *work.cells)})

    def look(self) -> None:
        """Read what the jobs tell. Another thread may note meanwhile that a job has ended."""
        running = []
        for job in list(self.waiting.values()):
            told = read_progress(job.state)
            if told and is_running(job.state):
                begun = self._begun.setdefault(job.name, told.get("begun", self.clock()))
                running.append(Running(job, self.clock() - begun, told))
        self.running = running

    def end(self, job: Job, error: str) -> float:
        """Note that a job has ended; says how long it took, 0 where that was too short to be seen."""
        self.waiting.pop(job.name, None)
        (self.failed if error else self.done).append(job)
        seconds = self.clock() - self._begun.pop(job.name) if job.name in self._begun else 0.0
        if not error:
            self._took.setdefault(kind_of(job), []).append(seconds)
        return seconds

    def seconds_left(self) -> tuple[float, bool]:
        """A guess, and whether it covers everything: of some kinds of jobs nothing may be known yet.

        It comes from the mean time of finished jobs of the same kind, or else from how far the running ones are.
        """
        guesses: dict[str, list[float]] = {}
        for running in self.running:
            if running.told.get("done"):
                guesses.setdefault(kind_of(running.job), []).append(running.seconds / running.told["done"])
        means = {kind: statistics.mean(values) for kind, values in (guesses | self._took).items()}
        spent = {running.job.name: running.seconds for running in self.running}
        waiting = dict(self.waiting)
        known = {name: means[kind_of(job)] for name, job in waiting.items() if kind_of(job) in means}
        left = sum(max(0.0, mean - spent.get(name, 0.0)) for name, mean in known.items())
        return left / max(1, len(self.running)), len(known) == len(waiting)


def kind_of(job: Job) -> str:
    """Jobs of a kind take about as long: what they train themselves, and on which domain."""
    if job.kind == "test":
        return str(job.recipe["domain"])
    recipe = make_recipe(job.recipe)
    own = sorted(name for name in all_stages(recipe) if not job.source(name))
    return " ".join([recipe.domain, *own, *(["refit"] if recipe.refit else [])])
