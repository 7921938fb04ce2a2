"""The game as a training task: what its settings do, that it can be taken up again, and what stops it."""

from __future__ import annotations

import math
import random
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path

import letters
import pytest
import torch
import toy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dualparse.config import GameSettings, Recipe, make_recipe
from dualparse.data.examples import Example
from dualparse.domains.lexicon import Lexicon
from dualparse.engines.engine import score
from dualparse.engines.scoring import reconstruction
from dualparse.errors import InputError
from dualparse.game.play import Players
from dualparse.game.rewards import check_validity
from dualparse.game.update import summarize
from dualparse.lf.verdict import VALID, Verdict
from dualparse.networks.agent import Agent
from dualparse.networks.tensors import load_tensors
from dualparse.runs import Run
from dualparse.training import loop
from dualparse.training.game import Game, Sets, batches
from dualparse.training.loop import Record, Tick
from dualparse.training.run import train
from dualparse.training.step import Adam

CPU = torch.device("cpu")
ALONE = {"form": (), "guidance": 0.0}  # the loop from queries and nothing else


def largest(gradients: dict[str, torch.Tensor]) -> float:
    return max(float(gradient.abs().max()) for gradient in gradients.values())


def deaf(agent: Agent) -> Agent:
    """The agent made to ignore its source: it finds every way back equally well."""
    with torch.no_grad():
        for name, parameter in agent.model.named_parameters():
            if name.startswith(("encoder", "attention_keys")):
                parameter.zero_()
    return agent


def test_a_constant_reward_teaches_the_first_agent_nothing():
    """All hypotheses are valid, all ways back equally long: whatever alpha is."""
    for weight in (0.0, 0.3, 1.0):
        who = letters.players(copy=False)
        deaf(who.lf2q)
        told = letters.options(letters.from_query(weight), **ALONE)
        taught = letters.iterate(letters.game(told, who, check=lambda text: VALID)).gradients
        assert largest(taught["q2lf"]) < 1e-12
        assert largest(taught["lf2q"]) > 1e-2 or weight == 1.0
        told = letters.options(letters.from_query(weight), **ALONE, baseline=False)
        taught = letters.iterate(letters.game(told, who, check=lambda text: VALID)).gradients
        assert largest(taught["q2lf"]) > 1e-2, "without a baseline it does"


def swapped(who: Players) -> Players:
    """The same two networks with their roles exchanged."""

    def other(agent: Agent, direction: str) -> Agent:
        return replace(agent, direction=direction)  # type: ignore[arg-type]

    return Players(other(who.lf2q, "q2lf"), other(who.q2lf, "lf2q"), who.lf_lm, who.query_lm)


@pytest.mark.parametrize("loops", [(True, True), (True, False), (False, True)])
def test_swapping_roles_data_and_rules_swaps_the_losses(loops):
    """With entities out of play nothing tells the two directions apart."""
    words = Lexicon([])
    who = letters.players()
    who = replace(who, q2lf=replace(who.q2lf, lexicon=words), lf2q=replace(who.lf2q, lexicon=words))

    def told(query_on: bool, query: float, form_on: bool, form: float, long: str) -> GameSettings:
        """The language models judge; in the loop called `long` the way back counts per token."""
        back = {loop: {"loop": loop, "per_token": loop == long} for loop in ("query", "form")}
        from_query = letters.reward("form_lm", query), letters.reward("reconstruction", 0.7, **back["query"])
        from_form = letters.reward("fluency", form), letters.reward("reconstruction", 0.7, **back["form"])
        return letters.options(from_query if query_on else (), from_form if form_on else ())

    here, there = told(loops[0], 0.3, loops[1], 0.6, "form"), told(loops[1], 0.6, loops[0], 0.3, "query")
    game = letters.game(here, who, lexicon=words)
    mirror = Game(
        swapped(who),
        Sets(
            *(
                [Example(e.lf, e.query) for e in examples]
                for examples in (letters.PAIRS, game.sets.forms, game.sets.queries)
            )
        ),
        letters.domain(lexicon=words),
        there,
        optimizer=Adam(),
    )
    one, two = letters.iterate(game), letters.iterate(mirror)
    assert one.loss == pytest.approx(two.loss, rel=1e-9)
    for direction, other in (("q2lf", "lf2q"), ("lf2q", "q2lf")):
        for name, gradient in one.gradients[direction].items():
            torch.testing.assert_close(gradient, two.gradients[other][name], rtol=1e-9, atol=1e-9)
    other = {"query": "form", "form": "query", "form_lm": "fluency", "fluency": "form_lm"}
    for name, value in one.figures.items():
        loop, _, figure = name.partition("_")
        if loop in ("query", "form") and "valid" not in name:  # the check looks at forms alone
            mirrored = figure.replace("form_lm", "fluency") if loop == "query" else figure.replace("fluency", "form_lm")
            assert value == pytest.approx(two.figures[f"{other[loop]}_{mirrored}"]), name


def test_loops_can_be_switched_off_and_guidance_weighed():
    """Every part adds its own; without all of them nothing is left."""
    parts = {
        "query loop": {"form": (), "guidance": 0.0},
        "form loop": {"query": (), "guidance": 0.0},
        "guidance": {"query": (), "form": ()},
    }
    alone = {name: letters.iterate(letters.game(letters.options(**told))) for name, told in parts.items()}
    assert len({round(outcome.loss, 6) for outcome in alone.values()}) == 3
    for guidance in (1.0, 0.25):
        together = letters.iterate(letters.game(letters.options(guidance=guidance)))
        weights = {"query loop": 1.0, "form loop": 1.0, "guidance": guidance}
        assert together.loss == pytest.approx(sum(weights[name] * alone[name].loss for name in parts))
        for direction, gradients in together.gradients.items():
            for name, gradient in gradients.items():
                expected = sum(weights[part] * alone[part].gradients[direction][name] for part in parts)
                torch.testing.assert_close(gradient, expected)
    nothing = letters.iterate(letters.game(letters.options((), **ALONE)))
    assert (nothing.loss, largest(nothing.gradients["q2lf"]), largest(nothing.gradients["lf2q"])) == (0, 0, 0)


def first_letter(source: str, hypotheses: list[str]) -> list[float]:
    """A reward of one's own: does a form begin like its query?"""
    return [float(text[:1].lower() == source[:1]) for text in hypotheses]


def test_the_log_shows_every_reward_by_name():
    who = letters.players()
    judges = letters.reward("validity", 0.15, graded=True), letters.reward("form_lm", 0.15)
    own = letters.reward(f"{__name__}:first_letter", 2.0)
    told = letters.options((*judges, own, letters.from_query(0.3)[1]))
    game = letters.game(told, who)
    shown = summarize(game.update.names, list(letters.iterate(game).figures.values()))
    forms = {q: [form for form, _ in letters.space(who.q2lf, q)] for q in letters.QUERIES}
    texts = [" ".join(form) for found in forms.values() for form in found]
    valid = check_validity(letters.check, "", texts)
    assert shown["query_valid"] == pytest.approx(valid.count(1.0) / len(texts), abs=1e-5)
    columns = {
        "validity": check_validity(letters.check, "", texts, graded=True),
        "form_lm": [
            letters.fluency(who.lf_lm, letters.LF, form, ends=ends)
            for q in letters.QUERIES
            for form, ends in letters.space(who.q2lf, q)
        ],
        "first_letter": [
            value for q, found in forms.items() for value in first_letter(" ".join(q), [" ".join(f) for f in found])
        ],
        "reconstruction": [
            value
            for query, found in forms.items()
            for value in reconstruction(who.lf2q, found, [query] * len(found), random.Random(0))
        ],
    }
    weights = {"validity": 0.15, "form_lm": 0.15, "first_letter": 2.0, "reconstruction": 0.7}
    values = {name: torch.tensor(column, dtype=torch.double) for name, column in columns.items()}
    values["reward"] = sum(weight * values[name] for name, weight in weights.items())
    for name, value in values.items():
        assert shown[f"query_{name}"] == pytest.approx(value.mean().item(), abs=1e-4), name
        assert shown[f"query_{name}_spread"] == pytest.approx(value.std(unbiased=False).item(), abs=1e-4), name
    tokens = sum(len(found) * (len(query) + 1) for query, found in forms.items())
    back = values["reconstruction"].sum().item()
    assert shown["query_perplexity"] == pytest.approx(math.exp(-back / tokens), rel=1e-4)
    advantage = [part - part.mean() for part in values["reward"].split([len(found) for found in forms.values()])]
    assert shown["query_advantage"] == pytest.approx(torch.cat(advantage).abs().mean().item(), abs=1e-4)
    fluencies = [
        letters.fluency(who.query_lm, letters.QUERY, query, ends=ends)
        for form in letters.FORMS
        for query, ends in letters.space(who.lf2q, form)
    ]
    assert shown["form_fluency"] == pytest.approx(sum(fluencies) / len(fluencies), abs=1e-4)
    loss = -sum(letters.log_prob(who.q2lf, pair.query, pair.lf).item() for pair in letters.PAIRS)
    assert shown["q2lf_loss"] == pytest.approx(loss / 5, abs=1e-5)
    assert "form_valid" not in shown


def of_loops(figures: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if name.startswith(("query", "form"))}


def noisy(**more: object) -> dict[str, object]:
    return {
        "query": letters.from_query(0.3, noisy=True, **more),
        "form": letters.from_form(0.6, noisy=True, **more),
    }


def test_the_reward_is_measured_without_dropout_unless_asked():
    """And search never drops anything out either."""
    calm = letters.iterate(letters.game(letters.options())).figures
    outcomes = []
    for told in ({}, noisy()):
        who = letters.players(dropout=0.5)
        who.q2lf.model.train()
        who.lf2q.model.train()
        torch.manual_seed(1)
        outcomes.append(letters.iterate(letters.game(letters.options(**told), who)).figures)
        assert who.q2lf.model.training
    assert of_loops(outcomes[0]) == pytest.approx(of_loops(calm))
    assert outcomes[1]["query_reconstruction"] != pytest.approx(calm["query_reconstruction"])
    assert outcomes[0]["q2lf_loss"] != pytest.approx(calm["q2lf_loss"]), "the losses do have dropout"


@pytest.mark.parametrize("lesson", [0.0, 1.0])
def test_passes_with_dropout_of_one_agent_do_not_run_at_the_same_time(monkeypatch, lesson):
    """They draw from one generator; which draws first must not be left to the cores."""
    under_way: set[int] = set()
    together = []

    def watched(model, batch, **sizes):
        if not model.training:
            return score(model, batch, **sizes)
        together.append(id(model) in under_way)
        under_way.add(id(model))
        time.sleep(0.02)
        found = score(model, batch, **sizes)
        under_way.discard(id(model))
        return found

    monkeypatch.setattr("dualparse.game.update.score", watched)
    monkeypatch.setattr("dualparse.engines.cores._cores", 4)
    game = letters.game(letters.options(**noisy(lesson=lesson)))
    for agent in game.agents:
        agent.model.train()
    letters.iterate(game)
    assert together == [False] * (4 if lesson == 0 else 2)


def test_a_noisy_reward_of_a_silent_reader_has_dropout(monkeypatch):
    """And no gradient: it has a pass of its own."""
    calm = letters.iterate(letters.game(letters.options())).figures
    who = letters.players(dropout=0.5)
    who.lf2q.model.train()
    passes = set()

    def note(model, batch, **sizes):
        if model is who.lf2q.model:
            passes.add((torch.is_grad_enabled(), len(batch.targets)))
        return score(model, batch, **sizes)

    monkeypatch.setattr("dualparse.game.update.score", note)
    torch.manual_seed(1)
    outcome = letters.iterate(letters.game(letters.options(letters.from_query(0.3, noisy=True, lesson=0.0)), who))
    n = len(letters.QUERIES) * letters.LARGEST
    assert outcome.figures["query_reconstruction"] != pytest.approx(calm["query_reconstruction"])
    assert passes == {(True, n + len(letters.PAIRS)), (False, n)}


@pytest.mark.parametrize(
    ("changes", "saved"),
    [
        ({"query": letters.from_query(0.3, lesson=0.0)}, 1),  # the way back with gradients
        ({"query": letters.from_query(0.3)[:1]}, 2),  # and as a reward
        ({"query": ()}, 3),  # and what would have been written
    ],
    ids=["no lesson", "validity alone", "loop off"],
)
def test_what_nobody_learns_from_is_not_worked_out(changes, saved, monkeypatch):
    rows = []
    monkeypatch.setattr(
        "dualparse.game.update.score",
        lambda model, batch, **sizes: rows.append(len(batch.targets)) or score(model, batch, **sizes),
    )
    counts = []
    for more in ({}, changes):
        letters.iterate(letters.game(letters.options(**more)))
        counts.append(sum(rows))
        rows.clear()
    n = len(letters.QUERIES) * letters.LARGEST
    assert counts[0] - counts[1] == saved * n


def test_the_judges_do_not_learn():
    who = letters.players()
    judged = letters.reward("form_lm", 0.5), *letters.from_query(0.5)
    game = letters.game(letters.options(judged), who)
    for judge in (who.query_lm, who.lf_lm):
        assert not judge.training
        assert not any(parameter.requires_grad for parameter in judge.parameters())
    before = [p.detach().clone() for judge in (who.query_lm, who.lf_lm) for p in judge.parameters()]
    agents = [p.detach().clone() for agent in game.agents for p in agent.model.parameters()]
    list(game.epoch(1))
    after = [p for judge in (who.query_lm, who.lf_lm) for p in judge.parameters()]
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    assert not all(
        torch.equal(a, b) for a, b in zip(agents, (p for g in game.agents for p in g.model.parameters()), strict=True)
    )


def test_an_epoch_is_as_long_as_the_longest_set_and_the_others_start_over(monkeypatch):
    game = letters.game(letters.options(batch_size=2))
    seen: list[tuple] = []
    monkeypatch.setattr(game, "iterate", lambda queries, forms, pairs, rng: seen.append((queries, forms, pairs)))
    assert list(game.epoch(1)) == [(1, 2), (2, 2)]
    for column, size in zip(range(3), (3, 3, 2), strict=True):
        drawn = [item for iteration in seen for item in iteration[column]]
        assert len(drawn) == 4
        keys = [item if column == 2 else item.tokens for item in drawn]
        assert len(set(keys[:size])) == size, "everything once before anything twice"
    first = [[item.tokens for item in iteration[0]] for iteration in seen]
    seen.clear()
    list(game.epoch(1))
    assert [[item.tokens for item in iteration[0]] for iteration in seen] == first
    longer = letters.game(letters.options(batch_size=2, updates=3))
    assert len(list(longer.epoch(1))) == 4, "whole passes"


def test_no_set_may_be_empty():
    """It could never fill a batch."""
    with pytest.raises(ValueError, match="needs labeled pairs, queries and forms"):
        Sets(letters.PAIRS, [], letters.PAIRS)
    assert batches([1], 2, 3, random.Random(0)) == [[1, 1, 1], [1, 1, 1]]


class CheckerBug(Exception):
    """Not one of the two errors that mean "bad logical form"."""


def test_a_bug_in_a_check_stops_the_game():
    def buggy(text: str) -> Verdict:
        raise CheckerBug(text)

    game = letters.game(letters.options(), check=buggy)
    with pytest.raises(CheckerBug):
        next(game.epoch(1))


def recipe(**changes: object) -> Recipe:
    values: dict[str, object] = {
        "domain": "toy",
        "stages": ["q2lf", "lf2q", "query_lm", "dual"],
        "data": {"labeled": 0.5},
        "model": {"embedding": 6, "hidden": 8},
        "train": {"epochs": 2, "learning_rate": 0.01},
        "language_model": {"epochs": 1},
        "game": {"epochs": 3, "beams": 3, "max_length": 10, "average": 0.5},
        "search": {"max_length": 12},
    }
    return make_recipe(values | changes)


def left_behind(folder: Path) -> tuple[dict[str, dict[str, bytes]], list[dict]]:
    """All weights, and the log less the seconds."""
    weights = {
        path.name: {name: tensor.numpy().tobytes() for name, tensor in load_tensors(path)[0].items()}
        for path in sorted(folder.glob("*.safetensors"))
    }
    log = [{key: value for key, value in record.items() if key != "seconds"} for record in Run(folder).read_log()]
    return weights, log


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    files = toy.write_files(folder / "toy")
    with toy.registered(files):
        events = list(train(recipe(), folder / "run", device=CPU))
    return left_behind(folder / "run"), events


def test_a_run_plays_after_pre_training_and_keeps_what_it_started_from(uninterrupted):
    (weights, log), events = uninterrupted
    assert set(weights) == {
        f"{name}.safetensors" for name in ("q2lf", "lf2q", "query_lm", "pretrained-q2lf", "pretrained-lf2q")
    }
    assert weights["q2lf.safetensors"] != weights["pretrained-q2lf.safetensors"]
    assert [record["epoch"] for record in log if record["stage"] == "dual"] == [1, 2, 3]
    figures = [record["figures"] for record in log if record["stage"] == "dual"]
    assert {"query_valid", "query_advantage", "form_perplexity", "q2lf_loss", "lf2q_loss"} <= set(figures[0])
    assert all(0 <= record["query_valid"] <= 1 for record in figures)
    assert any("dual: 42 queries, 42 forms, 21 pairs" in str(event) for event in events)


@given(events=st.lists(st.integers(0, 8), min_size=1, max_size=2), every=st.sampled_from([-1.0, 3600.0]))
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_game_killed_anywhere_and_taken_up_again_ends_the_same(
    toy_files, uninterrupted, tmp_path_factory, monkeypatch, events, every
):
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", every)
    folder = tmp_path_factory.mktemp("run")
    for more in events:
        generator = train(recipe(), folder, resume=True, device=CPU)
        played = (event for event in generator if isinstance(event, Tick | Record) and event.stage == "dual")
        list(islice(played, more + 1))  # fewer where an earlier try got almost to the end
        generator.close()
    list(train(recipe(), folder, resume=True, device=CPU))
    assert left_behind(folder) == uninterrupted[0]


def test_a_loop_that_is_off_needs_no_judge(toy_files, tmp_path):
    query = [{"name": "validity", "weight": 0.5}, {"name": "reconstruction", "weight": 0.5, "loop": "query"}]
    told = {"epochs": 1, "beams": 2, "max_length": 10, "rewards": query}
    list(train(recipe(stages=["q2lf", "lf2q", "dual"], game=told), tmp_path / "run", device=CPU))
    assert (tmp_path / "run" / "q2lf.safetensors").exists()
    with pytest.raises(InputError, match="needs \\['query_lm'\\]"):
        recipe(stages=["q2lf", "lf2q", "dual"])


def test_a_bug_in_a_check_stops_the_run(toy_files, tmp_path, monkeypatch):
    """Pre-training goes well; then the game shows the check what makes it fall over."""

    def buggy(text: str) -> str:
        raise CheckerBug(text)

    stages = []
    with pytest.raises(CheckerBug):
        for event in train(recipe(), tmp_path / "run", device=CPU):
            if isinstance(event, Record):
                stages.append(event.stage)
            if stages[-1:] == ["query_lm"]:
                monkeypatch.setattr(toy, "execute", buggy)
    assert stages == ["q2lf", "q2lf", "lf2q", "lf2q", "query_lm"]
    assert not (tmp_path / "run" / "q2lf.safetensors").exists()
