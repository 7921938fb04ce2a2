"""The figures kept in results/*.json as one Markdown table, for benchmarks/README.md.

In: the folder of results. Out: lines of a table; a file that is not there gives none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from dualparse.errors import InputError
from dualparse.files import write_text

BEGIN, END = "<!-- figures: written by `python -m benchmarks.run --readme` -->", "<!-- end of figures -->"

Line = tuple[str, str, str, str]
"""What was measured, the figure, beside what, and the ratio of the two."""


def table(results: Path) -> str:
    """All stored figures, file by file."""
    lines = ["| measured | figure | beside | ratio | file |", "|---|---:|---:|---:|---|"]
    for name, read in FILES.items():
        path = results / name
        if path.is_file():
            found = read(json.loads(path.read_text(encoding="utf-8")))
            lines += [f"| {' | '.join(line)} | [{name}](../results/{name}) |" for line in found]
    return "\n".join(lines)


def put_into(page: Path, results: Path) -> None:
    """Write the table between the marks of a page."""
    between(page, BEGIN, END, table(results))


def between(page: Path, begin: str, end: str, text: str) -> None:
    """Write a text between two marks of a page."""
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise InputError(f"the marks {begin} and {end} are missing", path=page)
    write_text(page, f"{before}{begin}\n\n{text}\n\n{end}{after}")


def _cpu(told: dict[str, Any]) -> Iterator[Line]:
    where = f"{told['domain']}, {told['cores']} cores ({told['machine']})"
    for figure in told["comparisons"]:
        ours, other = figure["sides"]
        unit, digits = figure["unit"], 2 if figure["name"].startswith("game") else 0
        rates = [f"{side['rate']:,.{digits}f} {unit}" for side in (ours, other)]
        quiet = figure["counted"] < figure["repetitions"] or not figure["disturbed"]
        note = "" if quiet else "; on a busy machine"
        name = f"{figure['name']}, {ours['name']}" if figure["name"].startswith("game") else figure["name"]
        yield f"{name}: {where}{note}", rates[0], f"{rates[1]}, {other['name']}", f"{figure['ratio']:.2f}"


def _versions(told: dict[str, Any]) -> Iterator[Line]:
    where = f"{told['domain']}, {told.get('machine') or told['device']}"
    for figure in told["comparisons"]:
        rates = [f"{side['rate']:,.2f} {figure['unit']}" for side in figure["sides"]]
        busy = figure["counted"] == figure["repetitions"] and figure["disturbed"]
        own = figure.get("of_processor")
        note = f"; on a busy machine, {own:.2f} of processor time" if busy and own else ""
        name = f"this version, {figure['name']}: {where}{note}"
        yield name, rates[0], f"{rates[1]}, {told['before']}", f"{figure['ratio']:.2f}"


def _gpu(told: dict[str, Any]) -> Iterator[Line]:
    where = f"atis ({told.get('machine') or told['device']})"
    captured, launched = (median(told[f"epoch_seconds_{name}"][1:]) for name in ("captured", "launched"))
    yield (
        f"a supervised epoch: {where}",
        f"{captured:.2f} s as graphs",
        f"{launched:.2f} s kernel by kernel",
        f"{launched / captured:.2f}",
    )
    yield f"beam-5 search of the 448 test queries: {where}", f"{median(told['beam5_448_seconds'][1:]):.2f} s", "", ""


def _game(told: dict[str, Any]) -> Iterator[Line]:
    alone, *shared = told["rows"]
    rate, where = alone["iterations_per_second"], f"atis ({told.get('machine') or told['device']})"
    yield f"game, one process: {where}", f"{rate:.0f} iterations/s", "", ""
    for row in shared:
        together = row["iterations_per_second"]
        name = f"game, {row['processes']} processes together: {where}"
        yield name, f"{together:.0f} iterations/s", f"{rate:.0f} iterations/s, one", f"{together / rate:.2f}"


def _service(told: dict[str, Any]) -> Iterator[Line]:
    batched, single = told["batched"], told["one by one"]
    how = ", compiled" if told.get("compiled") else ""
    yield (
        f"service, {told['clients']} clients{how}: {told['domain']}, {told['cores']} cores ({told['processor']})",
        f"{batched['per_second']:.0f} requests/s batched, p99 {batched['p99_ms']:.0f} ms",
        f"{single['per_second']:.0f} requests/s one by one",
        f"{told['ratio']:.2f}",
    )


def _start(told: dict[str, Any]) -> Iterator[Line]:
    for row in told["commands"]:
        name = f"{row['command']}: {told['domain']}, {told['cores']} cores ({told['processor']})"
        yield name, f"{row['seconds']:.2f} s, {row['megabytes']:.0f} MB", "", ""


def _constrained(told: dict[str, Any]) -> Iterator[Line]:
    for run in told["runs"]:
        invalid = {
            way: f"{run['readings'][way]['invalid']:.0f} % of its readings invalid" for way in ("free", "constrained")
        }
        for name, what in (("one_by_one", "typed one by one"), ("together", f"{run['questions']} at once")):
            took = run[f"{name}_ms"]
            figure, beside = (f"{took[way]:.1f} ms a question, {invalid[way]}" for way in ("constrained", "free"))
            # Time of the other way by ours, as in every line.
            ratio = f"{took['free'] / took['constrained']:.2f}"
            yield f"parse --constrained, {what}: {run['domain']} ({told['hardware']})", figure, f"{beside}, free", ratio


def _synthesis(told: dict[str, Any]) -> Iterator[Line]:
    for row in told["drawn"]:
        rate = row["forms"] / row["seconds"]
        name = f"forms synthesised: {row['domain']}, from {row['source']}"
        yield name, f"{rate:,.0f} forms/s, {row['valid']:.1f} % valid", "", ""


FILES: dict[str, Callable[[dict[str, Any]], Iterator[Line]]] = {
    "bench-cpu.json": _cpu,
    "bench-versions-cpu.json": _versions,
    "bench-versions-gpu.json": _versions,
    "bench-gpu.json": _gpu,
    "bench-game-gpu.json": _game,
    "bench-serve.json": _service,
    "bench-serve-compiled.json": _service,
    "bench-start.json": _start,
    "bench-constrained.json": _constrained,
    "synthesis.json": _synthesis,
}
