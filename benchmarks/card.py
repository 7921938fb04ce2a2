"""What only a GPU can show, part by part, each within the time of one command.

    python -m benchmarks.card parity|versions|regression|networks [--before COMMIT|FOLDER] [--minutes 9.5]

parity      engines and captured graphs against the plain engine (`make test-gpu`); results/gpu-parity.json
versions    this version beside an earlier one: training, search, the game alone and of 16 processes;
            results/bench-versions-gpu.json
regression  AttPtr and AttPtr+Dual+LF on ATIS, three seeds, beside the stored cells of the same settings; the cells go
            to results/apart
networks    the cells of grids/beyond/transformer.toml that are not there yet; results/transformer.jsonl

A part that takes longer is ended. What it has trained by then is kept in runs/, and the same command goes on with it.
Ends with code 1 where a part fails or is not over. On a machine without the history of the project, unpack the earlier
version elsewhere first (`python -m benchmarks.versions --before COMMIT --unpack`) and hand over its folder.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import torch

PARTS = ("parity", "versions", "regression", "networks")
RESULTS = Path("results")
BEFORE = "3d07beb"  # the last version with one network and its engines in one
TOGETHER = 16  # processes on one card
GRID = "grids/table3.toml"
CELLS = ("atis-attptr,seed=*", "atis-attptr-dual-lf,seed=*")
JOBS = "9"  # that share the card
ENDING = 20.0  # seconds a part has to come to an end once it is told to

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


def run(all_of: Sequence[Sequence[str]], seconds: float) -> int:
    """The first exit code that is not 0; 1 where time is up, after the last command was told to end."""
    ends = time.monotonic() + seconds
    for command in all_of:
        with subprocess.Popen(command) as process:
            try:
                code = process.wait(max(ends - time.monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(ENDING)
                except subprocess.TimeoutExpired:
                    process.kill()
                print("time is up: the same command goes on from here", flush=True)
                return 1
        if code:
            return code
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--before", default=BEFORE, help="versions: a commit, or a folder with an earlier version")
    parser.add_argument("--minutes", type=float, default=9.5, help="after which the part is ended")
    told = parser.parse_args()
    if not torch.cuda.is_available():
        print("no GPU here", file=sys.stderr)
        return 2
    return run(commands(told.part, told.before), 60 * told.minutes)


if __name__ == "__main__":
    raise SystemExit(main())
