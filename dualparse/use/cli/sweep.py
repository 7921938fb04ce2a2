"""`dualparse sweep`: grids of runs."""

from __future__ import annotations

from pathlib import Path

import typer

from dualparse.errors import InputError
from dualparse.suggest import unknown_name

BACKENDS = ("local", "ray")


def register(app: typer.Typer) -> None:
    app.command()(sweep)


def sweep(
    grids: list[Path] = typer.Argument(help="Grid files (TOML)."),
    jobs: int = typer.Option(1, min=1, help="Jobs at the same time on this machine."),
    only: list[str] = typer.Option([], metavar="PATTERN", help="Only cells with such a name, e.g. '*seed=1'."),
    list_: bool = typer.Option(False, "--list", help="Show the cells and their state; run nothing."),
    replace: bool = typer.Option(False, help="Run cells anew whose results were made with other settings."),
    own: bool = typer.Option(False, help="Results of other grids with the same settings do not count."),
    runs: Path = typer.Option(Path("runs"), help="Where the run folders go."),
    results: Path = typer.Option(Path("results"), help="Where the results go, a line a cell in a file a grid."),
    device: str = typer.Option("auto", help="auto, cpu or cuda."),
    backend: str = typer.Option("local", help="local, or ray: the jobs go to a Ray cluster."),
    address: str = typer.Option("", help="Ray: address of the cluster; one on this machine by default."),
    gpu_share: float | None = typer.Option(None, min=0, max=1, help="Ray: part of a GPU a job takes, e.g. 0.25."),
) -> None:
    """Run every cell of the grids; finished cells are kept, failed ones are tried again.

    Example: dualparse sweep grids/table3.toml --jobs 2
    """
    if backend not in BACKENDS:
        raise InputError(unknown_name("backend", backend, BACKENDS))
    from dualparse.lab.sweep.backends import Local, OnRay
    from dualparse.lab.sweep.plan import Folders
    from dualparse.use.cli import sweeping

    engine = OnRay(address, gpu_share=gpu_share, device=device) if backend == "ray" else Local(jobs)
    sweeping.sweep(
        grids,
        Folders(runs, results),
        only=only,
        list_=list_,
        replace=replace,
        own=own,
        device=device,
        engine=engine,
    )
