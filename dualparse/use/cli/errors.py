"""`dualparse errors`: what a run gets wrong, in groups."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.text import Text

from dualparse.errors import InputError
from dualparse.use.cli.screen import Screen, say

if TYPE_CHECKING:
    from dualparse.lab.mistakes import Mistake, Mistakes

SPLITS = ("dev", "test")


def register(app: typer.Typer) -> None:
    app.command()(errors)


def errors(
    run: Path = typer.Argument(help="Run folder that has been evaluated."),
    split: str = typer.Option("dev", help="dev or test."),
    examples: int = typer.Option(3, min=0, help="Examples to show of every group."),
    json_: bool = typer.Option(False, "--json", help="Every mistake as a JSON object, one a line."),
) -> None:
    """Group the wrong predictions of a run: entity, predicate, structure, invalid, right answer by another form.

    Example: dualparse errors runs/trails --split test
    """
    if split not in SPLITS:
        raise InputError(f"--split {split}: expected dev or test")
    from dualparse.lab.mistakes import read_mistakes

    found = read_mistakes(run, split=split)
    if json_:
        for mistake in found.mistakes:
            say(json.dumps(asdict(mistake), ensure_ascii=False))
        return
    _show(found, examples, Screen(highlight=False))


def _show(found: Mistakes, examples: int, console: Console) -> None:
    from dualparse.lab.mistakes import frequent, heading

    console.print(
        f"{found.run}, {found.split}: {found.wrong} of {found.examples} wrong, "
        f"{len(found.mistakes)} differ from the gold form",
        markup=False,
        soft_wrap=True,
    )
    for kind, group in found.groups().items():
        console.print(Text(f"\n{heading(kind, group)}: {len(group)}", style="bold"))
        for detail, count in frequent(group):
            console.print(Text(f"  {count} x {detail}", style="dim"), soft_wrap=True)
        for mistake in group[:examples]:
            _show_one(mistake, console)


def _show_one(mistake: Mistake, console: Console) -> None:
    console.print(Text(f"\n  {mistake.query}"), soft_wrap=True)
    console.print(Text.assemble(("    gold  ", "green"), mistake.gold), soft_wrap=True)
    console.print(Text.assemble(("    said  ", "red"), mistake.predicted or "(nothing)"), soft_wrap=True)
    console.print(Text(f"    {mistake.detail}", style="yellow"), soft_wrap=True)
