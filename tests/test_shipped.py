"""Every recipe and grid that ships is loaded, says what its table needs, and finds the results that are stored."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
import typer
import yaml

from dualparse.config import ANY_DOMAIN, Recipe, read_recipe
from dualparse.domains.registry import domain_names
from dualparse.errors import InputError
from dualparse.lab.report.paper import DOMAINS, LM_VALIDITY, PAPER
from dualparse.lab.report.results import outcomes_of
from dualparse.lab.store import Store
from dualparse.lab.sweep.grid import Cell, cells_of, read_grid
from dualparse.lab.sweep.plan import Folders, State, by_key, look
from dualparse.training.essence import stage_recipe
from dualparse.use.cli.main import app

ROOT = Path(__file__).parents[1]
RECIPES = sorted((ROOT / "recipes").rglob("*.toml"))
GRIDS = sorted(path for path in (ROOT / "grids").rglob("*.toml") if path.parent.name != "methods")


def cells(name: str) -> list[Cell]:
    [path] = [path for path in GRIDS if path.stem == name]
    return cells_of(read_grid(path), path)


def names(found: list[Cell]) -> set[tuple[str, str, float, float]]:
    """(method, domain, labeled, unlabeled) as the report will read them off the results of these cells."""
    scores = {"q2lf": {"accuracy": 0.0}}
    told = outcomes_of({"recipe": c.recipe.model_dump(mode="json"), "dev": scores, "test": scores} for c in found)
    return {(o.method, o.domain, o.labeled, o.unlabeled) for o in told}


def recipe(path: Path) -> Recipe:
    """One of the eight domains where the recipe is for all of them."""
    several = f'domain = "{ANY_DOMAIN}"' in path.read_text()
    return read_recipe(path, overrides=["domain=blocks"] if several else [])


def test_programs_that_import_us_get_our_types():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert (ROOT / "dualparse" / "py.typed").is_file()
    assert "py.typed" in settings["tool"]["setuptools"]["package-data"]["dualparse"]


def test_containers_call_commands_that_exist():
    image = (ROOT / "deploy" / "Dockerfile").read_text()
    [default] = [json.loads(line.removeprefix("CMD ")) for line in image.splitlines() if line.startswith("CMD [")]
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    connect = services["connect"]["entrypoint"][2].split("|| dualparse ")[1].split()
    for name, *arguments in (default, services["serve"]["command"], connect):
        command = typer.main.get_command(app).commands[name]
        known = {option for each in command.params for option in each.opts}
        assert {each for each in arguments if each.startswith("--")} <= known
    named = {each for service in services.values() for each in service.get("depends_on", {})}
    assert named <= set(services)
    assert (ROOT / "deploy" / "shop.sql").is_file()


def test_a_recipe_for_several_domains_asks_which():
    with pytest.raises(InputError, match="say for which: --set domain=NAME"):
        read_recipe(ROOT / "recipes" / "overnight-att.toml")


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_is_loaded(path):
    assert recipe(path).domain in domain_names()


@pytest.mark.parametrize("path", GRIDS, ids=lambda path: path.stem)
def test_every_grid_is_loaded(path):
    found = cells_of(read_grid(path), path)
    assert len({cell.name for cell in found}) == len(found) > 0


@pytest.mark.parametrize("path", [p for p in RECIPES if p.stem.endswith("-dual")], ids=lambda path: path.stem)
def test_a_game_goes_on_from_the_published_parser(path):
    """A recipe with the game differs from the supervised one in what comes after pre-training."""
    supervised = recipe(path.with_name(path.name.replace("-dual", "")))
    assert stage_recipe(recipe(path), "q2lf") == stage_recipe(supervised, "q2lf")


def test_the_grids_of_the_tables_have_all_their_rows():
    assert names(cells("table2")) == {(m, d, 1.0, 1.0) for m in PAPER["table2"] for d in DOMAINS}
    assert names(cells("table3")) == {(m, "atis", 1.0, 1.0) for m in PAPER["table3"]}
    half = {(m, d, 0.5, 1.0) for m in PAPER["table4"] for d in (*DOMAINS, "atis")}
    assert names(cells("table4")) == half
    judged = {f"{base}+Dual+LF+Q{mark}" for base in PAPER["table5"] for mark in ("", LM_VALIDITY)}
    assert names(cells("table5")) == {(m, d, 0.5, 1.0) for m in judged for d in (*DOMAINS, "atis")}


def test_a_cell_is_called_what_the_report_calls_it():
    for grid in ("table2", "table3", "table4", "figure3", "figure4"):
        for cell in cells(grid):
            assert {name for name, *_ in names([cell])} == {cell.method}, cell.full_name


def test_the_grids_of_the_figures_have_all_their_points():
    curves = ("AttPtr", "AttPtr+Pseudo(LF+Q)", "AttPtr+Dual+LF+Q")
    labeled = {(method, share) for method, _, share, _ in names(cells("figure3"))}
    assert {share for _, share in labeled} >= {0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.9}
    assert labeled == {(method, share) for method in curves for share in {share for _, share in labeled}}
    points = names(cells("figure4"))
    assert {share for _, _, share, _ in points} == {0.3}
    assert {(method, share) for method, _, _, share in points} == {
        ("AttPtr", 1.0),
        *((method, share) for method in curves[1:] for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
    }


@pytest.mark.parametrize("path", GRIDS, ids=lambda path: path.stem)
def test_a_grid_that_ships_has_been_run(path, tmp_path):
    """But for cells that nobody has had the time for; what was stored for it is found, whatever has changed since."""
    found = look(cells(path.stem), Folders(tmp_path / "runs", ROOT / "results"))
    stored = {item.name for item in Store(ROOT / "results").read() if item.name.startswith(f"{path.stem}/")}
    assert stored <= {entry.cell.full_name for entry in found}, "of a cell that is no more in its grid"
    assert {
        entry.cell.full_name for entry in found if entry.cell.full_name in stored and entry.state != State.DONE
    } == set()


def test_every_stored_result_counts():
    """A thousand cells of all versions so far: each is read, and none is taken for another."""
    stored = Store(ROOT / "results").read()
    keys = by_key(stored)
    assert sum(map(len, keys.values())) == len(stored) >= 1022
    assert len(keys) >= 1011, "of some cells two grids have a result"


def test_the_curves_kept_belong_to_stored_results():
    names = {item.name for item in Store(ROOT / "results").read()}
    for path in sorted((ROOT / "results" / "curves").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            told = json.loads(line)
            assert told["at"] in names
            for stage, log in told["log"].items():
                lengths = {len(column) for column in (log["seconds"], *log["figures"].values())}
                assert len(lengths) == 1 and max(log["best"]) <= len(log["seconds"]), (told["at"], stage)


def test_stored_results_are_found_by_the_grids_that_have_them(tmp_path):
    folders = Folders(tmp_path / "runs", ROOT / "results")
    supervised = [cell for cell in cells("table3") if cell.method in ("Att", "AttPtr")]
    assert len(supervised) == 6
    assert {entry.state for entry in look(supervised, folders)} == {State.DONE}
