"""`dualparse report`: tables, figures and claims from stored results."""

from __future__ import annotations

from pathlib import Path

import typer

from dualparse.errors import InputError
from dualparse.use.cli.screen import say

PICTURE = Path("docs/images/results.svg")


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    results: Path = typer.Argument(Path("results"), help="Folder with the results of sweeps."),
    out: Path | None = typer.Option(None, help="Folder to write the report into: report.md, CSV tables, figures."),
    into: Path | None = typer.Option(None, help="Markdown file with result marks to put the main table into."),
    picture: Path = typer.Option(PICTURE, help="The summary picture that goes with --into (.svg)."),
    errors: list[Path] = typer.Option([], metavar="RUN", help="Run whose test errors the report shows; with --out."),
) -> None:
    """Show the results beside the paper's: tables, figures, and which of its claims they support.

    Example: dualparse report results --out report
    """
    from dualparse.lab.report.page import put_results_into, write_report
    from dualparse.lab.report.results import all_outcomes, read_results
    from dualparse.lab.report.tables import all_tables

    if errors and out is None:
        raise InputError("--errors is for a report: give --out as well")
    if out is not None:
        for path in write_report(results, out, more=[_errors_section(run) for run in errors]):
            say(path)
    if into is not None:
        if picture.suffix != ".svg":
            raise InputError("expected a name that ends in .svg", path=picture)
        put_results_into(into, results, picture)
    if out is None and into is None:
        for table in all_tables(all_outcomes(read_results(results))):
            say(f"{table.title}\n\n{table.markdown()}\n")


def _errors_section(run: Path) -> str:
    from dualparse.lab.mistakes import mistakes_text, read_mistakes

    return f"## Errors of {run.resolve().name}\n\n{mistakes_text(read_mistakes(run, split='test'))}"
