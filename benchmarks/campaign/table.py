"""What the campaign found, stored and shown: `results/campaign.json`, the table, and the page `docs/reliability.md`.

In: outcomes of parts. Out: a line for each, with the commit, the machine, the versions and the seed it was found with.
A part that takes long is run in pieces, each with a seed of its own; their counts stand in one line.
"""

from __future__ import annotations

import json
import os
import platform
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock

import dualparse
from benchmarks.campaign.supervise import Outcome
from benchmarks.campaign.worker import PARTS, part_class
from benchmarks.load import processor
from benchmarks.stored import between
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit

BEGIN = "<!-- campaign: written by `python -m benchmarks.campaign --page docs/reliability.md` -->"
END = "<!-- end of campaign -->"
# What was found before there was this command, by hand and on another machine.
EARLIER = {
    "forms": "900,000 forms: 0",
    "readers": "1,244 files: brackets, digits and keys without end took up to 33 s and 7.5 GB",
    "damage": "62 of 525 cuts, flips and zeroed pages unnoticed; 24 of 276 answers changed",
    "kills": "63 kills: 0",
    "fill": "9 of 9 full disks ended in a traceback",
    "requests": "6,832 requests: 0",
    "races": "84 disturbed cells of sweeps: 0",
    "load": "112,000 requests: 0",
}
EARLIER_FIGURES = {
    "64 clients: answers/s": "292",
    "64 clients: p50, ms": "209",
    "64 clients: p99, ms": "291",
    "64 clients, compiled: p50, ms": "130",
    "64 clients, compiled: p99, ms": "159",
    "1,000 clients: good answers/s": "94",
    "1,000 clients: beside those of 64, %": "32",
    "1,010 silent connections: /health, s": "no answer",
}
VERSIONS = ("torch", "duckdb", "sqlglot", "uvicorn", "httptools")


def store(path: Path, outcome: Outcome, *, seed: int, more: bool = False) -> None:
    """Put a part's line in place of its earlier one, or add to it what other cases came to (`more`)."""
    told: dict[str, Any] = {
        "cases": outcome.cases,
        "unit": part_class(outcome.name).unit,
        "failures": outcome.failures,
        "seconds": round(outcome.seconds),
        "seeds": [seed],
        "kinds": dict(sorted(outcome.kinds.items())),
        "figures": outcome.figures,
        "commits": [current_commit()],
        "machine": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {"dualparse": dualparse.__version__} | {name: version(name) for name in VERSIONS},
    }
    with FileLock(path.with_name(".lock")):  # pieces may run side by side, one on each core
        stored = _read(path)
        if more and outcome.name in stored:
            told = _added(stored[outcome.name], told)
        parts = stored | {outcome.name: told}
        ordered = {name: parts[name] for name in PARTS if name in parts}
        write_text(path, json.dumps({"parts": ordered}, indent=1) + "\n")


def seeds_of(path: Path, name: str) -> list[int]:
    """The seeds whose cases a stored line counts."""
    return _read(path).get(name, {}).get("seeds", [])


def _added(before: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Two lines of a part as one: what is counted is added up, of a figure the largest is kept."""
    counted = {name: before[name] + told[name] for name in ("cases", "failures", "seconds", "seeds")}
    kinds = Counter(before["kinds"]) + Counter(told["kinds"])
    figures = {
        name: max(each[name] for each in (before["figures"], told["figures"]) if name in each)
        for name in before["figures"] | told["figures"]
    }
    commits = list(dict.fromkeys(before["commits"] + told["commits"]))
    return told | counted | {"kinds": dict(sorted(kinds.items())), "figures": figures, "commits": commits}


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))["parts"] if path.is_file() else {}


def table(path: Path) -> str:
    """One line for each part that is stored."""
    lines = ["| what | cases | failures | minutes | seeds | commits | earlier |", "|---|---:|---:|---:|---:|---|---|"]
    for name, told in _read(path).items():
        cases = f"{told['cases']:,} {told['unit']}"
        minutes = f"{told['seconds'] / 60:.1f}"
        seeds, commits = (", ".join(map(str, told[key])) for key in ("seeds", "commits"))
        row = (name, cases, told["failures"], minutes, seeds, commits, EARLIER.get(name, ""))
        lines.append(f"| {' | '.join(map(str, row))} |")
    return "\n".join(lines)


def put_into(page: Path, results: Path) -> None:
    """Write what is tried, the table and the measured figures between the marks of a page."""
    between(page, BEGIN, END, "\n\n".join([_tried(results), table(results), *_figures(results)]))


def _tried(path: Path) -> str:
    return "\n".join(f"- **{name}**: {part_class(name).about}" for name in _read(path))


def _figures(path: Path) -> list[str]:
    """What was measured besides, part by part."""
    measured = [(name, told["figures"]) for name, told in _read(path).items() if told["figures"]]
    lines = ["| measured | figure | earlier |", "|---|---:|---:|"]
    lines += [
        f"| {name}: {what} | {figure:,.10g} | {EARLIER_FIGURES.get(what, '')} |"
        for name, figures in measured
        for what, figure in figures.items()
    ]
    return ["\n".join(lines)] if measured else []
