"""A part of the campaign: a kind of attack, case by case.

A case is known by its part, the seed and its number, and by nothing that went before; so every failure can be had again
(`python -m benchmarks.campaign --only PART --seed SEED --case NUMBER`). A case that finds a promise broken raises.
"""

from __future__ import annotations

import ctypes
import random
import signal
import sys
from abc import ABC, abstractmethod
from collections import Counter
from pathlib import Path
from typing import ClassVar


def end_with_parent() -> None:
    """From now on this process is killed when the one that started it ends; where the system knows of such a thing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Broken(Exception):
    """A promise does not hold."""


def promise(holds: object, told: str) -> None:
    """Raise where it does not."""
    if not holds:
        raise Broken(told)


class Part(ABC):
    """A kind of attack.

    place    a folder of its own for whatever it needs
    seconds  how long it may take in all
    input    what the case under way tries, for the report of a failure
    figures  what was measured besides
    """

    about: ClassVar[str]  # a sentence for the page: what is tried, and what must hold
    unit: ClassVar[str]  # what is counted
    cases: ClassVar[int]  # how many of them are a whole campaign
    share: ClassVar[float]  # of the time of a campaign
    patience: ClassVar[float] = 60.0  # seconds after which a case counts as hanging
    numbers: ClassVar[int] = sys.maxsize  # how many different cases there are; where few, all are tried, time or not
    memory: ClassVar[int] = 0  # bytes that the process may map; 0: as many as there are
    forks: ClassVar[bool] = (
        False  # whether it copies its process: threads of torch do not come along, and are waited for
    )

    def __init__(self, place: Path, *, seed: int, seconds: float):
        self.place, self.seed, self.seconds = place, seed, seconds
        self.input: object = ""
        self.figures: dict[str, float] = {}
        self.prepare()

    def prepare(self) -> None:  # noqa: B027  a part may need nothing
        """What is needed once, before the first case."""

    @abstractmethod
    def case(self, number: int) -> Counter[str]:
        """Try one case; what became of it, counted in units. Raises where a promise is broken."""

    def close(self) -> None:  # noqa: B027  a part may leave nothing
        """End what was started."""

    def drawn(self, number: int) -> random.Random:
        """The generator of a case."""
        return random.Random(f"{type(self).__name__} {self.seed} {number}")

    def most(self, name: str, figure: float) -> None:
        """Keep the largest of a figure."""
        self.figures[name] = max(self.figures.get(name, figure), figure)
