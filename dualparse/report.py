"""Result files -> tables laid out like the paper's, its number beside ours. Reads files only.

A result is a JSON file that `dualparse sweep` wrote. A cell of a table is the median of the test accuracies over the
seeds, with their number and spread; what has not been run is shown as missing.
"""

from __future__ import annotations

import json
import statistics
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dualparse.errors import InputError
from dualparse.files import write_text

PAPER = tomllib.loads((Path(__file__).parent / "paper.toml").read_text(encoding="utf-8"))
MISSING = "-"
BEGIN, END = "<!-- results: written by `dualparse report` -->", "<!-- end of results -->"


@dataclass(frozen=True)
class Scores:
    """Test accuracies of one method on one domain, a seed each."""

    values: tuple[float, ...]

    def __str__(self) -> str:
        if not self.values:
            return MISSING
        shown = f"{self.median:.1f}"
        if len(self.values) == 1:
            return shown
        return f"{shown} ({min(self.values):.1f}-{max(self.values):.1f}, {len(self.values)} seeds)"

    @property
    def median(self) -> float:
        return statistics.median(self.values)


def read_results(folder: Path) -> list[dict[str, Any]]:
    """All results below a folder that have a test score."""
    if not folder.is_dir():
        raise InputError("no such folder of results", path=folder)
    results = []
    for path in sorted(folder.glob("*/*.json")):
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
        except json.JSONDecodeError:
            raise InputError("not JSON", path=path) from None
        if "recipe" in result and "q2lf" in result.get("test", {}):
            results.append(result)
    return results


def method(recipe: Mapping[str, Any]) -> str:
    """The paper's name for what a recipe does.

    >>> settings = {"model": {"copy_mechanism": True}, "stages": ["q2lf"], "data": {}}
    >>> method(settings)
    'AttPtr'
    """
    data = recipe["data"]
    name = "AttPtr" if recipe["model"]["copy_mechanism"] else "Att"
    half = data.get("labeled", 1.0) < 1.0
    forms = data.get("synthesized") or (half and data.get("forms"))
    used = [mark for mark, on in (("LF", forms), ("Q", half and data.get("queries"))) if on]
    if "pseudo" in recipe["stages"]:
        return f"{name}+Pseudo({'+'.join(used)})"
    if "dual" in recipe["stages"]:
        return "+".join([name, "Dual", *used])
    return name


def collect(results: Iterable[Mapping[str, Any]], *, labeled: float) -> dict[tuple[str, str], Scores]:
    """(method, domain) -> scores, for one share of labels."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for result in results:
        recipe = result["recipe"]
        if recipe["data"]["labeled"] != labeled:
            continue
        domain = recipe["domain"].removeprefix("overnight/")
        found.setdefault((method(recipe), domain), {})[recipe["seed"]] = result["test"]["q2lf"]["accuracy"]
    return {key: Scores(tuple(seeds.values())) for key, seeds in found.items()}


def atis_table(scores: Mapping[tuple[str, str], Scores], paper: Mapping[str, float]) -> str:
    """Table 3: methods down, the paper beside ours."""
    rows = [[name, f"{number:.1f}", str(scores.get((name, "atis"), Scores(())))] for name, number in paper.items()]
    return _markdown(["method", "paper", "dualparse, exact match"], rows)


def overnight_table(scores: Mapping[tuple[str, str], Scores], paper: Mapping[str, list[float]]) -> str:
    """Table 2: methods down, domains across, the paper's average beside ours."""
    domains = PAPER["domains"]
    rows = []
    for name, numbers in paper.items():
        ours = [scores.get((name, domain), Scores(())) for domain in domains]
        whole = all(cell.values for cell in ours)
        average = f"{statistics.mean(cell.median for cell in ours):.1f}" if whole else MISSING
        medians = [f"{cell.median:.1f}" if cell.values else MISSING for cell in ours]
        seeds = str(min(len(cell.values) for cell in ours)) if whole else MISSING
        rows.append([name, f"{numbers[len(domains)]:.1f}", average, seeds, *medians])
    return _markdown(["method", "paper avg", "dualparse avg", "seeds", *domains], rows)


def tables(results: list[dict[str, Any]]) -> str:
    """All tables as Markdown."""
    full, half = collect(results, labeled=1.0), collect(results, labeled=0.5)
    parts = [
        "**ATIS, all labels** (the paper's Table 3; test exact match, median over seeds)",
        atis_table(full, PAPER["table3"]),
        "**OVERNIGHT, all labels** (the paper's Table 2; test denotation accuracy, median over seeds)",
        overnight_table(full, PAPER["table2"]),
    ]
    if half:
        parts += [
            "**ATIS, half of the labels** (the paper's Table 4; test exact match)",
            atis_table(half, {name: numbers[-1] for name, numbers in PAPER["table4"].items()}),
            "**OVERNIGHT, half of the labels** (the paper's Table 4; test denotation accuracy)",
            overnight_table(half, PAPER["table4"]),
        ]
    return "\n\n".join(parts) + "\n"


def put_into(path: Path, text: str) -> None:
    """Replace what stands between the two marks of a Markdown file."""
    old = path.read_text(encoding="utf-8")
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise InputError(f"the marks {BEGIN} and {END} are missing", path=path)
    write_text(path, f"{before}{BEGIN}\n\n{text}\n{END}{after}")


def _markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
