"""How sure answers are: trains what is to be measured, and measures it.

    python -m benchmarks.sure train WORK [NAME...]      the runs of RUNS, or some of them, into folders of WORK
    python -m benchmarks.sure measure WORK [NAME...]    each of them on its test questions, and Chinook as a folder

Two cores train all runs in half an hour: settings are those of the recipes but for fewer epochs of larger steps,
because it is the probabilities that are measured and not the record in accuracy. `measure`
fits on dev, takes no part in choosing anything, and writes a line for each to results/bench-calibration.jsonl, as
`dualparse evaluate --calibration --out` does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dualparse.config import read_recipe
from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.engines.cores import settle_threads
from dualparse.fetch.benchmarks import data_dir
from dualparse.lab.report.paper import DOMAINS
from dualparse.training.run import choose_device
from dualparse.training.run import train as train_run
from dualparse.use.cli.calibration import calibrate_folder, calibrate_run
from dualparse.use.cli.progress import follow

HERE = Path(__file__).parent
RECIPES = HERE.parent / "recipes"
OFF_TOPIC = HERE / "offtopic"
ANYWHERE = OFF_TOPIC / "anywhere.tsv"
CHINOOK = "chinook"  # a folder and its two files among the benchmark data
OUT = Path("results/bench-calibration.jsonl")
STEP = ("train.batch_size=20", "train.learning_rate=0.003", "train.average=0.99", "train.evaluate_every=4")
QUICK = (*STEP, "train.epochs=14", "train.evaluate_from=10", "train.updates=60")
SHORT = (*STEP, "train.epochs=10", "train.evaluate_from=6")
MATCHED = ('stages=["q2lf", "lf2q", "matcher"]', "search.reconstruction=0.3", "search.matcher=1")
FEW = (*QUICK, "data.labeled=0.25", "train.updates=40")

RUNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "trails": ("trails", ()),
    "trails-half": ("trails", ("data.labeled=0.5",)),
    "trails-matcher": ("trails", MATCHED),
    **{each: ("overnight-att", (*QUICK, f"domain=overnight/{each}")) for each in DOMAINS},
    "atis": ("atis-attptr", SHORT),
    "trails-few": ("trails", (*FEW, 'stages=["q2lf"]')),
    "blocks-few": ("overnight-att", (*FEW, "domain=overnight/blocks")),
    "recipes-few": ("overnight-att", (*FEW, "domain=overnight/recipes")),
}

app = typer.Typer(add_completion=False)
Work = Annotated[Path, typer.Argument(help="Folder of the runs.")]
Names = Annotated[list[str] | None, typer.Argument(help="Which of them; all by default.")]


@app.callback()
def main() -> None:
    """How sure answers are: training what is measured, and measuring it."""


@app.command()
def train(work: Work, names: Names = None) -> None:
    """Train the runs that are not there yet."""
    settle_threads()
    for name in names or RUNS:
        recipe, overrides = RUNS[name]
        settings = read_recipe(RECIPES / f"{recipe}.toml", overrides=overrides)
        folder = work / name
        if not (folder / "manifest.json").is_file():
            follow(train_run(settings, folder, resume=folder.is_dir(), device=choose_device("cpu")), Console())


@app.command()
def measure(work: Work, names: Names = None, out: Path = OUT) -> None:
    """Fit on dev, measure on test."""
    for name in names or [*RUNS, CHINOOK]:
        if name == CHINOOK:
            _measure_chinook(work / name, out)
        else:
            own = OFF_TOPIC / f"{name.partition('-')[0]}.tsv"
            away = [ANYWHERE, *([own] if own.is_file() else [])]
            calibrate_run(work / name, "test", precision=None, strangers=away, device="cpu", out=out)


def _measure_chinook(folder: Path, out: Path) -> None:
    """A folder of which nobody has told anything, measured with what folders begin with."""
    database, questions = (data_dir() / CHINOOK / name for name in ("chinook.sqlite", "questions.jsonl"))
    if not folder.is_dir():
        connect(locate(str(database)), folder)
    away = [ANYWHERE, OFF_TOPIC / f"{CHINOOK}.tsv"]
    calibrate_folder(str(folder), questions, database="", today="", precision=None, strangers=away, out=out)


if __name__ == "__main__":
    app()
