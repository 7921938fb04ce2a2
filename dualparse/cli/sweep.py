"""`dualparse sweep`: a grid of runs."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from dualparse.sweep import read_grid
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

    Example: dualparse sweep recipes/grids/atis-supervised.toml --jobs 2
    """
    cells = read_grid(grid)
    states: dict[str, str] = {cell.name: "waiting" for cell in cells}
    scores: dict[str, str] = dict.fromkeys(states, "")
    failed = False

    def table() -> Table:
        shown = Table("cell", "state", "dev", "test", box=None, header_style="bold")
        for name, state in states.items():
            shown.add_row(name, state, *scores[name].split("|") if scores[name] else ("", ""))
        return shown

    with Live(table(), console=Console(), refresh_per_second=1) as live:
        for name, found in run_cells(cells, runs / grid.stem, results / grid.stem, jobs=jobs, device=device):
            if isinstance(found, str):
                states[name], failed = f"failed: {found}", True
            else:
                states[name] = f"done in {found['seconds']:.0f} s"
                scores[name] = "|".join(_main_score(found.get(split)) for split in ("dev", "test"))
            live.update(table())
    raise typer.Exit(1 if failed else 0)


def _main_score(scores: dict[str, dict[str, float]] | None) -> str:
    return f"{scores['q2lf']['accuracy']:.1f}" if scores and "q2lf" in scores else ""
