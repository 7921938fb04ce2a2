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

from dualparse.config import Recipe, make_recipe
from dualparse.data.examples import Example
from dualparse.domains.lexicon import Lexicon
from dualparse.engines.engine import score
from dualparse.engines.scoring import reconstruction
from dualparse.errors import InputError
from dualparse.game.dual import FIGURES, Rules
from dualparse.game.game import Game, Players, Sets, _batches, summarize
from dualparse.game.rewards import check_validity
from dualparse.lf.verdict import VALID, Verdict
from dualparse.networks.agent import Agent
from dualparse.networks.tensors import load_tensors
from dualparse.runs import Run
from dualparse.training import loop
from dualparse.training.loop import Record, Tick
from dualparse.training.run import train
from dualparse.training.step import Adam

CPU = torch.device("cpu")
NO_GUIDANCE = {"guidance": 0.0, "form_loop": False}


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
        told = letters.options(from_query=Rules(weight), **NO_GUIDANCE)
        taught = letters.iterate(letters.game(told, who, check=lambda text: VALID)).gradients
        assert largest(taught["q2lf"]) < 1e-12
        assert largest(taught["lf2q"]) > 1e-2 or weight == 1.0
        told = letters.options(from_query=Rules(weight, baseline=False), **NO_GUIDANCE)
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
    rules = Rules(0.3, check=0.0, lm=1.0), Rules(0.6, check=0.0, lm=0.5, per_token=True)
    here = letters.options(from_query=rules[0], from_form=rules[1], query_loop=loops[0], form_loop=loops[1])
    there = letters.options(from_query=rules[1], from_form=rules[0], query_loop=loops[1], form_loop=loops[0])
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
        Adam(),
    )
    one, two = letters.iterate(game), letters.iterate(mirror)
    assert one.loss == pytest.approx(two.loss, rel=1e-9)
    for direction, other in (("q2lf", "lf2q"), ("lf2q", "q2lf")):
        for name, gradient in one.gradients[direction].items():
            torch.testing.assert_close(gradient, two.gradients[other][name], rtol=1e-9, atol=1e-9)
    n = len(FIGURES)
    checked = FIGURES.index("valid")  # the check looks at forms alone
    figures = [
        part.tolist() for part in (one.figures[:n], one.figures[n : 2 * n], two.figures[:n], two.figures[n : 2 * n])
    ]
    for part in figures:
        part[checked] = 0.0
    assert figures[0] == pytest.approx(figures[3])
    assert figures[1] == pytest.approx(figures[2])


def test_loops_can_be_switched_off_and_guidance_weighed():
    """Every part adds its own; without all of them nothing is left."""
    parts = {
        "query loop": {"form_loop": False, "guidance": 0.0},
        "form loop": {"query_loop": False, "guidance": 0.0},
        "guidance": {"query_loop": False, "form_loop": False},
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
    nothing = letters.iterate(letters.game(letters.options(query_loop=False, **NO_GUIDANCE)))
    assert (nothing.loss, largest(nothing.gradients["q2lf"]), largest(nothing.gradients["lf2q"])) == (0, 0, 0)


def test_the_log_shows_what_the_reward_functions_say():
    who = letters.players()
    told = letters.options(graded=True, from_query=Rules(0.3, check=0.5, lm=0.5))
    shown = summarize(letters.iterate(letters.game(told, who)).figures.tolist())
    forms = {q: [form for form, _ in letters.space(who.q2lf, q)] for q in letters.QUERIES}
    texts = [" ".join(form) for found in forms.values() for form in found]
    judged = check_validity(letters.check, texts, graded=True)
    assert shown["query_valid"] == pytest.approx(check_validity(letters.check, texts).count(1.0) / len(texts), abs=1e-5)
    scores = [
        letters.fluency(who.lf_lm, letters.LF, form, ends=ends)
        for q in letters.QUERIES
        for form, ends in letters.space(who.q2lf, q)
    ]
    values = torch.tensor([0.5 * j + 0.5 * s for j, s in zip(judged, scores, strict=True)])
    assert shown["query_validity"] == pytest.approx(values.mean().item(), abs=1e-5)
    assert shown["query_validity_spread"] == pytest.approx(values.std(unbiased=False).item(), abs=1e-5)
    back = torch.tensor(
        [
            value
            for query, found in forms.items()
            for value in reconstruction(who.lf2q, found, [query] * len(found), random.Random(0))
        ]
    )
    tokens = sum(len(found) * (len(query) + 1) for query, found in forms.items())
    assert shown["query_back"] == pytest.approx(back.mean().item(), abs=1e-4)
    assert shown["query_back_spread"] == pytest.approx(back.std(unbiased=False).item(), abs=1e-4)
    assert shown["query_back_perplexity"] == pytest.approx(math.exp(-back.sum().item() / tokens), rel=1e-4)
    reward = 0.3 * values + 0.7 * back
    assert shown["query_reward"] == pytest.approx(reward.mean().item(), abs=1e-4)
    assert shown["query_reward_spread"] == pytest.approx(reward.std(unbiased=False).item(), abs=1e-4)
    advantage = [part - part.mean() for part in reward.split([len(found) for found in forms.values()])]
    assert shown["query_advantage"] == pytest.approx(torch.cat(advantage).abs().mean().item(), abs=1e-4)
    fluencies = [
        letters.fluency(who.query_lm, letters.QUERY, query, ends=ends)
        for form in letters.FORMS
        for query, ends in letters.space(who.lf2q, form)
    ]
    assert shown["form_validity"] == pytest.approx(sum(fluencies) / len(fluencies), abs=1e-4)
    loss = -sum(letters.log_prob(who.q2lf, pair.query, pair.lf).item() for pair in letters.PAIRS)
    assert shown["q2lf_loss"] == pytest.approx(loss / 5, abs=1e-5)
    assert "form_valid" not in shown


def test_the_reward_is_measured_without_dropout_unless_asked():
    """And search never drops anything out either."""
    calm = letters.iterate(letters.game(letters.options())).figures
    outcomes = []
    for noisy in (False, True):
        who = letters.players(dropout=0.5)
        who.q2lf.model.train()
        who.lf2q.model.train()
        torch.manual_seed(1)
        outcomes.append(letters.iterate(letters.game(letters.options(noisy_reward=noisy), who)))
        assert who.q2lf.model.training
    n = 2 * len(FIGURES)
    torch.testing.assert_close(outcomes[0].figures[:n], calm[:n])
    back = FIGURES.index("back")
    assert outcomes[1].figures[back] != pytest.approx(calm[back].item())
    assert outcomes[0].figures[n] != pytest.approx(calm[n].item()), "the losses do have dropout"


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

    monkeypatch.setattr("dualparse.game.game.score", watched)
    monkeypatch.setattr("dualparse.engines.cores._cores", 4)
    rules = Rules(0.3, lesson=lesson)
    game = letters.game(letters.options(from_query=rules, from_form=rules, noisy_reward=True))
    for agent in game.agents:
        agent.model.train()
    letters.iterate(game)
    assert together == [False] * (4 if lesson == 0 else 2)


def test_a_noisy_reward_of_a_silent_reader_has_dropout(monkeypatch):
    """And no gradient: it has a pass of its own."""
    calm = letters.iterate(letters.game(letters.options())).figures
    who = letters.players(dropout=0.5)
    who.lf2q.model.train()
    told = letters.options(from_query=Rules(0.3, lesson=0.0), noisy_reward=True)
    passes = set()

    def note(model, batch, **sizes):
        if model is who.lf2q.model:
            passes.add((torch.is_grad_enabled(), len(batch.targets)))
        return score(model, batch, **sizes)

    monkeypatch.setattr("dualparse.game.game.score", note)
    torch.manual_seed(1)
    outcome = letters.iterate(letters.game(told, who))
    back, n = FIGURES.index("back"), len(letters.QUERIES) * letters.LARGEST
    assert outcome.figures[back] != pytest.approx(calm[back].item())
    assert passes == {(True, n + len(letters.PAIRS)), (False, n)}


@pytest.mark.parametrize(
    "changes",
    [{"from_query": Rules(0.3, lesson=0.0)}, {"from_query": Rules(1.0)}, {"query_loop": False}],
    ids=["no lesson", "validity alone", "loop off"],
)
def test_who_learns_nothing_of_the_way_back_does_not_go_it_with_gradients(changes, monkeypatch):
    rows = []
    monkeypatch.setattr(
        "dualparse.game.game.score",
        lambda model, batch, **sizes: rows.append(len(batch.targets)) or score(model, batch, **sizes),
    )
    for more in ({}, changes):
        letters.iterate(letters.game(letters.options(**more)))
    n = len(letters.QUERIES) * letters.LARGEST
    assert sum(rows[:4]) - sum(rows[4:]) == n


def test_the_judges_do_not_learn():
    who = letters.players()
    game = letters.game(letters.options(from_query=Rules(0.5, lm=1.0)), who)
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
    assert _batches([1], 2, 3, random.Random(0)) == [[1, 1, 1], [1, 1, 1]]


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
    assert {"query_valid", "query_advantage", "form_back_perplexity", "q2lf_loss", "lf2q_loss"} <= set(figures[0])
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
    told = {"epochs": 1, "beams": 2, "max_length": 10, "form_loop": False}
    list(train(recipe(stages=["q2lf", "lf2q", "dual"], game=told), tmp_path / "run", device=CPU))
    assert (tmp_path / "run" / "q2lf.safetensors").exists()
    with pytest.raises(InputError, match="needs \\['query_lm'\\]"):
        recipe(stages=["q2lf", "lf2q", "dual"])


def test_a_judge_at_rate_0_stays_as_it_was(toy_files, tmp_path):
    told = {"epochs": 1, "beams": 2, "max_length": 10, "average": 0.5, "lf2q_rate": 0.0}
    list(train(recipe(game=told), tmp_path / "run", device=CPU))
    weights, _ = left_behind(tmp_path / "run")
    assert weights["lf2q.safetensors"] == weights["pretrained-lf2q.safetensors"]
    assert weights["q2lf.safetensors"] != weights["pretrained-q2lf.safetensors"]


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
