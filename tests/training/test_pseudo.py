"""The pseudo-labelling baseline: which pairs are made up, and what they are worth."""

from __future__ import annotations

import random

import pytest
import torch
import toy
from safetensors.torch import load_file

from dualparse.choosing.search import Hypothesis, find
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
    read, worded = pseudo_pairs([agents], queries, forms, options, rng=random.Random(0))
    return read + worded


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


def test_both_agents_may_choose_the_label(agents, monkeypatch):
    """What rerank puts first is the label, and it is asked with the weight given."""
    pairs, options, asked = toy.examples()[:3], Options(beams=4, max_length=12), []

    def last_first(listeners, queries, found, weight):
        asked.append((listeners, list(queries), weight))
        return [[form for form in forms[::-1] if form.finished] for forms in found]

    monkeypatch.setattr("dualparse.training.pseudo.rerank", last_first)
    queries = [Example(pair.query, None) for pair in pairs]
    made, _ = pseudo_pairs([agents], queries, (), options, rng=random.Random(0), reconstruction=0.3)
    assert asked == [([agents["lf2q"]], [pair.query for pair in pairs], 0.3)]
    found = find(agents["q2lf"], [pair.query for pair in pairs], options, rng=random.Random(0))
    assert [pair.lf for pair in made] == [[f for f in forms if f.finished][-1].tokens for forms in found]
    assert made != make(agents, queries, options=options)


def test_teachers_choose_forms_together(agents):
    pairs, options = toy.examples()[::3], Options(beams=4, max_length=12)
    lost = {"q2lf": toy.agent("q2lf", hidden=24), "lf2q": toy.agent("lf2q", hidden=24)}
    queries = [Example(pair.query, None) for pair in pairs]
    read, _ = pseudo_pairs([lost, agents, agents], queries, (), options, rng=random.Random(0))
    assert read == pairs, "one that has learned nothing does not outvote two that have"


def test_each_teacher_says_a_form_in_its_words_and_what_is_said_twice_counts_once(agents, monkeypatch):
    words = {"first": ("one",), "second": ("another",), "third": ("one",), "silent": ()}

    def find_words(agent, sources, options, *, rng):
        return [[Hypothesis(words[agent], -1.0, -1.0, True)] for _ in sources]

    monkeypatch.setattr("dualparse.training.pseudo.find", find_words)
    forms = [Example(None, pair.lf) for pair in (toy.examples()[0], toy.examples()[0], toy.examples()[-1])]
    teachers = [{"q2lf": agents["q2lf"], "lf2q": name} for name in words]
    _, worded = pseudo_pairs(teachers, (), forms, GREEDY, rng=random.Random(0))
    said = [Example(words, form.lf) for form in forms for words in (("one",), ("another",))]
    assert worded == said
    _, worded = pseudo_pairs(teachers, (), forms, GREEDY, rng=random.Random(0), distinct=True)
    assert worded == said[2:], "the form that is there twice counts once"


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


def test_pairs_made_by_analogy_between_labeled_and_read_ones_join_them(run, monkeypatch):
    asked: dict[str, object] = {}

    def analogies(examples, check, *, n, seed):
        asked.update(examples=list(examples), n=n)
        return list(examples)[-2:]

    monkeypatch.setattr(stages, "by_analogy", analogies)
    _, given, _ = run(pseudo={"analogies": 7})
    material = load_material(recipe())
    pairs, weights = given["pseudo"]
    queries = {example.query for example in material.queries}
    assert asked["n"] == 7 and asked["examples"][:21] == material.labeled
    assert {pair.query for pair in asked["examples"][21:]} <= queries and len(asked["examples"]) > 21
    assert pairs[-2:] == asked["examples"][-2:] and weights[-2:] == [0.5, 0.5]


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


def test_other_teachers_are_runs_of_their_own_and_are_taken_up_again(run, tmp_path):
    folder, given, events = run(pseudo={"teachers": 3, "epochs": 1})
    others = [Run.open(folder.folder / "teachers" / name) for name in ("2", "3")]
    assert [other.recipe.seed for other in others] == [1001, 2001]
    assert all({path.stem for path in o.folder.glob("*.safetensors")} == {"q2lf", "lf2q"} for o in others)
    weights = [
        load_file(r.weights(n)) for r, n in ((folder, "pretrained-q2lf"), (others[0], "q2lf"), (others[1], "q2lf"))
    ]
    assert len({tuple(w["generate.weight"].flatten().tolist()) for w in weights}) == 3
    assert [e.text.partition(":")[0] for e in events if isinstance(e, Note) and "teacher" in e.text] == [
        "teacher 2 of 3, seed 1001",
        "teacher 3 of 3, seed 2001",
    ]
    assert len(given["pseudo"][0]) - 21 > 42, "three say more than one"
    made = given["pseudo"][0]
    folder.weights("q2lf").unlink()
    notes = [
        e.text
        for e in train(recipe(pseudo={"teachers": 3, "epochs": 1}), folder.folder, resume=True, device=CPU)
        if isinstance(e, Note)
    ]
    assert notes.count("q2lf: finished before, kept") == 3
    assert given["pseudo"][0] == made
    later = recipe(pseudo={"teachers": 2, "epochs": 2}, start_from=str(folder.folder))
    notes = [e.text for e in train(later, tmp_path / "later", device=CPU) if isinstance(e, Note)]
    assert f"q2lf: taken from {others[0].folder}" in notes


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
