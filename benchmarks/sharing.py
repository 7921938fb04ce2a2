"""How many jobs should share a GPU: short games, more and more of them at the same time, in processes of their own.

    python -m benchmarks.sharing [--jobs 1 2 4 8 12] [--epochs 4] [--out results/gpu-sharing.json]

Every count of jobs runs that many games twice, from the same pre-trained agents. The time includes the start of the
processes, as in a sweep.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.ours import benchmark_domain
from dualparse.config import Recipe, make_recipe
from dualparse.sweep.backends import Local
from dualparse.sweep.jobs import Job
from dualparse.train.run import choose_device, train

PRETRAINING = ("q2lf", "lf2q", "query_lm")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2, 4, 8, 12])
    parser.add_argument("--epochs", type=int, default=4, help="epochs of each game")
    parser.add_argument("--pretrain", type=int, default=15, help="epochs of pre-training, so that hypotheses end")
    parser.add_argument("--domain", default=benchmark_domain())
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    recipe = _recipe(options.domain, options.pretrain, options.epochs)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(recipe, options.jobs, Path(folder), device=options.device)
    print(json.dumps(figures, indent=1))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n")


def measure(recipe: Recipe, counts: list[int], folder: Path, *, device: str) -> dict[str, Any]:
    """Jobs an hour for every count of jobs at the same time."""
    chosen = choose_device(device)
    start = folder / "pretrained"
    for _ in train(recipe.model_copy(update={"stages": PRETRAINING}), start, device=chosen):
        pass
    rows = []
    for count in counts:
        jobs = [_job(recipe, start, folder / f"{count}-{number}", number, device) for number in range(2 * count)]
        began = time.perf_counter()
        with Local(count) as local:
            errors = [error for _, error in local.run(jobs) if error]
        if errors:
            raise SystemExit(f"with {count} jobs at the same time: {errors[0]}")
        seconds = time.perf_counter() - began
        rows.append({"jobs": count, "seconds": round(seconds, 1), "jobs_an_hour": round(3600 * len(jobs) / seconds, 1)})
    hardware = torch.cuda.get_device_name(chosen) if chosen.type == "cuda" else f"{platform.machine()} CPU"
    what = f"Games of {recipe.game.epochs} epochs on {recipe.domain}"
    return {"what": what, "hardware": hardware, "torch": torch.__version__, "rows": rows}


def _job(recipe: Recipe, start: Path, folder: Path, number: int, device: str) -> Job:
    played = recipe.model_copy(update={"seed": number + 1, "start_from": str(start)})
    return Job("stage", folder.name, played.model_dump(mode="json"), str(folder), f"{folder}-job", device=device)


def _recipe(domain: str, pretrain: int, epochs: int) -> Recipe:
    training = {"epochs": pretrain, "evaluate_from": pretrain}
    game = {"epochs": epochs, "evaluate_from": epochs, "batch_size": 32, "learning_rate": 0.0005}
    return make_recipe(
        {
            "domain": domain,
            "stages": [*PRETRAINING, "dual"],
            "data": {"min_count": 2},
            "train": training,
            "language_model": {"epochs": 3},
            "game": game,
        }
    )


if __name__ == "__main__":
    main()
