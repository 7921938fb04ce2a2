"""A sweep from beginning to end: cells, each behind the shared stages it needs, then test scores chosen on dev.

Yields every job as it ends; the caller shows it. Finished cells are kept, so an interrupted sweep goes on where it was;
a job that fails leaves its error in a file and harms only the cells that need it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dualparse.files import write_text
from dualparse.lab.sweep.backends import Backend
from dualparse.lab.sweep.grid import Cell
from dualparse.lab.sweep.jobs import Job
from dualparse.lab.sweep.plan import Folders, State, Work, choose, look, scoring_job


@dataclass(frozen=True)
class Ended:
    """A job has ended; `error` is empty when all went well."""

    job: Job
    error: str


def sweep(work: Work, folders: Folders, backend: Backend) -> Iterator[Ended]:
    """Do all the work. A cell whose stage failed is not tried."""
    for cell in work.old:
        _remove(cell, folders)
    yield from _run(work.jobs, backend)


def score_chosen(
    cells: Sequence[Cell], choices: Mapping[str, Sequence[str]], folders: Folders, backend: Backend, *, device: str
) -> Iterator[Ended]:
    """Score test for grids that choose settings on dev (`choices`: grid -> axes), once all their cells are done."""
    jobs = []
    for grid, axes in choices.items():
        entries = look([cell for cell in cells if cell.grid == grid], folders)
        if entries and all(entry.state == State.DONE for entry in entries):
            chosen = [entry for entry in choose(entries, axes) if "test" not in entry.result]
            jobs += [scoring_job(entry, folders, device=device) for entry in chosen]
    yield from _run(jobs, backend)


def _run(jobs: Sequence[Job], backend: Backend) -> Iterator[Ended]:
    for job in jobs:
        job.beside(".error.txt").unlink(missing_ok=True)
    if jobs:
        for job, error in backend.run(jobs):
            yield _ended(job, error)


def _ended(job: Job, error: str) -> Ended:
    job.beside(".json").unlink(missing_ok=True)  # a killed process leaves it behind
    if error:
        write_text(job.beside(".error.txt"), error + "\n")
    return Ended(job, error)


def _remove(cell: Cell, folders: Folders) -> None:
    """Make room for a cell whose settings have changed."""
    folders.store.drop(cell.full_name)
    if folders.run(cell).is_dir():
        shutil.rmtree(folders.run(cell))
    Path(folders.state(cell) + ".error.txt").unlink(missing_ok=True)
