"""Two sides of a comparison that take turns: rates of both, and the ratio of every turn.

The ratio is the median of the turns' ratios: in one turn both sides had much the same machine. Turns that other
programs disturbed do not count as long as three are left that were not: threads that wait for each other suffer most
from a busy machine, so a disturbed ratio flatters the side that has fewer of them. Beside it stands the ratio of the
work done in a second of processor time, which hardly depends on what else runs, and does not see cores that wait.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks.load import wait_for_quiet, watched

BUSY = 0.05  # a turn counts as disturbed when other programs had more than this share of the cores
ENOUGH = 3  # undisturbed turns
PATIENCE = 20.0  # seconds a turn waits for a quiet machine

Work = Callable[[], dict[str, float]]
"""Do a piece of work; says at least its `seconds` and how many `items` were done."""


@dataclass
class Side:
    """What one side did: items a second in every turn, with the seconds of processor time (0 where unknown) and the
    share of the cores that others had meanwhile."""

    name: str
    rates: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)
    last: dict[str, float] = field(default_factory=dict)

    def take(self, work: Work, process: int | None, patience: float = PATIENCE) -> None:
        """One turn; the work is done by the process with this number, or by this one."""
        wait_for_quiet(BUSY, patience=patience)
        with watched(process) as watch:
            answer = work()
        self.rates.append(round(answer["items"] / answer["seconds"], 3))
        self.seconds.append(round(answer["seconds"], 4))
        self.busy.append(round(watch.busy, 3))
        self.others.append(round(watch.others, 3))
        self.last = answer


@dataclass
class Comparison:
    """One figure of two sides; `target` is the ratio hoped for."""

    name: str
    unit: str
    ours: Side
    other: Side
    target: float | None = None
    patience: float = PATIENCE

    def turn(self, ours: tuple[Work, int | None], other: tuple[Work, int | None]) -> None:
        self.ours.take(*ours, self.patience)
        self.other.take(*other, self.patience)

    @property
    def counted(self) -> list[int]:
        """The turns that count: the undisturbed ones, or all where those are too few."""
        both = list(zip(self.ours.others, self.other.others, strict=True))
        quiet = [number for number, others in enumerate(both) if max(others) <= BUSY]
        return quiet if len(quiet) >= ENOUGH else list(range(len(both)))

    @property
    def ratios(self) -> list[float]:
        return [self.ours.rates[i] / self.other.rates[i] for i in self.counted]

    @property
    def ratio(self) -> float:
        return median(self.ratios)

    @property
    def of_processor(self) -> float | None:
        """The ratio of the work done in a second of processor time; None where that is not known."""
        sides = (self.ours, self.other)
        if not all(all(side.busy) and len(side.busy) == len(side.rates) for side in sides):
            return None
        each = [
            [rate * seconds / busy for rate, seconds, busy in zip(side.rates, side.seconds, side.busy, strict=True)]
            for side in sides
        ]
        return median(ours / other for ours, other in zip(*each, strict=True))

    def rate(self, side: Side) -> float:
        """The median over the turns that count."""
        return median(side.rates[i] for i in self.counted)

    @property
    def disturbed(self) -> int:
        """Turns of either side during which other programs worked, too."""
        return sum(others > BUSY for side in (self.ours, self.other) for others in side.others)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "unit": self.unit,
            "ratio": round(self.ratio, 2),
            "ratios": [round(ratio, 2) for ratio in self.ratios],
            "of_processor": None if self.of_processor is None else round(self.of_processor, 2),
            "target": self.target,
            "repetitions": len(self.ours.rates),
            "counted": len(self.counted),
            "disturbed": self.disturbed,
            "sides": [
                {
                    "name": side.name,
                    "rate": round(self.rate(side), 2),
                    "best_rate": round(max(side.rates), 2),
                    "rates": side.rates,
                    "seconds": side.seconds,
                    "busy": side.busy,
                    "others": side.others,
                    "last": {key: round(value, 4) for key, value in side.last.items()},
                }
                for side in (self.ours, self.other)
            ],
        }
