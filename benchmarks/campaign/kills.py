"""Training that is killed: `python -m benchmarks.campaign --only kills`.

A tiny run is killed (`SIGKILL`) at each of its writes, one after the other, and at random moments; some are killed once
more while they go on. Then `--resume` ends it, and every weight, vocabulary, setting and record is what the run that
nobody disturbed has, to the bit.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import small_runs
import torch
import toy

from benchmarks.campaign.part import Part, end_with_parent, promise
from dualparse import manifest
from dualparse.domains.registry import register
from dualparse.training import loop
from dualparse.training.run import train

CPU = torch.device("cpu")
WRITES = {"os.rename", "os.remove", "os.mkdir", "os.truncate", "os.chmod"}  # besides files opened to be written
OF_A_SEED = 44  # writes; pieces of 90 kills with seed after seed go on where the one before has ended
RECIPE = small_runs.recipe(
    stages=["q2lf", "lf2q", "query_lm", "lf_lm", "pseudo", "dual"],
    train={"epochs": 2, "learning_rate": 0.01, "average": 0.5},
    game={"epochs": 1, "beams": 2, "max_length": 8},
    data={"labeled": 0.5},
    language_model={"epochs": 1},
)


class Kills(Part):
    about = (
        "A tiny training run of all stages, killed at every write and at random moments, a third of them twice; what "
        "`--resume` then ends with is what the undisturbed run has, to the bit."
    )
    unit = "kills"
    cases = 330  # so that every write has its turn
    share = 0.16
    patience = 300.0
    forks = True

    def prepare(self) -> None:
        files = toy.write_files(self.place / "toy")
        register(toy.family(files))
        list(train(RECIPE, self.place / "first", device=CPU))  # all is loaded and compiled: forked processes have it
        began = time.monotonic()
        self.writes = int(in_child(lambda: self._trained("whole", kill_at=None)))
        self.takes = time.monotonic() - began
        self.whole = small_runs.left_behind(self.place / "whole")
        self.figures["writes"] = self.writes

    def case(self, number: int) -> Counter[str]:
        rng, name = self.drawn(number), f"run-{number}"
        kinds: Counter[str] = Counter()
        for kill in range(1 + (number % 3 == 1)):
            place = (self.seed - 1) * OF_A_SEED + number - number // 3
            at = place % self.writes if number % 3 < 2 and kill == 0 else None
            if at is None:
                seconds = rng.random() * self.takes
                self.input = f"killed after {seconds:.3f} s"
                killed = in_child(lambda: self._trained(name, kill_at=None), seconds=seconds) is None
            else:
                self.input = f"killed at write {at}"
                killed = in_child(lambda at=at: self._trained(name, kill_at=at)) is None
            kinds["killed at a write" if at is not None else "killed at a moment"] += killed
            if killed and rng.random() < 0.3:
                self._tear_log(name, rng)
        in_child(lambda: self._trained(name, kill_at=None))
        made = small_runs.left_behind(self.place / name)
        promise(made.keys() == self.whole.keys(), f"other files: {made.keys() ^ self.whole.keys()}")
        changed = [file for file in made if made[file] != self.whole[file]]
        promise(not changed, f"not the same: {changed}")
        return +kinds or Counter(["done before the kill"])

    def _trained(self, name: str, *, kill_at: int | None) -> str:
        """Train, or go on; how many writes that took. Killed at one of them where that is asked for."""
        loop.CHECKPOINT_SECONDS = -1.0  # one after every epoch
        seen = watch_writes(self.place / name, kill_at)
        list(train(RECIPE, self.place / name, resume=(self.place / name).exists(), device=CPU))
        return str(seen[0])

    def _tear_log(self, name: str, rng: random.Random) -> None:
        """A kill in the middle of a line of the log; a run whose manifest is written adds no line."""
        log = self.place / name / "log.jsonl"
        if log.exists() and not (self.place / name / manifest.NAME).exists():
            log.write_bytes(log.read_bytes() + b'{"stage": "q2lf", "epoch": 1, "figures": {'[: rng.randrange(42)])


def watch_writes(folder: Path, kill_at: int | None) -> list[int]:
    """Count what changes a folder from now on; die before such a change where that is asked for."""
    seen = [0]

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            changes = bool(isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR))
        elif event in WRITES:
            path, changes = arguments[0], True
        else:
            return
        if changes and str(path).startswith(str(folder)):
            if seen[0] == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            seen[0] += 1

    sys.addaudithook(hook)
    return seen


def in_child(work: Callable[[], str], *, seconds: float | None = None) -> str | None:
    """Work in a forked process: what it gave, None where it was killed, by itself or after so many seconds."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        end_with_parent()
        os.close(reading)
        code = 1
        try:
            os.write(writing, work().encode())
            code = 0
        except BaseException:
            os.write(writing, traceback.format_exc().encode()[-4000:])
        finally:
            os._exit(code)
    os.close(writing)
    with open(reading, "rb") as told:
        if seconds is not None:
            time.sleep(seconds)
            os.kill(pid, signal.SIGKILL)
        text = told.read().decode()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    promise(status in (0, -signal.SIGKILL), text)
    return text if status == 0 else None
