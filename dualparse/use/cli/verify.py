"""`dualparse verify`: whether run folders and connected folders are as they were written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import typer

from dualparse.errors import InputError
from dualparse.use.cli.screen import Screen

Look = Callable[[], str]  # what there is to say of a folder or a file, or an `InputError`


def register(app: typer.Typer) -> None:
    app.command()(verify)


def verify(folders: list[Path] = typer.Argument(metavar="FOLDER...", help="Run folders, connected folders.")) -> None:
    """Check every file of runs, and of the runs below them, against the sizes and SHA-256 written when they were
    finished; the index of names of connected folders; and the records of journals. What opens a folder checks
    what it reads as well; this looks at all of it, and at checkpoints.

    Example: dualparse verify runs/trails
    """
    console, bad = Screen(highlight=False, markup=False, soft_wrap=True), 0
    for folder in folders:
        for place, look in _looks(folder):
            try:
                console.print(f"{place}: {look()}")
            except InputError as error:
                bad += 1
                Screen(stderr=True, highlight=False).print(f"error: {error}", markup=False, soft_wrap=True)
    if bad:
        raise typer.Exit(2)


def _looks(folder: Path) -> Iterator[tuple[Path, Look]]:
    """What is to be looked at, and how."""
    from dualparse.asking.journal import NAME as JOURNAL
    from dualparse.asking.journal import verify_journal
    from dualparse.database.folder import INDEX, is_connected, read_connected
    from dualparse.database.index import verify_index
    from dualparse.runs import Run

    if is_connected(folder):
        connected = read_connected(folder)
        yield folder / INDEX, lambda: _counted(verify_index(connected), "names")
    else:
        Run.open(folder)
        for config in sorted(folder.rglob("config.toml")):
            yield config.parent, partial(_verified, config.parent)
    for journal in sorted(folder.rglob(JOURNAL)):
        yield journal, lambda journal=journal: _counted(verify_journal(journal), "records")  # type: ignore[misc]


def _counted(count: int | None, what: str) -> str:
    return f"{count} {what} ok" if count is not None else "not made yet"


def _verified(folder: Path) -> str:
    from dualparse import manifest
    from dualparse.networks.tensors import load_tensors
    from dualparse.runs import Run

    run, count = Run(folder), manifest.verify(folder)
    _ = run.recipe, run.vocab("query"), run.vocab("lf")
    for path in sorted(folder.glob("*.safetensors")):
        load_tensors(path)
    return "not finished, or older than manifests; what is there can be read" if count is None else f"{count} files ok"
