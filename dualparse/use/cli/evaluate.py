"""`dualparse evaluate`: scores of a run on dev or test, and a file with every prediction."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from dualparse.errors import InputError

SPLITS = ("dev", "test")


def register(app: typer.Typer) -> None:
    app.command()(evaluate)


def evaluate(
    run: Path = typer.Argument(help="Run folder."),
    split: str = typer.Option("dev", help="dev or test."),
    beams: int | None = typer.Option(None, min=1, help="Beam width; the recipe's by default."),
    before: bool = typer.Option(False, help="The agents as they were before the game or pseudo-labelling."),
    device: str = typer.Option("auto", help="auto, cpu or cuda."),
) -> None:
    """Score a run; writes predictions.SPLIT.jsonl and metrics.json into its folder.

    Example: dualparse evaluate runs/trails --split test
    """
    if split not in SPLITS:
        raise InputError(f"--split {split}: expected dev or test")
    from dualparse.runs import Run
    from dualparse.training.run import choose_device
    from dualparse.training.score import score_run

    found = score_run(Run.open(run), split=split, beams=beams, before=before, device=choose_device(device))
    table = Table("model", "metric", "score", "more", box=None, header_style="bold")
    for model, scores in found.items():
        main = "bleu" if model == "lf2q" else "accuracy"
        more = ", ".join(f"{name} {value}" for name, value in scores.items() if name not in ("metric", main))
        table.add_row(model, str(scores["metric"]), f"{scores[main]:.1f}", more)
    console = Console()
    console.print(f"{run}, {split}{', before' if before else ''}", highlight=False, markup=False)
    console.print(table)
