"""What `dualparse sweep` does and shows: the cells of grids in, a live table and a line for each cell out."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from dualparse.errors import InputError
from dualparse.lab.store import Store
from dualparse.lab.sweep.backends import Backend
from dualparse.lab.sweep.board import Board
from dualparse.lab.sweep.grid import Cell, cells_of, named, read_grid
from dualparse.lab.sweep.jobs import current_commit, is_running
from dualparse.lab.sweep.plan import Entry, Folders, State, counted, first_line, look, stage_jobs, work_of
from dualparse.lab.sweep.run import Ended, score_chosen
from dualparse.lab.sweep.run import sweep as run_work
from dualparse.use.cli.screen import Screen

STYLES = {State.DONE: "green", State.FAILED: "red", State.OUTDATED: "yellow", State.RUNNING: "cyan"}
STATE_WIDTH = max(map(len, State))


def sweep(
    grids: list[Path],
    folders: Folders,
    *,
    only: list[str],
    list_: bool,
    replace: bool,
    own: bool,
    device: str,
    engine: Backend,
) -> None:
    """Run every cell of the grids, or show them alone; ends the command with code 1 unless all are done."""
    cells, choices = _read(grids, only)
    entries = look(cells, folders, own=own)
    console = Screen(highlight=False)
    if list_:
        _list(entries, folders, console)
        return
    work = work_of(entries, folders, device=device, commit=current_commit(), replace=replace, own=own)
    board = Board.of(work)
    with engine, Live(get_renderable=lambda: _show(board), console=console, refresh_per_second=1) as live:
        for ended in run_work(work, folders, engine):
            _tell(ended, board, live.console)
        for ended in score_chosen(cells, choices, folders, engine, device=device):
            _tell(ended, board, live.console)
    entries = look(cells, folders, own=own)
    _list(entries, folders, console)
    raise typer.Exit(0 if all(entry.state == State.DONE for entry in entries) else 1)


def _read(paths: list[Path], only: list[str]) -> tuple[list[Cell], dict[str, list[str]]]:
    """The cells asked for, and for the grids that are asked for as a whole the axes that are chosen on dev."""
    cells: list[Cell] = []
    choices = {}
    for path in paths:
        grid = read_grid(path)
        found = cells_of(grid, path)
        wanted = named(found, only) if only else found
        cells += wanted
        if grid.test and grid.choose and len(wanted) == len(found):
            choices[path.stem] = grid.choose
    if not cells:
        raise InputError(f"no cell is called {' or '.join(only)}: --list without --only shows their names")
    return cells, choices


def _show(board: Board) -> Group:
    """The live part: counts and time left, then a line for every job at work."""
    if not (board.waiting or board.done or board.failed):
        return Group()  # everything was done before
    board.look()
    left, complete = board.seconds_left()
    waiting = len(board.waiting) - len(board.running)
    counts = f"{len(board.done)} done, {len(board.running)} running, {waiting} waiting, {len(board.failed)} failed"
    time_left = f"; {'about' if complete else 'at least'} {_time(left)} left" if left else ""
    table = Table.grid(padding=(0, 2))
    for running in board.running:
        told = running.told
        epoch = f"{told['stage']} epoch {told['epoch']}/{told['epochs']}" if "stage" in told else "starting"
        table.add_row(Text(f"  {running.job.name}"), epoch, told.get("score", ""), _time(running.seconds))
    return Group(Text(counts + time_left, style="bold"), table)


def _tell(ended: Ended, board: Board, console: Console) -> None:
    seconds = board.end(ended.job, ended.error)
    if ended.error:
        console.print(Text(f"failed  {ended.job.name}: {first_line(ended.error)}", style="red"), soft_wrap=True)
        return
    stored = Store(Path(ended.job.results)).get(ended.job.name) if ended.job.results else None
    result = stored.result if stored else {}
    scores = [f"{split} {_score(result[split])}" for split in ("dev", "test") if "q2lf" in result.get(split, {})]
    console.print(Text("  ".join([f"done    {ended.job.name}", *scores, _time(seconds)])), soft_wrap=True)


def _list(entries: list[Entry], folders: Folders, console: Console) -> None:
    """A line for every cell, then what is left to do. Lines are never cut: names are there to be copied."""
    width = max(len(entry.cell.full_name) for entry in entries)
    for entry in entries:
        note = entry.note
        if entry.source is not None and entry.source.name != entry.cell.full_name:
            note = f"from {entry.source.name}"
        scores = [f"{split} {_score(entry.result[split])}" for split in ("dev", "test") if split in entry.result]
        state = Text(f"{entry.state:<{STATE_WIDTH}}", style=STYLES.get(entry.state, ""))
        line = Text.assemble(f"{entry.cell.full_name:<{width}}  ", state, "  ", "  ".join([*scores, note]))
        line.rstrip()
        console.print(line, soft_wrap=True)
    counts = ", ".join(f"{number} {state}" for state, number in counted(entries).items())
    console.print(f"{len(entries)} cells: {counts}", markup=False)
    _list_stages([entry.cell for entry in entries if entry.state not in (State.DONE, State.TEST)], folders, console)
    if any(entry.state == State.OUTDATED for entry in entries):
        console.print("cells with other settings are left alone; --replace runs them anew", markup=False)


def _list_stages(cells: list[Cell], folders: Folders, console: Console) -> None:
    """The stages that come before these cells, one by one where there is something to say."""
    stages = stage_jobs(cells, folders, device="auto")
    if stages:
        console.print(f"{len(stages)} stages to train first, each once for all cells that need it", markup=False)
    for job in stages:
        error = job.beside(".error.txt")
        if is_running(job.state):
            console.print(Text(f"running  {job.name}", style="cyan"), soft_wrap=True)
        elif error.exists():
            reason = first_line(error.read_text(encoding="utf-8", errors="replace"))
            console.print(Text(f"failed   {job.name}: {reason}", style="red"), soft_wrap=True)


def _score(scores: dict[str, Any]) -> str:
    return f"{scores['q2lf']['accuracy']:.1f}" if "q2lf" in scores else "-"


def _time(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
