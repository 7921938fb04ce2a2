"""What only a GPU can show, part by part, each within the time of one command.

    python -m benchmarks.card parity|versions|regression|networks|matching [--before COMMIT|FOLDER] [--minutes 9.5]
                              [--packed build/card.zip] [--tiny]

parity      engines and captured graphs against the plain engine (`make test-gpu`); results/gpu-parity.json
versions    this version beside an earlier one: training, search, the game alone and of 16 processes;
            results/bench-versions-gpu.json
regression  AttPtr and AttPtr+Dual+LF on ATIS, three seeds, beside the stored cells of the same settings; the cells go
            to results/apart
networks    the cells of grids/beyond/transformer.toml that are not there yet; results/transformer.jsonl
matching    side by side: the rows of OVERNIGHT that learn to match, the dearest first (results/bench-matching.jsonl),
            and ATIS read by MiniLM (grids/beyond/table3-pretrained.toml; results/table3-pretrained.jsonl). It needs the
            file that `python -m benchmarks.pack` makes. `--tiny` goes through all of it on a CPU, with a few updates a
            cell, and stores nothing in results/

A part that takes longer is ended. What it has trained by then is kept in runs/, and the same command goes on with it.
Ends with code 1 where a part fails or is not over. Where a machine has neither the packages nor the data nor the
history of the project, every part takes them from that file.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import torch

PARTS = ("parity", "versions", "regression", "networks", "matching")
RESULTS = Path("results")
BEFORE = "3d07beb"  # the last version with one network and its engines in one
EARLIER, COMMIT = "earlier", "commit"  # among what was packed: a folder with that version, and which one this is
TOGETHER = 16  # processes on one card
GRID = "grids/table3.toml"
CELLS = ("atis-attptr,seed=*", "atis-attptr-dual-lf,seed=*")
JOBS = "9"  # that share the card
TAKING_TURNS = "4"  # where a card lets one process in at a time, so that a cell is done within one command
PACKED = Path("build/card.zip")
MATCHED = ("others", "full-all", "half-all", "few-200", "few-48", "few-16", "full-own", "half-own")
ATIS = "grids/beyond/table3-pretrained.toml"
TINY = """datasets = ["atis"]
[methods.tiny]
recipe = "{dataset}-attptr-dual.toml"
[set]
model.networks = {q2lf = "pretrained"}
model.hidden = 8
data.analogies = 10
data.labeled = 0.005
data.unlabeled = 0.005
train = {epochs = 1}
language_model.epochs = 1
game = {epochs = 1, beams = 2}
search = {beams = 1, dev_beams = 1, max_length = 5}
"""
MPS = "nvidia-cuda-mps-control"
ENDING = 20.0  # seconds a part has to come to an end once it is told to
LOOK = 0.05  # seconds from one look at what runs to the next

DUALPARSE = (sys.executable, "-c", "from dualparse.use.cli.main import main; main()")
"""The command `dualparse`, which need not be installed."""


def commands(part: str, before: str) -> list[list[str]]:
    """What a part runs, one after the other."""
    python = [sys.executable, "-m"]
    if part == "parity":
        return [[*python, "tests.gpu.run", "--out", str(RESULTS / "gpu-parity.json")]]
    if part == "versions":
        told = ["--before", before, "--device", "cuda", "--together", str(TOGETHER)]
        return [[*python, "benchmarks.versions", *told, "--out", str(RESULTS / "bench-versions-gpu.json")]]
    on_card = ["--device", "cuda", "--jobs", JOBS]
    if part == "networks":
        return [[*DUALPARSE, "sweep", "grids/beyond/transformer.toml", *on_card]]
    apart = ["--own", "--results", str(RESULTS / "apart"), "--runs", "runs/apart"]
    sweep = [*DUALPARSE, "sweep", GRID, *(word for cells in CELLS for word in ("--only", cells)), *apart, *on_card]
    return [sweep, [*python, "benchmarks.regression"]]


def matching(packed: Path, seconds: float, jobs: str, *, tiny: bool = False) -> list[list[str]]:
    """The two commands of the part `matching`, which run side by side."""
    known = ["--known", str(packed / "known.json"), "--seconds", str(seconds)]
    match = [sys.executable, "-m", "benchmarks.matching", "--rows", *MATCHED, *known]
    if tiny:
        few = ["--updates", "1", "--domains", "calendar", "recipes", "--seeds", "1", "--dev", "--jobs", "1"]
        own = ["--results", str(packed / "results"), "--runs", str(packed / "runs")]
        on_host, grid = ["--device", "cpu"], packed / "tiny.toml"
        grid.write_text(TINY, encoding="utf-8")
        return [[*match, *few, *on_host], [*DUALPARSE, "sweep", str(grid), *own, *on_host]]
    return [
        [*match, "--jobs", jobs, "--device", "cuda"],
        [*DUALPARSE, "sweep", ATIS, "--jobs", "6", "--device", "cuda"],
    ]


def surroundings(packed: Path) -> dict[str, str]:
    """Where the commands find what was packed."""
    packages = [str(packed / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    told = {
        "DUALPARSE_MINILM": packed / "minilm",
        "DUALPARSE_DATA": packed / "data",
        "XDG_CACHE_HOME": packed / "cache",
    }
    alone = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONUNBUFFERED": "1"}
    commit = (packed / COMMIT).read_text(encoding="utf-8").strip()
    named = {"PYTHONPATH": os.pathsep.join(packages), "DUALPARSE_COMMIT": os.environ.get("DUALPARSE_COMMIT", commit)}
    return {name: str(path) for name, path in told.items()} | named | alone


def earlier(packed: Path) -> str:
    """The folder with the earlier version that was packed."""
    return next(str(folder) for folder in sorted((packed / EARLIER).iterdir()))


@contextmanager
def let_in_together() -> Iterator[dict[str, str]]:
    """NVIDIA's MPS, so that processes use a card at the same time; yields the variables that find it, none without."""
    if shutil.which(MPS) is None:
        yield {}
        return
    with TemporaryDirectory() as place:
        told = {"CUDA_MPS_PIPE_DIRECTORY": place, "CUDA_MPS_LOG_DIRECTORY": place}
        there = subprocess.run([MPS, "-d"], env=os.environ | told).returncode == 0
        try:
            yield told if there else {}
        finally:
            if there:
                subprocess.run([MPS], input="quit\n", text=True, env=os.environ | told, timeout=ENDING)


def run(all_of: Sequence[Sequence[str]], seconds: float, more: Mapping[str, str] | None = None) -> int:
    """The first exit code that is not 0; 1 where time is up, after the last command was told to end."""
    ends = time.monotonic() + seconds
    for command in all_of:
        if code := together([command], ends - time.monotonic(), more):
            return code
    return 0


def together(all_of: Sequence[Sequence[str]], seconds: float, more: Mapping[str, str] | None = None) -> int:
    """The same for commands side by side: one that fails does not end the others."""
    ends = time.monotonic() + seconds
    running = [subprocess.Popen(command, env={**os.environ, **(more or {})}) for command in all_of]
    while any(process.poll() is None for process in running) and time.monotonic() < ends:
        time.sleep(LOOK)
    if late := [process for process in running if process.poll() is None]:
        for process in late:
            process.send_signal(signal.SIGINT)
        for process in late:
            try:
                process.wait(ENDING)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        print("time is up: the same command goes on from here", flush=True)
        return 1
    return next((process.returncode for process in running if process.returncode), 0)


def unpacked(packed: Path) -> Path:
    """The folder beside a file of `benchmarks.pack` with all that is in it, made anew where the file is another."""
    folder = packed.with_suffix("")
    mark, made = folder / "packed", str(packed.stat().st_mtime_ns)
    if not mark.exists() or mark.read_text(encoding="utf-8") != made:
        shutil.rmtree(folder, ignore_errors=True)
        with ZipFile(packed) as file:
            file.extractall(folder)
        mark.write_text(made, encoding="utf-8")
    return folder


def match(packed: Path, seconds: float, *, tiny: bool = False) -> int:
    """The part `matching`. Nothing here touches the card, which its processes are to open themselves."""
    if not packed.is_file():
        print(f"{packed}: not there; make it with python -m benchmarks.pack", file=sys.stderr)
        return 2
    with let_in_together() as told:
        folder, jobs = unpacked(packed), JOBS if told else TAKING_TURNS
        print(f"{jobs} at a time, {'together' if told else 'taking turns'} on the card", flush=True)
        commands = matching(folder, seconds - ENDING, jobs, tiny=tiny)
        return together(commands, seconds, surroundings(folder) | told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--before", help="versions: a commit, or a folder with an earlier version")
    parser.add_argument("--minutes", type=float, default=9.5, help="after which the part is ended")
    parser.add_argument("--packed", type=Path, default=PACKED, help="what `python -m benchmarks.pack` made")
    parser.add_argument("--tiny", action="store_true", help="matching: a few updates on a CPU, to see that it starts")
    told = parser.parse_args()
    if told.part == "matching":
        return match(told.packed.resolve(), 60 * told.minutes, tiny=told.tiny)
    if not torch.cuda.is_available():
        print("no GPU here", file=sys.stderr)
        return 2
    before, around = told.before, {}
    if told.packed.is_file():
        folder = unpacked(told.packed.resolve())
        before, around = before or earlier(folder), surroundings(folder)
    return run(commands(told.part, before or BEFORE), 60 * told.minutes, around)


if __name__ == "__main__":
    raise SystemExit(main())
