"""The pseudo-labelling baseline: which pairs are made up, and what they are worth."""

from __future__ import annotations

import random

import pytest
import torch
import toy
from safetensors.torch import load_file

from dualparse.choosing.search import find
from dualparse.config import make_recipe
from dualparse.data.examples import Example
from dualparse.engines.found import Options
from dualparse.runs import Run
from dualparse.training import stages
from dualparse.training.loop import Record, Schedule, fit
from dualparse.training.material import load_material
from dualparse.training.pseudo import pseudo_pairs
from dualparse.training.run import Note, train
from dualparse.training.step import Adam
from dualparse.training.supervised import agent_task

CPU = torch.device("cpu")
GREEDY = Options(beams=1, max_length=12)


@pytest.fixture(scope="module")
def agents():
    """Both agents, taught all there is to know."""
    trained = {}
    for direction in ("q2lf", "lf2q"):
        agent = toy.agent(direction, hidden=24)
        task = agent_task(
            agent,
            toy.examples(),
            toy.examples()[:1],
            toy.domain(),
            optimizer=Adam(1e-2),
            batch_size=8,
            seed=1,
            search=GREEDY,
        )
        list(fit(task, Schedule(25, evaluate_from=25)))
        trained[direction] = agent
    return trained


def make(agents, queries=(), forms=(), *, options=GREEDY) -> list[Example]:
    return pseudo_pairs(agents["q2lf"], agents["lf2q"], queries, forms, options, rng=random.Random(0))


def test_every_unlabeled_query_and_form_gets_the_best_guess_of_its_agent(agents):
    pairs = toy.examples()[::3]
    made = make(agents, [Example(p.query, None) for p in pairs], [Example(None, p.lf) for p in pairs[:5]])
    assert [pair.query for pair in made[: len(pairs)]] == [pair.query for pair in pairs]
    assert [pair.lf for pair in made[len(pairs) :]] == [pair.lf for pair in pairs[:5]]
    assert made[: len(pairs)] == pairs, "q2lf knows these"
    queries = {pair.lf: set() for pair in toy.examples()}
    for pair in toy.examples():
        queries[pair.lf].add(pair.query)
    assert sum(pair.query in queries[pair.lf] for pair in made[len(pairs) :]) >= 4, "lf2q says one of its queries"


def test_queries_alone_and_forms_alone(agents):
    pair = toy.examples()[0]
    assert [p.query for p in make(agents, [Example(pair.query, None)])] == [pair.query]
    assert [p.lf for p in make(agents, (), [Example(None, pair.lf)])] == [pair.lf]
    assert make(agents) == []


def test_the_best_hypothesis_is_the_label(agents):
    pair, options = toy.examples()[0], Options(beams=4, max_length=12)
    (made,) = make(agents, [Example(pair.query, None)], options=options)
    assert made.lf == find(agents["q2lf"], [pair.query], options, rng=random.Random(0))[0][0].tokens


def test_a_guess_that_does_not_end_or_says_nothing_is_no_label(agents):
    pair = toy.examples()[0]
    assert make(agents, [Example(pair.query, None)], options=Options(beams=1, max_length=3)) == []
    silent = toy.agent(hidden=4)
    with torch.no_grad():
        silent.model.generate.bias[3] = 100.0  # </s> at once
        silent.model.gate.bias.fill_(100.0)
    assert make(agents | {"q2lf": silent}, [Example(pair.query, None)]) == []


def recipe(**changes: object):
    values: dict[str, object] = {
        "domain": "toy",
        "stages": ["q2lf", "lf2q", "pseudo"],
        "data": {"labeled": 0.5},
        "model": {"embedding": 8, "hidden": 12},
        "train": {"epochs": 12, "learning_rate": 0.02, "batch_size": 8, "evaluate_from": 12},
        "search": {"max_length": 12, "beams": 2},
    }
    return make_recipe(values | changes)


@pytest.fixture
def run(tmp_path, monkeypatch, toy_domain):
    """A run with the stage `pseudo`, and what the stage was given to train on."""
    toy_domain(toy.write_files(tmp_path / "toy"))
    given: dict[str, tuple] = {}

    def remember(agent, pairs, *arguments, weights=None, **options):
        given["pseudo" if weights else agent.direction] = (list(pairs), weights)
        return agent_task(agent, pairs, *arguments, weights=weights, **options)

    monkeypatch.setattr(stages, "agent_task", remember)

    def start(**changes: object):
        folder = tmp_path / "run"
        events = list(train(recipe(**changes), folder, device=CPU))
        return Run(folder), given, events

    return start


def test_made_up_pairs_join_the_labeled_ones_at_a_discount(run):
    folder, given, events = run(pseudo={"discount": 0.25})
    labeled = load_material(recipe()).labeled
    pairs, weights = given["pseudo"]
    assert given["q2lf"] == (labeled, None)
    assert pairs[:21] == labeled
    made = len(pairs) - 21
    assert 0 < made <= 42
    assert weights == [1.0] * 21 + [0.25] * made
    assert any(isinstance(e, Note) and f"pseudo: {made} pairs made up, each worth 0.25" in e.text for e in events)
    assert {path.stem for path in folder.folder.glob("*.safetensors")} == {"pretrained-q2lf", "lf2q", "q2lf"}
    assert [e.stage for e in events if isinstance(e, Record)] == ["q2lf"] * 12 + ["lf2q"] * 12 + ["pseudo"] * 12


@pytest.mark.parametrize("side", ["queries", "forms"])
def test_one_kind_of_unlabeled_data_alone(run, side):
    """PSEUDO(Q) and PSEUDO(LF) of the paper's Table 4."""
    _, given, _ = run(data={"labeled": 0.5, "queries": side == "queries", "forms": side == "forms"})
    material = load_material(recipe())
    known = {example.query if side == "queries" else example.lf for example in getattr(material, side)}
    made = given["pseudo"][0][21:]
    assert made
    assert all((pair.query if side == "queries" else pair.lf) in known for pair in made)
    assert len(made) <= 21


def test_the_paper_counts_a_made_up_pair_half():
    assert make_recipe({"domain": "toy"}).pseudo.discount == 0.5


def test_training_on_made_up_pairs_may_take_fewer_epochs(run):
    _, _, events = run(pseudo={"epochs": 3})
    assert [e.stage for e in events if isinstance(e, Record)] == ["q2lf"] * 12 + ["lf2q"] * 12 + ["pseudo"] * 3


def test_the_game_can_go_on_from_what_made_up_pairs_taught(run, monkeypatch):
    begun: dict[str, torch.Tensor] = {}
    play = stages.game_task

    def remember(players, *arguments, **options):
        begun.update({name: weight.clone() for name, weight in players.q2lf.model.state_dict().items()})
        return play(players, *arguments, **options)

    monkeypatch.setattr(stages, "game_task", remember)
    order = ["q2lf", "lf2q", "query_lm", "pseudo", "dual"]
    folder, _, events = run(stages=order, game={"epochs": 1}, language_model={"epochs": 1})
    assert list(dict.fromkeys(e.stage for e in events if isinstance(e, Record))) == order
    taught = load_file(folder.weights("pseudo-q2lf"))
    assert all(torch.equal(begun[name], taught[name]) for name in taught)
    assert not torch.equal(begun["generate.weight"], load_file(folder.weights("pretrained-q2lf"))["generate.weight"])
    assert {path.stem for path in folder.folder.glob("*q2lf.safetensors")} == {"pretrained-q2lf", "pseudo-q2lf", "q2lf"}
