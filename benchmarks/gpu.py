"""Speed on a GPU: a supervised ATIS epoch (batch 16, copying) and beam-5 decoding of the test queries.

    python -m benchmarks.gpu [--epochs 6] [--out results/bench-gpu.json]

Prints seconds for the captured step and for the same step launched kernel by kernel, in the same run.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.facts import facts
from dualparse.choosing.search import find
from dualparse.config import make_recipe
from dualparse.data.examples import load_examples
from dualparse.domains.registry import open_domain
from dualparse.engines.found import Options
from dualparse.files import write_text
from dualparse.networks.agent import Agent
from dualparse.runs import new_agent
from dualparse.training.loop import Record, Schedule, fit
from dualparse.training.material import load_material
from dualparse.training.run import choose_device
from dualparse.training.step import Adam
from dualparse.training.supervised import agent_task


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--epochs", type=int, default=6)
    options.add_argument("--out", type=Path)
    options.add_argument("--device", default="auto")
    arguments = options.parse_args()
    device = choose_device(arguments.device)
    figures: dict[str, Any] = {}
    for name, capture in (("captured", True), ("launched", False)):
        agent, seconds = train(device, epochs=arguments.epochs, capture=capture)
        figures[f"epoch_seconds_{name}"] = seconds
        print(f"{name:10} epoch seconds: {seconds}", flush=True)
    figures["beam5_448_seconds"] = decode(agent)
    print("beam-5 decoding of the test queries, seconds:", figures["beam5_448_seconds"])
    if arguments.out:
        write_text(arguments.out, json.dumps(facts(device, agent.model) | figures, indent=1) + "\n")


def train(device: torch.device, *, epochs: int, capture: bool) -> tuple[Agent, list[float]]:
    """Seconds of every epoch, dev scores not counted."""
    recipe = make_recipe({"domain": "atis"})
    material = load_material(recipe)
    agent = new_agent(recipe, "q2lf", material.query_vocab, material.lf_vocab, material.domain)
    agent.model.initialize(generator=torch.Generator().manual_seed(1))
    agent.model.to(device)
    task = agent_task(
        agent,
        material.labeled,
        material.dev,
        material.domain,
        optimizer=Adam(),
        batch_size=16,
        seed=1,
        search=Options(beams=1),
    )
    task.stepper.capture = task.stepper.capture and capture
    schedule = Schedule(epochs, evaluate_from=epochs)
    seconds, started = [], time.perf_counter()
    for event in fit(task, schedule):
        if isinstance(event, Record):
            seconds.append(round(time.perf_counter() - started, 3) if event.epoch < epochs else event.seconds)
            started = time.perf_counter()
            print("   ", event, flush=True)
    return agent, seconds


def decode(agent: Agent) -> list[float]:
    """Seconds of three decodings, the first with all set-up."""
    queries = [example.query or () for example in load_examples(open_domain("atis"), dev_seed=1).test]
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        find(agent, queries, Options(), rng=random.Random(0))
        seconds.append(round(time.perf_counter() - started, 3))
    return seconds


if __name__ == "__main__":
    main()
