"""Progress of a training run on the screen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

if TYPE_CHECKING:
    from dualparse.training.loop import Record, Tick
    from dualparse.training.run import Note

TIME_WIDTH = len("0:00:00")  # of columns that are not cut where names are long


def follow(events: Iterable[Note | Tick | Record], console: Console, *, quiet: bool = False) -> list[Record]:
    """Show a training run as it goes: a bar per stage with the time left, a line for every better dev score."""
    from dualparse.training.loop import Tick  # here, because it loads torch and most commands need no model
    from dualparse.training.run import Note

    records: list[Record] = []
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[score]}"),
        TimeElapsedColumn(table_column=Column(min_width=TIME_WIDTH)),
        TimeRemainingColumn(table_column=Column(min_width=TIME_WIDTH)),
    )
    with Progress(*columns, console=console, disable=quiet, transient=False) as progress:
        bars: dict[str, TaskID] = {}
        for event in events:
            if isinstance(event, Note):
                console.print(event.text, highlight=False, markup=False)
            elif isinstance(event, Tick):
                if event.stage not in bars:
                    bars[event.stage] = progress.add_task(event.stage, total=event.epochs, score="")
                done = event.epoch - 1 + event.done / event.total
                progress.update(
                    bars[event.stage], completed=done, description=f"{event.stage} {event.epoch}/{event.epochs}"
                )
            else:
                records.append(event)
                if event.best and event.stage in bars:
                    progress.update(bars[event.stage], score=_score(event))
    return records


def _score(record: Record) -> str:
    shown = {name: value for name, value in record.scores.items() if name not in ("score", "valid")}
    return " ".join([*(f"dev {name} {value:.1f}" for name, value in shown.items()), f"(epoch {record.epoch})"])
