"""`dualparse data list | get | verify | path`: the benchmark files on this machine."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn
from rich.table import Column, Table

from dualparse.domains.registry import datasets
from dualparse.errors import InputError
from dualparse.fetch.benchmarks import NAMES, Dataset, Outcome, State, data_dir, get, verify
from dualparse.suggest import unknown_name
from dualparse.use.cli.screen import Screen, say

commands = typer.Typer(
    help="Get the benchmark files (ATIS, OVERNIGHT, GloVe) and check them.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the family `data` to the program."""
    app.add_typer(commands, name="data")


@commands.command("list")
def list_datasets() -> None:
    """Show the datasets, where they come from and whether they are here.

    Example: dualparse data list
    """
    table = Table("name", "state", "what", Column("published at", overflow="fold"), box=None, pad_edge=False)
    for dataset in datasets().values():
        states = Counter(verify([dataset]).values())
        table.add_row(dataset.name, _summary(states), dataset.title, dataset.origin)
    Screen().print(table)


@commands.command("get")
def get_datasets(
    names: Annotated[list[str], typer.Argument(help="Datasets: " + ", ".join(NAMES) + ".", metavar="NAME")],
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Take the files from this folder instead of the network.", metavar="DIR"),
    ] = None,
) -> None:
    """Bring datasets here, checked. What is here already is kept; a broken transfer goes on where it broke.

    Example: dualparse data get atis overnight grammars
    Example: dualparse data get glove --from ~/downloads
    """
    for dataset in _named(names):  # all of them: a misspelt last name must not cost the download of the first
        with _progress() as bar:
            task = bar.add_task("", total=None, visible=False)

            def show(file: str, done: int, total: int | None, bar: Progress = bar, task: TaskID = task) -> None:
                bar.update(task, description=file, completed=done, total=total, visible=True)

            outcomes = Counter(get([dataset], source=source, progress=show).values())
        parts = [f"{outcomes[outcome]} {outcome}" for outcome in Outcome if outcomes[outcome]]
        say(f"{dataset.name}: {', '.join(parts)}, in {data_dir() / dataset.folder}")


@commands.command("verify")
def verify_datasets(
    names: Annotated[list[str] | None, typer.Argument(help="Datasets; all without one.", metavar="NAME")] = None,
) -> None:
    """Check every file against its published checksum. Exit code 1 when one is missing or wrong.

    Example: dualparse data verify atis
    """
    states = verify(_named(names) if names else datasets().values())
    for path, state in states.items():
        say(f"{path}: {state}")
    if set(states.values()) != {State.OK}:
        raise typer.Exit(1)


@commands.command("path")
def show_path() -> None:
    """Print the folder the files live in. DUALPARSE_DATA chooses another one.

    Example: ls "$(dualparse data path)"
    """
    say(data_dir())


def _named(names: list[str]) -> list[Dataset]:
    known = datasets()
    if wrong := next((name for name in names if name not in known), None):
        raise InputError(unknown_name("dataset", wrong, known))
    return [known[name] for name in names]


def _summary(states: Counter[State]) -> str:
    if set(states) == {State.OK}:
        return "[green]here[/green]"
    if set(states) == {State.MISSING}:
        return "not here"
    return "[yellow]" + ", ".join(f"{states[state]} {state}" for state in State if states[state]) + "[/yellow]"


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=Screen(stderr=True),
        transient=True,
    )
