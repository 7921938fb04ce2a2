"""Whatever a folder is, it answers questions: a trained run, or a connected database. In: a folder. Out: an `Asker`."""

from __future__ import annotations

from datetime import date as Day
from pathlib import Path

from dualparse.asking.reply import Asker
from dualparse.errors import InputError


def open_any(
    target: str | Path, *, database: str = "", today: Day | None = None, device: str = "cpu", light: bool = False
) -> Asker:
    """What answers the questions about a folder; `database` and `today` are for connected ones alone, `light` (without
    torch, for a question or two) for runs."""
    folder = Path(target)
    if not (folder / "config.toml").is_file():
        from dualparse.asking.asker import open_asker

        return open_asker(folder, database=database, today=today)
    if database or today:
        raise InputError(
            "a trained run has its own data: --database and --today are for connected folders", path=folder
        )
    from dualparse.use.api import load

    return load(folder, device=device, light=light).asker
