"""Where the time goes on two CPU cores: training, beam search and the game, by kind of operation.

    python -m benchmarks.profile_cpu [--threads 2] [--updates 50] [--queries 448] [--iterations 10]

With more than one thread the shares of search add up to more than everything: its parts run side by side.
"""

from __future__ import annotations

import argparse

import torch
from rich.console import Console

from benchmarks.load import keep_to_cores
from benchmarks.ours import benchmark_domain
from benchmarks.profiles import profiles, show


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--updates", type=int, default=50)
    parser.add_argument("--queries", type=int, default=448)
    parser.add_argument("--iterations", type=int, default=10)
    options = parser.parse_args()
    torch.set_num_threads(keep_to_cores(options.threads))
    amounts = {"updates": options.updates, "queries": options.queries, "iterations": options.iterations}
    found = profiles(benchmark_domain(), torch.device("cpu"), **amounts)
    show(found, Console(), rest="Python and the rest")


if __name__ == "__main__":
    main()
