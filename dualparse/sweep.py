"""A grid of runs: a TOML file says what varies, every combination is one cell, every cell leaves one small JSON file.

    recipe = "atis-attptr.toml"      # in recipes/, or beside the grid; a list of recipes is one more axis
    test = true                      # score test too, once, when all cells are finished
    choose = ["train.average"]       # of these axes only the values that are best on dev are scored on test
    [set]                            # the same for all cells
    "train.epochs" = 60
    [axes]                           # one cell per combination
    seed = [1, 2, 3]

Finished cells are kept, so an interrupted sweep goes on where it was; a cell that fails harms no other.
"""

from __future__ import annotations

import itertools
import json
import os
import platform
import subprocess
import time
import tomllib
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from dualparse.config import Closed, Recipe, read_recipe
from dualparse.errors import InputError
from dualparse.files import write_text


class Grid(Closed):
    """A grid file."""

    recipe: str | list[str] = Field(description="recipe file, or several")
    test: bool = Field(False, description="score the test split too")
    choose: list[str] = Field(default_factory=list, description="axes whose value is chosen on dev, then tested")
    set: dict[str, Any] = Field(default_factory=dict, description="settings of all cells")
    axes: dict[str, list[Any]] = Field(default_factory=dict, description="settings that vary")


@dataclass(frozen=True)
class Cell:
    """One run of a grid: its name is made of what varies."""

    name: str
    recipe: Recipe
    varied: dict[str, Any]


def read_grid(path: Path) -> Grid:
    """A grid file."""
    try:
        return Grid.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise InputError("no such grid", path=path) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}", path=path) from None
    except ValidationError as error:
        problem = error.errors()[0]
        raise InputError(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}", path=path) from None


def cells_of(grid: Grid, path: Path) -> list[Cell]:
    """All cells of a grid, in a fixed order; recipes are looked for beside the file and in recipes/."""
    recipes = [grid.recipe] if isinstance(grid.recipe, str) else grid.recipe
    cells = []
    for file, values in itertools.product(recipes, itertools.product(*grid.axes.values())):
        varied = dict(zip(grid.axes, values, strict=True))
        overrides = [f"{key}={json.dumps(value)}" for key, value in (grid.set | varied).items()]
        recipe = read_recipe(_find_recipe(file, path), overrides=overrides)
        parts = [Path(file).stem, *(f"{key.rsplit('.', 1)[-1]}={_plain(value)}" for key, value in varied.items())]
        cells.append(Cell(",".join(parts), recipe, varied))
    return cells


def _find_recipe(name: str, grid: Path) -> Path:
    """In the recipes/ folder of one of the grid's parents, or beside the grid."""
    places = [*(folder / "recipes" / name for folder in grid.resolve().parents), grid.parent / name]
    return next((place for place in places if place.is_file()), places[0])


def _plain(value: object) -> str:
    return str(value).replace("/", "_").replace(" ", "")


def run_cell(cell: Cell, runs: Path, results: Path, *, device: str, commit: str) -> dict[str, Any]:
    """Train and score one cell; its result is written when all is done. An error becomes part of the result."""
    from dualparse.runs import Run
    from dualparse.train.loop import Record
    from dualparse.train.run import choose_device, train
    from dualparse.train.score import score_run

    started = time.perf_counter()
    result: dict[str, Any] = {"cell": cell.name, "varied": cell.varied, "recipe": cell.recipe.model_dump(mode="json")}
    chosen = choose_device(device)
    folder = runs / cell.name
    best: dict[str, Any] = {}
    for event in train(cell.recipe, folder, resume=True, device=chosen):
        if isinstance(event, Record) and event.best:
            best[event.stage] = {"epoch": event.epoch} | event.scores
    result |= {"best": best, "train_seconds": round(time.perf_counter() - started, 1)}
    result["dev"] = score_run(Run.open(folder), split="dev", device=chosen)
    result |= {"commit": commit, "hardware": _hardware(chosen), "seconds": round(time.perf_counter() - started, 1)}
    write_text(results / f"{cell.name}.json", json.dumps(result, indent=1) + "\n")
    return result


def sweep(
    cells: list[Cell], runs: Path, results: Path, *, jobs: int, device: str
) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Run all cells that have no result yet; yields (name, result or error text) as they finish."""
    from joblib import Parallel, delayed

    commit = current_commit()
    waiting = []
    for cell in cells:
        path = results / f"{cell.name}.json"
        if path.exists():
            yield cell.name, json.loads(path.read_text(encoding="utf-8"))
        else:
            waiting.append(cell)
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    yield from pool(delayed(_guarded)(cell, runs, results, device, commit) for cell in waiting)


def _guarded(cell: Cell, runs: Path, results: Path, device: str, commit: str) -> tuple[str, dict[str, Any] | str]:
    """A cell in a process of its own; whatever goes wrong there is told, with its traceback in a file, and the other
    cells go on."""
    try:
        return cell.name, run_cell(cell, runs, results, device=device, commit=commit)
    except InputError as error:
        return cell.name, str(error)
    except Exception as error:  # noqa: BLE001 - the border of a cell: a bug in one must not take the others along
        write_text(runs / cell.name / "error.txt", traceback.format_exc())
        return cell.name, f"{type(error).__name__}: {error} (see {runs / cell.name / 'error.txt'})"


def choose(results: list[dict[str, Any]], axes: list[str]) -> list[dict[str, Any]]:
    """The results with those values of the axes whose dev accuracy is best on average over everything else."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault(json.dumps([result["varied"].get(axis) for axis in axes]), []).append(result)
    return max(groups.values(), key=lambda group: sum(r["dev"]["q2lf"]["accuracy"] for r in group) / len(group))


def score_test(names: list[str], runs: Path, results: Path, *, device: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Score finished cells on test, once; a cell that was scored before is left alone."""
    from dualparse.runs import Run
    from dualparse.train.run import choose_device
    from dualparse.train.score import score_run

    for name in names:
        path = results / f"{name}.json"
        result = json.loads(path.read_text(encoding="utf-8"))
        if "test" not in result:
            result["test"] = score_run(Run.open(runs / name), split="test", device=choose_device(device))
            write_text(path, json.dumps(result, indent=1) + "\n")
        yield name, result


def current_commit() -> str:
    """The commit of the working tree, marked when files differ from it.

    Outside a checkout it is what DUALPARSE_COMMIT says, or `unknown`.
    """
    if "DUALPARSE_COMMIT" in os.environ:
        return os.environ["DUALPARSE_COMMIT"]
    try:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run(["git", "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit.stdout.strip() + ("+changes" if changed.stdout.strip() else "")


def _hardware(device: Any) -> str:
    import torch

    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"{platform.machine()} CPU"
