"""Speed of the game: iterations a second on ATIS (batch 16, k = 5, copying; both loops, guidance, update), and what its
parts take.

    python -m benchmarks.game [--rounds 12] [--iterations 10] [--device auto] [--processes 1 8] [--published]
                              [--out FILE]

On a CPU two processes take turns at the same iterations: one with the loops that Numba compiles, as training has them
where Numba is installed, and one without. On a GPU as many processes as asked for play at the same time, for every
count given; with DUALPARSE_SHARED_GPU=0 as if each were alone. The agents are pre-trained for a few epochs, so that
hypotheses end; they are kept in .cache/ for the next time.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.facts import facts
from benchmarks.load import keep_to_cores
from benchmarks.ours import benchmark_domain
from benchmarks.turns import Comparison, Side
from benchmarks.worker import Worker, answer, started
from dualparse.config import GameSettings, Recipe, RewardSettings, make_recipe
from dualparse.domains.registry import open_domain
from dualparse.engines import cpu
from dualparse.engines.engine import told
from dualparse.engines.numba import loading as compiled
from dualparse.engines.shared_gpu import TOLD
from dualparse.files import write_text
from dualparse.game.tell import open_players
from dualparse.lab.sharing import fingerprint
from dualparse.runs import Run
from dualparse.training.game import Game, Sets, batches, sources
from dualparse.training.material import load_material
from dualparse.training.run import choose_device, train
from dualparse.training.step import Adam

CORES = 2
BATCH = 16
WARM_UP = 3
CACHE = Path(__file__).parent.parent / ".cache"
AS_PUBLISHED = (
    *(RewardSettings(name=name, weight=0.5) for name in ("validity", "fluency")),
    RewardSettings(name="reconstruction", weight=0.5, noisy=True),
)
PARTS = ("rounds", "inputs", "update")

Say = Callable[[str], None]


def pretrained(domain: str, epochs: int, device: torch.device, say: Say = lambda text: None) -> Path:
    """A run with agents pre-trained for a few epochs and a query_lm; made if it is not there."""
    recipe = _recipe(domain, epochs)
    folder = CACHE / f"game-{fingerprint(recipe)}"
    if not all(Run(folder).weights(stage).exists() for stage in recipe.stages):
        for event in train(recipe, folder, resume=True, device=device):
            say(f"pre-training, once: {event}")
    return folder


def _recipe(domain: str, epochs: int) -> Recipe:
    return make_recipe(
        {
            "domain": domain,
            "stages": ["query_lm", "q2lf", "lf2q"],
            "data": {"min_count": 2},
            "train": {"epochs": epochs, "evaluate_from": epochs},
            "language_model": {"epochs": 2},
        }
    )


class Player:
    """A game that plays on command, and says how long each part took."""

    def __init__(self, folder: Path, device: torch.device, *, published: bool = False):
        run = Run.open(folder)
        recipe, domain = run.recipe, open_domain(run.recipe.domain)
        material = load_material(recipe)
        sets = Sets(material.labeled, material.labeled, material.labeled)
        settings = GameSettings(noisy_search=published, rewards=AS_PUBLISHED) if published else recipe.game
        players = open_players(run, domain, device)
        self.game = Game(players, sets, domain, settings, optimizer=Adam(learning_rate=5e-4), seed=recipe.seed)
        for agent in self.game.agents:
            agent.model.train()
        self.rng = random.Random(1)
        self.device, self.waiting = device, []
        torch.manual_seed(1)

    def play(self, iterations: int) -> dict[str, float]:
        """Some iterations of the game; seconds of all and milliseconds of each part of one."""
        batches = [self._next() for _ in range(iterations)]
        parts, start = dict.fromkeys(PARTS, 0.0), time.perf_counter()
        for batch in batches:
            marks = self._iterate(*batch)
            for name, before, after in zip(PARTS, marks, marks[1:], strict=False):
                parts[name] += after - before
        self.game.stepper.take_figures()  # waits for a GPU
        seconds = time.perf_counter() - start
        shares = {f"{name}_ms": 1000 * value / iterations for name, value in parts.items()}
        return {"items": iterations, "seconds": seconds} | shares

    def _next(self) -> tuple[list, list, list]:
        """Sources of both loops and labeled pairs of the next iteration."""
        if not self.waiting:
            game, rng = self.game, self.rng
            count = len(game.sets.labeled) // BATCH
            queries = batches(sources(game.players.q2lf, game.sets.queries, rng), count, BATCH, rng)
            forms = batches(sources(game.players.lf2q, game.sets.forms, rng), count, BATCH, rng)
            pairs = batches(range(len(game.sets.labeled)), count, BATCH, rng)
            self.waiting = list(zip(queries, forms, pairs, strict=True))
        return self.waiting.pop()

    def _iterate(self, queries: list, forms: list, pairs: list) -> list[float]:
        """As `Game.iterate`, with a look at the clock after each part."""
        game, marks = self.game, [time.perf_counter()]
        rounds = game.rounds(queries, forms, self.rng)
        marks.append(time.perf_counter())
        key, inputs = game.inputs(rounds, pairs)
        marks.append(time.perf_counter())
        game.stepper(key, inputs)
        return [*marks, time.perf_counter()]


def compare_numba(
    folder: Path, *, rounds: int, iterations: int, published: bool = False, say: Say = lambda text: None
) -> Comparison:
    """Iterations a second with Numba and without, in turns, on two CPU cores; if `published`, dropout is on in search,
    and the pass that learns the way back also says its reward."""
    cores = keep_to_cores(CORES)
    name = "game as published" if published else "game"
    figure = Comparison(name, "iterations/s", Side("with Numba"), Side("without Numba"))
    with (
        tempfile.TemporaryDirectory(prefix="game-") as logs,
        _worker(folder, cores, "with", Path(logs), published=published) as ours,
        _worker(folder, cores, "without", Path(logs), published=published) as plain,
    ):
        for number in range(rounds):
            say(f"game, turn {number + 1} of {rounds}")
            figure.turn(_turn(ours, iterations), _turn(plain, iterations))
    return figure


def _worker(
    folder: Path,
    cores: int,
    numba: str,
    logs: Path,
    device: str = "cpu",
    number: int = 0,
    variables: Mapping[str, str] | None = None,
    *,
    published: bool = False,
) -> AbstractContextManager[Worker]:
    command = [
        sys.executable,
        "-m",
        "benchmarks.game",
        "--work",
        str(folder),
        "--threads",
        str(cores),
        "--numba",
        numba,
    ]
    command += ["--published"] * published
    return started([*command, "--device", device], logs / f"{numba}-{number}.log", variables)


def _turn(worker: Worker, iterations: int) -> tuple[Callable[[], dict[str, float]], int]:
    return lambda: worker.ask({"iterations": iterations}), worker.process.pid


def _work(folder: Path, threads: int, numba: str, device: torch.device, *, published: bool) -> None:
    """The life of a worker."""
    torch.set_num_threads(threads)
    if numba == "without":
        compiled.load = lambda: False
    if device.type == "cpu":
        cpu.prepare()
    player = Player(folder, device, published=published)
    player.play(WARM_UP)
    engines = told(*(agent.model for agent in player.game.agents))["engines"]
    answer({"numba": numba, "engines": engines}, lambda command: player.play(command["iterations"]))


def show(figure: Comparison, console: Console) -> None:
    """A table of both ways."""
    table = Table(title=f"the {figure.name}: batch {BATCH}, both loops, guidance and update")
    for column in ("", figure.ours.name, figure.other.name, "ratio"):
        table.add_column(column, justify="right" if column else "left")
    sides = (figure.ours, figure.other)
    table.add_row(figure.unit, *(f"{figure.rate(side):.2f}" for side in sides), f"{figure.ratio:.2f}")
    table.add_row("the best turn", *(f"{max(side.rates):.2f}" for side in sides), "")
    table.add_section()
    for part in PARTS:
        table.add_row(f"{part}, ms (last turn)", *(f"{side.last[f'{part}_ms']:.1f}" for side in sides), "")
    console.print(table)


def play_on_gpu(folder: Path, device: str, count: int, *, rounds: int, iterations: int) -> dict[str, Any]:
    """Iterations a second of every round, of all processes together; the first rounds meet shapes to be captured."""
    with tempfile.TemporaryDirectory(prefix="game-") as logs, ExitStack() as stack, ThreadPoolExecutor(count) as pool:
        together = TOLD if count > 1 else {}
        begun = (_worker(folder, 1, "with", Path(logs), device, number, together) for number in range(count))
        workers = list(pool.map(stack.enter_context, begun))
        rates, answers = [], []
        for _ in range(rounds):
            answers = list(pool.map(lambda worker: worker.ask({"iterations": iterations}), workers))
            rates.append(round(sum(one["items"] for one in answers) / max(one["seconds"] for one in answers), 2))
    return {
        "processes": count,
        "rounds": rates,
        "engines": workers[0].about["engines"],
        "iterations_per_second": median(rates[-(-rounds // 2) :]),
        **{f"{part}_ms": round(median(one[f"{part}_ms"] for one in answers), 2) for part in PARTS},
    }


def show_on_gpu(rows: Sequence[dict[str, Any]], console: Console) -> None:
    """A row for every count of processes."""
    table = Table(title=f"the game: batch {BATCH}, both loops, guidance and update")
    for column in ("processes", "iterations/s in total", "ratio to one", *(f"{part}, ms" for part in PARTS)):
        table.add_column(column, justify="right")
    for row in rows:
        rate = row["iterations_per_second"]
        parts = (f"{row[f'{part}_ms']:.1f}" for part in PARTS)
        table.add_row(str(row["processes"]), f"{rate:.1f}", f"{rate / rows[0]['iterations_per_second']:.2f}", *parts)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", default=benchmark_domain())
    parser.add_argument("--pretrain", type=int, default=15, help="epochs of pre-training, so that hypotheses end")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--iterations", type=int, default=10, help="iterations of a round")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--published", action="store_true", help="on a CPU: search and rewards with dropout")
    parser.add_argument("--processes", type=int, nargs="+", default=[1], help="how many share a GPU")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--numba", help=argparse.SUPPRESS)
    options = parser.parse_args()
    console, device = Console(), choose_device(options.device)
    if options.work:
        return _work(options.work, options.threads, options.numba, device, published=options.published)
    amount = {"rounds": options.rounds, "iterations": options.iterations}
    with console.status("") as status:
        folder = pretrained(options.domain, options.pretrain, device, status.update)
        if device.type == "cuda":
            rows = [play_on_gpu(folder, options.device, count, **amount) for count in options.processes]
        else:
            figure = compare_numba(folder, **amount, published=options.published, say=status.update)
    if device.type == "cuda":
        show_on_gpu(rows, console)
        figures = facts(device) | amount | {"rows": rows}
    else:
        show(figure, console)
        figures = facts() | figure.as_json()
    if options.out:
        write_text(options.out, json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
