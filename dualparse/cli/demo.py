"""`dualparse demo`: the main job on the domain that ships with the package, from nothing to answers."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from dualparse.cli.answers import answer
from dualparse.cli.progress import follow

RECIPE = {
    "domain": "trails",
    "train": {"epochs": 40, "evaluate_from": 20, "evaluate_every": 5, "average": 0.99},
}


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    out: Path = typer.Option(Path("demo"), help="Folder of the demo's run; a finished one is used again."),
    device: str = typer.Option("cpu", help="auto, cpu or cuda."),
) -> None:
    """Train on the embedded domain and answer its example questions, in a few minutes on two cores.

    Example: dualparse demo
    """
    from dualparse.api import load
    from dualparse.config import make_recipe
    from dualparse.runs import Run
    from dualparse.train.run import choose_device, train
    from dualparse.train.score import score_run

    console = Console(highlight=False)
    recipe = make_recipe(dict(RECIPE))
    chosen = choose_device(device)
    follow(train(recipe, out, resume=True, device=chosen), console)
    scores = score_run(Run.open(out), split="test", device=chosen)
    q2lf, lf2q = scores["q2lf"], scores["lf2q"]
    console.print(
        f"\ntest: {q2lf['accuracy']:.1f} % of {q2lf['examples']} questions answered correctly "
        f"({q2lf['metric']} accuracy), "
        f"{q2lf['valid']:.1f} % of the forms valid; lf2q BLEU {lf2q['bleu']:.1f}\n"
    )
    parser = load(out, device=chosen)
    table = Table("question", "logical form", "answer", header_style="bold", box=None, pad_edge=False)
    for question in parser.domain.questions:
        best = parser.parse(question, k=1)[0]
        table.add_row(question, best.form, answer(best.answer) if best.answer else f"invalid: {best.verdict.reason}")
    console.print(table)
    console.print(f'\nask yourself:  dualparse parse {out} "which huts serve food"')
