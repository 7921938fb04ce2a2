"""Our side of a comparison: an agent of the sizes of the paper that trains and decodes on command."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

import torch

from dualparse.choosing.search import find
from dualparse.config import Recipe, make_recipe
from dualparse.data.examples import Example, load_examples
from dualparse.engines import cpu
from dualparse.engines.engine import engine_for
from dualparse.engines.found import Options
from dualparse.fetch.benchmarks import data_dir
from dualparse.networks.agent import Agent
from dualparse.runs import new_agent
from dualparse.training.material import load_material
from dualparse.training.step import Adam
from dualparse.training.supervised import agent_task


def benchmark_domain() -> str:
    """ATIS where its files are, else the domain that ships with the package."""
    return "atis" if (data_dir() / "atis" / "atis_train.tsv").is_file() else "trails"


class Ours:
    """A q2lf agent with copying (`AttPtr`), its training and its test queries; a new agent unless one is given."""

    def __init__(self, domain: str, *, batch_size: int, search: Options, agent: Agent | None = None):
        cpu.prepare()
        recipe: Recipe = make_recipe({"domain": domain})
        self.material = load_material(recipe)
        self.search = search
        self.test: list[Example] = load_examples(self.material.domain, dev_seed=recipe.data.split_seed).test
        self.agent = agent or self._new_agent(recipe)
        self.task = agent_task(
            self.agent,
            self.material.labeled,
            self.material.dev,
            self.material.domain,
            optimizer=Adam(),
            batch_size=batch_size,
            seed=1,
            search=search,
        )
        self.batch_size = batch_size
        self.updates = self._updates()
        torch.manual_seed(1)

    def _new_agent(self, recipe: Recipe) -> Agent:
        agent = new_agent(recipe, "q2lf", self.material.query_vocab, self.material.lf_vocab, self.material.domain)
        agent.model.initialize(generator=torch.Generator().manual_seed(1))
        return agent

    def _updates(self) -> Iterator[None]:
        """Updates without end, epoch after epoch."""
        epoch = 0
        while True:
            epoch += 1
            for _ in self.task.epoch(epoch):
                yield

    def about(self) -> dict[str, Any]:
        return {
            "parameters": sum(parameter.numel() for parameter in self.agent.model.parameters()),
            "source_tokens": len(self.agent.source_vocab),
            "target_tokens": len(self.agent.target_vocab),
            "torch": torch.__version__,
            "engine": engine_for(self.agent.model).name,
        }

    def train(self, updates: int) -> dict[str, float]:
        """Some updates, each with the choice of its rows."""
        self.agent.model.train()
        started = time.perf_counter()
        for _ in range(updates):
            next(self.updates)
        seconds = time.perf_counter() - started
        loss = self.task.summarize(self.task.stepper.take_figures())["loss"]
        return {"seconds": seconds, "items": updates * self.batch_size, "loss": loss}

    def decode(self) -> dict[str, float]:
        """Search for all test queries: from words to n-best lists of words."""
        queries = [example.query or () for example in self.test]
        started = time.perf_counter()
        found = find(self.agent, queries, self.search, rng=random.Random(0))
        seconds = time.perf_counter() - started
        best = [hypotheses[0].tokens for hypotheses in found]
        exact = sum(tokens == example.lf for tokens, example in zip(best, self.test, strict=True))
        return {
            "seconds": seconds,
            "items": len(queries),
            "length": sum(map(len, best)) / len(best),
            "exact": exact / len(best),
        }
