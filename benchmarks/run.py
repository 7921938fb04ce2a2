"""`make bench`: dualparse beside JoeyNMT on two cores, and the game; prints the ratios and keeps the figures.

python -m benchmarks.run [--rounds 40] [--decodings 7] [--games 12] [--out results/bench-cpu.json]
python -m benchmarks.run --readme       (nothing is measured: the stored figures go into benchmarks/README.md)
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from benchmarks import against_joeynmt, game, joeynmt_peer, stored
from benchmarks.facts import facts
from benchmarks.ours import benchmark_domain
from benchmarks.turns import Comparison
from dualparse.files import write_text

RESULTS = Path("results")
PRETRAINING = 15  # epochs, so that hypotheses of the game end


def measure(options: argparse.Namespace, console: Console) -> tuple[dict[str, Any], list[Comparison]]:
    """Facts about the comparison, and its figures."""
    domain = benchmark_domain()
    amount = against_joeynmt.Amount(rounds=options.rounds, decodings=options.decodings)
    with console.status("") as status:
        folder = game.pretrained(domain, PRETRAINING, torch.device("cpu"), status.update)
        told = against_joeynmt.compare(domain, amount, status.update)
        amount_played = {"rounds": options.games, "iterations": options.iterations, "say": status.update}
        played = [game.compare_numba(folder, published=way, **amount_played) for way in (False, True)]
    against_joeynmt.show(told, console)
    for figure in played:
        game.show(figure, console)
        against_joeynmt.tell_disturbed(figure, console)
    figures = [*told.pop("comparisons"), *played]
    return told, figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=against_joeynmt.Amount.rounds, help="turns of training")
    parser.add_argument("--decodings", type=int, default=against_joeynmt.Amount.decodings, help="turns of decoding")
    parser.add_argument("--games", type=int, default=12, help="turns of the game")
    parser.add_argument("--iterations", type=int, default=10, help="iterations of such a turn")
    parser.add_argument("--out", type=Path, default=RESULTS / "bench-cpu.json")
    parser.add_argument("--readme", action="store_true", help="write the stored figures into benchmarks/README.md")
    options = parser.parse_args()
    if options.readme:
        stored.put_into(Path(__file__).parent / "README.md", RESULTS)
        return
    console, start = Console(), time.perf_counter()
    told, figures = measure(options, console)
    kept = facts() | {"joeynmt": joeynmt_peer.VERSION} | told | {"seconds": round(time.perf_counter() - start)}
    comparisons = [figure.as_json() for figure in figures]
    write_text(options.out, json.dumps(kept | {"comparisons": comparisons}, indent=1) + "\n")
    console.print(f"kept in {options.out}")


if __name__ == "__main__":
    main()
