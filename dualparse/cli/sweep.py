"""`dualparse sweep`: a grid of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from dualparse.sweep import cells_of, choose, read_grid, score_test
from dualparse.sweep import sweep as run_cells


def register(app: typer.Typer) -> None:
    app.command()(sweep)


def sweep(
    grid: Path = typer.Argument(help="Grid file (TOML)."),
    jobs: int = typer.Option(1, min=1, help="Cells at the same time."),
    runs: Path = typer.Option(Path("runs"), help="Where the run folders go."),
    results: Path = typer.Option(Path("results"), help="Where the results go, one JSON file a cell."),
    device: str = typer.Option("auto", help="auto, cpu or cuda."),
) -> None:
    """Run every cell of a grid; finished cells are kept.

    Example: dualparse sweep grids/atis-attptr.toml --jobs 2
    """
    settings = read_grid(grid)
    cells = cells_of(settings, grid)
    runs, results = runs / grid.stem, results / grid.stem
    states: dict[str, str] = {cell.name: "waiting" for cell in cells}
    scores: dict[str, str] = dict.fromkeys(states, "")
    finished: list[dict[str, Any]] = []
    failed = False

    def table() -> Table:
        shown = Table("cell", "state", "dev", "test", box=None, header_style="bold")
        for name, state in states.items():
            shown.add_row(name, state, *scores[name].split("|") if scores[name] else ("", ""))
        return shown

    with Live(table(), console=Console(), refresh_per_second=1) as live:
        for name, found in run_cells(cells, runs, results, jobs=jobs, device=device):
            if isinstance(found, str):
                states[name], failed = f"failed: {found}", True
            else:
                finished.append(found)
                states[name], scores[name] = f"done in {found['seconds']:.0f} s", _scores(found)
            live.update(table())
        if settings.test and not failed:
            chosen = choose(finished, settings.choose)
            for name, found in score_test([result["cell"] for result in chosen], runs, results, device=device):
                scores[name] = _scores(found)
                live.update(table())
    raise typer.Exit(1 if failed else 0)


def _scores(result: dict[str, Any]) -> str:
    return "|".join(_main_score(result.get(split)) for split in ("dev", "test"))


def _main_score(scores: dict[str, dict[str, float]] | None) -> str:
    return f"{scores['q2lf']['accuracy']:.1f}" if scores and "q2lf" in scores else ""
