"""The fused search on a GPU against `search.beam`: agreement and speed, at the sizes of ATIS.

    python -m benchmarks.fused_search_check [--quick] [--out results/bench-fused-search.jsonl]

Every group runs in a process of its own with a time limit, and every variant of the kernel by itself, so that one that
does not compile, hangs or fails does not take the others along. Lines starting with FAILED say so.

Agreement: share of hypotheses with the same tokens, and largest difference of log-probability among those. Speed: the
launch as a captured graph (preparation of the weights included, encoder excluded), medians; "us/step" is the slope
between searches of 1 and 41 steps in which nothing ends.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch

from dualparse.data.batch import Batch, Row, collate, pad
from dualparse.data.vocab import EOS, SPECIAL, Vocab
from dualparse.domains.lexicon import Lexicon
from dualparse.engines import graphs
from dualparse.engines.beam import beam
from dualparse.engines.found import Found, Options, trace
from dualparse.engines.triton.search import FAST, PRECISE, Tuning, launch, unpack
from dualparse.networks.agent import Agent
from dualparse.networks.lstm import Memory, Seq2Seq
from dualparse.training.searcher import Searcher, find_together

BEAMS, STEPS = 5, 40
SOURCE_WORDS = 300
TUNINGS = {
    "fast": FAST,
    "precise": PRECISE,
    "tf32": Tuning("tf32", block=64),
    "ieee": Tuning("ieee", block=64),
    "half 4 warps": Tuning(num_warps=4, block=64),
    "half block 64": Tuning(block=64),
    "half block 64 stages 4": Tuning(block=64, stages=4),
    "half stages 2": Tuning(stages=2),
    "half stages 4": Tuning(stages=4),
    "half 16 warps": Tuning(num_warps=16),
    "half 16 warps stages 4": Tuning(num_warps=16, stages=4),
    "half wide 128": Tuning(wide=128),
    "half wide 512": Tuning(wide=512),
    "half pick 256": Tuning(pick=256),
}


@dataclass(frozen=True)
class Size:
    """What is searched: vocabulary, longest source, sources, copying or not."""

    vocabulary: int
    length: int
    batch: int
    copy: bool = True


def groups(quick: bool) -> dict[str, list[tuple[Size, str]]]:
    """What is tried, by process."""
    tried = {"variants": [(Size(436, 24, 16), name) for name in TUNINGS]}
    if quick:
        return {"first": tried["variants"][:2]}
    for vocabulary in (219, 436):
        for length in (16, 24, 64):
            sizes = [Size(vocabulary, length, batch) for batch in (16, 448)]
            tried[f"V {vocabulary} S {length}"] = [(size, name) for size in sizes for name in ("fast", "precise")]
    tried["Att"] = [(Size(436, 24, 16, copy=False), name) for name in ("fast", "precise")]
    tried["large"] = [(Size(2000, 130, 64), name) for name in ("fast", "precise")]
    return tried


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="one size, two variants")
    options.add_argument("--group", help="this group alone, in this process")
    options.add_argument("--out", type=Path, help="results as JSON lines")
    arguments = options.parse_args()
    if arguments.group:
        run_group(arguments.group, arguments.quick)
        return
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}", flush=True)
    lines = []
    for group in [*groups(arguments.quick), "searchers"]:
        start = time.perf_counter()
        lines += run_process(group, arguments.quick)
        print(f"-- {group}: {time.perf_counter() - start:.0f} s", flush=True)
    if arguments.out:
        arguments.out.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def run_process(group: str, quick: bool) -> list[str]:
    command = [sys.executable, "-u", "-m", "benchmarks.fused_search_check", "--group", group]
    limit = 240 if group == "variants" else 100
    try:
        done = subprocess.run(
            command + ["--quick"] * quick, timeout=limit, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        output, ending = done.stdout, f"exit {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired as error:
        output, ending = (error.stdout or b"").decode(errors="replace"), f"still running after {limit} s"
    kept = [line for line in output.splitlines() if line.strip()]
    print("\n".join(kept[-60:]), flush=True)
    if ending:
        print(f"FAILED {group}: {ending}", flush=True)
    return [line for line in kept if line.startswith("{")]


def run_group(group: str, quick: bool) -> None:
    if group == "searchers":
        guarded(group, lambda: report({"group": group, **compare_searchers()}))
        return
    reference: dict[Size, tuple[Seq2Seq, Memory, Found, float]] = {}
    for size, name in groups(quick)[group]:
        if size not in reference:
            model, memory = model_and_memory(size)
            reference[size] = (model, memory, *time_beam(model, memory))
        guarded(f"{size} {name}", lambda size=size, name=name: compare(size, name, *reference[size]))


def guarded(what: str, action: Callable[[], None]) -> None:
    """Say what failed and go on."""
    import triton

    failures = (RuntimeError, AssertionError, ValueError, TypeError, KeyError, triton.TritonError)
    try:
        action()
    except failures as error:
        print(f"FAILED {what}: {type(error).__name__}: {' '.join(str(error).split())[-600:]}", flush=True)


def report(figures: dict) -> None:
    print(json.dumps(figures), flush=True)


def compare(size: Size, name: str, model: Seq2Seq, memory: Memory, expected: Found, beam_ms: float) -> None:
    tuning = TUNINGS[name]
    start = time.perf_counter()
    packed = launch(model, memory, beams=BEAMS, max_length=STEPS, tuning=tuning)
    found = trace(*unpack(packed.cpu().numpy(), BEAMS), length_power=1.0)
    first = time.perf_counter() - start
    again = launch(model, memory, beams=BEAMS, max_length=STEPS, tuning=tuning)
    fused_ms = time_launch(model, memory, tuning, STEPS)
    with never_ending(model):
        long, short = (time_launch(model, memory, tuning, steps) for steps in (41, 1))
    report(
        {
            "V": size.vocabulary,
            "S": size.length,
            "B": size.batch,
            "copy": size.copy,
            "variant": name,
            **agreement(expected, found),
            # Compared as bits, except where a search ended early and nothing was written.
            "repeatable": found_equal(found, trace(*unpack(again.cpu().numpy(), BEAMS), length_power=1.0)),
            "beam_ms": round(beam_ms, 3),
            "fused_ms": round(fused_ms, 3),
            "us/step": round((long - short) / 40 * 1e3, 2),
            "one_step_ms": round(short, 3),
            "eight_streams_ms": round(time_streams(model, memory, tuning), 3),
            "first_call_s": round(first, 1),
        }
    )


def found_equal(left: Found, right: Found) -> bool:
    names = ("tokens", "length", "log_prob", "finished")
    return all(np.array_equal(getattr(left, name), getattr(right, name)) for name in names)


def agreement(expected: Found, found: Found) -> dict:
    """How alike two results are, place by place."""
    same = np.zeros(expected.length.shape, dtype=bool)
    for i, k in np.ndindex(*same.shape):
        left, right = expected.tokens[i, k, : expected.length[i, k]], found.tokens[i, k, : found.length[i, k]]
        same[i, k] = np.array_equal(left, right) and expected.finished[i, k] == found.finished[i, k]
    difference = np.abs(expected.log_prob - found.log_prob)[same]
    return {
        "same": round(float(same.mean()), 4),
        "same_best": round(float(same[:, 0].mean()), 4),
        "difference": float(f"{difference.max(initial=0.0):.2e}"),
        "mean_log_prob": round(float(expected.log_prob[:, 0].mean()), 3),
        "fused_mean_log_prob": round(float(found.log_prob[:, 0].mean()), 3),
        "finished": round(float(expected.finished.mean()), 3),
        "mean_length": round(float(expected.length.mean()), 2),
    }


@torch.no_grad()
def model_and_memory(size: Size) -> tuple[Seq2Seq, Memory]:
    """Random weights made sharper, as training makes them; tokens to copy are known, unknown and repeated."""
    model = sharp_model(size.vocabulary, copy=size.copy)
    rows = random_rows(size.vocabulary, size.length, size.batch)
    source, copy = (torch.from_numpy(pad(x)).cuda() for x in ([r.source for r in rows], [r.copy for r in rows]))
    return model, model.encode(source, copy)


@torch.no_grad()
def sharp_model(vocabulary: int, *, copy: bool = True) -> Seq2Seq:
    model = Seq2Seq(SOURCE_WORDS, vocabulary, copy=copy).eval()
    model.initialize(generator=torch.Generator().manual_seed(1))
    for weight in (model.generate.weight, model.attention_score.weight):
        weight *= 3.0
    model.decoder.weight_hh_l0 *= 1.5
    model.generate.bias[EOS] += 2.0
    if model.gate is not None:
        model.gate.bias += 1.0
    return model.cuda()


def random_rows(vocabulary: int, length: int, batch: int) -> list[Row]:
    rng = np.random.default_rng(1)
    rows = []
    for i in range(batch):
        count = length if i == 0 else int(rng.integers(max(length // 2, 1), length + 1))
        numbers = [4, vocabulary // 2, vocabulary, *(vocabulary + rng.integers(0, count, size=3))]
        copy = [int(rng.choice(numbers)) for _ in range(count)]
        words = tuple(f"new{j}" for j in range(length))
        rows.append(Row(rng.integers(4, SOURCE_WORDS, size=count).tolist(), copy, words, []))
    return rows


class never_ending:
    """Within it no hypothesis ends."""

    def __init__(self, model: Seq2Seq):
        self.bias = model.generate.bias

    def __enter__(self) -> None:
        self.shift(-1e4)

    def __exit__(self, *_: object) -> None:
        self.shift(1e4)

    @torch.no_grad()
    def shift(self, by: float) -> None:
        self.bias[EOS] += by


def median_ms(action: Callable[[], object], times: int = 20) -> float:
    """Median on the device's clock."""
    measured = []
    for _ in range(times):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        action()
        end.record()
        end.synchronize()
        measured.append(start.elapsed_time(end))
    return statistics.median(measured)


def time_beam(model: Seq2Seq, memory: Memory) -> tuple[Found, float]:
    """The search step by step, as it is without this kernel and without graphs."""
    action = lambda: beam(model, memory, beams=BEAMS, max_length=STEPS)  # noqa: E731
    found = action()
    return found, median_ms(action, 5)


def captured(model: Seq2Seq, memory: Memory, tuning: Tuning, steps: int) -> torch.cuda.CUDAGraph:
    launch(model, memory, beams=BEAMS, max_length=steps, tuning=tuning)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch(model, memory, beams=BEAMS, max_length=steps, tuning=tuning)
    return graph


def time_launch(model: Seq2Seq, memory: Memory, tuning: Tuning, steps: int) -> float:
    return median_ms(captured(model, memory, tuning, steps).replay)


def time_streams(model: Seq2Seq, memory: Memory, tuning: Tuning) -> float:
    """Eight searches at once, as processes that share the card would run them."""
    graphs = [captured(model, memory, tuning, STEPS) for _ in range(8)]
    streams = [torch.cuda.Stream() for _ in graphs]

    def together() -> None:
        main_stream = torch.cuda.current_stream()
        for graph, stream in zip(graphs, streams, strict=True):
            stream.wait_stream(main_stream)
            with torch.cuda.stream(stream):
                graph.replay()
        for stream in streams:
            main_stream.wait_stream(stream)

    return median_ms(together, 10)


def compare_searchers() -> dict:
    """`find_together` of two agents, as the game calls it, against `beam.beam` of each."""
    searches = []
    for vocabulary, length in ((219, 21), (436, 37)):
        vocab = Vocab([*SPECIAL, *(f"w{i}" for i in range(vocabulary - len(SPECIAL)))])
        agent = Agent("q2lf", sharp_model(vocabulary), vocab, vocab, Lexicon())
        searches.append((Searcher(agent, Options(BEAMS, STEPS, 1.0)), random_rows(vocabulary, length, 16)))
    read = _collated(searches)
    found = find_together(read)
    figures: dict = {"kinds": [type(searcher._now).__name__ for searcher, _ in searches]}
    for i, (searcher, arrays) in enumerate(read):
        with torch.no_grad():
            memory = searcher.agent.model.encode(*(torch.from_numpy(x).cuda() for x in (arrays.source, arrays.copy)))
        figures[f"agent_{i}"] = agreement(beam(searcher.agent.model, memory, beams=BEAMS, max_length=STEPS), found[i])
    figures["fused_wall_ms"] = round(wall_ms(searches), 3)
    for searcher, _ in searches:
        searcher._graphs.clear()
    with patch.object(graphs.fused_search, "available", return_value=False):
        figures["steps_wall_ms"] = round(wall_ms(searches), 3)
    return figures


def _collated(searches: list[tuple[Searcher, list[Row]]]) -> list[tuple[Searcher, Batch]]:
    sizes = [searcher.agent.model.target_size for searcher, _ in searches]
    return [(each, collate(rows, target_vocab_size=n)) for (each, rows), n in zip(searches, sizes, strict=True)]


def wall_ms(searches: list[tuple[Searcher, list[Row]]]) -> float:
    """Median time of a call on the host's clock, batches shuffled."""
    measured = []
    for _ in range(23):
        for _, rows in searches:
            random.Random(1).shuffle(rows)
        read = _collated(searches)
        torch.cuda.synchronize()
        start = time.perf_counter()
        find_together(read)
        measured.append((time.perf_counter() - start) * 1e3)
    return statistics.median(measured[3:])  # the first few warm up


if __name__ == "__main__":
    main()
