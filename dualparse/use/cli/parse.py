"""`dualparse parse` and `dualparse verbalize`: a trained run answers questions, and words forms.

Questions and forms come from the command line or from standard input. There, a line that cannot be used is reported and
the next one is read; the exit code is then 2.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from dualparse.errors import InputError
from dualparse.use.cli.answers import answer
from dualparse.use.cli.lines import argument, numbered_lines
from dualparse.use.cli.screen import Screen, say

if TYPE_CHECKING:
    from dualparse.domains.text import Reading
    from dualparse.use.api import Parser
    from dualparse.use.parses import Parse, Wording

Result = TypeVar("Result")
Answered: TypeAlias = "tuple[Reading, list[Parse]]"

RUN = typer.Argument(help="Run folder.")
JSON = typer.Option(False, "--json", help="One JSON object a line of input.")
BATCH = typer.Option(1, min=1, max=4096, help="Lines of standard input answered at once: more are quicker, but wait.")
DEVICE = typer.Option("auto", help="auto, cpu or cuda.")


def register(app: typer.Typer) -> None:
    app.command()(parse)
    app.command()(verbalize)


def parse(
    run: Path = RUN,
    question: str | None = typer.Argument(None, help="The question; lines from standard input without it."),
    k: int = typer.Option(3, "--k", "-k", min=1, max=100, help="Readings to show."),
    constrained: bool = typer.Option(
        False, "--constrained", help="Only valid readings: the search writes what the domain's types allow."
    ),
    explain: bool = typer.Option(
        False,
        "--explain",
        help="What each of those who choose adds to the score: q2lf, lf2q's way back, the matcher, the second reader.",
    ),
    json_: bool = JSON,
    batch: int = BATCH,
    device: str = DEVICE,
) -> None:
    """Read questions: logical forms with score, verdict and answer.

    Example: dualparse parse runs/trails "which huts have showers"
    """
    parser = _open(run, device, light=question is not None)

    def ask(questions: Sequence[str]) -> list[Answered]:
        readings = [parser.read(question) for question in questions]
        return list(zip(readings, parser.parse_readings(readings, k=k, constrained=constrained), strict=True))

    _answer(question, batch, ask, partial(_print_parses if json_ else _show_parses, explain=explain))


def verbalize(
    run: Path = RUN,
    form: str | None = typer.Argument(None, help="The logical form; lines from standard input without it."),
    k: int = typer.Option(1, "--k", "-k", min=1, max=100, help="Wordings to show."),
    json_: bool = JSON,
    batch: int = BATCH,
    device: str = DEVICE,
) -> None:
    """Say logical forms in words: one question a line.

    Example: dualparse verbalize runs/trails "( count ( all hut ) )"
    """
    parser = _open(run, device, whole=False)
    _ = parser.lf2q  # what is missing is told before the first line is read
    show = _print_wordings if json_ else _show_wordings
    _answer(form, batch, lambda texts: parser.verbalize_all(texts, k=k), show)


def _open(run: Path, device: str, *, whole: bool = True, light: bool = False) -> Parser:
    """A single question is answered before torch would be loaded."""
    from dualparse.use.api import load

    return load(run, device=device, whole=whole, light=light and device in ("auto", "cpu"))


def _answer(
    text: str | None,
    batch: int,
    ask: Callable[[Sequence[str]], list[Result]],
    show: Callable[[str, Result], None],
) -> None:
    """Ask about the argument, or about the lines of standard input, some at a time."""
    if text is not None:
        show(argument(text), ask([argument(text)])[0])
        return
    lines, bad = numbered_lines("-"), 0
    while some := list(islice(lines, batch)):
        for line, result in _asked(some, ask):
            if isinstance(result, InputError):
                bad += 1
                Screen(stderr=True, highlight=False).print(f"error: {result}", markup=False, soft_wrap=True)
            else:
                show(line, result)
    if bad:
        raise typer.Exit(2)


def _asked(
    lines: Sequence[tuple[int, str | InputError]], ask: Callable[[Sequence[str]], list[Result]]
) -> Iterator[tuple[str, Result | InputError]]:
    """The results of some lines in their order; where not all can be answered, one by one."""
    texts = [line for _, line in lines if isinstance(line, str)]
    try:
        found = ask(texts) if len(texts) == len(lines) else None
    except InputError:
        found = None
    if found is None:
        yield from _one_by_one(lines, ask)
    else:
        yield from zip(texts, found, strict=True)


def _one_by_one(
    lines: Sequence[tuple[int, str | InputError]], ask: Callable[[Sequence[str]], list[Result]]
) -> Iterator[tuple[str, Result | InputError]]:
    for number, line in lines:
        if isinstance(line, InputError):
            yield "", line
            continue
        try:
            yield line, ask([line])[0]
        except InputError as error:
            yield line, InputError(error.message, path="standard input", line=number)


def _print_parses(question: str, answered: Answered, *, explain: bool) -> None:
    reading, parses = answered
    found = [
        {
            "form": p.form,
            "probability": p.probability,
            "score": p.score,
            "ok": p.verdict.ok,
            "reason": p.verdict.reason,
            "answer": p.answer,
            "copies": [asdict(copy) for copy in p.copies],
            **({"parts": dict(p.parts)} if explain else {}),
        }
        for p in parses
    ]
    line = {"question": question, "words": reading.words, "notes": reading.notes, "hypotheses": found}
    say(json.dumps(line))


def _show_parses(question: str, answered: Answered, *, explain: bool) -> None:
    console, (reading, parses) = Screen(), answered
    names = list(dict.fromkeys(name for p in parses for name in p.parts)) if explain else []
    told = [*names, "sum"] if len(names) > 1 else names
    table = Table("right", "logical form", "answer", box=None, header_style="bold", pad_edge=False)
    for name in told:
        table.add_column(name, justify="right")
    for p in parses:
        figures = {**p.parts, "sum": sum(p.parts.values())}
        said = [f"{figures[name]:.2f}" if name in figures else "" for name in told]
        table.add_row(f"{p.probability:.0%}", escape(p.form), _result(p), *said)
    console.print(Text(question, "italic"))
    if reading.notes:
        console.print(Text(f"note: {'; '.join(reading.notes)}", "yellow"))
    console.print(table if parses else "no valid reading found")


def _result(parse: Parse) -> str:
    if not parse.verdict.ok:
        return f"[red]invalid[/red]: {escape(parse.verdict.reason)}"
    return escape(answer(parse.answer)) if parse.answer else "ok"


def _print_wordings(form: str, wordings: Sequence[Wording]) -> None:
    say(json.dumps({"form": form, "wordings": [asdict(wording) for wording in wordings]}))


def _show_wordings(form: str, wordings: Sequence[Wording]) -> None:
    for wording in wordings:
        say(wording.query)
