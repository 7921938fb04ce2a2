"""A grid file -> its cells: every combination of dataset, method and values is one run.

    datasets = ["atis", "overnight/blocks"]          # fill {dataset} in the methods' recipes; /NAME is the domain
    methods = "methods/all-labels.toml"              # a file, or the tables below
    test = true                                      # score test too, once
    choose = ["train.average"]                       # of these axes only the values best on dev are scored on test
    [methods."AttPtr+Dual+LF"]                       # a method: a recipe, and what it changes in it
    recipe = "{dataset}-attptr-dual.toml"
    data.synthesized = true
    [set]                                            # the same for all cells
    data.labeled = 0.5
    [axes]                                           # one cell per combination
    seed = [1, 2, 3]

A grid may also name its recipes directly: `recipe = "atis-attptr.toml"`, or a list of them. A file of methods lies
beside the grid or below, or in the methods/ folder of one of its parents (`../methods/all-labels.toml`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

import dualparse
from dualparse.config import Closed, Recipe, dotted, inline, read_recipe
from dualparse.errors import InputError
from dualparse.lab.sharing import fingerprint
from dualparse.suggest import unknown_name
from dualparse.toml import read_toml

PACKAGE = Path(dualparse.__file__).resolve().parent

Method = dict[str, Any]


class Grid(Closed):
    """A grid file."""

    recipe: str | list[str] = Field("", description="recipe file, or several")
    datasets: list[str] = Field(default_factory=list, description="names that fill {dataset} in the methods' recipes")
    methods: dict[str, Method] = Field(default_factory=dict, description="name -> recipe and what it changes in it")
    test: bool = Field(False, description="score the test split too")
    choose: list[str] = Field(default_factory=list, description="axes whose value is chosen on dev, then tested")
    set: dict[str, Any] = Field(default_factory=dict, description="settings of all cells")
    axes: dict[str, Any] = Field(default_factory=dict, description="settings that vary")


@dataclass(frozen=True)
class Cell:
    """One run of a grid: its name is made of the dataset, the method and what varies."""

    grid: str
    name: str
    recipe: Recipe
    varied: dict[str, Any] = field(default_factory=dict)
    method: str = ""
    test: bool = False  # score test as soon as it is trained

    @property
    def key(self) -> str:
        """What it trains and how that is scored; cells with the same key have the same result."""
        return fingerprint(self.recipe)

    @property
    def full_name(self) -> str:
        return f"{self.grid}/{self.name}"


def _methods_file(path: Path, name: str) -> Path:
    """A file where those of methods are."""
    found = path.parent / name
    _stays(found, name, path, "methods")
    return found


def _stays(found: Path, name: str, path: Path, kind: str) -> None:
    """A file that a grid names is below its folder, in the folder of that kind of one above, or came with dualparse:
    somebody else's grid reads no file of ours."""
    try:
        folder, target = path.parent.resolve(), found.resolve()
    except (OSError, RuntimeError, ValueError):  # links in a circle, a name too long
        inside = False
    else:
        places = [folder, PACKAGE, *(parent / kind for parent in folder.parents)]
        inside = any(target.is_relative_to(place) for place in places)
    if not inside:
        raise InputError(f"{name[:80]!r} leads out of the folder of the grid, and into no {kind}/", path=path)


def read_grid(path: Path) -> Grid:
    """A grid file, the file of its methods included."""
    values = read_toml(path, kind="grid")
    if isinstance(values.get("methods"), str):
        values["methods"] = read_toml(_methods_file(path, values["methods"]), kind="file of methods")
    try:
        grid = Grid.model_validate(values)
    except ValidationError as error:
        raise InputError(_explain(error.errors()[0]), path=path) from None
    _check(grid, path)
    return grid


def cells_of(grid: Grid, path: Path) -> list[Cell]:
    """All cells of a grid, in a fixed order; of cells that would train the same only the first.

    Recipes are looked for beside the grid and in the recipes/ folder of its parents.
    """
    axes = dict(dotted(grid.axes))
    common = dict(dotted(grid.set))
    cells: dict[str, Cell] = {}
    for stem, file, name, settings in _runs(grid):
        for values in itertools.product(*axes.values()):
            varied = dict(zip(axes, values, strict=True))
            overrides = [f"{key}={inline(value)}" for key, value in (common | settings | varied).items()]
            given = f"{path} ({name})" if name else path
            recipe = read_recipe(_find_recipe(file, path), overrides=overrides, given=given)
            parts = [stem, *(f"{key.rsplit('.', 1)[-1]}={_plain(value)}" for key, value in varied.items())]
            cell = Cell(path.stem, ",".join(parts), recipe, varied, name, test=grid.test and not grid.choose)
            cells.setdefault(cell.key, cell)
    return list(cells.values())


def _runs(grid: Grid) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """(first part of the name, recipe file, method, its settings) of everything that is not an axis."""
    for file in [grid.recipe] if isinstance(grid.recipe, str) else grid.recipe:
        if file and not grid.methods:
            yield Path(file).stem, file, "", {}
    for dataset, (name, method) in itertools.product(grid.datasets, grid.methods.items()):
        settings = dict(dotted(method))
        family, _, domain = dataset.partition("/")
        file = settings.pop("recipe").replace("{dataset}", family)
        yield f"{domain or family}-{slug(name)}", file, name, ({"domain": domain} if domain else {}) | settings


def slug(name: str) -> str:
    """A method's name as part of a file name.

    >>> slug("AttPtr+Pseudo(LF+Q)")
    'attptr-pseudo-lf-q'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _check(grid: Grid, path: Path) -> None:
    if bool(grid.recipe) == bool(grid.methods):
        raise InputError("expected either a recipe, or datasets and methods", path=path)
    if grid.methods and not grid.datasets:
        raise InputError('methods need datasets, for example datasets = ["atis"]', path=path)
    for name, method in grid.methods.items():
        if not isinstance(method.get("recipe"), str):
            raise InputError(f'methods.{name}: expected a recipe, for example "{{dataset}}-att.toml"', path=path)
    axes = dict(dotted(grid.axes))
    for key, values in axes.items():
        if not isinstance(values, list) or not values:
            raise InputError(f"axes.{key}: expected a list of values", path=path)
    for key in grid.choose:
        if key not in axes:
            raise InputError(unknown_name("axis", key, axes), path=path)


def _find_recipe(name: str, grid: Path) -> Path:
    places = [*(folder / "recipes" / name for folder in grid.resolve().parents), grid.parent / name]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        return Path("recipes") / name
    _stays(found, name, grid, "recipes")
    return found


def _plain(value: object) -> str:
    return str(value).replace("/", "_").replace(" ", "")


def _explain(problem: Any) -> str:
    place = ".".join(map(str, problem["loc"]))
    if problem["type"] == "extra_forbidden":
        return unknown_name("key of a grid", place, Grid.model_fields)
    return f"{place}: {problem['msg'][0].lower()}{problem['msg'][1:]}"


def named(cells: Iterable[Cell], patterns: Iterable[str]) -> list[Cell]:
    """The cells whose name, with or without the grid's, matches one of these patterns (`*seed=1`)."""
    patterns = list(patterns)
    return [c for c in cells if any(fnmatchcase(c.name, p) or fnmatchcase(c.full_name, p) for p in patterns)]
