"""What the commands share on the screen: progress of a training run, answers as people read them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from dualparse.train.loop import Record, Tick
    from dualparse.train.run import Note

VALUE = re.compile(r"\((name|number|date|time|boolean|string) ([^()]*)\)")


def follow(events: Iterable[Note | Tick | Record], console: Console, *, quiet: bool = False) -> list[Record]:
    """Show a training run as it goes: a bar per stage with the time left, a line for every better dev score."""
    from dualparse.train.loop import Tick  # here, because it loads torch and most commands need no model
    from dualparse.train.run import Note

    records: list[Record] = []
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[score]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=quiet, transient=False) as progress:
        bars: dict[str, int] = {}
        for event in events:
            if isinstance(event, Note):
                console.print(event.text, highlight=False, markup=False)
            elif isinstance(event, Tick):
                if event.stage not in bars:
                    bars[event.stage] = progress.add_task(event.stage, total=event.epochs, score="")
                done = event.epoch - 1 + event.done / event.total
                progress.update(
                    bars[event.stage], completed=done, description=f"{event.stage} epoch {event.epoch}/{event.epochs}"
                )
            else:
                records.append(event)
                if event.best and event.stage in bars:
                    progress.update(bars[event.stage], score=_score(event))
    return records


def _score(record: Record) -> str:
    shown = {name: value for name, value in record.scores.items() if name not in ("score", "valid")}
    return " ".join(f"dev {name} {value:.1f}" for name, value in shown.items()) + f" (epoch {record.epoch})"


def answer(denotation: str, *, most: int = 12) -> str:
    """A printed denotation in a reader's words.

    >>> answer("(list (name trail.larch_path) (number 7 km) (date 1998 -1 -1))")
    'larch path, 7 km, 1998'
    """
    values = [_readable(kind, text.split()) for kind, text in VALUE.findall(denotation)]
    shown = ", ".join(values[:most]) + (f", and {len(values) - most} more" if len(values) > most else "")
    return shown or "nothing"


def _readable(kind: str, parts: list[str]) -> str:
    if kind == "name":
        return parts[0].rsplit(".", 1)[-1].replace("_", " ")
    if kind == "number":
        unit = parts[1].rsplit(".", 1)[-1] if len(parts) > 1 else ""
        return parts[0] if unit in ("", "count") else f"{parts[0]} {unit}"
    if kind == "date":
        return "-".join(f"{int(part):02d}" for part in parts if part != "-1")
    if kind == "time":
        return ":".join(f"{int(part):02d}" for part in parts)
    return " ".join(parts)
