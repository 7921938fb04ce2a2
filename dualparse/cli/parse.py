"""`dualparse parse` and `dualparse verbalize`: a trained run answers questions, and words forms."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dualparse.cli.answers import answer
from dualparse.cli.lines import argument, text_lines
from dualparse.errors import InputError

if TYPE_CHECKING:
    from dualparse.api import Parse


def register(app: typer.Typer) -> None:
    app.command()(parse)
    app.command()(verbalize)


def parse(
    run: Path = typer.Argument(help="Run folder."),
    question: str | None = typer.Argument(None, help="The question; lines from standard input without it."),
    k: int = typer.Option(3, min=1, max=100, help="Readings to show."),
    json_: bool = typer.Option(False, "--json", help="One JSON object a question."),
    device: str = typer.Option("auto", help="auto, cpu or cuda."),
) -> None:
    """Read questions: logical forms with score, verdict and answer.

    Example: dualparse parse runs/trails "which huts have showers"
    """
    from dualparse.api import load
    from dualparse.train.run import choose_device

    parser = load(run, device=choose_device(device))
    console = Console()
    for text in _inputs(question):
        parses = parser.parse(text, k=k)
        if json_:
            found = [
                {"form": p.form, "score": p.score, "ok": p.verdict.ok, "reason": p.verdict.reason, "answer": p.answer}
                for p in parses
            ]
            print(json.dumps({"question": text, "hypotheses": found}), flush=True)
            continue
        table = Table(
            "score", "logical form", "answer", box=None, header_style="bold", title=escape(text), title_justify="left"
        )
        for p in parses:
            table.add_row(f"{p.score:.3f}", escape(p.form), _result(p))
        console.print(table)


def _result(parse: Parse) -> str:
    if not parse.verdict.ok:
        return f"[red]invalid[/red]: {escape(parse.verdict.reason)}"
    return escape(answer(parse.answer)) if parse.answer else "ok"


def verbalize(
    run: Path = typer.Argument(help="Run folder."),
    form: str | None = typer.Argument(None, help="The logical form; lines from standard input without it."),
    k: int = typer.Option(1, min=1, max=100, help="Wordings to show."),
    device: str = typer.Option("auto", help="auto, cpu or cuda."),
) -> None:
    """Say logical forms in words: one question a line.

    Example: dualparse verbalize runs/trails "( count ( all hut ) )"
    """
    from dualparse.api import load
    from dualparse.train.run import choose_device

    parser = load(run, device=choose_device(device))
    for text in _inputs(form):
        for wording in parser.verbalize(text, k=k):
            print(wording.query, flush=True)


def _inputs(text: str | None) -> Iterator[str]:
    """The argument, or the lines of standard input."""
    if text is not None:
        yield argument(text)
        return
    for line in text_lines("-"):
        if line is None:
            raise InputError("a line of standard input is too long for a question or a form")
        yield line
