"""Training and beam search on two CPU cores, beside JoeyNMT 2.3.0 in the same run. How: benchmarks/README.md.

    python -m benchmarks.against_joeynmt [--rounds 20] [--updates 28] [--decodings 7] [--domain NAME]

Both sides take turns, round by round, so that what else the machine does meanwhile meets both.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks import joeynmt_peer
from benchmarks.load import keep_to_cores, watched
from benchmarks.ours import Ours, benchmark_domain
from dualparse.search import Options

CORES = 2
BATCH = 16
DECODE_BATCH = 32
SEARCH = Options(beams=5, max_length=100)
WARM_UP = 5
BUSY = 0.05  # a round counts as disturbed when others had more than this share of the cores
TARGETS = {"training": 4.0, "beam-5 search": 8.0}


@dataclass
class Side:
    """What one side did: a rate for every round, with the share of the cores that others had."""

    rates: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)
    last: dict[str, float] = field(default_factory=dict)

    def add(self, answer: dict[str, float], others: float) -> None:
        self.rates.append(answer["items"] / answer["seconds"])
        self.others.append(round(others, 3))
        self.last = answer

    @property
    def rate(self) -> float:
        """The median over the undisturbed rounds; over all where those are fewer than three."""
        quiet = [rate for rate, others in zip(self.rates, self.others, strict=True) if others <= BUSY]
        return median(quiet if len(quiet) >= 3 else self.rates)


@dataclass
class Comparison:
    """One figure of both sides."""

    name: str
    unit: str
    ours: Side = field(default_factory=Side)
    peer: Side = field(default_factory=Side)

    @property
    def ratio(self) -> float:
        return self.ours.rate / self.peer.rate

    @property
    def disturbed(self) -> int:
        return sum(others > BUSY for side in (self.ours, self.peer) for others in side.others)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "ours_rate": round(self.ours.rate, 1),
            "peer_rate": round(self.peer.rate, 1),
            "ratio": round(self.ratio, 2),
            "target": TARGETS[self.name],
            "disturbed_rounds": self.disturbed,
        }


def compare(domain: str, *, rounds: int, updates: int, decodings: int) -> dict[str, Any]:
    """Train both for `rounds * updates` updates, then decode the test queries `decodings` times; figures of both."""
    cores = keep_to_cores(CORES)
    torch.set_num_threads(cores)
    python = joeynmt_peer.environment()
    ours = Ours(domain, batch_size=BATCH, search=SEARCH)
    settings = {
        "batch_size": BATCH,
        "decode_batch": DECODE_BATCH,
        "beams": SEARCH.beams,
        "max_length": SEARCH.max_length,
    }
    splits = {"train": ours.material.labeled, "dev": ours.material.dev, "test": ours.test}
    training, search = Comparison("training", "pairs/s"), Comparison("beam-5 search", "queries/s")
    with tempfile.TemporaryDirectory(prefix="joeynmt-") as folder:
        config = joeynmt_peer.write_inputs(Path(folder), splits, settings)
        with joeynmt_peer.started(python, config, threads=cores) as peer:
            ours.train(WARM_UP)
            peer.train(WARM_UP)
            for _ in range(rounds):
                _turn(training, lambda: ours.train(updates), lambda: peer.train(updates), peer.process.pid)
            ours.decode()
            peer.decode()
            for _ in range(decodings):
                _turn(search, ours.decode, peer.decode, peer.process.pid)
            about = {"dualparse": ours.about(), joeynmt_peer.NAME: peer.about}
    return {
        "domain": domain,
        "cores": cores,
        "pairs": len(splits["train"]),
        "queries": len(splits["test"]),
        "models": about,
        "comparisons": [training, search],
    }


def _turn(
    comparison: Comparison, ours: Callable[[], dict[str, float]], peer: Callable[[], dict[str, float]], process: int
) -> None:
    for side, work, number in ((comparison.ours, ours, None), (comparison.peer, peer, process)):
        with watched(number) as watch:
            answer = work()
        side.add(answer, watch.others)


def show(result: dict[str, Any], console: Console) -> None:
    """The table of a comparison."""
    table = Table(title=f"{result['domain']}, {result['cores']} cores, torch {torch.__version__}")
    for column in ("", "dualparse", joeynmt_peer.NAME, "ratio", "target"):
        table.add_column(column, justify="right" if column else "left")
    for figure in result["comparisons"]:
        table.add_row(
            f"{figure.name}, {figure.unit}",
            f"{figure.ours.rate:,.0f}",
            f"{figure.peer.rate:,.0f}",
            f"{figure.ratio:.1f}",
            f"{TARGETS[figure.name]:.0f}",
        )
    training, search = result["comparisons"]
    for name, side, key, form in (
        ("loss per token, last round", training, "loss", ".3f"),
        ("tokens per output", search, "length", ".1f"),
        ("exact match of outputs", search, "exact", ".1%"),
    ):
        table.add_row(name, format(side.ours.last[key], form), format(side.peer.last[key], form), "", "")
    console.print(table)
    for figure in result["comparisons"]:
        if figure.disturbed:
            count = 2 * len(figure.ours.rates)
            console.print(f"{figure.name}: in {figure.disturbed} of {count} rounds other processes had over {BUSY:.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="rounds of training")
    parser.add_argument("--updates", type=int, default=28, help="updates of a round")
    parser.add_argument("--decodings", type=int, default=7, help="rounds of decoding all test queries")
    parser.add_argument("--domain", default=benchmark_domain())
    options = parser.parse_args()
    result = compare(options.domain, rounds=options.rounds, updates=options.updates, decodings=options.decodings)
    show(result, Console())


if __name__ == "__main__":
    main()
