"""`dualparse weigh`: how a run chooses best, by what dev says; nothing is trained."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.use.cli.screen import Screen

if TYPE_CHECKING:
    import torch

    from dualparse.lab.weigh import Way
    from dualparse.runs import Run


def register(app: typer.Typer) -> None:
    app.command()(weigh)


def weigh(
    runs: list[Path] = typer.Argument(help="Run folders; of several the mean counts."),
    beams: list[int] = typer.Option([], min=1, help="A beam width to try besides the recipe's; can be repeated."),
    parsers: int | None = typer.Option(None, min=1, help="The first so many of a committee; all by default."),
    keep: bool = typer.Option(
        False,
        "--keep",
        help="Write the best way into the runs, which answer so from now on; scores of another way are deleted.",
    ),
    out: Path | None = typer.Option(None, help="JSON file for all figures."),
    jobs: int = typer.Option(1, min=1, help="Runs at the same time."),
    device: str = typer.Option("auto", help="auto, cpu or cuda."),
) -> None:
    """Try on dev how much the way back to the query should count where both agents choose, how common a form is, and
    how well its utterance says what is asked; the latter two where all runs have the stages lf_lm and matcher.

    Example: dualparse weigh demo/run --beams 20
    """
    from dualparse.lab.weigh import Way, best_way, choose_so, mean_scores
    from dualparse.runs import Run
    from dualparse.training.run import choose_device

    started, console = time.perf_counter(), Screen(highlight=False)
    opened = [Run.open(folder) for folder in runs]
    chosen = choose_device(device)
    _check(opened, beams, parsers, keep, out)
    found = _tried(runs, beams, parsers, jobs, device)
    scores = mean_scores(found)
    best = best_way(scores)
    _show(scores, best, console)
    for what, stage in (("prior", "lf_lm"), ("matcher", "matcher")):
        if without := [run.folder for run in opened if stage not in run.recipe.stages]:
            console.print(f"no {what}: {stage} is not among the stages of {without[0]}", markup=False, soft_wrap=True)
    console.print(f"best on dev: {_said(best)}: {scores[best]:.1f}")
    for run, each in zip(opened, found, strict=True):
        own = Way.of(run.recipe)
        console.print(
            f"{run.folder}: {each[best]:.1f}; as its recipe chooses ({_said(own)}) {each[own]:.1f}",
            markup=False,
            soft_wrap=True,
        )
    if out:
        which = [{"run": str(run.folder), "domain": run.recipe.domain, "seed": run.recipe.seed} for run in opened]
        facts = {"runs": which, "parsers": parsers or "all", "dev": _figures(scores, found)}
        _write(out, facts, chosen, started)
    if keep:
        changed = [run.folder for run in opened if choose_so(run, best)]
        told = f"kept in {', '.join(map(str, changed))}: evaluate again" if changed else "kept as it is"
        console.print(told, markup=False, soft_wrap=True)


def _check(runs: Sequence[Run], beams: Sequence[int], parsers: int | None, keep: bool, out: Path | None) -> None:
    """What can be known before anything is searched."""
    from dualparse.lab.weigh import check, check_beams

    if keep and parsers:
        raise InputError("--keep with --parsers: a run answers with all of its parsers")
    if out and out.is_dir():
        raise InputError("--out is a folder; expected the name of a file", path=out)
    for run in runs:
        check(run, parsers)
        if keep:
            check_beams(run, beams)
    if not set.intersection(*({run.recipe.search.beams, *beams} for run in runs)):
        raise InputError("the recipes of these runs have other beam widths: say with --beams which to try for all")


def _tried(
    runs: Sequence[Path], beams: Sequence[int], parsers: int | None, jobs: int, device: str
) -> list[dict[Way, float]]:
    """The scores of every run."""
    from joblib import Parallel, delayed

    work = (delayed(_of_one)(folder, tuple(beams), parsers, device) for folder in runs)
    done = Parallel(n_jobs=min(jobs, len(runs)), return_as="generator")(work)
    return list(track(done, "dev", total=len(runs), console=Screen(stderr=True), transient=True))


def _of_one(folder: Path, beams: Sequence[int], parsers: int | None, device: str) -> dict[Way, float]:
    from dualparse.lab.weigh import try_ways
    from dualparse.runs import Run
    from dualparse.training.run import choose_device

    return try_ways(Run.open(folder), device=choose_device(device), parsers=parsers, beams=beams)


def _show(scores: Mapping[Way, float], best: Way, console: Console) -> None:
    from dualparse.lab.weigh import Way

    for beams, matcher in sorted({(way.beams, way.matcher) for way in scores}):
        here = [way for way in scores if (way.beams, way.matcher) == (beams, matcher) and any(way.weights)]
        priors = sorted({way.prior for way in here})
        table = Table("way back", *(f"prior {prior:g}" for prior in priors), box=None, header_style="bold")
        for weight in sorted({way.reconstruction for way in here}):
            ways = [Way(beams, weight, prior, matcher) for prior in priors]
            cells = [f"{scores[way]:.1f}" if way in scores else "" for way in ways]
            styled = [f"[bold green]{cell}[/]" if way == best else cell for way, cell in zip(ways, cells, strict=True)]
            table.add_row(f"{weight:g}", *styled)
        if matcher:
            console.print(f"{beams} beams, search.matcher {matcher:g}:")
        else:
            console.print(f"{beams} beams: q2lf alone {scores[Way(beams)]:.1f}, both agents:")
        console.print(table)
        console.print()


def _said(way: Way) -> str:
    if not any(way.weights):
        return f"{way.beams} beams, q2lf alone"
    said = f"{way.beams} beams, search.reconstruction {way.reconstruction:g}, search.prior {way.prior:g}"
    return f"{said}, search.matcher {way.matcher:g}" if way.matcher else said


def _figures(scores: Mapping[Way, float], runs: Sequence[Mapping[Way, float]]) -> list[dict[str, object]]:
    """Every way with its mean, and the accuracy of every run in their order."""
    return [
        asdict(way) | {"mean": round(score, 3), "by_run": [round(each[way], 2) for each in runs]}
        for way, score in scores.items()
    ]


def _write(out: Path, facts: Mapping[str, object], device: torch.device, started: float) -> None:
    from dualparse.lab.sweep.jobs import current_commit, hardware, software

    more = {"commit": current_commit(), "hardware": hardware(device), "software": software()}
    seconds = round(time.perf_counter() - started, 1)
    write_text(out, json.dumps({**facts, **more, "seconds": seconds}, indent=1) + "\n")
