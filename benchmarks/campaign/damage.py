"""Damaged files: `python -m benchmarks.campaign --only damage`.

One file of a run folder, of a run under way, of a connected folder's index or a journal is cut, gets a wrong bit, a
zeroed page or more bytes, or is gone. Whoever opens it then says so, or answers as before.
"""

from __future__ import annotations

import logging
import random
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import small_runs
import torch
import toy
from shops import SHOP, sqlite_file

from benchmarks.campaign.part import Part, promise
from dualparse.asking.asker import FolderAsker
from dualparse.asking.journal import ASKED, Journal, Record, read_journal
from dualparse.database.connect import connect
from dualparse.database.folder import INDEX, read_connected
from dualparse.database.location import locate
from dualparse.errors import InputError
from dualparse.training import loop
from dualparse.training.loop import Tick
from dualparse.training.run import train
from dualparse.use.api import load

CPU = torch.device("cpu")
QUESTIONS = ("how deep is blue lake", "list all lakes", "how many towns are there", "everything near berg")
ASKS = ("films with Mira Holt", "how many actors are from Chile", "which films are westerns", "rentals of Ann Lee")
PAGE = 4096
TOLD, SAME = "told", "as before"


class Damage(Part):
    about = (
        "One damaged file of a finished run with two parsers, of a run under way, of the index of a connected folder "
        "or of a journal: cut, a flipped bit, a zeroed page, bytes behind its end, or missing. No answer, and no "
        "weight of a run that goes on, changes without a word."
    )
    unit = "damaged files"
    cases = 1_000
    share = 0.12

    def prepare(self) -> None:
        self.stack = ExitStack()
        self.stack.enter_context(toy.registered(toy.write_files(self.place / "toy")))
        self.logged = Remembered()
        logging.getLogger("dualparse").addHandler(self.logged)
        self._make_run()
        self._make_unfinished()
        sqlite_file(self.place / "shop.sqlite", SHOP)
        connect(locate(str(self.place / "shop.sqlite")), self.place / "shop")
        self.replies = self._replies()
        journal = Journal(self.place / "journal.jsonl")
        for number in range(20):
            journal.add(Record(ASKED, f"question {number} " + "ä" * number * 9))
        self.records = journal.records()

    def _make_run(self) -> None:
        self.run = self.place / "run"
        list(
            train(
                small_runs.recipe(committee=2, search={"max_length": 12, "reconstruction": 0.5}), self.run, device=CPU
            )
        )
        load(self.run, domain=toy.domain()).learn([("where is the blue one", "( get lake.blue depth )")])
        self.answers = self._answers()

    def _make_unfinished(self) -> None:
        """A run that was killed in its second stage, and what it ends with when nothing is damaged."""
        self.whole, self.cut = self.place / "whole", self.place / "cut"
        list(train(small_runs.recipe(), self.whole, device=CPU))
        loop.CHECKPOINT_SECONDS = -1.0
        events = train(small_runs.recipe(), self.cut, device=CPU)
        for event in events:
            if isinstance(event, Tick) and event.stage == "lf2q" and list(self.cut.glob("lf2q.checkpoint*")):
                break
        events.close()

    def close(self) -> None:
        logging.getLogger("dualparse").removeHandler(self.logged)
        self.stack.close()

    def case(self, number: int) -> Counter[str]:
        rng = self.drawn(number)
        ways: list[Callable[[random.Random], str]] = [self._finished] * 6 + [self._journal] * 2
        ways += [self._index, self._under_way]
        self.logged.lines.clear()
        return Counter([rng.choice(ways)(rng)])

    # -- what is damaged

    def _finished(self, rng: random.Random) -> str:
        files = sorted(path for path in self.run.rglob("*") if path.is_file() and not path.name.startswith("."))
        path = rng.choice(files)
        with Damaged(path, rng) as self.input:
            try:
                answers = self._answers()
            except InputError:
                return TOLD
            promise(answers == self.answers, "other answers, and not a word")
            return TOLD if self.logged.lines else SAME

    def _answers(self) -> list[list[tuple[str, float]]]:
        found = load(self.run, domain=toy.domain()).parse_all(QUESTIONS)
        return [[(parse.form, parse.score) for parse in parses] for parses in found]

    def _under_way(self, rng: random.Random) -> str:
        folder = self.place / "again"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.cut, folder)
        path = rng.choice(sorted(path for path in folder.iterdir() if path.is_file()))
        with Damaged(path, rng) as self.input:
            try:
                list(train(small_runs.recipe(), folder, resume=True, device=CPU))
            except InputError:
                return TOLD
            made, whole = (small_runs.left_behind(place) for place in (folder, self.whole))
            changed = [name for name in whole if name != "log.jsonl" and made.get(name) != whole[name]]
            promise(not changed, f"other {changed}, and not a word")
            return SAME

    def _index(self, rng: random.Random) -> str:
        with Damaged(self.place / "shop" / INDEX, rng) as self.input:
            try:
                replies = self._replies()
            except InputError:
                return TOLD
            promise(replies == self.replies, "other replies, and not a word")
            return SAME

    def _replies(self) -> list[tuple[str, str, object]]:
        with FolderAsker(read_connected(self.place / "shop")) as asker:
            return [(reply.status, reply.form, reply.rows) for reply in map(asker.ask, ASKS)]

    def _journal(self, rng: random.Random) -> str:
        path = self.place / "journal.jsonl"
        whole = path.read_bytes()
        with Damaged(path, rng) as self.input:
            damaged = path.read_bytes() if path.exists() else b""
            try:
                records = read_journal(path)
            except InputError:
                return TOLD
            promise([each for each in self.records if each in records] == records, "a record that nobody wrote")
            if len(records) == len(self.records):
                return SAME
            at_an_end = whole.startswith(damaged) and damaged[-1:] in (b"", b"\n")
            promise(self.logged.lines or at_an_end, "records are gone, and not a word")
            return TOLD if self.logged.lines else "cut between records"


class Damaged:
    """A file while it is damaged; it is whole again afterwards, whatever happened."""

    def __init__(self, path: Path, rng: random.Random):
        self.path, self.whole = path, path.read_bytes()
        self.what, self.content = self._damaged(rng)
        while self.content == self.whole:
            self.what, self.content = self._damaged(rng)

    def _damaged(self, rng: random.Random) -> tuple[str, bytes | None]:
        whole, at = self.whole, rng.randrange(len(self.whole) + 1)
        page = at // PAGE * PAGE
        way = rng.randrange(5)
        if way == 0:
            return f"cut at {at}", whole[:at]
        if way == 1 and at < len(whole):
            return f"a bit at {at}", whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :]
        if way == 2:
            return f"a page at {page}", whole[:page] + bytes(len(whole[page : page + PAGE])) + whole[page + PAGE :]
        if way == 3:
            return f"more behind {len(whole)}", whole + whole[: rng.randrange(1, 100)]
        return "missing", None

    def __enter__(self) -> str:
        if self.content is None:
            self.path.unlink()
        else:
            self.path.write_bytes(self.content)
        return f"{self.path.name}: {self.what}"

    def __exit__(self, *error: object) -> None:
        self.path.write_bytes(self.whole)


class Remembered(logging.Handler):
    """What was told to whoever looks at the log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
