"""How long the k nearest of a million vectors take, in 8 bits first (`dualparse.matching.vectors`).

Beside: plain products in single precision, and faiss where that is installed (`pip install faiss-cpu`).

    python -m benchmarks.nearest [--vectors 1000000] [--threads 2] [--out results/bench-nearest.json]

All ways are exact but faiss' 8 bits. Times are for one question, the best and the median of several; beside them stands
how long all cores together were busy, which tells more on a machine that others use, and the share of the cores that
others had. The vectors are random, of the width of MiniLM's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import torch
from torch.nn import functional as F

from benchmarks.load import watched
from dualparse.lab.sweep.jobs import current_commit, hardware, software
from dualparse.matching.vectors import Vectors

WIDTH, K, REPEAT, ROWS = 384, 20, 15, 100_000
ROOT = Path(__file__).parents[1]


def vectors(count: int) -> torch.Tensor:
    drawn, half = torch.Generator().manual_seed(0), torch.empty(count, WIDTH, dtype=torch.half)
    for start in range(0, count, ROWS):
        size = min(ROWS, count - start)
        half[start : start + size] = F.normalize(torch.randn(size, WIDTH, generator=drawn), dim=1).half()
    return half


def timed(way: Callable[[], object]) -> dict[str, float]:
    """Milliseconds, best and median; and those that all cores together were busy, at best."""
    way()
    seconds, busy = [], []
    for _ in range(REPEAT):
        started, used = time.perf_counter(), time.process_time()
        way()
        seconds.append(time.perf_counter() - started)
        busy.append(time.process_time() - used)
    figures = {"best_ms": min(seconds), "median_ms": statistics.median(seconds), "busy_ms": min(busy)}
    return {name: round(1000 * value, 1) for name, value in figures.items()}


def measured(count: int, threads: int) -> dict[str, dict[str, float]]:
    """Every way by its name."""
    torch.set_num_threads(threads)
    half = vectors(count)
    question = F.normalize(half[count // 2].float() + 0.02 * torch.randn(WIDTH), dim=0)
    ours, whole = Vectors.of(half, many=0), half.float()
    expected = (whole @ question).topk(K).indices
    assert torch.equal(ours.nearest(question, K)[0], expected), "not the nearest ones"
    found = {
        "8 bits, then exact": timed(lambda: ours.nearest(question, K)),
        "single precision": timed(lambda: (whole @ question).topk(K)),
    }
    if find_spec("faiss"):
        faiss, asked = import_module("faiss"), question[None].numpy().copy()
        faiss.omp_set_num_threads(threads)
        plain = faiss.IndexFlatIP(WIDTH)
        plain.add(whole.numpy())
        found["faiss, single precision"] = timed(lambda: plain.search(asked, K))
        del plain
        coded = faiss.IndexScalarQuantizer(WIDTH, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
        coded.train(whole[:ROWS].numpy())
        coded.add(whole.numpy())
        found["faiss, 8 bits (not exact)"] = timed(lambda: coded.search(asked, K))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bench-nearest.json")
    options = parser.parse_args()
    with watched() as watch:
        found = measured(options.vectors, options.threads)
    ratio = round(found["single precision"]["best_ms"] / found["8 bits, then exact"]["best_ms"], 2)
    facts = {"vectors": options.vectors, "width": WIDTH, "k": K, "threads": options.threads, "ways": found}
    facts |= {"others_meanwhile": round(watch.others, 2)}
    made = {"commit": current_commit(), "hardware": hardware(torch.device("cpu")), "software": software()}
    options.out.write_text(json.dumps({**facts, "ratio": ratio, **made}, indent=1) + "\n", encoding="utf-8")
    for name, times in found.items():
        print(f"{name:28} {times['best_ms']:7.1f} ms  (median {times['median_ms']:.1f}, busy {times['busy_ms']:.1f})")


if __name__ == "__main__":
    main()
