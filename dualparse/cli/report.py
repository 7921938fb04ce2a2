"""`dualparse report`: tables from result files."""

from __future__ import annotations

from pathlib import Path

import typer

from dualparse.report import put_into, read_results, tables


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    results: Path = typer.Argument(Path("results"), help="Folder with the results of sweeps."),
    into: Path | None = typer.Option(None, help="Markdown file with result marks to put the tables into."),
) -> None:
    """Print the results as tables like the paper's, its numbers beside ours.

    Example: dualparse report results --into README.md
    """
    text = tables(read_results(results))
    if into is None:
        print(text, end="")
    else:
        put_into(into, text)
