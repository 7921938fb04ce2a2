"""How sure answers are, for the report: what `dualparse evaluate --calibration --out` has stored, as a table and as
reliability diagrams.

In: the folder of results. Out: Markdown, and a figure. Of OVERNIGHT's domains there is the mean, as everywhere,
and the error of all their questions in one table of ten bins, where chance has a smaller part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, pi, sqrt
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from dualparse.lab.report.paper import DOMAINS
from dualparse.lab.report.results import MISSING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "bench-calibration.jsonl"
HEADER = (
    "asked",
    "questions",
    "right",
    "calibration error",
    "by chance",
    "precision asked for",
    "answered",
    "of these right",
    "of good ones refused",
    "of the others refused",
)
ABOUT = (
    "Every answer has a probability of being right, fitted on dev questions. The calibration error is how far these "
    "probabilities and the share of right answers are apart, over ten bins; *by chance* is what it would be if every "
    "probability were exact, which is more where there are few questions: *pooled* is the error of all questions of "
    "OVERNIGHT in one table; *trails-matcher* also trains a [matcher](../matching.md). A question is answered from the "
    "probability on that promised the precision "
    "asked for on dev; the columns after it are test questions. *The others* cannot be answered: they are off topic, "
    "nonsense, in another language, or about what the data does not have "
    "([benchmarks/offtopic](../../benchmarks/offtopic/))."
)

Row = Mapping[str, Any]


def sure_text(results: Path, picture: str) -> str:
    """The section of the report; `picture` is the name of the figure where one was drawn."""
    found = measured(results)
    if not found:
        return f"Not measured yet: `dualparse evaluate RUN --calibration --split test --out {results / NAME}` does."
    lines = [f"| {' | '.join(HEADER)} |", "|---|" + "---:|" * (len(HEADER) - 1)]
    lines += [f"| {' | '.join(_cells(row))} |" for row in _with_mean(found)]
    image = f"![Reliability diagrams: share of right answers over probability]({picture})"
    return "\n\n".join([ABOUT, "\n".join(lines), *([image] if picture else [])])


def measured(results: Path) -> list[Row]:
    """What was measured on test questions; dev only chooses."""
    from dualparse.lab.reliability import rows  # here: it loads matplotlib

    return [row for row in rows(results / NAME) if row["split"] != "dev"]


def _with_mean(found: Sequence[Row]) -> list[Row]:
    """OVERNIGHT's domains as their mean and pooled, where all of them were measured."""
    eight = [row for row in found if row["of"] == "run" and _short(row) in DOMAINS]
    if sorted(map(_short, eight)) != sorted(DOMAINS):
        return list(found)
    keys = ("accuracy", "error", "by_chance", "answered", "right", "lost")
    figures = {key: mean(row[key] for row in eight) for key in keys}
    examples = sum(row["examples"] for row in eight)
    whole = {"name": "OVERNIGHT, mean", "examples": examples, "wanted": eight[0]["wanted"], "strangers": {}, **figures}
    return [*(row for row in found if row not in eight), whole, {**whole, **_pooled(eight)}, *eight]


def _pooled(some: Sequence[Row]) -> Row:
    """All questions of some runs as those of one; the mean of an absolute error of `count` draws stands for chance."""
    bins: dict[float, list[tuple[int, float, float]]] = {}
    for row in some:
        for low, _, count, probability, right in row["bins"]:
            bins.setdefault(low, []).append((count, probability, right))
    error = by_chance = 0.0
    whole = sum(row["examples"] for row in some)
    for parts in bins.values():
        size = sum(count for count, *_ in parts)
        told, right = (sum(part[0] * part[place] for part in parts) / size for place in (1, 2))
        error += size / whole * abs(told - right)
        by_chance += size / whole * sqrt(2 * told * (1 - told) / (pi * size))
    answered = sum(row["examples"] * row["answered"] for row in some)
    correct = sum(row["examples"] * row["answered"] * row["right"] for row in some)
    return {
        "name": "OVERNIGHT, pooled",
        "accuracy": sum(row["examples"] * row["accuracy"] for row in some) / whole,
        "error": error,
        "by_chance": by_chance,
        "answered": answered / whole,
        "right": correct / answered if answered else 0.0,
    }


def _short(row: Row) -> str:
    """A domain's name without its family."""
    return str(row["domain"]).rpartition("/")[2]


def _cells(row: Row) -> list[str]:
    others = row["strangers"].get("all") or row["strangers"].get("of the file")
    return [
        row["name"],
        f"{row['examples']:,}",
        f"{row['accuracy']:.1%}",
        f"{row['error']:.3f}",
        f"{row['by_chance']:.3f}",
        f"{row['wanted']:.0%}",
        f"{row['answered']:.1%}",
        f"{row['right']:.1%}" if row["answered"] else MISSING,
        f"{row['lost']:.1%}",
        f"{others[1]:.1%} of {others[0]}" if others else MISSING,
    ]


def reliability_figure(results: Path) -> Figure | None:
    """A small diagram for each run and folder; None where nothing was measured."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from dualparse.asking.confidence import Bin
    from dualparse.lab.reliability import draw_bins

    found = measured(results)
    if not found:
        return None
    across = min(len(found), 4)
    down = ceil(len(found) / across)
    figure = Figure(figsize=(2.3 * across, 2.5 * down), layout="constrained")
    FigureCanvasAgg(figure)
    places = list(figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).flat)
    for axes, row in zip(places, found, strict=False):
        draw_bins(axes, [Bin(*each) for each in row["bins"]])
        axes.set_title(f"{row['name']}: {row['error']:.3f}", fontsize=8)
    for axes in places[len(found) :]:
        axes.set_visible(False)
    figure.supxlabel("probability", fontsize=9)
    figure.supylabel("share of right answers", fontsize=9)
    return figure
