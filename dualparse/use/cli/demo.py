"""`dualparse demo`: the main job on the domain that ships with the package, from nothing to answers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dualparse.use.cli.answers import answer
from dualparse.use.cli.progress import follow
from dualparse.use.cli.screen import Screen

if TYPE_CHECKING:
    import torch

    from dualparse.config import Recipe
    from dualparse.runs import Run
    from dualparse.use.api import Parser

PLOT = "curves.png"


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    out: Path = typer.Option(Path("demo"), help="Folder of the demo's run; a finished one is used again."),
    device: str = typer.Option("cpu", help="auto, cpu or cuda."),
) -> None:
    """Train on the embedded domain with half of its labels and its grammar, then by the game with the rest, and answer
    questions.

    Takes a few minutes on two cores.

    Example: dualparse demo
    """
    from dualparse.config import read_recipe
    from dualparse.engines.cores import use_all_cores
    from dualparse.lab.plots import save_plot
    from dualparse.runs import Run
    from dualparse.training.run import choose_device, train
    from dualparse.use.api import load

    console = Screen(highlight=False)
    with as_file(files("dualparse.use.cli") / "demo.toml") as path:
        recipe = read_recipe(path)
    chosen = choose_device(device)
    use_all_cores()
    follow(train(recipe, out, resume=True, device=chosen), console)
    run = Run.open(out)
    _compare(run, recipe, chosen, console)
    save_plot(out, out / PLOT)
    console.print(f"\nlearning curves and rewards: {out / PLOT}\n")
    parser = load(out, device=chosen)
    if not parser.scales.trust.fitted:
        parser.calibrate()
    _ask(parser, console)
    console.print("\nGo on with")
    for purpose, command in (
        ("ask yourself", f'dualparse parse {out} "which huts serve food"'),
        ("watch a round of the game", f'dualparse game {out} "which huts serve food"'),
        ("the same as a web page", f"dualparse serve {out}   (then open http://127.0.0.1:8000)"),
    ):
        console.print(f"  {purpose:26}{command}", soft_wrap=True)


def _compare(run: Run, recipe: Recipe, device: torch.device, console: Console) -> None:
    """Both parsers on the test questions."""
    from dualparse.training.score import score_run

    rows = {"pairs alone": True, "pairs, then the game": False}
    found = {name: score_run(run, split="test", before=before, device=device) for name, before in rows.items()}
    choosers = {"q2lf": "right answers"}
    if all("both" in scores for scores in found.values()):
        choosers["both"] = "both agents choose"
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("trained on", *choosers.values(), "valid forms"):
        table.add_column(column, justify="left" if column == "trained on" else "right")
    for name, scores in found.items():
        shown = [_with_interval(scores[who]) for who in choosers]
        table.add_row(name, *shown, f"{scores['q2lf']['valid']:.1f} %")
    count, labeled = scores["q2lf"]["examples"], recipe.data.labeled
    share = f"{labeled:.0%}" if isinstance(labeled, float) else f"those of {labeled}"
    console.print(
        f"\n{count} test questions; none was trained on, though their forms were met in other words. "
        f"{share} of the training pairs have labels, and {recipe.data.canonical} more come from the "
        "grammar; the game also plays with the queries and forms of the others.\n"
    )
    console.print(table)


def _with_interval(scores: Mapping[str, Any]) -> str:
    low, high = scores["interval_95"]
    return f"{scores['accuracy']:.1f} %  ({low:.0f}-{high:.0f})"


def _ask(parser: Parser, console: Console) -> None:
    for question in parser.domain.questions:
        best = parser.parse(question, k=1)[0]
        said = answer(best.answer) if best.answer else f"no answer: {best.verdict.reason}"
        console.print(Text.assemble((question, "bold"), ("\n  " + best.form, "dim"), "\n  " + said))
