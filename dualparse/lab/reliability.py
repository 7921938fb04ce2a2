"""The reliability diagram: how often answers are right, by the probability they were given with.

In: the `Calibration` of a run on a split. Out: a figure, its file, and the table behind it as text. On the diagonal a
probability means what it says; points below it are answers that were trusted too much.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dualparse.asking.calibrate import Calibration
from dualparse.asking.confidence import Bin
from dualparse.files import replacing, write_text
from dualparse.lab.plots import BLUE, GRAY, ORANGE
from dualparse.lab.sweep.jobs import current_commit
from dualparse.lines import numbered_lines

KEYS = ("of", "name", "split")  # what tells one line of results from another
COLUMNS = ("low", "high", "count", "probability", "right")


def table(bins: Sequence[Bin]) -> str:
    """The bins as tab-separated lines."""
    lines = ["\t".join(COLUMNS)]
    lines += ["\t".join(f"{getattr(each, name):g}" for name in COLUMNS) for each in bins]
    return "\n".join(lines) + "\n"


def draw(found: Calibration, *, title: str = "") -> Figure:
    """Share of right answers over probability, with the number of questions below."""
    figure = Figure(figsize=(4.6, 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    draw_bins(upper, found.bins)
    if found.cut <= 1:
        upper.axvline(found.cut, color=ORANGE, lw=1.2)
        upper.text(found.cut, 0.02, "answered from here on ", color=ORANGE, fontsize=8, ha="right")
    upper.set_ylabel("share of right answers")
    upper.set_title(f"{title or found.split}: calibration error {found.error:.3f}", fontsize=10)
    lower.bar(
        [each.low for each in found.bins], [each.count for each in found.bins], width=0.1, align="edge", color=BLUE
    )
    lower.set(xlabel="probability", ylabel="questions")
    _finish(lower)
    return figure


def draw_bins(axes: Axes, bins: Sequence[Bin]) -> None:
    """The share of right answers in each bin, with its standard error, beside the diagonal."""
    axes.plot([0, 1], [0, 1], color=GRAY, lw=1, ls="--")
    places, shares = [each.probability for each in bins], [each.right for each in bins]
    spread = [(each.right * (1 - each.right) / each.count) ** 0.5 for each in bins]
    axes.errorbar(places, shares, yerr=spread, color=BLUE, marker="o", ms=4, lw=1.2, capsize=2)
    axes.set(xlim=(0, 1), ylim=(0, 1.02))
    _finish(axes)


def _finish(axes: Axes) -> None:
    axes.grid(True, color="#e6e6e6", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)


def save(found: Calibration, folder: Path, *, title: str = "") -> list[Path]:
    """The diagram and its table, in a run folder."""
    names = [folder / f"calibration.{found.split}.{ending}" for ending in ("svg", "tsv")]
    with replacing(names[0]) as part, rc_context({"svg.hashsalt": "dualparse"}):
        draw(found, title=title).savefig(part, format="svg", metadata={"Date": None})
    write_text(names[1], table(found.bins))
    return names


def keep(path: Path, kind: str, name: str, found: Calibration, about: Mapping[str, Any]) -> None:
    """The figures as a line of a file of results, in the place of an earlier one of the same run or folder."""
    told = found.told() | {"bins": [list(asdict(each).values()) for each in found.bins]}
    row = {"of": kind, "name": name, **about, "commit": current_commit(), **rounded(told)}
    same = [row[key] for key in KEYS]
    others = [each for each in rows(path) if [each[key] for key in KEYS] != same]
    ordered = sorted([*others, row], key=lambda each: [str(each[key]) for key in KEYS])
    write_text(path, "".join(json.dumps(each) + "\n" for each in ordered))


def rows(path: Path) -> list[dict[str, Any]]:
    """What `keep` has kept; nothing where there is no file."""
    if not path.is_file():
        return []
    return [json.loads(line) for _, line in numbered_lines(path) if line.strip()]


def rounded(value: Any) -> Any:
    """The same with four decimals at most."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(each) for each in value]
    return round(value, 4) if isinstance(value, float) else value
