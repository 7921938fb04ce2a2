"""The whole report as one Markdown page with tables and pictures beside it, and a short form of it for a README."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.lab.report.claims import Claim, Finding, claims
from dualparse.lab.report.learned import learned_text
from dualparse.lab.report.results import MISSING, Outcome, Result, all_outcomes, chosen, outcomes_of, read_results
from dualparse.lab.report.sure import reliability_figure, sure_text
from dualparse.lab.report.tables import (
    Table,
    all_tables,
    main_table,
    mistakes,
    overview_table,
    own_table,
)

BEGIN, END = "<!-- results: written by `dualparse report` -->", "<!-- end of results -->"
SHARING = "bench-game-gpu.json"  # what processes that share a GPU reach together, as benchmarks/game.py measured it
PUBLISHED_CODE = (
    "The paper's published code could not be run to its end: on an H200 it plays 0.5 iterations a second, which is "
    "over two hours for one small domain. Its supervised stage has 74.0 on average over five domains of OVERNIGHT "
    "(calendar, housing, publications, recipes, restaurants) where the paper has 75.2 and ours 76.5."
)
DOTTED = "Dotted: points between are missing."
FIGURES = {
    "summary": "The paper and dualparse, all labels.",
    "figure3": "Figure 3. Accuracy over the share of labels; the other pairs are used without them.",
    "figure4": "Figure 4. Accuracy over the amount of data without labels, with 30 % of the labels.",
}


def write_report(results: Path, out: Path, *, more: Sequence[str] = ()) -> list[Path]:
    """Write report.md, a CSV file per table and the figures; `more` are further sections. Returns the files."""
    found = read_results(results)
    every = all_outcomes(found)
    outcomes = chosen(every)
    drawn = draw(outcomes, out)
    tables = list(all_tables(every))
    files = {out / f"{table.name}.csv": table.csv() for table in tables}
    parts = [
        f"# Results\n\n{_provenance(found)}",
        f"## The paper's claims\n\n{claims_text(every)}",
        PUBLISHED_CODE,
        "## Methods",
        _main_tables(outcomes, 1.0),
        _figure("summary", drawn),
        _main_tables(outcomes, 0.5),
        "## Tables",
        *map(_with_csv, tables),
        f"## What goes wrong\n\n{_mistakes(outcomes)}",
        f"## Figures\n\n{_figure('figure3', drawn)}\n\n{_figure('figure4', drawn)}",
        f"## How sure answers are\n\n{sure_text(results, _reliability(results, out))}",
        f"## Learning from use\n\n{learned_text(results)}",
        f"## Processes on one GPU\n\n{sharing_text(results)}",
        *more,
        f"## Commits\n\n{_commits(found)}",
    ]
    files[out / "report.md"] = "\n\n".join(parts) + "\n"
    for path, text in files.items():
        write_text(path, text)
    sure = [path for path in [out / "calibration.svg"] if path.is_file()]
    return [*files, *(path for picture in drawn.values() for path in picture.files), *sure]


def _main_tables(outcomes: Sequence[Outcome], labeled: float) -> str:
    return "\n\n".join(_table(make(outcomes, labeled=labeled)) for make in (main_table, own_table))


def _table(table: Table) -> str:
    return f"**{table.title}**\n\n{table.markdown()}\n\n{table.note}".rstrip()


def _with_csv(table: Table) -> str:
    """The table, its note if it has one, and where to find all of its numbers."""
    gap = " " if table.note else "\n\n"
    return f"{_table(table)}{gap}[As CSV, with the spread over seeds.]({table.name}.csv)"


def _mistakes(outcomes: Sequence[Outcome]) -> str:
    table = mistakes(outcomes)
    return _table(table) if table.rows else "Not known yet: the results are of a version that did not count mistakes."


@dataclass(frozen=True)
class Picture:
    """A figure as it was written, and what stands below it."""

    files: list[Path]
    caption: str


def _figure(name: str, drawn: Mapping[str, Picture]) -> str:
    if name not in drawn:
        return f"{FIGURES[name]} Not run yet."
    return f"![{drawn[name].caption}]({name}.svg)\n\n{drawn[name].caption}"


def draw(outcomes: Sequence[Outcome], out: Path) -> dict[str, Picture]:
    """Draw the figures there are results for; those of an earlier report that are none any more go."""
    from dualparse.lab.report import figures  # here: matplotlib takes a while to load

    drawn = {}
    for name in FIGURES:
        figure = getattr(figures, name)(outcomes)
        if figure is None:
            for kind in figures.FORMATS:
                (out / f"{name}.{kind}").unlink(missing_ok=True)
        else:
            caption = f"{FIGURES[name]} {DOTTED}" if figures.has_gaps(figure) else FIGURES[name]
            drawn[name] = Picture(figures.save(figure, out, name), caption)
    return drawn


def _reliability(results: Path, out: Path) -> str:
    """Draw the reliability diagrams; the name of the picture, "" where nothing was measured."""
    from dualparse.lab.report import figures

    figure, path = reliability_figure(results), out / "calibration.svg"
    if figure is None:
        path.unlink(missing_ok=True)
        return ""
    figures.save(figure, out, path.stem, ("svg",))
    return path.name


def _provenance(results: Sequence[Result]) -> str:
    """Where the numbers come from."""
    hardware = sorted({result["hardware"] for result in results if "hardware" in result})
    return (
        f"{len(results)} tested runs on {', '.join(hardware) or 'unknown hardware'}, {_hours(results):.1f} hours of "
        "training in all. Tables have medians over seeds, claims means. "
        "Settings were chosen on dev for every row, the same for all domains of a dataset that were run with them; "
        "what sets two rows apart is seen in the claims, where both sides were trained alike. Every run was scored on "
        "test once. "
        f"`{MISSING}`: not run yet, or not in the paper."
    )


def _commits(results: Sequence[Result]) -> str:
    commits = sorted({result["commit"] for result in results if "commit" in result})
    return f"Every result is stored with the commit that made it: {', '.join(commits) or 'unknown'}."


def _hours(results: Sequence[Result]) -> float:
    """Training time of all runs; a stage that several of them share counts once."""
    shared = {
        stage["shared"]: stage["seconds"]
        for result in results
        for stage in result.get("stages", {}).values()
        if "shared" in stage
    }
    return (sum(result.get("seconds", 0.0) for result in results) + sum(shared.values())) / 3600


def claims_text(outcomes: Sequence[Outcome]) -> str:
    """Every claim with its verdict, then the comparisons behind those that have been run."""
    found = claims(outcomes)
    overview = [f"{_row(claim.together)} {_one_by_one(claim)} |" for claim in found]
    parts = [
        "Both sides of a comparison were trained alike: with the same seeds, and the same settings wherever both have "
        "them. Differences are in points of test accuracy, means over seeds; the 95 % intervals come from a paired "
        "bootstrap over the test examples. A claim is supported when the interval of the mean over its comparisons "
        "lies above zero; that something does not help is not refuted when it does not. The last column counts the "
        "comparisons that say so by themselves.",
        "\n".join([f"| claim {_HEADER} one by one |", f"|---{_RULE}---|", *overview]),
    ]
    for claim in found:
        if claim.run and len(claim.findings) > 1:
            rows = map(_row, claim.findings)
            parts += [f"**{claim.together.text}**", "\n".join([f"| comparison {_HEADER}", f"|---{_RULE}", *rows])]
    return "\n\n".join(parts)


def _one_by_one(claim: Claim) -> str:
    """How many of its comparisons say the same, of those that have been run."""
    missing = len(claim.findings) - claim.run
    return f"{claim.borne_out} of {claim.run}" + (f", {missing} not run" if missing else "")


_HEADER, _RULE = "| paper | dualparse | 95 % interval | our numbers |", "|---:|---:|---:|---|"


def _row(finding: Finding) -> str:
    paper, ours = (MISSING if value is None else f"{value:+.1f}" for value in (finding.paper, finding.difference))
    interval = f"{finding.interval[0]:+.1f} to {finding.interval[1]:+.1f}" if finding.interval else MISSING
    verdict = finding.verdict + (f" ({finding.note})" if finding.note else "")
    return f"| {finding.text} | {paper} | {ours} | {interval} | {verdict} |"


def sharing_text(results: Path) -> str:
    """What was measured about processes that share a GPU."""
    path = results / SHARING
    if not path.is_file():
        return f"Not measured yet: `python -m benchmarks.game --processes 1 8 16 --out results/{SHARING}` does."
    try:
        told: dict[str, Any] = json.loads(path.read_bytes())
        rows = [(int(row["processes"]), float(row["iterations_per_second"])) for row in told["rows"]]
        first = rows[0][1] / rows[0][0]
        lines = [f"| {count} | {rate:.1f} | {rate / first:.2f} |" for count, rate in rows]
        what = "Iterations of the game (ATIS, 16 queries and 16 forms each)"
        head = f"{what} on {told.get('machine') or told['device']}, commit {told['commit']}:"
    except (ValueError, KeyError, IndexError, TypeError, ZeroDivisionError):
        raise InputError("not a measurement of benchmarks/game.py", path=path) from None
    table = ["| processes | iterations a second, together | times as many as one |", "|---:|---:|---:|"]
    return "\n".join([head, "", *table, *lines])


def short_text(results: Path, picture: str) -> str:
    """One table and the summary picture, for a README."""
    outcomes = outcomes_of(read_results(results))
    image = f"![The paper and dualparse, method by method, with all labels]({picture})"
    return f"{_table(overview_table(outcomes))}\n\n{image}\n"


def put_into(path: Path, text: str) -> None:
    """Replace what stands between the two marks of a Markdown file."""
    try:
        old = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise InputError(f"the marks {BEGIN} and {END} are missing", path=path)
    write_text(path, f"{before}{BEGIN}\n\n{text}\n{END}{after}")


def put_results_into(path: Path, results: Path, picture: Path) -> None:
    """The short form into a page, its picture into a file of its own."""
    from dualparse.lab.report import figures

    put_into(path, short_text(results, os.path.relpath(picture, path.parent)))
    figures.save(figures.summary(outcomes_of(read_results(results))), picture.parent, picture.stem, ("svg",))
