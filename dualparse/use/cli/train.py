"""`dualparse train`: a recipe in, a run folder out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from dualparse.config import explain, read_recipe
from dualparse.errors import InputError
from dualparse.use.cli.progress import follow
from dualparse.use.cli.screen import Screen

if TYPE_CHECKING:
    from dualparse.config import Recipe


def register(app: typer.Typer) -> None:
    app.command()(train)
    app.command()(refit)


def train(
    recipe: Path | None = typer.Argument(None, help="Recipe file (TOML)."),
    set_: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="Override a setting, e.g. train.epochs=20."),
    out: Path | None = typer.Option(None, help="Run folder to write; runs/NAME-OF-RECIPE by default."),
    resume: bool = typer.Option(False, help="Go on with an interrupted run in the same folder."),
    device: str = typer.Option("auto", help="auto, cpu or cuda."),
    explain_: bool = typer.Option(False, "--explain", help="Print every setting with its default and meaning."),
) -> None:
    """Train the models of a recipe.

    Example: dualparse train recipes/trails.toml --set train.epochs=20 --out runs/trails
    """
    console = Screen()
    if explain_:
        _print_settings(console)
        return
    if recipe is None:
        raise InputError("which recipe? For example: dualparse train recipes/trails.toml")
    settings = read_recipe(recipe, overrides=set_)
    folder = out or Path("runs") / recipe.stem
    from dualparse.engines.cores import use_all_cores
    from dualparse.runs import REFIT
    from dualparse.training.run import choose_device
    from dualparse.training.run import train as run

    use_all_cores()
    try:
        follow(run(settings, folder, resume=resume, device=choose_device(device)), console)
    except KeyboardInterrupt:
        console.print("the same command with --resume goes on with it", highlight=False)
        raise
    _calibrate(folder, settings, device, console)
    console.print(f"done: {folder}   (next: dualparse evaluate {folder})", highlight=False, markup=False)
    if settings.refit:
        _take_over(folder, folder / REFIT)
        console.print(f"      {folder / REFIT}   (with the dev pairs as well)", highlight=False, markup=False)


def refit(
    run: Path = typer.Argument(help="Folder of a finished run."),
    device: str = typer.Option("auto", help="auto, cpu or cuda."),
) -> None:
    """Train a finished run once more, with the dev pairs as well.

    Dev has said how long each stage is to be trained; that said, its pairs can be learned from. The outcome is a run of
    its own, RUN/refit: ask it, serve it, score it on test. A refit that was interrupted goes on.

    Example: dualparse refit runs/trails
    """
    console = Screen()
    from dualparse.engines.cores import use_all_cores
    from dualparse.runs import REFIT, Run
    from dualparse.training.run import choose_device
    from dualparse.training.run import refit as again

    use_all_cores()
    follow(again(Run.open(run), device=choose_device(device)), console)
    folder = run / REFIT
    _take_over(run, folder)
    console.print(f'done: {folder}   (next: dualparse parse {folder} "...")', highlight=False, markup=False)


def _calibrate(folder: Path, settings: Recipe, device: str, console: Console) -> None:
    """Fit on dev how likely answers are right, where the run answers questions and has a dev that it did not learn."""
    from dualparse.asking.trust import NAME

    if "q2lf" not in settings.stages or settings.data.everything or (folder / NAME).is_file():
        return
    from dualparse.use.api import load

    trust = load(folder, device=device).calibrate()
    if trust.coverage is not None:
        console.print(
            f"of the dev questions {trust.coverage:.0%} get an answer, of these {trust.precision:.0%} the right one "
            f"(asked for: {trust.wanted:.0%}; others are asked back about or refused)",
            highlight=False,
        )


def _take_over(run: Path, refit: Path) -> None:
    """What a run knows of its answers, for the one that learned from dev as well and cannot ask it any more."""
    from dualparse.asking.trust import read_trust, write_trust

    write_trust(refit, read_trust(run))


def _print_settings(console: Console) -> None:
    table = Table("setting", "default", "meaning", box=None, header_style="bold")
    for key, default, meaning in explain():
        table.add_row(key, default, meaning)
    console.print(table)
