"""`dualparse plot`: the curves of a run as a picture."""

from __future__ import annotations

from pathlib import Path

import typer

from dualparse.use.cli.screen import say


def register(app: typer.Typer) -> None:
    app.command()(plot)


def plot(
    run: Path = typer.Argument(help="Run folder; it may still be training."),
    out: Path | None = typer.Option(None, help="Picture to write (.png, .svg or .pdf); RUN/curves.png by default."),
) -> None:
    """Draw learning curves of every stage, and the rewards of the game.

    Example: dualparse plot runs/trails --out trails.svg
    """
    from dualparse.lab.plots import save_plot

    target = out or run / "curves.png"
    save_plot(run, target)
    say(target)
