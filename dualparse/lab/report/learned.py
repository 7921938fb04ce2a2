"""What runs gain from people who say what they meant, for the report: what `benchmarks/learning.py` has stored.

In: the folder of results. Out: Markdown: a table of corrections, and one of labels that were suggested.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from dualparse.errors import InputError

NAME = "bench-learning.json"
CORRECTED = (
    "Half of the test questions are asked, and those answered wrongly get the form that was meant (`dualparse learn`). "
    "The share of right answers to these and to the other half, before and after:"
)
SUGGESTED = (
    "Runs with few labels ask for more of them, in rounds. The area is the mean share of right answers over the "
    "rounds, where `dualparse suggest` chooses the questions and where they are drawn at random:"
)


def learned_text(results: Path) -> str:
    """The section of the report."""
    path = results / NAME
    if not path.is_file():
        return f"Not measured yet: `python -m benchmarks.learning corrections RUN... --out results/{NAME}` does."
    try:
        told = json.loads(path.read_bytes())
        parts = [
            *_part(CORRECTED, _corrections(told.get("corrections", {"runs": []})["runs"])),
            *_part(SUGGESTED, _suggestions(told.get("suggestions", {"runs": []})["runs"])),
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError("not a measurement of benchmarks/learning.py", path=path) from None
    return "\n\n".join(parts)


def _part(about: str, lines: list[str]) -> list[str]:
    return [about, "\n".join(lines)] if len(lines) > 2 else []


def _corrections(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        "| run | corrected | of these right | other half | right before | right after | seconds |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in runs:
        asked, after, seconds = row["questions"], row["after_warm_start"], sum(row["seconds"].values())
        lines.append(
            f"| {row['run']} | {asked['corrected']} | {after['corrected']:.1f} % | {asked['old_test']} | "
            f"{row['before']['old_test']:.1f} % | {after['old_test']:.1f} % | {seconds:.0f} |"
        )
    return lines


def _suggestions(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        "| run | labels a round | right before | suggested: at the end | random: at the end | suggested: area | "
        "random: area |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in runs:
        ends = {name: mean(curve[-1] for curve in row[name]) for name in ("suggested", "random")}
        lines.append(
            f"| {row['run']} | {row['labels_a_round']} | {row['suggested'][0][0]:.1f} % | {ends['suggested']:.1f} % | "
            f"{ends['random']:.1f} % | {row['area']['suggested']:.1f} | {row['area']['random']:.1f} |"
        )
    return lines
