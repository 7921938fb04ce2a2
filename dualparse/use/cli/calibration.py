"""What `dualparse evaluate --calibration` does: probabilities of a run fitted on dev and measured on a split, those of
a connected folder measured on a file of questions; both shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from dualparse.use.cli.days import day
from dualparse.use.cli.screen import Screen

if TYPE_CHECKING:
    from dualparse.asking.calibrate import Calibration


def calibrate_run(
    run: Path, split: str, *, precision: float | None, strangers: list[Path], device: str, out: Path | None
) -> None:
    """Fit a run on dev, measure it on a split, write and show."""
    from dualparse.asking.calibrate import measure
    from dualparse.asking.trust import PRECISION
    from dualparse.lab.reliability import keep, save
    from dualparse.training.run import choose_device
    from dualparse.use.api import load

    away = _away(strangers)
    parser = load(run, device=choose_device(device))
    if not parser.recipe.data.everything:
        parser.calibrate(precision=PRECISION if precision is None else precision)
    found = measure(parser, split, away=away)
    metrics = parser.run.metrics()
    kept = metrics.get("calibration", {}) | {split: found.told()}
    parser.run.save_metrics(metrics | {"calibration": kept})
    name, recipe = run.resolve().name, parser.recipe
    files = save(found, run, title=f"{name}, {split}")
    if out is not None:
        about = {"domain": recipe.domain, "stages": recipe.stages, "epochs": recipe.train.epochs}
        keep(out, "run", name, found, about)
    _show(found, files, Screen(highlight=False), "chosen on dev")


def calibrate_folder(
    target: str,
    questions: Path,
    *,
    database: str,
    today: str,
    precision: float | None,
    strangers: list[Path],
    out: Path | None,
) -> None:
    """Measure a connected folder on questions; with a precision, fit it on them first and keep that."""
    from dualparse.asking.asker import open_asker
    from dualparse.asking.trust import write_trust
    from dualparse.grading.questions import read_questions
    from dualparse.grading.sure import learn, measure, weigh
    from dualparse.grading.wanted import answers_of
    from dualparse.lab.reliability import keep, save

    away, asked = _away(strangers), read_questions(questions)
    with open_asker(target, database=database, today=day(today)) as asker:
        found = weigh(asker, asked, answers_of(questions, asker, asker.source))
        if precision is not None:
            trust = learn(asker, found, precision=precision)
            write_trust(Path(target), trust)
            asker.trust = trust
        told = measure(asker, found, split=questions.stem, fitted=precision is not None, away=away)
    name = Path(target).resolve().name
    files = save(told, Path(target), title=f"{name}, {questions.stem}")
    if out is not None:
        keep(out, "folder", name, told, {"fitted": precision is not None})
    _show(told, files, Screen(highlight=False), "chosen on these questions" if precision else "the folder's")


def _away(strangers: list[Path]) -> list[tuple[str, str]]:
    from dualparse.asking.calibrate import read_strangers

    return [each for path in strangers for each in read_strangers(path)]


def _show(found: Calibration, files: list[Path], console: Screen, chosen: str) -> None:
    table = Table("probability", "questions", "mean probability", "right", box=None, header_style="bold")
    for each in found.bins:
        table.add_row(
            f"{each.low:.1f} to {each.high:.1f}", str(each.count), f"{each.probability:.3f}", f"{each.right:.3f}"
        )
    console.print(table)
    at = "no answer is sure enough" if found.cut > 1 else f"answers from a probability of {found.cut:.3f} on"
    lines = [
        f"{found.split}: {found.examples} questions, {found.accuracy:.1%} right, "
        f"calibration error {found.error:.3f} ({found.by_chance:.3f} would be chance alone)",
        f"for a precision of {found.wanted:.0%} ({chosen}): {at}: {found.answered:.1%} of the questions are "
        f"answered, {found.right:.1%} of these right; {found.refused:.1%} are refused "
        f"({found.lost:.1%} of those understood rightly), the others asked back about",
    ]
    for kind, (count, share) in found.strangers.items():
        lines.append(f"refused of {count} questions that cannot be answered ({kind}): {share:.1%}")
    lines.append(", ".join(map(str, files)))
    console.print("\n".join(lines), markup=False, soft_wrap=True)
