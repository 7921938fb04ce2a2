"""Disks that are full: `python -m benchmarks.campaign --only fill`.

Commands write to a file system of their own with a few kilobytes left, in a mount namespace that goes with the process.
Where nothing may be mounted, files may not grow beyond a size instead. A command then ends in one line and exit code 2,
or needs no more; with room again, the same command ends well and leaves what it leaves where there always was room.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import io
import json
import os
import resource
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import small_runs
import toy
from shops import SHOP, sqlite_file

from benchmarks.campaign.kills import in_child
from benchmarks.campaign.part import Part, promise
from dualparse.asking.journal import ASKED, Journal, Record
from dualparse.config import write_recipe
from dualparse.database.folder import INDEX
from dualparse.domains.registry import register
from dualparse.errors import InputError
from dualparse.use.cli.main import main

NEW_NAMESPACE, PRIVATE, REMOUNT = 0x00020000, 1 << 18 | 0x4000, 32  # as <sched.h> and <sys/mount.h> have them
ROOM = 8 * 1024  # kB
BEGUN = {"run/manifest.json", "run/log.jsonl"}  # a run that goes on is unfinished, with the records of finished stages


@dataclass(frozen=True)
class Scene:
    """What is there before, what is done (its error, or nothing), and what is left where that went well."""

    begin: Callable[[], str]
    act: Callable[[], str]
    left: Callable[[], str]


class Fill(Part):
    about = (
        "`train`, `train --resume`, `evaluate`, `connect`, `ask` and the journal on a disk that is full after some "
        "kilobytes: one line and exit code 2, and what was there is as it was. With room again, the same command ends "
        "as it does on an empty disk."
    )
    unit = "full disks"
    cases = 120
    share = 0.08
    patience = 120.0
    forks = True

    def prepare(self) -> None:
        register(toy.family(toy.write_files(self.place / "toy")))
        recipe = small_runs.recipe(stages=["q2lf", "lf2q"], train={"epochs": 1, "learning_rate": 0.01})
        (self.place / "recipe.toml").write_text(write_recipe(recipe))
        sqlite_file(self.place / "shop.sqlite", SHOP)
        said(["train", str(self.place / "recipe.toml"), "--out", str(self.place / "warm")])  # loaded before it forks
        self.disk = Disk(self.place / "disk")
        self.figures["a disk of its own"] = int(self.disk.mounted)
        self.scenes = self._scenes(self.disk.folder)
        self.whole, self.needed = {}, {}
        for name, scene in self.scenes.items():
            self._begin(scene)
            before = self.disk.taken()
            problem = in_child(scene.act)
            promise(not problem, f"{name}: {problem}")
            self.needed[name] = max(8, self.disk.taken() - before)
            self.whole[name] = in_child(scene.left)

    def _scenes(self, disk: Path) -> dict[str, Scene]:
        run, shop, journal = disk / "run", disk / "shop", disk / "journal.jsonl"

        def train() -> str:
            again = ["--resume"] if run.exists() and any(run.iterdir()) else []
            return said(["train", str(self.place / "recipe.toml"), "--out", str(run), *again])

        def half() -> str:
            train()
            for name in ("lf2q.safetensors", "manifest.json"):
                (run / name).unlink()
            return ""

        def evaluate() -> str:
            return said(["evaluate", str(run), "--split", "test"])

        def connect() -> str:
            return said(["connect", str(self.place / "shop.sqlite"), "--out", str(shop)])

        def note() -> str:
            try:
                kept = Journal(journal)
                for number in range(len(kept.records()) if journal.exists() else 0, 40):
                    kept.add(Record(ASKED, f"question {number} " + "x" * 300))
            except InputError as error:
                return f"error: {error}\n"
            return ""

        def folder(path: Path) -> str:
            files = sorted(each for each in path.rglob("*") if each.is_file() and each.name != INDEX)
            return repr([(each.name, each.read_bytes()) for each in files])

        return {
            "train": Scene(str, train, lambda: digest(small_runs.left_behind(run))),
            "train --resume": Scene(half, train, lambda: digest(small_runs.left_behind(run))),
            "evaluate": Scene(train, evaluate, lambda: str(json.loads((run / "metrics.json").read_text()).keys())),
            "connect": Scene(str, connect, lambda: folder(shop)),
            "ask": Scene(
                connect, lambda: said(["ask", str(shop), "how many actors are from Chile"]), lambda: folder(shop)
            ),
            "journal": Scene(str, note, lambda: str(len(Journal(journal).records()))),
        }

    def _begin(self, scene: Scene) -> None:
        self.disk.clear()
        promise(not in_child(scene.begin), "no good beginning")

    def case(self, number: int) -> Counter[str]:
        name = sorted(self.scenes)[number % len(self.scenes)]
        scene, left = self.scenes[name], self.drawn(number).randrange(self.needed[name])
        self.input = f"{name} with {left} of {self.needed[name]} kB left"
        self._begin(scene)
        before = self.disk.content()
        with self.disk.only(left) as limited:
            problem = in_child(lambda: limited(scene.act)) or ""
        if problem:
            promise(problem.startswith("error: ") and problem.count("\n") == 1, problem)
            promise("(unexpected" not in problem and "Traceback" not in problem, problem)
            now = self.disk.content()
            lost = [path for path, content in before.items() if not now.get(path, b"").startswith(content)]
            promise(set(lost) <= BEGUN, f"{lost}: not as it was")
            problem_again = in_child(scene.act)
            promise(not problem_again, f"with room again: {problem_again}")
        promise(in_child(scene.left) == self.whole[name], "not what is left where there always was room")
        return Counter(["told" if problem else "done"])

    def close(self) -> None:
        self.disk.unmount()


def said(arguments: list[str]) -> str:
    """Run a command here; what it said of an error, nothing where it ended well."""
    errors = io.StringIO()
    sys.argv = ["dualparse", *arguments]
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as end:
            if not end.code:
                return ""
            told = errors.getvalue()
            return told[max(told.rfind("error: "), 0) :]  # notes stand before it
    return ""


def digest(made: object) -> str:
    """What is left, in a few letters; the order of metadata in a file of tensors is anybody's guess."""
    return hashlib.sha256(repr(_ordered(made)).encode()).hexdigest()


def _ordered(made: object) -> object:
    return sorted((key, _ordered(value)) for key, value in made.items()) if isinstance(made, dict) else made


class Disk:
    """A small file system, where this process may mount one, or a folder in which files cannot grow."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir()
        self._c = ctypes.CDLL(None, use_errno=True)
        self.mounted = (
            self._c.unshare(NEW_NAMESPACE) == 0
            and self._c.mount(b"none", b"/", None, PRIVATE, None) == 0
            and self._mount(0, ROOM) == 0
        )

    def _mount(self, flags: int, room: int) -> int:
        return self._c.mount(b"tmpfs", os.fsencode(self.folder), b"tmpfs", flags, f"size={room}k".encode())

    def unmount(self) -> None:
        if self.mounted:
            self._c.umount2(os.fsencode(self.folder), 2)

    def clear(self) -> None:
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def taken(self) -> int:
        """The kilobytes that are in use."""
        if self.mounted:
            told = os.statvfs(self.folder)
            return (told.f_blocks - told.f_bfree) * told.f_frsize // 1024
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file()) // 1024

    def content(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and not path.name.startswith(".")
        }

    @contextlib.contextmanager
    def only(self, kilobytes: int) -> Iterator[Callable[[Callable[[], str]], str]]:
        """While there is so little left. Gives what a process of its own must be called through."""
        if self.mounted:
            room = max(4, self.taken() + kilobytes)  # a size of nothing would mean no limit
            promise(self._mount(REMOUNT, room) == 0, "cannot make it smaller")

        def limited(act: Callable[[], str]) -> str:
            if not self.mounted:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, kilobytes * 1024))
            return act()

        try:
            yield limited
        finally:
            if self.mounted:
                self._mount(REMOUNT, ROOM)
