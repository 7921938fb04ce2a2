"""`dualparse evaluate`: scores of a run on dev or test, or of any asker on a file of questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from dualparse.errors import InputError
from dualparse.use.cli.calibration import calibrate_folder, calibrate_run
from dualparse.use.cli.grading import QUESTIONS_ONLY, grade_file
from dualparse.use.cli.screen import Screen

SPLITS = ("dev", "test")


def register(app: typer.Typer) -> None:
    app.command()(evaluate)


def evaluate(
    target: Annotated[
        str, typer.Argument(help="Run folder; with --questions also a connected folder or a domain.", metavar="DIR")
    ],
    split: Annotated[str, typer.Option(help="dev or test.")] = "dev",
    beams: Annotated[int | None, typer.Option(min=1, help="Beam width; the recipe's by default.")] = None,
    before: Annotated[bool, typer.Option(help="The agents as they were before the game or pseudo-labelling.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    questions: Annotated[
        Path | None, typer.Option(help="A file of JSON lines: question, kind, and sql or form.", metavar="FILE")
    ] = None,
    database: Annotated[str, typer.Option(help="Where the data is, if not where the folder says.")] = "",
    today: Annotated[str, typer.Option(help="The day that 'last month' is seen from, as YYYY-MM-DD.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print scores and misses as one JSON object.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Store the scores, and every outcome; of --calibration a line.")
    ] = None,
    calibration: Annotated[
        bool, typer.Option(help="Fit on dev how likely the answers of a run are right; measure it on the split.")
    ] = False,
    precision: Annotated[
        float | None, typer.Option(help="With --calibration: share of the given answers to be right. [default: 0.95]")
    ] = None,
    strangers: Annotated[
        list[Path] | None, typer.Option(help="With --calibration: a file of kind<TAB>question without an answer.")
    ] = None,
) -> None:
    """Score a run; writes predictions.SPLIT.jsonl and metrics.json into its folder. Or grade answers to questions.

    Example: dualparse evaluate runs/trails --split test

    With --calibration: how likely its answers are right is fitted on dev (confidence.json) and measured on the split
    (calibration.SPLIT.svg, calibration.SPLIT.tsv). With --questions it is measured on these; and with --precision, too,
    fitted on them, for the folder to keep.

    Example: dualparse evaluate shop --questions questions.jsonl
    """
    if questions is not None:
        if split != "dev" or beams is not None or before:
            raise InputError("--split, --beams and --before are for the examples of a run, not for --questions")
        if calibration:
            calibrate_folder(
                target,
                questions,
                database=database,
                today=today,
                precision=precision,
                strangers=strangers or [],
                out=out,
            )
            return
        _only_with_calibration(precision, strangers)
        grade_file(target, questions, database=database, today=today, as_json=as_json, out=out)
        return
    given = {"--database": database, "--today": today, "--json": as_json, "--out": out}
    if wrong := [name for name in QUESTIONS_ONLY if given[name] and not (calibration and name == "--out")]:
        raise InputError(f"{', '.join(wrong)}: needs --questions")
    if split not in SPLITS:
        raise InputError(f"--split {split}: expected dev or test")
    if calibration:
        if before or beams is not None:
            raise InputError("--calibration is of the run as it answers: without --before and --beams")
        calibrate_run(Path(target), split, precision=precision, strangers=strangers or [], device=device, out=out)
        return
    _only_with_calibration(precision, strangers)
    _score_run(Path(target), split, beams, before, device)


def _only_with_calibration(precision: float | None, strangers: list[Path] | None) -> None:
    if precision is not None or strangers:
        raise InputError("--precision and --strangers go with --calibration")


def _score_run(run: Path, split: str, beams: int | None, before: bool, device: str) -> None:
    from dualparse.runs import Run
    from dualparse.training.run import choose_device
    from dualparse.training.score import score_run

    found = score_run(Run.open(run), split=split, beams=beams, before=before, device=choose_device(device))
    table = Table("model", "metric", "score", "more", box=None, header_style="bold")
    for model, scores in found.items():
        main = "bleu" if model == "lf2q" else "accuracy"
        more = ", ".join(f"{name} {value}" for name, value in scores.items() if name not in ("metric", main))
        table.add_row(model, str(scores["metric"]), f"{scores[main]:.1f}", more)
    console = Screen()
    console.print(f"{run}, {split}{', before' if before else ''}", highlight=False, markup=False)
    console.print(table)
