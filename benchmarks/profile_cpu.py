"""Where the time goes on a CPU core: training, beam search and the game, by kind of operation.

    python -m benchmarks.profile_cpu [--updates 50] [--queries 448] [--iterations 10] [--out FILE]

On one core, because the profile sees a single thread. Compiled loops are part of the rest.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from benchmarks.load import processor
from benchmarks.ours import benchmark_domain
from benchmarks.profiles import profiles, show


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=50)
    parser.add_argument("--queries", type=int, default=448)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    amounts = {"updates": options.updates, "queries": options.queries, "iterations": options.iterations}
    found = profiles(benchmark_domain(), torch.device("cpu"), **amounts)
    show(found, rest="compiled loops, Python and the rest", hardware=processor(), out=options.out)


if __name__ == "__main__":
    main()
