"""`dualparse verify`: whether run folders are as they were written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dualparse.errors import InputError
from dualparse.use.cli.screen import Screen

if TYPE_CHECKING:
    from dualparse.runs import Run


def register(app: typer.Typer) -> None:
    app.command()(verify)


def verify(runs: list[Path] = typer.Argument(metavar="RUN...", help="Run folders.")) -> None:
    """Check every file of runs, and of the runs below them, against the sizes and SHA-256 written when they were
    finished. Everything that opens a run checks its own files as well; this looks at all of them and at checkpoints.

    Example: dualparse verify runs/trails
    """
    from dualparse.runs import Run

    console, bad = Screen(highlight=False, markup=False, soft_wrap=True), 0
    for folder in runs:
        Run.open(folder)
        for config in sorted(folder.rglob("config.toml")):
            try:
                console.print(f"{config.parent}: {_verified(Run(config.parent))}")
            except InputError as error:
                bad += 1
                Screen(stderr=True, highlight=False).print(f"error: {error}", markup=False, soft_wrap=True)
    if bad:
        raise typer.Exit(2)


def _verified(run: Run) -> str:
    from dualparse import manifest
    from dualparse.networks.tensors import load_tensors

    count = manifest.verify(run.folder)
    _ = run.recipe, run.vocab("query"), run.vocab("lf")
    for path in sorted(run.folder.glob("*.safetensors")):
        load_tensors(path)
    return "not finished, or older than manifests; what is there can be read" if count is None else f"{count} files ok"
