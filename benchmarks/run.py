"""`make bench`: dualparse beside JoeyNMT on this machine's cores; prints the ratios and keeps the figures.

    python -m benchmarks.run [--rounds 40] [--decodings 7] [--out results/bench-cpu.json]
"""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path

import torch
from rich.console import Console

from benchmarks.against_joeynmt import Amount, compare, show
from benchmarks.ours import benchmark_domain
from dualparse.files import write_text
from dualparse.sweep.jobs import current_commit

OUT = Path("results/bench-cpu.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=Amount.rounds, help="turns of training")
    parser.add_argument("--decodings", type=int, default=Amount.decodings, help="turns of decoding all test queries")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    console = Console()
    amount = Amount(rounds=options.rounds, decodings=options.decodings)
    with console.status("") as status:
        result = compare(benchmark_domain(), amount, status.update)
    show(result, console)
    facts = {
        "commit": current_commit(),
        "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    comparisons = [comparison.as_json() for comparison in result["comparisons"]]
    write_text(options.out, json.dumps(facts | result | {"comparisons": comparisons}, indent=1) + "\n")
    console.print(f"kept in {options.out}")


if __name__ == "__main__":
    main()
