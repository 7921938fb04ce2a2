"""Where the time goes on a GPU: training, beam search and the game, by kind of kernel.

    python -m benchmarks.profile_gpu [--device cuda] [--updates 200] [--queries 448] [--iterations 50] [--out FILE]

The shares are those of kernels in the time that passed; in the rest the card waits for the host.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from benchmarks.ours import benchmark_domain
from benchmarks.profiles import profiles, show
from dualparse.training.run import choose_device


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--queries", type=int, default=448)
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    amounts = {"updates": options.updates, "queries": options.queries, "iterations": options.iterations}
    found = profiles(benchmark_domain(), choose_device(options.device), **amounts)
    show(found, rest="the card waits", hardware=torch.cuda.get_device_name(), out=options.out)


if __name__ == "__main__":
    main()
