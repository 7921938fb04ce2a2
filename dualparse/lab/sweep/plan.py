"""What a sweep has to do: cells and what is there already -> a state for every cell, and the jobs that are left.

A result counts by what it trained and not by its name: a cell of one grid that another grid has run is done. The
pre-training stages of the cells that are left are worked out first; each distinct one becomes a job of its own, whose
run lies in RUNS/shared/STAGE-HASH and is there for all cells of all grids. So does each parser for which there is more
to do than pre-training, in RUNS/shared/run-HASH, if it belongs to a committee or several cells have it that differ in
how they choose answers: parsers are trained side by side, and once for committees of any size.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from dualparse.config import Recipe, read_saved_recipe
from dualparse.errors import InputError
from dualparse.lab.sharing import WHOLE, fingerprint, parser_recipe
from dualparse.lab.store import Store, Stored
from dualparse.lab.sweep.grid import Cell
from dualparse.lab.sweep.jobs import Job, is_running
from dualparse.lab.trained import trained
from dualparse.training.essence import PRETRAINING, TAKEN_OVER, stage_recipe
from dualparse.training.run_parts import all_stages, is_finished, members

SHARED = "shared"


class State(StrEnum):
    """Where a cell stands."""

    DONE = "done"
    TEST = "to be tested"
    RUNNING = "running"
    FAILED = "failed"
    BEGUN = "interrupted"
    WAITING = "waiting"
    OUTDATED = "other settings"


@dataclass(frozen=True)
class Folders:
    """Where run folders and results go; a grid has a folder of its name among the runs, and names its results."""

    runs: Path
    results: Path

    def run(self, cell: Cell) -> Path:
        return self.runs / cell.grid / cell.name

    @property
    def store(self) -> Store:
        return Store(self.results)

    def state(self, cell: Cell) -> str:
        return str(self.runs / cell.grid / "jobs" / cell.name)


@dataclass(frozen=True)
class Entry:
    """A cell and what is known about it. `source` is the result that counts, which may be another grid's."""

    cell: Cell
    state: State
    source: Stored | None = None
    note: str = ""

    @property
    def result(self) -> dict[str, Any]:
        return self.source.result if self.source else {}


def by_key(stored: Iterable[Stored]) -> dict[str, list[Stored]]:
    """What a result trained -> the results that did. Those that no version's recipe fits are left out."""
    found: dict[str, list[Stored]] = {}
    for item in stored:
        with suppress(KeyError, TypeError, InputError):
            found.setdefault(trained(item.result).key, []).append(item)
    return found


def look(cells: Iterable[Cell], folders: Folders, *, own: bool = False) -> list[Entry]:
    """The state of every cell; with `own`, results of other grids do not count."""
    stored = folders.store.read()
    names, keys = {item.name: item for item in stored}, by_key(stored)
    entries = []
    for cell in cells:
        found = keys.get(cell.key, [])
        found = [item for item in found if item.name == cell.full_name] if own else found
        entries.append(_look(cell, folders, found, names.get(cell.full_name)))
    return entries


def _look(cell: Cell, folders: Folders, found: list[Stored], own: Stored | None) -> Entry:
    """`found` are the results of what it trains, `own` is that of its name, whatever it trained."""
    # Its own first, but rather another grid's with a test score than one without.
    ranked = sorted(found, key=lambda item: (cell.test and not item.tested, item.name != cell.full_name))
    if ranked and (ranked[0].tested or not cell.test):
        return Entry(cell, State.DONE, ranked[0])
    if ranked and _can_be_tested(ranked[0], folders):
        return Entry(cell, State.TEST, ranked[0])
    if own:
        known = own in found
        note = f"{own.name} in {own.path} " + (
            "has no test score, and its run is gone or was changed" if known else "was made with other settings"
        )
        return Entry(cell, State.OUTDATED, note=note)
    state = folders.state(cell)
    if is_running(state):
        return Entry(cell, State.RUNNING)
    if _other_run(folders.run(cell), cell.recipe):
        return Entry(cell, State.OUTDATED, note=f"{folders.run(cell)} was started with other settings")
    error = Path(state + ".error.txt")
    if error.exists():
        return Entry(cell, State.FAILED, note=first_line(error.read_text(encoding="utf-8", errors="replace")))
    return Entry(cell, State.BEGUN if folders.run(cell).is_dir() else State.WAITING)


def _can_be_tested(stored: Stored, folders: Folders) -> bool:
    """Whether the run of a result is there, and would answer as it did when dev was scored."""
    folder = folders.runs / stored.name
    told = trained(stored.result)
    return folder.is_dir() and not told.removed and not _other_run(folder, told.recipe)


def _other_run(folder: Path, recipe: Recipe) -> bool:
    """Whether a run with other settings is in the way."""
    path = folder / "config.toml"
    try:
        return path.exists() and read_saved_recipe(path) != (recipe, {})
    except InputError:
        return True


def first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def shared_by(recipe: Recipe, folders: Folders, repeated: Container[str] = ()) -> dict[str, tuple[Path, Recipe]]:
    """What a run takes from others -> the shared run it comes from. Where a later stage teaches them, all parsers of a
    committee by their folders, or a single one that is there or among the `repeated`; else every pre-training stage,
    with the folder before it for one of a run below. None where the recipe names an earlier run itself."""
    if recipe.start_from:
        return {}
    if parsers := _taught(recipe):
        names = {place: fingerprint(each) for place, each in parsers.items()}
        runs = {place: (folders.runs / SHARED / f"run-{names[place]}", each) for place, each in parsers.items()}
        if recipe.committee > 1 or names[WHOLE] in repeated or is_finished(*runs[WHOLE]):
            return runs
    found = {}
    for name, (_, each, stage) in all_stages(recipe).items():
        if stage in PRETRAINING:
            one = stage_recipe(each, stage)
            found[name] = folders.runs / SHARED / f"{stage}-{fingerprint(one)}", one
    return found


def _taught(recipe: Recipe) -> dict[str, Recipe]:
    """The parsers of a run that a later stage teaches: folder below its own -> recipe."""
    if set(recipe.stages) <= set(TAKEN_OVER):
        return {}
    return {place: parser_recipe(each) for place, each in ({WHOLE: recipe} | members(recipe)).items()}


def _repeated(cells: Iterable[Cell]) -> set[str]:
    """The names of parsers that several of these cells have."""
    counts = Counter(fingerprint(each) for cell in cells for each in _taught(cell.recipe).values())
    return {name for name, count in counts.items() if count > 1}


def stage_jobs(cells: Sequence[Cell], folders: Folders, *, device: str) -> list[Job]:
    """Every distinct stage and member these cells need that nobody has trained yet, each behind those it needs."""
    jobs: dict[str, Job] = {}
    repeated = _repeated(cells)
    for cell in cells:
        jobs |= _jobs_before(cell.recipe, folders, device, repeated)
    return list(jobs.values())


def _jobs_before(recipe: Recipe, folders: Folders, device: str, repeated: Container[str] = ()) -> dict[str, Job]:
    """Folder -> job of what is to be trained before a run."""
    jobs: dict[str, Job] = {}
    for folder, each in shared_by(recipe, folders, repeated).values():
        single = len(each.stages) == 1
        if is_finished(folder, each):
            continue
        jobs |= {} if single else _jobs_before(each, folders, device)
        jobs[str(folder)] = Job(
            "stage",
            f"{SHARED}/{folder.name}",
            each.model_dump(mode="json"),
            str(folder),
            str(folder.parent / "jobs" / folder.name),
            device=device,
            shared={} if single else _sources(each, folders),
        )
    return jobs


def _sources(recipe: Recipe, folders: Folders, repeated: Container[str] = ()) -> dict[str, str]:
    return {name: str(folder) for name, (folder, _) in shared_by(recipe, folders, repeated).items()}


def cell_job(cell: Cell, folders: Folders, *, device: str, commit: str, repeated: Container[str] = ()) -> Job:
    """The job of a cell that is to be trained; `repeated` are parsers that other cells have as well."""
    facts = {"cell": cell.name, "grid": cell.grid, "method": cell.method, "varied": cell.varied, "commit": commit}
    return Job(
        "cell",
        cell.full_name,
        cell.recipe.model_dump(mode="json"),
        str(folders.run(cell)),
        folders.state(cell),
        device=device,
        shared=_sources(cell.recipe, folders, repeated),
        facts=facts,
        results=str(folders.results),
        test=cell.test,
    )


def scoring_job(entry: Entry, folders: Folders, *, device: str) -> Job:
    """The job that scores test for a cell that is trained. A result of another grid is copied and not changed."""
    assert entry.source is not None
    cell = entry.cell
    return Job(
        "test",
        cell.full_name,
        cell.recipe.model_dump(mode="json"),
        str(folders.runs / entry.source.name),
        folders.state(cell),
        device=device,
        facts=entry.result,
        results=str(folders.results),
    )


@dataclass(frozen=True)
class Work:
    """What is to be done: shared stages, and cells. `old` are cells whose outdated result is to make room."""

    stages: list[Job]
    cells: list[Job]
    old: list[Cell] = field(default_factory=list)

    @property
    def jobs(self) -> list[Job]:
        """All in line, what a cell needs before it."""
        stages = {job.folder: job for job in self.stages}
        line: dict[str, Job] = {}
        for cell in self.cells:
            line |= {job.folder: job for job in _in_line(cell, stages)}
        return list(line.values())


def _in_line(job: Job, stages: Mapping[str, Job]) -> Iterator[Job]:
    for folder in job.shared.values():
        if folder in stages:
            yield from _in_line(stages[folder], stages)
    yield job


def work_of(
    entries: Iterable[Entry],
    folders: Folders,
    *,
    device: str,
    commit: str,
    replace: bool = False,
    own: bool = False,
) -> Work:
    """The jobs that are left. Cells made with other settings are left alone unless they are to be replaced; a cell of
    several grids is run once, unless each grid is to have its own."""
    left: dict[str, Cell] = {}
    scoring, old = [], []
    for entry in entries:
        if entry.state == State.DONE or (entry.state == State.OUTDATED and not replace):
            continue
        if entry.state == State.TEST:
            scoring.append(scoring_job(entry, folders, device=device))
            continue
        if entry.state == State.OUTDATED:
            old.append(entry.cell)
        key = entry.cell.full_name if own else entry.cell.key
        first = left.setdefault(key, entry.cell)
        if entry.cell.test and not first.test:  # two grids with the same cell: the one with a test score serves both
            left[key] = entry.cell
    cells = list(left.values())
    repeated = _repeated(cells)
    jobs = [cell_job(cell, folders, device=device, commit=commit, repeated=repeated) for cell in cells]
    return Work(stage_jobs(cells, folders, device=device), jobs + scoring, old)


def choose(entries: Iterable[Entry], axes: Iterable[str]) -> list[Entry]:
    """The entries with those values of the axes whose dev accuracy is best on average over everything else."""
    axes = list(axes)
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(json.dumps([entry.cell.varied.get(axis) for axis in axes]), []).append(entry)
    return max(groups.values(), key=lambda group: sum(map(_dev, group)) / len(group))


def _dev(entry: Entry) -> float:
    return float(entry.result["dev"]["q2lf"]["accuracy"])


def counted(entries: Iterable[Entry]) -> Mapping[State, int]:
    """How many cells are in which state, in the order of the states."""
    states = [entry.state for entry in entries]
    return {state: states.count(state) for state in State if state in states}
