"""Two at once, and sweeps whose processes are killed: `python -m benchmarks.campaign --only races`.

Two `--resume` of one run, three writers of one journal of which one is killed, two `connect` to one folder, two
processes that make one index, and a sweep whose workers, or itself, are killed and that is started again.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import small_runs
import torch
import toy
from shops import SHOP, sqlite_file

from benchmarks.campaign.kills import in_child
from benchmarks.campaign.part import Part, end_with_parent, promise
from dualparse.asking.asker import FolderAsker
from dualparse.asking.journal import ASKED, Journal, Record
from dualparse.database.connect import connect
from dualparse.database.folder import INDEX, read_connected
from dualparse.database.location import locate
from dualparse.domains.registry import register
from dualparse.errors import InputError
from dualparse.lab.store import Store
from dualparse.training import loop
from dualparse.training.loop import Tick
from dualparse.training.run import train

CPU = torch.device("cpu")
RECORDS = 25  # of each writer of a journal
GRID = """
recipe = "tiny.toml"
[axes]
seed = [1, 2, 3]
"""
TINY = """
domain = "trails"
stages = ["q2lf"]
[data]
labeled = 0.2
[model]
embedding = 8
hidden = 8
[train]
epochs = 2
evaluate_from = 2
[search]
max_length = 8
"""
UNTOLD = ("seconds", "commit", "hardware", "software")  # ends of names in results: when and where


class Races(Part):
    about = (
        "Two `--resume` of one run at once, three writers of one journal of which one is killed, two `connect` to one "
        "folder, two processes that make one index, and sweeps whose workers, or themselves, are killed and that are "
        "started again: who comes second is told or waits, and what is left is what one alone leaves."
    )
    unit = "races"
    cases = 120
    share = 0.1
    patience = 300.0
    forks = True

    def prepare(self) -> None:
        register(toy.family(toy.write_files(self.place / "toy")))
        loop.CHECKPOINT_SECONDS = -1.0
        list(train(small_runs.recipe(), self.place / "whole", device=CPU))
        self.whole = small_runs.left_behind(self.place / "whole")
        events = train(small_runs.recipe(), self.place / "cut", device=CPU)
        for event in events:
            if isinstance(event, Tick) and event.stage == "lf2q":
                break
        events.close()
        sqlite_file(self.place / "shop.sqlite", SHOP)
        self.connected = self.place / "connected"
        connect(locate(str(self.place / "shop.sqlite")), self.connected)
        self.reply = self._reply(self.connected)
        self.swept: list[dict[str, object]] | None = None

    def case(self, number: int) -> Counter[str]:
        rng = self.drawn(number)
        ways: tuple[tuple[str, Callable[[Path, random.Random], None]], ...] = (
            ("resume", self.resume),
            ("journal", self.journal),
            ("connect", self.connect),
            ("index", self.index),
        )
        name, race = ("sweep", self.sweep) if number % 30 == 29 else ways[number % len(ways)]
        folder = self.place / f"{name}-{number}"
        self.input = f"{name}, race {number}"
        race(folder, rng)
        shutil.rmtree(folder, ignore_errors=True)
        return Counter([name])

    def resume(self, folder: Path, rng: random.Random) -> None:
        shutil.copytree(self.place / "cut", folder)

        def go_on() -> str:
            try:
                list(train(small_runs.recipe(), folder, resume=True, device=CPU))
            except InputError as error:
                return error.message
            return ""

        told = together([go_on, go_on], [0.0, rng.random() * 0.1])
        promise("" in told, f"neither went on: {told}")
        promise(set(told) <= {"", "another process is at work in this folder"}, f"told: {told}")
        promise(small_runs.left_behind(folder) == self.whole, "not what one alone leaves")

    def journal(self, folder: Path, rng: random.Random) -> None:
        def write(name: str) -> str:
            journal = Journal(folder / "journal.jsonl")
            for number in range(RECORDS):
                journal.add(Record(ASKED, f"{name} {number} " + "x" * rng.randrange(2_000)))
            return name

        names = ("a", "b", "c")
        together([lambda name=name: write(name) for name in names], [0.0] * 3, kill=(2, rng.random() * 0.3))
        lines = (folder / "journal.jsonl").read_bytes().count(b"\n")
        records = Journal(folder / "journal.jsonl").records()
        promise(len(records) == lines, "a damaged record")
        for name in names[:2]:
            numbers = [int(each.question.split()[1]) for each in records if each.question.startswith(name)]
            promise(numbers == list(range(RECORDS)), f"records of {name}: {numbers}")

    def connect(self, folder: Path, rng: random.Random) -> None:
        def make() -> str:
            try:
                connect(locate(str(self.place / "shop.sqlite")), folder)
            except InputError as error:
                return error.message
            return ""

        together([make, make], [0.0, rng.random() * 0.05])
        promise(not make(), "it cannot be connected once more")
        for file in ("ontology.txt", "synonyms.txt"):
            promise((folder / file).read_bytes() == (self.connected / file).read_bytes(), f"another {file}")
        promise(self._reply(folder) == self.reply, "another reply")

    def index(self, folder: Path, rng: random.Random) -> None:
        shutil.copytree(self.connected, folder)
        (folder / INDEX).unlink(missing_ok=True)
        told = together([lambda: repr(self._reply(folder))] * 3, [0.0, 0.0, rng.random() * 0.1])
        promise(set(told) == {repr(self.reply)}, f"replies: {told}")

    def _reply(self, folder: Path) -> tuple[str, object]:
        with FolderAsker(read_connected(folder)) as asker:
            reply = asker.ask("how many actors are from Chile")
        return reply.status, reply.rows

    # -- sweeps

    def sweep(self, folder: Path, rng: random.Random) -> None:
        if self.swept is None:
            self.swept = self._results(self._swept(self.place / "sweep", None, rng))
            promise(len(self.swept) == 3, f"{len(self.swept)} cells of 3")
        for _ in range(rng.randint(1, 2)):
            self._swept(folder, rng.uniform(2, 20), rng)
        made = self._results(self._swept(folder, None, rng))
        promise(made == self.swept, "other results than those of an undisturbed sweep")

    def _swept(self, folder: Path, kill_after: float | None, rng: random.Random) -> Path:
        """Sweep, or go on; kill a worker or the sweep itself where that is asked for."""
        folder.mkdir(exist_ok=True)
        (folder / "tiny.toml").write_text(TINY)
        (folder / "grid.toml").write_text(GRID)
        command = [
            sys.executable,
            "-m",
            "dualparse.use.cli.main",
            "sweep",
            str(folder / "grid.toml"),
            "--device",
            "cpu",
        ]
        command += ["--runs", str(folder / "runs"), "--results", str(folder / "results"), "--jobs", "2"]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=end_with_parent
        ) as process:
            if kill_after is not None:
                time.sleep(kill_after)
                children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
                pids = [int(pid) for pid in children.read_text().split()] if children.exists() else []
                victim = rng.choice([*pids, process.pid])
                if process.poll() is None:
                    os.kill(victim, signal.SIGKILL)
            _, said = process.communicate()
        promise(kill_after is not None or process.returncode == 0, f"the sweep ended with {process.returncode}: {said}")
        return folder

    def _results(self, folder: Path) -> list[dict[str, object]]:
        found = [stored.result for stored in Store(folder / "results").read()]
        found.sort(key=lambda result: str(result["cell"]))
        return [json.loads(json.dumps(_untimed(result))) for result in found]


def _untimed(told: object) -> object:
    """Results without what depends on the hour."""
    if isinstance(told, dict):
        return {key: _untimed(value) for key, value in told.items() if not key.endswith(UNTOLD)}
    return [_untimed(value) for value in told] if isinstance(told, list) else told


def together(
    works: list[Callable[[], str]], delays: list[float], *, kill: tuple[int, float] | None = None
) -> list[str | None]:
    """Work in forked processes at the same time; what each of them gave. One may be killed after so many seconds."""
    readings, pids = [], []
    for place, (work, delay) in enumerate(zip(works, delays, strict=True)):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            end_with_parent()
            time.sleep(delay)
            seconds = kill[1] if kill and kill[0] == place else None
            told = in_child(work, seconds=seconds)
            os.write(writing, json.dumps(told).encode())
            os._exit(0)
        os.close(writing)
        readings.append(reading)
        pids.append(pid)
    told_by_all = []
    for reading, pid in zip(readings, pids, strict=True):
        with open(reading, "rb") as stream:
            content = stream.read()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        promise(status == 0 and content, "a process of the race failed")
        told_by_all.append(json.loads(content))
    return told_by_all
