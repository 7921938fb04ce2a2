"""What the campaign found, stored and shown: `results/campaign.json`, the table, and the page `docs/reliability.md`.

In: outcomes of parts. Out: a line for each, with the commit, the machine, the versions and the seed it was found with.
"""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dualparse
from benchmarks.campaign.supervise import Outcome
from benchmarks.campaign.worker import PARTS, part_class
from benchmarks.load import processor
from benchmarks.stored import between
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit

BEGIN = "<!-- campaign: written by `python -m benchmarks.campaign --page docs/reliability.md` -->"
END = "<!-- end of campaign -->"
VERSIONS = ("torch", "duckdb", "sqlglot", "uvicorn", "httptools")


def store(path: Path, outcome: Outcome, *, seed: int) -> None:
    """Put a part's line in place of its earlier one."""
    told = {
        "cases": outcome.cases,
        "unit": part_class(outcome.name).unit,
        "failures": outcome.failures,
        "seconds": round(outcome.seconds),
        "seed": seed,
        "kinds": dict(sorted(outcome.kinds.items())),
        "figures": outcome.figures,
        "commit": current_commit(),
        "machine": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {"dualparse": dualparse.__version__} | {name: version(name) for name in VERSIONS},
    }
    parts = _read(path) | {outcome.name: told}
    ordered = {name: parts[name] for name in PARTS if name in parts}
    write_text(path, json.dumps({"parts": ordered}, indent=1) + "\n")


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))["parts"] if path.is_file() else {}


def table(path: Path) -> str:
    """One line for each part that is stored."""
    lines = ["| what | cases | failures | minutes | seed | commit |", "|---|---:|---:|---:|---:|---|"]
    for name, told in _read(path).items():
        cases = f"{told['cases']:,} {told['unit']}"
        minutes = f"{told['seconds'] / 60:.1f}"
        lines.append(f"| {name} | {cases} | {told['failures']} | {minutes} | {told['seed']} | {told['commit']} |")
    return "\n".join(lines)


def put_into(page: Path, results: Path) -> None:
    """Write what is tried, the table and the measured figures between the marks of a page."""
    between(page, BEGIN, END, "\n\n".join([_tried(results), table(results), *_figures(results)]))


def _tried(path: Path) -> str:
    return "\n".join(f"- **{name}**: {part_class(name).about}" for name in _read(path))


def _figures(path: Path) -> list[str]:
    """What was measured besides, part by part."""
    measured = [(name, told["figures"]) for name, told in _read(path).items() if told["figures"]]
    lines = ["| measured | figure |", "|---|---:|"]
    lines += [f"| {name}: {what} | {figure:,g} |" for name, figures in measured for what, figure in figures.items()]
    return ["\n".join(lines)] if measured else []
