"""A part from its first case to its last: one worker after the other, whatever becomes of them.

In: the name of a part, how many cases, how many seconds. Out: an `Outcome`. A worker that dies, or hangs in a case, has
failed that case; the next one begins behind it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.campaign.part import Part
from benchmarks.campaign.worker import FAILED, Board, note_failure, part_class

MOST_FAILURES = 25  # of a part; it is given up then
LOOK = 0.25  # seconds from one look at the board to the next
READY = 900.0  # seconds after which a worker that is at no case counts as hanging: it prepares, or ends what it started


@dataclass
class Outcome:
    """What became of a part."""

    name: str
    cases: int = 0
    failures: int = 0
    seconds: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    figures: dict[str, float] = field(default_factory=dict)


def run_part(
    name: str,
    *,
    seed: int,
    seconds: float,
    cases: int,
    failures: Path,
    first: int = 0,
    say: Callable[[Outcome], None] = lambda outcome: None,
) -> Outcome:
    """Run a part until it has so many cases, or its time is over."""
    began = time.monotonic()
    outcome, ends = Outcome(name), began + seconds
    part = part_class(name)
    with tempfile.TemporaryDirectory(prefix=f"campaign-{name}-") as folder:
        while outcome.cases < cases and first < part.numbers and outcome.failures < MOST_FAILURES:
            if part.numbers == sys.maxsize and time.monotonic() > ends:
                break
            place = Path(folder) / f"from-{first}"
            place.mkdir()
            told = {"part": name, "seed": seed, "seconds": seconds, "ends": ends}
            told |= {"cases": cases - outcome.cases, "first": first, "place": str(place), "failures": str(failures)}
            last = _one_worker(Board(Path(folder) / f"board-{first}"), told, part, outcome, say)
            if last is None:
                break
            first = last + 1
    outcome.seconds = time.monotonic() - began
    return outcome


def _one_worker(
    board: Board, told: dict[str, Any], part: type[Part], outcome: Outcome, say: Callable[[Outcome], None]
) -> int | None:
    """Run one worker to its end; the number of its last case, None where it came to none. What it counted goes to the
    outcome."""
    board.write(told["first"], 0.0, 0)
    before, log = outcome.cases, board.path.with_suffix(".log")
    command = [sys.executable, "-m", "benchmarks.campaign.worker", str(board.path), json.dumps(told)]
    with (
        log.open("wb") as stream,
        subprocess.Popen(
            command, stdout=stream, stderr=stream, start_new_session=True, env=_variables(part)
        ) as process,
    ):
        try:
            hung = _watch(process, board, part.patience, lambda units: say(_with(outcome, before + units)))
        finally:
            _end(process)
    number, began, units = board.read()
    failed = hung or process.returncode != 0
    outcome.cases = before + units + failed
    outcome.failures += failed
    if failed and process.returncode != FAILED:
        waited = part.patience if began else READY
        how = f"no end after {waited:g} seconds" if hung else f"the process ended with {process.returncode}"
        said = log.read_text(encoding="utf-8", errors="replace")[-4000:]
        note_failure(Path(told["failures"]), told, number, "(see the command)", f"{how}\n{said}")
    if board.outcome.exists():
        found = json.loads(board.outcome.read_text(encoding="utf-8"))
        outcome.kinds += Counter(found["kinds"])
        for key, figure in found["figures"].items():
            outcome.figures[key] = max(outcome.figures.get(key, figure), figure)
    started = began > 0 or units > 0 or process.returncode in (0, FAILED)
    return number if started else None


def _variables(part: type[Part]) -> dict[str, str]:
    """The environment of a worker."""
    return os.environ | ({"OMP_NUM_THREADS": "1"} if part.forks else {})


def _with(outcome: Outcome, cases: int) -> Outcome:
    outcome.cases = cases
    return outcome


def _watch(process: subprocess.Popen[bytes], board: Board, patience: float, say: Callable[[int], None]) -> bool:
    """Wait for the end of a worker; whether it hung."""
    at_no_case = time.monotonic()
    while True:
        try:
            process.wait(LOOK)
        except subprocess.TimeoutExpired:
            _, began, units = board.read()
            say(units)
            now = time.monotonic()
            if began:
                at_no_case = now
            if now - (began or at_no_case) > (patience if began else READY):
                return True
        else:
            return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """The worker and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
