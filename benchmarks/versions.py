"""Two versions of the project beside each other: supervised training, search and the game, in one run.

    python -m benchmarks.versions --before COMMIT|FOLDER [--device auto] [--turns 12] [--together 16]
                                  [--out results/bench-versions-cpu.json]

The versions take turns at the same work, each in a process of its own, so that whatever else the machine does meets
both. A commit is unpacked below .cache/versions once (`--unpack` does that and nothing more, for a machine that has no
history); a folder holds the earlier version's `dualparse/` and `benchmarks/`. The earlier version pre-trains the agents
that both play with. On a GPU as many processes as `--together` says play at the same time, too. Every figure is written
as soon as it is there. Ends with code 1 where this version is slower than `--within` allows.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks.against_joeynmt import SEARCH, tell_disturbed
from benchmarks.facts import facts
from benchmarks.load import keep_to_cores, processor
from benchmarks.ours import benchmark_domain
from benchmarks.turns import PATIENCE, Comparison, Side, Work
from benchmarks.worker import Worker, started
from dualparse.engines.shared_gpu import TOLD
from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.training.run import choose_device

HERE = Path(__file__).resolve().parent.parent
UNPACKED = HERE / ".cache" / "versions"
NEEDED = ("dualparse", "benchmarks")
CORES = 2
NOW, BEFORE = "now", "before"

Say = Callable[[str], None]


@dataclass(frozen=True)
class Amount:
    """How much is measured: turns, and what a turn of each kind holds."""

    turns: int = 12
    updates: int = 56
    iterations: int = 10
    warm_up: int = 3
    patience: float = PATIENCE


@dataclass(frozen=True)
class Machine:
    """Where both versions work."""

    device: str
    threads: int
    domain: str
    pretrain: int = 15

    @property
    def is_gpu(self) -> bool:
        return self.device != "cpu"


def folder_of(version: str) -> Path:
    """The folder of an earlier version: one that is there, or a commit's, unpacked where it is not there yet."""
    if all((Path(version) / name).is_dir() for name in NEEDED):
        return Path(version).resolve()
    folder = UNPACKED / version
    if not all((folder / name).is_dir() for name in NEEDED):
        command = ["git", "-C", str(HERE), "archive", "--format=tar", version, *NEEDED]
        done = subprocess.run(command, capture_output=True)
        if done.returncode:
            reason = done.stderr.decode().strip()
            raise InputError(f"expected a folder with dualparse/ and benchmarks/, or a commit: {reason}", path=version)
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as packed:
            packed.extractall(folder, filter="data")
    return folder


@contextmanager
def at_work(code: Path, machine: Machine, logs: Path, name: str, *more: str) -> Iterator[Worker]:
    """A version at work in a process of its own."""
    script = Path(__file__).with_name("version_worker.py")
    command = [sys.executable, "-P", script, "--code", code, "--domain", machine.domain, "--device", machine.device]
    amount = ["--threads", machine.threads, "--pretrain", machine.pretrain]
    told = TOLD if "--alone" not in more and "--game" in more else {}
    with started([str(word) for word in (*command, *amount, *more)], logs / f"{name}.log", told) as worker:
        yield worker


def pretrained(code: Path, machine: Machine, logs: Path) -> str:
    """The run both play with, made by the version in that folder if it is not there."""
    with at_work(code, machine, logs, "pretraining") as worker:
        return str(worker.about["folder"])


def compare_alone(
    codes: dict[str, Path], machine: Machine, amount: Amount, run: str, logs: Path, say: Say
) -> Iterator[Comparison]:
    """Training, search and the game of one process a version, one figure after the other."""
    jobs: dict[tuple[str, str], dict[str, Any]] = {
        ("training", "pairs/s"): {"do": "train", "updates": amount.updates},
        (f"beam-{SEARCH.beams} search", "queries/s"): {"do": "decode"},
        ("game", "iterations/s"): {"do": "play", "iterations": amount.iterations},
    }
    with ExitStack() as stack:
        workers = {
            side: stack.enter_context(at_work(code, machine, logs, side, "--game", run, "--alone"))
            for side, code in codes.items()
        }
        for (name, unit), job in jobs.items():
            figure = Comparison(name, unit, Side(NOW), Side(BEFORE), patience=amount.patience)
            for side in (NOW, BEFORE):
                say(f"{name}, warming up {side}")
                for _ in range(amount.warm_up):
                    workers[side].ask(job)
            for number in range(amount.turns):
                say(f"{name}, turn {number + 1} of {amount.turns}")
                figure.turn(_asking(workers[NOW], job), _asking(workers[BEFORE], job))
            yield figure


def _asking(worker: Worker, job: dict[str, Any]) -> tuple[Work, int]:
    return lambda: worker.ask(job), worker.process.pid


def compare_together(
    codes: dict[str, Path], machine: Machine, amount: Amount, run: str, logs: Path, count: int, say: Say
) -> Comparison:
    """The game of many processes of each version on one GPU; a turn is all processes of a version at once."""
    name = f"game, {count} processes together"
    figure = Comparison(name, "iterations/s", Side(NOW), Side(BEFORE), patience=amount.patience)
    job = {"do": "play", "iterations": amount.iterations}
    with ExitStack() as stack, ThreadPoolExecutor(2 * count) as pool:
        begun = [
            (side, at_work(code, machine, logs, f"{side}-{number}", "--game", run))
            for number in range(count)
            for side, code in codes.items()
        ]
        say(f"starting {len(begun)} processes")
        made = list(pool.map(lambda each: (each[0], stack.enter_context(each[1])), begun))
        workers = {side: [worker for name, worker in made if name == side] for side in codes}

        def all_of(side: str) -> dict[str, float]:
            answers = list(pool.map(lambda worker: worker.ask(job), workers[side]))
            return {"items": sum(one["items"] for one in answers), "seconds": max(one["seconds"] for one in answers)}

        for _ in range(amount.warm_up):
            for side in (NOW, BEFORE):
                all_of(side)
        for number in range(amount.turns):
            say(f"{figure.name}, turn {number + 1} of {amount.turns}")
            figure.turn((lambda: all_of(NOW), None), (lambda: all_of(BEFORE), None))
    # Their own processes are those "others" that a turn sees: all turns count, and nobody adds up processor time.
    for each in (figure.ours, figure.other):
        each.others, each.busy = [0.0] * len(each.others), []
    return figure


def compare(
    codes: dict[str, Path], machine: Machine, amount: Amount, run: str, logs: Path, together: int, say: Say
) -> Iterator[Comparison]:
    """All figures, one after the other."""
    yield from compare_alone(codes, machine, amount, run, logs, say)
    if machine.is_gpu and together:
        yield compare_together(codes, machine, amount, run, logs, together, say)


def keep(out: Path, figures: list[Comparison], device: torch.device, before: str, machine: Machine) -> None:
    """Write what was measured so far."""
    told = facts(device) | {"before": before, "domain": machine.domain, "cores": machine.threads}
    told |= {"comparisons": [figure.as_json() for figure in figures]}
    write_text(out, json.dumps(told, indent=1) + "\n")


def show(figures: list[Comparison], where: str, console: Console) -> None:
    table = Table(title=f"this version beside the earlier one: {where}")
    for column in ("", NOW, BEFORE, "ratio", "of processor time"):
        table.add_column(column, justify="right" if column else "left")
    for figure in figures:
        rates = (f"{figure.rate(side):,.2f}" for side in (figure.ours, figure.other))
        shares = "-" if figure.of_processor is None else f"{figure.of_processor:.2f}"
        table.add_row(f"{figure.name}, {figure.unit}", *rates, f"{figure.ratio:.2f}", shares)
    console.print(table)
    for figure in figures:
        tell_disturbed(figure, console)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, help="a commit, or a folder with an earlier version")
    parser.add_argument("--unpack", action="store_true", help="unpack that commit, and nothing more")
    parser.add_argument("--domain", default=benchmark_domain())
    parser.add_argument("--device", default="auto")
    parser.add_argument("--pretrain", type=int, default=15, help="epochs of pre-training, so that hypotheses end")
    parser.add_argument("--turns", type=int, default=Amount.turns)
    parser.add_argument("--updates", type=int, default=Amount.updates, help="updates of a turn of training")
    parser.add_argument("--iterations", type=int, default=Amount.iterations, help="iterations of a turn of the game")
    parser.add_argument("--warm-up", type=int, default=Amount.warm_up, help="turns that do not count")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds a turn waits for a quiet machine")
    parser.add_argument("--together", type=int, default=0, help="on a GPU: how many processes play at once, too")
    parser.add_argument("--within", type=float, default=0.95, help="the least ratio that is no failure")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    before = folder_of(options.before)
    if options.unpack:
        print(before)
        return 0
    device = choose_device(options.device)
    threads = 1 if device.type == "cuda" else keep_to_cores(CORES)
    machine = Machine(device.type, threads, options.domain, options.pretrain)
    amount = Amount(options.turns, options.updates, options.iterations, options.warm_up, options.patience)
    codes, console = {NOW: HERE, BEFORE: before}, Console()
    with tempfile.TemporaryDirectory(prefix="versions-") as folder, console.status("") as status:
        logs = Path(folder)
        status.update("pre-training, once")
        run = pretrained(before, machine, logs)
        figures = []
        for figure in compare(codes, machine, amount, run, logs, options.together, status.update):
            figures.append(figure)
            if options.out:  # at once: what comes next may take longer than there is time
                keep(options.out, figures, device, before.name, machine)
    name = torch.cuda.get_device_name(device) if machine.is_gpu else processor()
    where = f"{options.domain}, {name}" if machine.is_gpu else f"{options.domain}, {threads} cores ({name})"
    show(figures, where, console)
    if options.out:
        console.print(f"kept in {options.out}")
    return int(any(figure.ratio < options.within for figure in figures))


if __name__ == "__main__":
    raise SystemExit(main())
