"""Curves of a run: how its stages learn, and the rewards of the game. Reads log.jsonl alone, needs no model.

In: a run folder. Out: a matplotlib figure, or a file of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from dualparse import log
from dualparse.errors import InputError
from dualparse.files import replacing

Record = Mapping[str, Any]

FORMATS = ("png", "svg", "pdf")
BLUE, ORANGE, GREEN, GRAY = "#0072b2", "#d55e00", "#009e73", "#777777"
LOOPS = {"query": ("from queries", BLUE), "form": ("from forms", ORANGE)}
STAGES = {
    "q2lf": "q2lf",
    "lf2q": "lf2q",
    "query_lm": "query LM",
    "lf_lm": "form LM",
    "matcher": "matcher",
    "pseudo": "pseudo",
    "dual": "game",
}
LOSSES = {"loss": ("", BLUE), "q2lf_loss": ("q2lf", BLUE), "lf2q_loss": ("lf2q", ORANGE)}
SCORES = {"accuracy": "dev accuracy, %", "bleu": "dev BLEU", "perplexity": "dev perplexity"}
BEFORE = {  # names in logs from before rewards had theirs
    "form_validity": "form_fluency",
    **{f"{loop}_back": f"{loop}_reconstruction" for loop in LOOPS},
    **{f"{loop}_back_perplexity": f"{loop}_perplexity" for loop in LOOPS},
}
BEFORE |= {f"{old}_spread": f"{new}_spread" for old, new in BEFORE.items()}


def read_log(folder: Path) -> dict[str, list[Record]]:
    """The records of a run by stage, in order; a last line that a crash cut off is left out."""
    if not folder.is_dir():
        raise InputError("no such run folder (dualparse train RECIPE --out FOLDER makes one)", path=folder)
    path = folder / "log.jsonl"
    if not path.is_file():
        raise InputError("not a run folder, or nothing trained yet: log.jsonl is missing", path=folder)
    stages: dict[str, list[Record]] = {}
    for record in log.read_log(path):
        figures = {BEFORE.get(name, name): value for name, value in record["figures"].items()}
        stages.setdefault(record["stage"], []).append(record | {"figures": figures})
    if not stages:
        raise InputError("no epoch is finished yet", path=path)
    return stages


def draw(stages: Mapping[str, Sequence[Record]], *, title: str = "") -> Figure:
    """All curves of a run: loss and dev score of every stage; below them the rewards of the game if there was one."""
    played = stages.get("dual", ())
    heights = [4.6, 5.0] if played else [4.6]
    figure = Figure(figsize=(max(3.0 * len(stages), 9.0 if played else 4.0), sum(heights)), layout="constrained")
    FigureCanvasAgg(figure)
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    if title:
        figure.suptitle(title, fontsize=11, fontweight="bold")
    _draw_learning(parts[0], stages)
    if played:
        _draw_rewards(parts[1], played)
    return figure


def save_plot(folder: Path, out: Path) -> None:
    """Draw the run in a folder into a file; its ending says the format."""
    kind = out.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise InputError(f"unknown picture format: expected a name that ends in {', '.join(FORMATS)}", path=out)
    figure = draw(read_log(folder), title=folder.resolve().name)
    # No date and no random names inside: the same log gives the same file.
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with replacing(out) as part, rc_context({"svg.hashsalt": "dualparse"}):
        figure.savefig(part, format=kind, dpi=130, metadata=undated.get(kind))


def _draw_learning(part: SubFigure, stages: Mapping[str, Sequence[Record]]) -> None:
    axes = part.subplots(2, len(stages), squeeze=False, sharex="col")
    for column, (stage, records) in enumerate(stages.items()):
        loss, score = axes[:, column]
        _draw_loss(loss, records)
        loss.set_title(STAGES.get(stage, stage), fontsize=10)
        _draw_score(score, records)
        score.set_xlabel("epoch")
        if stage in ("dual", "pseudo"):
            taught = "pseudo" if stage == "dual" and "pseudo" in stages else "q2lf"
            _draw_before(score, stages.get(taught, ()))
    axes[0, 0].set_ylabel("loss per token")


def _draw_loss(axes: Axes, records: Sequence[Record]) -> None:
    for name, (label, color) in LOSSES.items():
        _line(axes, records, name, label=label, color=color)
    positive = [value for name in LOSSES for value in _values(records, name) if value > 0]
    if positive and max(positive) > 10 * min(positive):
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
    _finish(axes)


def _draw_score(axes: Axes, records: Sequence[Record]) -> None:
    """Dev scores, the best epoch marked."""
    scored = [record for record in records if record["scores"]]
    name = next((name for name in SCORES if any(name in record["scores"] for record in scored)), None)
    if name is None:
        axes.text(0.5, 0.5, "no dev score", ha="center", va="center", transform=axes.transAxes, color=GRAY)
        return _finish(axes)
    axes.set_ylabel(SCORES[name])
    marker = "." if len(scored) < 30 else ""
    axes.plot([r["epoch"] for r in scored], [r["scores"][name] for r in scored], color=BLUE, lw=1.4, marker=marker)
    best = [record for record in scored if record["best"]]
    if best:
        x, y = best[-1]["epoch"], best[-1]["scores"][name]
        axes.plot([x], [y], marker="o", ms=7, mfc="none", mec=GREEN, mew=1.8, ls="", label=f"best {y:.4g}, epoch {x}")
    axes.margins(y=0.12)
    _finish(axes)


def _draw_before(axes: Axes, pretrained: Sequence[Record]) -> None:
    """Where q2lf stood before this stage."""
    best = [record["scores"]["accuracy"] for record in pretrained if record["best"] and "accuracy" in record["scores"]]
    if best:
        axes.axhline(best[-1], color=GRAY, lw=1.2, ls="--", label=f"before {best[-1]:.4g}")
        _finish(axes)


def _draw_rewards(part: SubFigure, records: Sequence[Record]) -> None:
    """A panel for every reward, by name; then their sum, how much there is to choose, and the way back per token."""
    figures = list(dict.fromkeys(name for record in records for name in record["figures"]))
    spread = [name.removesuffix("_spread") for name in figures if name.endswith("_spread")]
    named = [name.partition("_")[2] for name in spread]
    shown = [name for name in dict.fromkeys(named) if name not in ("reward", "valid")]
    panels = [(name, name.replace("_", " "), True) for name in shown]
    panels += [("reward", "reward (the sum)", True), ("advantage", "advantage (mean absolute)", False)]
    panels += [("perplexity", "reconstruction (perplexity)", False)]
    axes = part.subplots(2, max(-(-len(panels) // 2), 3), squeeze=False)
    part.suptitle("rewards of the game, over all hypotheses of an epoch (bands: one standard deviation)", fontsize=10)
    for panel, (name, title, band) in zip(axes.flat, panels, strict=False):
        for loop, (label, color) in LOOPS.items():
            _line(panel, records, f"{loop}_{name}", label=label, color=color, band=band)
        if name == "validity":
            _line(panel, records, "query_valid", label="share valid", color=GREEN)
        panel.set_title(title, fontsize=9)
    for panel in axes.flat[len(panels) :]:
        panel.set_visible(False)
    for panel in axes.flat[: len(panels)]:
        _finish(panel)
    for panel in axes[1]:
        panel.set_xlabel("epoch")


def _values(records: Iterable[Record], name: str) -> list[float]:
    return [record["figures"].get(name, float("nan")) for record in records]


def _line(axes: Axes, records: Sequence[Record], name: str, *, label: str, color: str, band: bool = False) -> None:
    """One figure of the log over the epochs that have it; `band` adds its spread."""
    having = [record for record in records if name in record["figures"]]
    if not having:
        return
    epochs, values = [record["epoch"] for record in having], _values(having, name)
    axes.plot(epochs, values, color=color, lw=1.4, label=label or None, marker="." if len(epochs) < 30 else "")
    if band:
        spreads = [record["figures"].get(f"{name}_spread", 0.0) for record in having]
        low = [value - spread for value, spread in zip(values, spreads, strict=True)]
        high = [value + spread for value, spread in zip(values, spreads, strict=True)]
        axes.fill_between(epochs, low, high, color=color, alpha=0.12, lw=0)


def _finish(axes: Axes) -> None:
    axes.grid(True, color="#e6e6e6", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.xaxis.label.set_fontsize(9)
    axes.yaxis.label.set_fontsize(9)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7.5, frameon=False)
