"""What `dualparse evaluate --calibration` does: probabilities fitted on dev, measured on a split, and shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from dualparse.use.cli.screen import Screen

if TYPE_CHECKING:
    from dualparse.asking.calibrate import Calibration


def calibrate_run(run: Path, split: str, precision: float | None, strangers: list[Path], device: str) -> None:
    """Fit, measure, write and show."""
    from dualparse.asking.calibrate import measure, read_strangers
    from dualparse.asking.trust import PRECISION
    from dualparse.lab.reliability import save
    from dualparse.training.run import choose_device
    from dualparse.use.api import load

    away = [each for path in strangers for each in read_strangers(path)]
    parser = load(run, device=choose_device(device))
    if not parser.recipe.data.everything:
        parser.calibrate(precision=PRECISION if precision is None else precision)
    found = measure(parser, split, away=away)
    metrics = parser.run.metrics()
    kept = metrics.get("calibration", {}) | {split: found.told()}
    parser.run.save_metrics(metrics | {"calibration": kept})
    files = save(found, run, title=f"{run.resolve().name}, {split}")
    _show(found, Screen(highlight=False))
    Screen(highlight=False).print(f"{', '.join(str(path) for path in files)}", markup=False, soft_wrap=True)


def _show(found: Calibration, console: Screen) -> None:
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
        f"for a precision of {found.wanted:.0%} (chosen on dev): {at}: {found.answered:.1%} of the questions are "
        f"answered, {found.right:.1%} of these right; {found.refused:.1%} are refused, the others asked back about",
    ]
    for kind, (count, share) in found.strangers.items():
        lines.append(f"refused of {count} questions that cannot be answered ({kind}): {share:.1%}")
    console.print("\n".join(lines), markup=False, soft_wrap=True)
