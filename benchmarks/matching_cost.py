"""What matching costs on a CPU: answers with and without the second reader, training, memory, size on disk.

    python -m benchmarks.matching_cost [--threads 2] [--questions 40] [--out results/bench-matching-cost.json]

*trails* is asked questions of dev, one at a time, among all that its grammar says. The second reader looks at the first
20; what it has learned does not change how long it takes. Training is the stage `matcher` with 500 labeled pairs: what
comes before the first update, and some of its updates; all of it is reckoned from these, for as many epochs as there
are at the most. Beside seconds stand those that a core was busy, which tell more
on a machine that others use, and the share of the cores that others had meanwhile.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.load import keep_to_cores, watched
from dualparse.config.settings import MatcherSettings
from dualparse.data.examples import load_examples
from dualparse.domains.registry import open_domain
from dualparse.lab.sweep.jobs import current_commit, hardware, software
from dualparse.matching.adapter import SHIPPED, open_matcher
from dualparse.matching.index import Index, cache_folder, open_index, templates_of
from dualparse.matching.matcher import READ
from dualparse.matching.reader import SHIPPED as SHIPPED_READER
from dualparse.matching.reader import SecondReader, open_reader
from dualparse.networks.minilm import MINILM
from dualparse.training.matcher import matcher_task
from dualparse.training.material import Relative

PAIRS, LAYERS, LOOKED_AT = 500, 2, 8  # updates of training that are timed
ROOT = Path(__file__).parents[1]
Timed = dict[str, float]


def asked(index: Index, reader: SecondReader, questions: list[tuple[str, ...]]) -> dict[str, Timed]:
    """Milliseconds a question, every question for the first time."""

    def nearest(question: tuple[str, ...]) -> list[tuple[str, float]]:
        return index.propose([question], READ)[0]

    def again(question: tuple[str, ...]) -> None:
        words = [text for form, _ in nearest(question) if (text := index.words(form))]
        reader.scores([index.templates.read(question).text], [words])

    half = len(questions) // 2
    for warm in (nearest, again):
        warm(questions[0])
    return {
        "matcher": _each(nearest, questions[1:half]),
        "with the second reader": _each(again, questions[half:]),
    }


def _each(way: Callable[[tuple[str, ...]], object], questions: list[tuple[str, ...]]) -> Timed:
    wall, busy = [], []
    for question in questions:
        started, used = time.perf_counter(), time.process_time()
        way(question)
        wall.append(1000 * (time.perf_counter() - started))
        busy.append(1000 * (time.process_time() - used))
    rate = 1000 / statistics.median(wall)
    figures = {"best_ms": min(wall), "median_ms": statistics.median(wall), "median_core_ms": statistics.median(busy)}
    return {name: round(value, 1) for name, value in figures.items()} | {"answers_a_second": round(rate, 1)}


def trained() -> Timed:
    """Seconds of the stage `matcher`: before the first update, of an update, and of an epoch."""
    domain = open_domain("trails")
    splits = load_examples(domain, dev_seed=1)
    pairs = [example for example in splits.train if example.query and example.lf][:PAIRS]
    started, used = time.perf_counter(), time.process_time()
    own = Relative(domain, pairs, [], [], splits.dev, [])
    task, _ = matcher_task([own], encoder=MINILM, layers=LAYERS, seed=1, device=torch.device("cpu"))
    ready, ready_core = time.perf_counter() - started, time.process_time() - used
    started, used = time.perf_counter(), time.process_time()
    updates = next(total for done, total in task.epoch(1) if done == LOOKED_AT)
    update, core = (
        (now - then) / LOOKED_AT for now, then in ((time.perf_counter(), started), (time.process_time(), used))
    )
    epochs = MatcherSettings().epochs
    return {
        "pairs": len(pairs),
        "minutes": round((ready + epochs * updates * update) / 60, 1),
        "minutes_core": round((ready_core + epochs * updates * core) / 60, 1),
        "updates_of_an_epoch": updates,
        "before_the_first_update": round(ready, 1),
        "before_the_first_update_core": round(ready_core, 1),
        "update": round(update, 2),
        "update_core": round(core, 2),
        "epoch": round(updates * update, 1),
        "epoch_core": round(updates * core, 1),
    }


def _memory() -> int:
    """Megabytes of memory this process has had at the most so far, torch and transformers included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def sizes(index: Index) -> dict[str, float]:
    """Megabytes on the disk."""
    folders = {name: cache_folder() / name for name in ("templates", "vectors")}
    largest = {
        name: max((file.stat().st_size for file in folder.iterdir()), default=0) for name, folder in folders.items()
    }
    learned = sum(p.numel() for p in index.matcher.encoder.body.encoder.layer[-LAYERS:].parameters())
    shipped = {"adapter": SHIPPED.stat().st_size, "second reader": SHIPPED_READER.stat().st_size}
    held = shipped | {"a trained matcher, or reader, of two layers": 2 * learned}
    found = held | {f"{name} of trails": size for name, size in largest.items()}
    return {name: round(size / 1e6, 1) for name, size in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bench-matching-cost.json")
    options = parser.parse_args()
    cores = keep_to_cores(options.threads)
    torch.set_num_threads(options.threads)
    domain = open_domain("trails")
    index = open_index(templates_of(domain), open_matcher().eval())
    reader = open_reader(index.matcher)
    dev = [example.query for example in load_examples(domain, dev_seed=1).dev if example.query][: options.questions]
    with watched() as watch, torch.no_grad():
        answers = asked(index, reader, dev)
    memory = {"answers": _memory()}
    with watched() as learning:
        training = trained()
    memory["training"] = _memory()
    facts = {"utterances": len(index), "threads": options.threads, "cores": cores, "answers": answers}
    facts |= {"training": training, "megabytes": sizes(index), "most_memory_mb": memory}
    facts |= {"others_meanwhile": {"answers": round(watch.others, 2), "training": round(learning.others, 2)}}
    made = {"commit": current_commit(), "hardware": hardware(torch.device("cpu")), "software": software()}
    options.out.write_text(json.dumps({**facts, **made}, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
