"""`dualparse game`: one round of the two-agent game as text, so that the algorithm can be watched."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.text import Text

from dualparse.errors import InputError
from dualparse.use.cli.lines import argument
from dualparse.use.cli.screen import Screen, say

if TYPE_CHECKING:
    from dualparse.game.tell import Move, Told

READS = {"q2lf": "lf2q", "lf2q": "q2lf"}
WRITES = {"q2lf": "forms", "lf2q": "queries"}
STARTS = {"q2lf": "query", "lf2q": "form"}


def register(app: typer.Typer) -> None:
    app.command()(game)


def game(
    run: Path = typer.Argument(help="Run folder with both agents."),
    query: str | None = typer.Argument(None, help="The query the loop starts from."),
    form: str | None = typer.Option(None, help="Start from this logical form instead: the other loop."),
    k: int | None = typer.Option(None, min=1, max=100, help="Hypotheses; as in the run's recipe by default."),
    before: bool = typer.Option(False, help="Play with the agents as they were before the game."),
    json_: bool = typer.Option(False, "--json", help="The round as one JSON object."),
    device: str = typer.Option("auto", help="auto, cpu or cuda."),
) -> None:
    """Show one round of the game: hypotheses, every reward by name, advantage, what comes back.

    Example: dualparse game runs/trails "which huts have showers"
    """
    text = argument(form or query or "")
    if (query is None) == (form is None):
        raise InputError('a round starts from a query or from a form: dualparse game RUN "query", or --form "( ... )"')
    from dualparse.game.tell import open_players, tell_round
    from dualparse.training.run import choose_device
    from dualparse.use.api import load

    chosen = choose_device(device)
    opened = load(run, device=chosen)
    players = open_players(opened.run, opened.domain, chosen, before=before)
    if form is None:
        told = tell_round(opened.run, players, opened.domain, opened.read(text).words, "q2lf", beams=k)
    else:
        tokens, _ = opened.read_form(text)
        told = tell_round(opened.run, players, opened.domain, tokens, "lf2q", beams=k)
    if json_:
        say(json.dumps(asdict(told)))
    else:
        _show(told, Screen(highlight=False))


def _show(told: Told, console: Console) -> None:
    writer, reader = told.writer, READS[told.writer]
    console.print(Text.assemble((f"{STARTS[writer]}  ", "bold"), told.source))
    parts = " + ".join(f"{weight:g} x {name}" for name, weight in told.weights.items() if weight)
    console.print(
        f"{writer} writes {len(told.moves)} {WRITES[writer]}, {reader} finds the way back; reward = {parts or 0}\n"
    )
    for number, move in enumerate(told.moves, start=1):
        console.print(Text.assemble((f"{number}  ", "bold"), move.text or "(nothing)"))
        console.print(_figures(move))
        if move.verdict is not None and not move.verdict.ok:
            console.print(Text(f"   invalid: {move.verdict.reason}", "red"))
        if not move.finished:
            console.print(Text("   cut off: no end within the limit", "yellow"))
        console.print(Text.assemble((f"   {reader} says back  ", "dim"), move.said_back or "(nothing)"))
    better = [str(number) for number, move in enumerate(told.moves, start=1) if move.advantage > 0]
    lesson = f"write {', '.join(better)} more often and the others less" if better else "write each of them less often"
    if not any(move.advantage for move in told.moves):
        lesson = "do as before: all are equally good"
    baseline = " less the mean of the rewards" if told.baseline else ""
    console.print(f"\nadvantage = reward{baseline}")
    back = f"; {reader} learns to get back to the {STARTS[writer]} from each of them" if told.lesson else ""
    console.print(f"{writer} learns to {lesson}{back}")


def _figures(move: Move) -> Text:
    """The numbers of a hypothesis in one line."""
    line = Text("   ")
    for name, value in {"log P": move.log_prob, **move.rewards, "reward": move.reward}.items():
        line.append(f"{name} ", "dim")
        line.append(f"{value:.3f}  ")
    line.append("advantage ", "dim")
    line.append(f"{move.advantage:+.3f}", "green" if move.advantage > 0 else "red" if move.advantage < 0 else "")
    return line
