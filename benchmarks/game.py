"""Speed of the game: iterations a second on ATIS (batch 16, k = 5, copying; both loops, guidance, update), and where
the time goes.

    python -m benchmarks.game [--pretrain 15] [--iterations 100] [--device auto] [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

import torch

from dualparse.config import Recipe, make_recipe
from dualparse.data.examples import Example
from dualparse.models.agent import Agent
from dualparse.models.language_model import LanguageModel
from dualparse.runs import new_agent, new_language_model
from dualparse.search import Options
from dualparse.train.game import Game, Players, Sets
from dualparse.train.loop import Schedule, fit
from dualparse.train.material import Material, load_material
from dualparse.train.run import choose_device
from dualparse.train.stages import game_options
from dualparse.train.step import Adam
from dualparse.train.supervised import agent_task, language_model_task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--domain", default="atis")
    parser.add_argument("--pretrain", type=int, default=15, help="epochs of pre-training, so that hypotheses end")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    device = choose_device(options.device)
    game, note = make_game(options.domain, options.pretrain, device)
    figures = {"device": note} | time_iterations(game, options.iterations)
    print(json.dumps(figures, indent=1))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=1) + "\n")


def make_game(domain: str, epochs: int, device: torch.device) -> tuple[Game, str]:
    """A game between agents pre-trained for a few epochs."""
    recipe = make_recipe({"domain": domain, "data": {"min_count": 2}})
    material = load_material(recipe)
    players = Players(
        _agent("q2lf", recipe, material, epochs, device),
        _agent("lf2q", recipe, material, epochs, device),
        _language_model(recipe, material, device),
        None,
    )
    sets = Sets(material.labeled, material.labeled, material.labeled)
    game = Game(players, sets, material.domain, game_options(recipe.game, recipe), Adam(learning_rate=5e-4))
    return game, torch.cuda.get_device_name(device) if device.type == "cuda" else f"{torch.get_num_threads()} threads"


def _agent(direction: str, recipe: Recipe, material: Material, epochs: int, device: torch.device) -> Agent:
    agent = new_agent(recipe, direction, material.query_vocab, material.lf_vocab, material.domain)
    agent.model.initialize(generator=torch.Generator().manual_seed(1))
    agent.model.to(device)
    task = agent_task(
        agent,
        material.labeled,
        material.dev[:32],
        material.domain,
        optimizer=Adam(),
        batch_size=16,
        seed=1,
        search=Options(beams=1),
    )
    for _ in fit(task, Schedule(epochs, evaluate_from=epochs)):
        pass
    return agent


def _language_model(recipe: Recipe, material: Material, device: torch.device) -> LanguageModel:
    model = new_language_model(recipe, material.query_vocab)
    model.initialize(generator=torch.Generator().manual_seed(1))
    model.to(device)
    texts = [_query(example) for example in material.labeled]
    dev = [_query(example) for example in material.dev]
    task = language_model_task(
        model, "query_lm", material.query_vocab, texts, dev, optimizer=Adam(), batch_size=16, seed=1
    )
    for _ in fit(task, Schedule(2)):
        pass
    return model


def _query(example: Example) -> tuple[str, ...]:
    return example.query or ()


def time_iterations(game: Game, iterations: int) -> dict[str, float]:
    """Iterations a second, after a third of them to warm up, and the milliseconds of each part."""
    from dualparse.train.dual import play
    from dualparse.train.game import _batches, _judge_queries, _sources
    from dualparse.train.searcher import find_together

    rng = random.Random(1)
    game.players.q2lf.model.train()
    game.players.lf2q.model.train()
    warm = iterations // 3 + 1
    count = iterations + warm
    queries = _batches(_sources(game.players.q2lf, game.sets.queries, rng), count, 16, rng)
    forms = _batches(_sources(game.players.lf2q, game.sets.forms, rng), count, 16, rng)
    pairs = _batches(range(len(game.sets.labeled)), count, 16, rng)
    parts = {"search": 0.0, "play": 0.0, "inputs": 0.0, "update": 0.0}
    started = 0.0
    for i in range(count):
        if i == warm:
            game.stepper.take_figures()
            parts, started = dict.fromkeys(parts, 0.0), time.perf_counter()
        marks = [time.perf_counter()]
        found = find_together(
            [(s, [x.row for x in xs]) for s, xs in zip(game.searchers, (queries[i], forms[i]), strict=True)]
        )
        marks.append(time.perf_counter())
        rounds = (
            play(game.players.q2lf, game.players.lf2q, queries[i], found[0], game._judge_forms, rng),
            play(game.players.lf2q, game.players.q2lf, forms[i], found[1], _judge_queries, rng),
        )
        marks.append(time.perf_counter())
        key, inputs = game.inputs(rounds, pairs[i])
        marks.append(time.perf_counter())
        game.stepper(key, inputs)
        if game.stepper.capture and i % 10 == 0:
            torch.cuda.synchronize()
        marks.append(time.perf_counter())
        for name, a, b in zip(parts, marks, marks[1:], strict=False):
            parts[name] += b - a
    game.stepper.take_figures()
    seconds = time.perf_counter() - started
    milliseconds = {f"{name}_ms": round(1000 * value / iterations, 2) for name, value in parts.items()}
    return {"iterations_per_second": round(iterations / seconds, 2), "shapes": len(game.stepper._graphs)} | milliseconds


if __name__ == "__main__":
    main()
