"""The log of a run: the path of a `log.jsonl` in, its records out, one of every epoch that was finished."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dualparse.errors import InputError
from dualparse.lines import read_regular

FIELDS = {"stage": str, "epoch": int, "figures": dict, "scores": dict, "best": bool}


def read_log(path: Path) -> list[dict[str, Any]]:
    """All records; a last line that a crash cut off is left out, anything else that is no record is an `InputError`."""
    *lines, rest = read_regular(path).split(b"\n")
    records = []
    for number, line in enumerate(lines, start=1):
        record = _record(line)
        if record is None:
            raise InputError("not a record of an epoch", path=path, line=number)
        records.append(record)
    return records + [record for record in (_record(rest),) if record is not None]


def _record(line: bytes) -> dict[str, Any] | None:
    """A line as a record; None where it is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(record, dict) and all(isinstance(record.get(name), kind) for name, kind in FIELDS.items())
    return record if whole else None
