"""The process in which the cases of a part run, so that none of them harms the campaign.

    python -m benchmarks.campaign.worker BOARD JSON

On the board, a few bytes that the campaign reads as well, stand the number of the case under way, when it began and
how many units are done. The process ends with the first failure, after it has written it down; the campaign starts
another one behind it. What became of the cases goes to a file of JSON beside the board.
"""

from __future__ import annotations

import json
import mmap
import resource
import struct
import sys
import time
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.campaign.part import Part, end_with_parent

PARTS = {
    "forms": "benchmarks.campaign.forms:Forms",
    "sql": "benchmarks.campaign.sql:Sql",
    "readers": "benchmarks.campaign.readers:Readers",
    "damage": "benchmarks.campaign.damage:Damage",
    "kills": "benchmarks.campaign.kills:Kills",
    "fill": "benchmarks.campaign.fill:Fill",
    "requests": "benchmarks.campaign.requests:Requests",
    "races": "benchmarks.campaign.races:Races",
    "load": "benchmarks.campaign.load:Load",
}
FAILED = 3  # exit code of a process whose last case failed
TESTS = Path(__file__).parents[2] / "tests"  # random forms and small runs are the tests' own


def part_class(name: str) -> type[Part]:
    """The program of a part, by its name, or by that of its module and class."""
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    module, _, kind = PARTS.get(name, name).partition(":")
    return getattr(import_module(module), kind)


class Board:
    """What a worker is at, in a file that two processes look at."""

    LAYOUT = struct.Struct("=qdq")

    def __init__(self, path: Path):
        self.path = path
        if not path.exists():
            path.write_bytes(self.LAYOUT.pack(0, 0.0, 0))
        with path.open("r+b") as stream:
            self._shared = mmap.mmap(stream.fileno(), self.LAYOUT.size)

    def write(self, number: int, began: float, units: int) -> None:
        self.LAYOUT.pack_into(self._shared, 0, number, began, units)

    def read(self) -> tuple[int, float, int]:
        """The case under way, when it began (0 between cases), and the units that are done."""
        return self.LAYOUT.unpack_from(self._shared)

    @property
    def outcome(self) -> Path:
        """Where the worker leaves what became of its cases."""
        return self.path.with_suffix(".json")


def work(board: Board, told: dict[str, Any]) -> int:
    """Run cases from a number on, until there are enough units, or no time is left."""
    place = Path(told["place"])
    if most := part_class(told["part"]).memory:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    part = part_class(told["part"])(place, seed=told["seed"], seconds=told["seconds"])
    kinds: Counter[str] = Counter()
    number, units = told["first"], 0
    try:
        few = part.numbers < sys.maxsize
        while units < told["cases"] and number < part.numbers and (few or time.monotonic() < told["ends"]):
            board.write(number, time.monotonic(), units)
            try:
                kinds += part.case(number)
            except BaseException:
                note_failure(Path(told["failures"]), told, number, part.input, traceback.format_exc())
                board.write(number, 0.0, units)  # the case is over, whatever the end of the process takes
                return FAILED
            units = kinds.total()
            number += 1
            board.write(number, 0.0, units)
    finally:
        board.outcome.write_text(json.dumps({"kinds": kinds, "figures": part.figures}), encoding="utf-8")
        part.close()
    return 0


def note_failure(folder: Path, told: dict[str, Any], number: int, input: object, trace: str) -> None:
    """A failure that somebody can have again."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{told['part'].rpartition(':')[2]}-{told['seed']}-{number}.txt"
    again = f"python -m benchmarks.campaign --only {told['part']} --seed {told['seed']} --case {number}"
    text = f"{again}\n\ninput: {input!r}\n\n{trace}\n"
    place.write_text(text, encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    end_with_parent()
    sys.exit(work(Board(Path(sys.argv[1])), json.loads(sys.argv[2])))
