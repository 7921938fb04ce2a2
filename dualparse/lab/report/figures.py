"""Pictures of the results: accuracy over the amount of data (the paper's Figures 3 and 4), and the paper against ours.

In: outcomes. Out: matplotlib figures. The paper prints no numbers with its figures; where one of its tables has the
number of a point, it is drawn as a hollow mark.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dualparse.files import replacing
from dualparse.lab.report.paper import DATASETS, PAPER, paper_score
from dualparse.lab.report.results import Outcome, Scores, average, best_of_ours, scores

BLUE, ORANGE, GREEN, GRAY = "#0072b2", "#d55e00", "#009e73", "#777777"
FORMATS = ("svg", "png")
METRICS = {"ATIS": "test exact match, %", "OVERNIGHT": "mean test denotation accuracy, %"}

# Curves: name, color, and the methods that are a point of it (with all labels there is nothing without label).
CURVES = (
    ("supervised", GRAY, "o", ("AttPtr",)),
    ("pseudo-labelling", ORANGE, "s", ("AttPtr+Pseudo(LF+Q)",)),
    ("dual learning", BLUE, "D", ("AttPtr+Dual+LF+Q", "AttPtr+Dual")),
)


def summary(outcomes: Sequence[Outcome]) -> Figure:
    """All labels, method by method: the paper's number as a hollow mark, our median filled, a line over our seeds, and
    a diamond for the same method with our additions that are best on dev."""
    methods = list(PAPER["table3"])
    places = {method: place for place, method in enumerate(methods[::-1])}
    figure = _figure(7.6, 3.6)
    for axes, (dataset, domains) in zip(figure.subplots(1, 2, sharey=True), DATASETS.items(), strict=True):
        for method, place in places.items():
            more = average([scores(outcomes, best_of_ours(outcomes, domains, base=method) or "", d) for d in domains])
            if more is not None:
                axes.plot([more], [place], marker="D", ms=5.5, color=GREEN, zorder=2)
            _dumbbell(axes, place, paper_score(dataset, method, 1.0), [scores(outcomes, method, d) for d in domains])
        axes.set_yticks(list(places.values()), list(places))
        axes.axhline(len(methods) / 2 - 0.5, color="#cccccc", lw=0.8)
        axes.set_ylim(-0.6, len(methods) - 0.4)
        axes.set_title(f"{dataset}, all labels", fontsize=10, fontweight="bold", loc="left")
        axes.set_xlabel(METRICS[dataset])
        axes.margins(x=0.12)
        _finish(axes)
        axes.tick_params(axis="y", length=0)
    marks = [
        Line2D([], [], marker="o", ls="", mfc="white", mec=ORANGE, mew=1.5, label="paper"),
        Line2D([], [], marker="o", ls="", color=BLUE, label="dualparse, median (line: all seeds)"),
        Line2D([], [], marker="D", ls="", ms=5.5, color=GREEN, label="with our additions"),
    ]
    figure.legend(handles=marks, loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
    return figure


def _dumbbell(axes: Axes, place: float, paper: float | None, cells: list[Scores]) -> None:
    ours = average(cells)
    if ours is not None and paper is not None:
        axes.plot([paper, ours], [place, place], color="#d8d8d8", lw=2.5, solid_capstyle="round", zorder=1)
    if ours is not None:
        if len(cells) == 1:
            axes.plot([min(cells[0].values), max(cells[0].values)], [place, place], color=BLUE, lw=1.4, zorder=2)
        axes.plot([ours], [place], marker="o", ms=6.5, color=BLUE, zorder=4)
    if paper is not None:
        axes.plot([paper], [place], marker="o", ms=6.5, mfc="white", mec=ORANGE, mew=1.5, zorder=3)


def figure3(outcomes: Sequence[Outcome]) -> Figure | None:
    """Accuracy over the share of labels; None where nothing has been run."""
    shares = sorted({outcome.labeled for outcome in outcomes if outcome.domain == "atis" and outcome.unlabeled == 1.0})
    figure = _figure(5.2, 3.4)
    axes = figure.subplots()
    drawn = 0
    for name, color, marker, methods in CURVES:
        points = {share: _first(outcomes, methods, labeled=share) for share in shares}
        drawn += _curve(axes, {100 * share: cell for share, cell in points.items()}, name, color, marker)
        known = {
            share: next(filter(None, (paper_score("ATIS", m, share) for m in methods)), None) for share in (0.5, 1.0)
        }
        points_known = {100 * share: number for share, number in known.items() if number is not None}
        axes.plot(list(points_known), list(points_known.values()), ls="", **_hollow(marker, color))
    if drawn < 2:  # a point is no curve
        return None
    axes.set_title("ATIS, the other pairs used without labels", fontsize=10, fontweight="bold", loc="left")
    axes.set_xlabel("share of the training pairs with labels, %")
    axes.set_ylabel(METRICS["ATIS"])
    axes.set_xlim(0, 102)
    _finish(axes)
    handles, _ = axes.get_legend_handles_labels()
    handles.append(Line2D([], [], ls="", label="paper, where a table has it", **_hollow("o", "#444444")))
    axes.legend(handles=handles, frameon=False, fontsize=8, loc="lower right")
    return figure


def figure4(outcomes: Sequence[Outcome], *, labeled: float = 0.3) -> Figure | None:
    """Accuracy over the share of the other pairs kept as unlabeled material; None where nothing has been run."""
    chosen = [outcome for outcome in outcomes if outcome.labeled == labeled]
    shares = sorted({outcome.unlabeled for outcome in chosen})
    figure = _figure(5.2, 3.4)
    axes = figure.subplots()
    drawn = 0
    for name, color, marker, methods in CURVES:
        points = {share: _first(chosen, methods, labeled=labeled, unlabeled=share) for share in shares}
        if name == "supervised" and points.get(1.0, Scores()).values:
            axes.axhline(points[1.0].median, color=color, lw=1.4, ls="--", label=f"{name} (reads none)")
        else:
            drawn += _curve(axes, {100 * share: cell for share, cell in points.items()}, name, color, marker)
    if drawn < 2:
        return None
    axes.set_xlabel("share of the other pairs used without labels, %")
    axes.set_ylabel(METRICS["ATIS"])
    axes.set_title(f"ATIS, {100 * labeled:.0f} % of the labels", fontsize=10, fontweight="bold", loc="left")
    axes.set_xlim(-3, 103)
    _finish(axes)
    axes.legend(frameon=False, fontsize=8)
    return figure


def _first(outcomes: Sequence[Outcome], methods: Iterable[str], **amounts: float) -> Scores:
    """The scores of the first of these methods that was run."""
    found = (scores(outcomes, method, "atis", **amounts) for method in methods)
    return next((cell for cell in found if cell.values), Scores())


def _curve(axes: Axes, points: dict[float, Scores], name: str, color: str, marker: str) -> int:
    """A line through the medians with a band over the seeds, dotted where points between are missing; says how many
    points it has."""
    having = {x: cell for x, cell in points.items() if cell.values}
    if having:
        x, cells = list(having), list(having.values())
        axes.fill_between(
            x, [min(c.values) for c in cells], [max(c.values) for c in cells], color=color, alpha=0.15, lw=0
        )
        axes.plot(x, [c.median for c in cells], color=color, lw=1.2, ls=":")
        whole = [c.median if c.values else math.nan for c in points.values()]
        axes.plot(list(points), whole, color=color, lw=1.6, marker=marker, ms=4.5, label=name)
    return len(having)


def has_gaps(figure: Figure) -> bool:
    """Whether a curve lacks points between others."""
    for axes in figure.axes:
        for line in axes.lines:
            known = np.flatnonzero(~np.isnan(np.asarray(line.get_ydata(), dtype=float)))
            if len(known) and known[-1] - known[0] + 1 > len(known):
                return True
    return False


def _hollow(marker: str, color: str) -> dict[str, Any]:
    return {"marker": marker, "ms": 7.5, "mfc": "none", "mec": color, "mew": 1.4}


def save(figure: Figure, folder: Path, name: str, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write a figure as SVG and PNG. No date and no random names inside: the same results give the same files."""
    written = []
    for kind in formats:
        path = folder / f"{name}.{kind}"
        with replacing(path) as part, rc_context({"svg.hashsalt": "dualparse"}):
            figure.savefig(part, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else None)
        written.append(path)
    return written


def _figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _finish(axes: Axes) -> None:
    axes.grid(True, color="#e9e9e9", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5)
    axes.xaxis.label.set_fontsize(9)
    axes.yaxis.label.set_fontsize(9)
