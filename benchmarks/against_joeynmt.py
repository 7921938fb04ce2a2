"""Training and beam search on two CPU cores, beside JoeyNMT 2.3.0 in the same run. How: benchmarks/README.md.

    python -m benchmarks.against_joeynmt [--rounds 40] [--updates 28] [--decodings 7] [--domain NAME]

Both sides take turns, round by round, so that what else the machine does meanwhile meets both.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks import joeynmt_peer
from benchmarks.load import keep_to_cores
from benchmarks.ours import Ours, benchmark_domain
from benchmarks.turns import BUSY, Comparison, Side
from benchmarks.worker import Worker
from dualparse.engines.found import Options

CORES = 2
BATCH = 16
DECODE_BATCH = 32  # what `find` takes at once on a CPU
SEARCH = Options(beams=5, max_length=100)
WARM_UP = 5
TARGETS = {"training": 4.0, "beam-5 search": 8.0}

Say = Callable[[str], None]


@dataclass(frozen=True)
class Amount:
    """How much is measured: turns of training with so many updates each, then turns of decoding all test queries."""

    rounds: int = 40
    updates: int = 28
    decodings: int = 7


def compare(domain: str, amount: Amount, say: Say = lambda text: None) -> dict[str, Any]:
    """Figures of both sides: what was compared, and a `Comparison` each for training and search."""
    cores = keep_to_cores(CORES)
    torch.set_num_threads(cores)
    say(f"setting up {joeynmt_peer.NAME}, if it is not there yet")
    python = joeynmt_peer.environment()
    ours = Ours(domain, batch_size=BATCH, search=SEARCH)
    training, search = (_comparison(name, unit) for name, unit in zip(TARGETS, ("pairs/s", "queries/s"), strict=True))
    with _peer(python, ours, cores) as peer:
        _train(training, ours, peer, amount, say)
        _decode(search, ours, peer, amount, say)
        about = {"dualparse": ours.about(), joeynmt_peer.NAME: peer.about}
    return {
        "domain": domain,
        "cores": cores,
        "pairs": len(ours.material.labeled),
        "queries": len(ours.test),
        "batch": BATCH,
        "beams": SEARCH.beams,
        "max_length": SEARCH.max_length,
        "updates": WARM_UP + amount.rounds * amount.updates,
        "models": about,
        "comparisons": [training, search],
    }


def _comparison(name: str, unit: str) -> Comparison:
    return Comparison(name, unit, Side("dualparse"), Side(joeynmt_peer.NAME), TARGETS[name])


@contextmanager
def _peer(python: Path, ours: Ours, cores: int) -> Iterator[Worker]:
    """The other side, with our examples; it must run the very torch that we run."""
    settings = {
        "batch_size": BATCH,
        "decode_batch": DECODE_BATCH,
        "beams": SEARCH.beams,
        "max_length": SEARCH.max_length,
    }
    splits = {"train": ours.material.labeled, "dev": ours.material.dev, "test": ours.test}
    with tempfile.TemporaryDirectory(prefix="joeynmt-") as folder:
        config = joeynmt_peer.write_inputs(Path(folder), splits, settings)
        with joeynmt_peer.start(python, config, threads=cores) as peer:
            if peer.about["torch"] != torch.__version__:
                raise RuntimeError(f"torch {torch.__version__} here, {peer.about['torch']} there: not comparable")
            yield peer


def _train(training: Comparison, ours: Ours, peer: Worker, amount: Amount, say: Say) -> None:
    def theirs(updates: int) -> dict[str, float]:
        return peer.ask({"do": "train", "updates": updates})

    ours.train(WARM_UP)
    theirs(WARM_UP)
    for number in range(amount.rounds):
        say(f"training, turn {number + 1} of {amount.rounds}")
        training.turn((lambda: ours.train(amount.updates), None), (lambda: theirs(amount.updates), peer.process.pid))


def _decode(search: Comparison, ours: Ours, peer: Worker, amount: Amount, say: Say) -> None:
    def theirs() -> dict[str, float]:
        return peer.ask({"do": "decode"})

    say("beam search, warming up")
    ours.decode()
    theirs()
    for number in range(amount.decodings):
        say(f"beam search, turn {number + 1} of {amount.decodings}")
        search.turn((ours.decode, None), (theirs, peer.process.pid))


def show(result: dict[str, Any], console: Console) -> None:
    """The table of a comparison."""
    table = Table(title=f"{result['domain']}, {result['cores']} cores, torch {torch.__version__}")
    for column in ("", "dualparse", joeynmt_peer.NAME, "ratio", "target"):
        table.add_column(column, justify="right" if column else "left")
    training, search = result["comparisons"]
    for figure in (training, search):
        rates = (f"{figure.rate(side):,.0f}" for side in (figure.ours, figure.other))
        table.add_row(f"{figure.name}, {figure.unit}", *rates, f"{figure.ratio:.1f}", f"{figure.target:.0f}")
    table.add_section()
    for name, figure, key, form in (
        ("loss per token, last turn", training, "loss", ".3f"),
        ("tokens per output", search, "length", ".1f"),
        ("exact match of outputs", search, "exact", ".1%"),
    ):
        table.add_row(name, *(format(side.last[key], form) for side in (figure.ours, figure.other)), "", "")
    console.print(table)
    for figure in (training, search):
        tell_disturbed(figure, console)


def tell_disturbed(figure: Comparison, console: Console) -> None:
    if figure.disturbed:
        count = 2 * len(figure.ours.rates)
        busy = f"in {figure.disturbed} of {count} turns others had over {BUSY:.0%} of the cores"
        console.print(f"{figure.name}: {busy}; {len(figure.counted)} turns of both sides count")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=Amount.rounds, help="turns of training")
    parser.add_argument("--updates", type=int, default=Amount.updates, help="updates of a turn")
    parser.add_argument("--decodings", type=int, default=Amount.decodings, help="turns of decoding all test queries")
    parser.add_argument("--domain", default=benchmark_domain())
    options = parser.parse_args()
    console = Console()
    amount = Amount(options.rounds, options.updates, options.decodings)
    with console.status("") as status:
        result = compare(options.domain, amount, status.update)
    show(result, console)


if __name__ == "__main__":
    main()
