"""`dualparse connect`: from a database to a folder that can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from dualparse.errors import InputError
from dualparse.networks.minilm import minilm_folder
from dualparse.use.cli.lines import argument
from dualparse.use.cli.screen import Screen

if TYPE_CHECKING:
    from dualparse.database.connect import Report


def register(app: typer.Typer) -> None:
    app.command()(connect)


def connect(
    database: Annotated[
        str,
        typer.Argument(
            help="A URL (sqlite:///FILE, duckdb:///FILE, postgresql://HOST/NAME), a file, a folder of CSV or Parquet "
            "files, or env:NAME, an environment variable that holds one of these.",
            metavar="DATABASE",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder to write; one that is there already is renewed.", metavar="DIR")],
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Look at a database and write an editable folder through which it can be asked. Nothing is written to the data.

    Example: dualparse connect sqlite:///shop.sqlite --out shop
    """
    with needs_database():
        from dualparse.database.connect import connect as connect_folder
        from dualparse.database.folder import read_connected
        from dualparse.database.index import index_of
        from dualparse.database.location import locate

    location = locate(argument(database))
    with _bar(quiet) as bar:
        task = bar.add_task("looking at the tables", total=None)

        def progress(what: str, done: int, total: int) -> None:
            bar.update(task, description=what or "done", completed=done, total=total)

        report = connect_folder(location, out, progress=progress)
        connected = read_connected(out)
        with index_of(connected, progress=progress) as index:
            names = len(index)
    _show(report, names, Screen(highlight=False, markup=False, soft_wrap=True))


@contextmanager
def needs_database() -> Iterator[None]:
    """Around imports of what only the extra `database` installs."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed: pip install 'dualparse[database]'") from None


def _bar(quiet: bool) -> Progress:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=Screen(stderr=True), disable=quiet, transient=True)


def _show(report: Report, names: int, console: Console) -> None:
    counts = f"{_number(report.tables, 'table')}, {_number(report.properties, 'property')}"
    console.print(f"{report.folder}: {counts}, {_number(report.relations, 'relation')}, {_number(report.rows, 'row')}")
    console.print(f"{_number(names, 'name')} to be found in questions")
    for hidden in report.hidden:
        console.print(f"left out: {hidden.table}.{hidden.column} ({hidden.reason})")
    for note in report.notes:
        console.print(f"note: {note}")
    try:
        minilm_folder(check=False)
    except InputError as error:
        console.print(f"note: questions are answered without the pretrained encoder: {error}")
    for change in report.changes:
        console.print(change)


def _number(amount: int, noun: str) -> str:
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{amount:,} {noun if amount == 1 else many}"
