"""`dualparse ask`: answers from a connected database, without training, or from a trained run."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from dualparse.use.cli.connect import needs_database
from dualparse.use.cli.days import day
from dualparse.use.cli.lines import argument
from dualparse.use.cli.screen import Screen, say

if TYPE_CHECKING:
    from dualparse.asking.reply import Asker, Reply

MOST_SHOWN = 20  # rows on the screen


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("ask")(ask)


def ask(
    target: Annotated[
        str, typer.Argument(help="A connected folder, a run folder, or the name of a domain.", metavar="DIR")
    ],
    question: Annotated[
        str, typer.Argument(help="A question; without one, questions are read from standard input, one a line.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    sql: Annotated[bool, typer.Option("--sql", help="Show the statement that gave the answer.")] = False,
    database: Annotated[str, typer.Option(help="Another location of the data.", metavar="DATABASE")] = "",
    today: Annotated[str, typer.Option(help='The day "last month" is seen from (YYYY-MM-DD).', metavar="DAY")] = "",
) -> None:
    """Answer questions about a connected database or a domain, without any training, or by a trained run.

    The answer says what was understood and how sure that is; where several readings are close, it asks back.

    Example: dualparse ask shop "which films are longer than two hours"
    Example: dualparse ask trails "which huts have showers"
    """
    with needs_database():
        from dualparse.use.asking import open_any

        asker: Asker = open_any(argument(target), database=argument(database), today=day(today), light=bool(question))
    console = Screen(highlight=False, markup=False, soft_wrap=True)
    try:
        for text in _questions(question):
            reply = asker.ask(text)
            if as_json:
                say(json.dumps(reply.to_dict(), ensure_ascii=False))
            else:
                show(reply, console, sql=sql)
    finally:
        asker.close()


def show(reply: Reply, console: Screen, *, sql: bool = False) -> None:
    """A reply for people: what was understood, then the answer."""
    from dualparse.asking.wording import sentence

    for note in reply.notes:
        console.print(f"note: {note}")
    if reply.status == "refused":
        console.print(f"no answer: {reply.reason}")
        for choice in reply.choices:
            console.print(f"  did you mean: {choice.said}?")
        return
    if reply.status == "ambiguous":
        console.print("this can mean:" if len(reply.choices) > 1 else "not sure; this may be meant:")
        for choice in reply.choices:
            console.print(f"  {choice.said} ({choice.probability:.0%})")
            console.print(f"    {choice.form}")
        return
    if reply.status == "error":
        console.print(f"error: {reply.reason}")
        return
    console.print(f"{sentence(reply.said)} ({reply.probability:.0%} sure):")
    for line in lines_of(reply):
        console.print(line)
    if sql:
        console.print(reply.sql)


def lines_of(reply: Reply) -> Iterator[str]:
    """The rows of an answer as lines."""
    if not reply.kind:
        yield f"  {reply.form}"
    elif reply.kind == "none":
        yield "  none"
    elif reply.kind == "yes_no":
        yield "  yes" if reply.rows[0][0] else "  no"
    elif len(reply.columns) == 1:
        for row in reply.rows[:MOST_SHOWN]:
            yield f"  {_cell(row[0], reply.units[0])}"
    else:
        yield from _table(reply)
    left = len(reply.rows) - MOST_SHOWN
    if left > 0:
        yield f"  and {left}{' or more' if reply.truncated else ''} more"


def _table(reply: Reply) -> Iterable[str]:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in reply.columns:
        table.add_column(name, overflow="fold")
    for row in reply.rows[:MOST_SHOWN]:
        table.add_row(*(_cell(value, unit) for value, unit in zip(row, reply.units, strict=True)))
    console = Screen(width=120, highlight=False, markup=False, no_color=True)
    with console.capture() as capture:
        console.print(table)
    return [f"  {line.rstrip()}" for line in capture.get().splitlines()]


def _cell(value: object, unit: str) -> str:
    from dualparse.asking.amounts import amount_of
    from dualparse.domains.units import clock

    if value is None:
        return "not recorded"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return clock(value, unit) or amount_of(value, unit)
    return str(value)


def _questions(question: str) -> Iterator[str]:
    if question:
        yield argument(question)
        return
    for line in sys.stdin:
        if line.strip():
            yield line.strip()
