"""Recipes from before rewards had names mean what they meant: seeded games give the figures that the code gave then.

`before_rewards_had_names.json` has them: an epoch of the toy domain in double precision, dropout on, per recipe the
loss of both agents in every iteration, what their weights add up to afterwards, and figures of the log.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
import torch
import toy

from dualparse.config import make_recipe
from dualparse.data.vocab import Vocab
from dualparse.engines import plain
from dualparse.game.play import Players
from dualparse.game.update import summarize
from dualparse.migration import migrate
from dualparse.networks.language_model import LanguageModel
from dualparse.training.game import Game, Sets
from dualparse.training.loop import epoch_seed
from dualparse.training.stages import adam

BEFORE = json.loads(Path(__file__).with_name("before_rewards_had_names.json").read_bytes())
STAGES = ["q2lf", "lf2q", "query_lm", "lf_lm", "dual"]
NAMES = {"query_back_perplexity": "query_perplexity", "form_back_perplexity": "form_perplexity"}
SEED = 3


def language_model(vocab: Vocab, seed: int) -> LanguageModel:
    model = LanguageModel(len(vocab), embedding=6, hidden=8, dropout=0.3)
    model.initialize(scale=0.6, generator=torch.Generator().manual_seed(seed))
    return model.double()


def players() -> Players:
    query, lf = toy.vocabularies()
    agents = [toy.agent(direction, seed=seed, hidden=10, dropout=0.3) for direction, seed in (("q2lf", 1), ("lf2q", 2))]
    for agent in agents:
        with torch.no_grad():
            for parameter in agent.model.parameters():
                parameter.mul_(3)
        agent.model.double()
    return Players(*agents, language_model(query, 4), language_model(lf, 5))


@pytest.mark.parametrize("case", BEFORE)
def test_a_recipe_from_before_plays_the_same_game(case, monkeypatch):
    # Rows were scored in groups then, however few: dropout draws for each group.
    monkeypatch.setattr("dualparse.game.update.score", partial(plain.by_length, plain.score, rows=plain.ROWS))
    then = BEFORE[case]
    told = {"beams": 3, "max_length": 7, "batch_size": 8} | then["game"]
    recipe = make_recipe(migrate({"domain": "toy", "seed": SEED, "stages": STAGES, "game": told}).values)
    pairs = toy.examples()
    sets = Sets(pairs[:11], pairs[:26], pairs[4:30])
    game = Game(players(), sets, toy.domain(), recipe.game, optimizer=adam(recipe.game), seed=SEED)
    losses = []
    update = game.stepper.loss

    def noting(*inputs):
        found = update(*inputs)
        losses.append([loss.item() for loss in found[0]])
        return found

    game.stepper.loss = noting
    torch.manual_seed(epoch_seed(SEED, "dual", 1))
    for agent in game.agents:
        agent.model.train()
    list(game.epoch(1))
    assert losses == [pytest.approx(each, rel=1e-6) for each in then["losses"]]
    for agent in game.agents:
        for name, weight in agent.model.named_parameters():
            small = weight[weight.abs() < 1000]  # not the marker of padding
            found = [small.sum().item(), small.square().sum().item()]
            assert found == pytest.approx(then["weights"][agent.direction][name], rel=1e-6, abs=1e-6), name
    shown = summarize(game.update.names, game.stepper.take_figures())
    if recipe.game.plays("query") and "query_perplexity" in shown:
        expected = {NAMES.get(name, name): value for name, value in then["figures"].items()}
        assert {name: shown[name] for name in expected} == pytest.approx(expected, rel=1e-4, abs=1e-4)
