"""The rewards: what they are worth, and what must never become a reward."""

from __future__ import annotations

import math
import random

import letters
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dualparse.config import inline, make_recipe, read_recipe, write_recipe
from dualparse.domains.domain import Domain
from dualparse.engines.scoring import fluency, reconstruction, without_dropout
from dualparse.errors import InputError
from dualparse.game.rewards import Rewards, check_validity, less_mean, mix, rewards_of, validity
from dualparse.lf.errors import LFExecutionError, LFSyntaxError
from dualparse.lf.verdict import VALID, Verdict

reward = st.floats(-50, 50, width=32)


def raising(error: Exception):
    def check(text: str) -> Verdict:
        raise error

    return check


def test_a_form_is_valid_or_not_and_graded_in_between():
    verdicts = [VALID, Verdict(True, False, "no such property"), Verdict(False, False, "no tree")]
    assert validity(verdicts) == [1.0, 0.0, 0.0]
    assert validity(verdicts, graded=True) == [1.0, 0.5, 0.0]
    assert check_validity(letters.check, "x", ["A B", "B A", "new A"], graded=True) == [1.0, 0.5, 0.0]


def test_the_two_logical_form_errors_mean_invalid():
    """So that an executor can be the check."""
    assert check_validity(raising(LFSyntaxError("no tree")), "x", ["A"], graded=True) == [0.0]
    assert check_validity(raising(LFExecutionError("no such city")), "x", ["A"], graded=True) == [0.5]
    assert check_validity(raising(LFExecutionError("no such city")), "x", ["A"]) == [0.0]


@pytest.mark.parametrize("error", [KeyError("A"), ValueError("?"), RecursionError(), ZeroDivisionError(), OSError()])
def test_any_other_error_of_a_check_is_no_reward(error):
    with pytest.raises(type(error)):
        check_validity(raising(error), "x", ["A"])


def test_fluency_is_log_probability_per_token_with_the_end():
    model = letters.language_model(letters.QUERY, seed=3)
    texts = [("x", "y", "x"), ("y",), (), ("x", "never", "heard")]
    expected = [letters.fluency(model, letters.QUERY, text, ends=True) for text in texts]
    assert fluency(model, letters.QUERY, texts) == pytest.approx(expected)
    assert fluency(model, letters.QUERY, []) == []


@pytest.mark.parametrize("per_token", [False, True])
def test_reconstruction_is_the_log_likelihood_under_the_other_agent(per_token):
    agent = letters.agent("lf2q", seed=2)
    forms, queries = [("A", "odd"), (), ("B",)], [("x", "odd"), ("y",), ("x", "y", "new")]
    expected = [letters.log_prob(agent, f, q).item() for f, q in zip(forms, queries, strict=True)]
    if per_token:
        expected = [value / (len(query) + 1) for value, query in zip(expected, queries, strict=True)]
    assert reconstruction(agent, forms, queries, random.Random(0), per_token=per_token) == pytest.approx(expected)
    assert reconstruction(agent, [], [], random.Random(0)) == []


def test_dropout_has_no_part_in_a_reward():
    agent, model = letters.agent("lf2q", seed=2, dropout=0.5), letters.language_model(letters.QUERY, seed=3)
    model.dropout.p = 0.5
    agent.model.train()
    model.train()
    values = [
        (reconstruction(agent, [("A",)], [("x", "y")], random.Random(0)), fluency(model, letters.QUERY, [("x", "y")]))
        for _ in range(3)
    ]
    assert values[0] == values[1] == values[2]
    assert agent.model.training, "training goes on as before"
    assert model.training


def test_a_module_is_put_back_even_after_an_error():
    model = letters.language_model(letters.QUERY, seed=3).train()
    with pytest.raises(ZeroDivisionError), without_dropout(model):
        assert not model.training
        raise ZeroDivisionError
    assert model.training


def by_length(source: str, hypotheses: list[str]) -> list[float]:
    return [len(source) - len(text) for text in hypotheses]


def with_domain(source: str, hypotheses: list[str], domain: Domain) -> list[float]:
    return [float(domain.check(text).ok) for text in hypotheses]


def short(source: str, hypotheses: list[str]) -> list[float]:
    return [1.0]


def silent(source: str, hypotheses: list[str]) -> None:
    return None


def lost(source: str, hypotheses: list[str]) -> list[float]:
    return [math.nan for _ in hypotheses]


def own(name: str) -> Rewards:
    told = letters.options((letters.reward(f"{__name__}:{name}", 0.5),), ())
    return rewards_of(told, "query", letters.domain())


def test_ones_own_function_is_a_reward_and_may_ask_for_the_domain():
    valid, by = own("by_length").judged
    assert (valid.name, valid.weight, by.name, by.weight) == ("valid", 0.0, "by_length", 0.5)
    assert by.score("x y", ["A", "A B", ""]) == [2.0, 0.0, 3.0]
    assert own("with_domain").judged[1].score("x", ["A B", "B A"]) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("short", "1 scores for 2 hypotheses"),
        ("silent", "expected a list of numbers"),
        ("lost", "expected finite numbers"),
    ],
)
def test_an_own_function_that_answers_nonsense_is_told_so(name, complaint):
    with pytest.raises(InputError, match=complaint):
        own(name).judged[1].score("x", ["A", "B"])


@pytest.mark.parametrize("name", ["nowhere:reward", "letters:nothing"])
def test_an_own_function_that_is_not_there_is_an_error(name):
    told = letters.options((letters.reward(name, 0.5),), ())
    with pytest.raises(InputError, match=name.split(":")[0]):
        rewards_of(told, "query", letters.domain())


class Near:
    """Says 1 for a query and a form of as many words, less for others, 0 for a form with an unknown word."""

    def nearness(self, questions, forms):
        return [
            np.array([0.0 if "new" in form else 1 / (1 + abs(len(form.split()) - len(question))) for form in some])
            for question, some in zip(questions, forms, strict=True)
        ]


@pytest.mark.parametrize(
    ("loop", "source", "hypotheses"),
    [("query", "x y", ["A B", "A", "new A"]), ("form", "A B", ["x y", "x", "x y x y"])],
)
def test_meaning_compares_query_and_form_in_both_loops(loop, source, hypotheses):
    told = letters.options((letters.reward("meaning", 0.5),), ())
    rewards = rewards_of(told, loop, letters.domain(), index=Near())
    meaning = rewards.judged[-1]
    assert (meaning.name, meaning.weight) == ("meaning", 0.5) and rewards.count
    assert meaning.score(source, hypotheses) == [1.0, 0.5, 0.0 if loop == "query" else pytest.approx(1 / 3)]


def test_without_an_index_nobody_says_what_is_meant():
    told = letters.options((letters.reward("meaning", 0.5),), ())
    assert [each.name for each in rewards_of(told, "query", letters.domain()).judged] == ["valid"]


def runs(text: str) -> str:
    if text.endswith("B"):
        raise LFExecutionError("nothing there")
    return "(list)"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("surface", [1, 1, 1, 0]), ("semantic", [1, 1, 0, 0]), ("executed", [1, 0, 0, 0])],
)
def test_validity_is_of_three_kinds(kind, expected):
    """A form that runs, one that only checks, one that is only a tree, one that is none."""
    told = letters.options((letters.reward("validity", 1.0, kind=kind),), ())
    _, valid = rewards_of(told, "query", letters.domain(execute=runs)).judged
    assert valid.score("x", ["A", "A B", "B A", "new"]) == expected
    assert valid.name == ("validity" if kind == "semantic" else f"{kind}_validity")


def test_what_cannot_run_cannot_be_rewarded_for_running():
    told = letters.options((letters.reward("validity", 1.0, kind="executed"),), ())
    with pytest.raises(InputError, match="cannot be run"):
        rewards_of(told, "query", letters.domain())


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ({"name": "validty", "weight": 0.5}, "unknown reward 'validty'.*validity"),
        ({"name": "validity", "weight": 0.5, "lesson": 0.5}, "validity has no lesson: expected kind, graded"),
        ({"name": "fluency", "weight": 0.5, "loop": "query"}, "fluency counts in the loop 'form' only"),
        ({"name": "meaning", "weight": 0.5, "per_token": True}, "meaning has no per_token: expected none of these"),
        ({"name": "validity"}, "weight: field required"),
        ({"name": "validity", "weight": -1}, "greater than or equal to 0"),
        ({"name": "validity", "weight": 1, "graed": True}, "unknown setting 'game.rewards.0.graed'|graed"),
    ],
)
def test_a_wrong_entry_of_the_recipe_is_told(entry, complaint):
    with pytest.raises(InputError, match=complaint):
        make_recipe({"domain": "toy", "game": {"rewards": [entry]}})


def test_a_reward_is_there_once_in_a_loop():
    twice = [{"name": "reconstruction", "weight": 0.5}, {"name": "reconstruction", "weight": 0.2, "loop": "form"}]
    with pytest.raises(InputError, match="reconstruction is there twice in the loop 'form'"):
        make_recipe({"domain": "toy", "game": {"rewards": twice}})


def test_rewards_survive_a_recipe_file(tmp_path):
    told = {
        "rewards": [{"name": "validity", "weight": 0.5, "graded": True}, {"name": "own.rewards:brief", "weight": 1}]
    }
    recipe = make_recipe({"domain": "toy", "game": told})
    (tmp_path / "config.toml").write_text(write_recipe(recipe), encoding="utf-8")
    assert read_recipe(tmp_path / "config.toml") == recipe
    by_hand = ["game.rewards=" + inline(told["rewards"])]
    assert make_recipe({"domain": "toy"}, overrides=by_hand) == recipe


@given(st.lists(st.tuples(reward, reward), min_size=1), st.floats(0, 1))
def test_a_mix_is_a_weighted_sum(pairs, share):
    first, second = (list(column) for column in zip(*pairs, strict=True))
    found = mix([first, second], [share, 1 - share])
    assert found == pytest.approx([share * a + (1 - share) * b for a, b in pairs])


def test_a_mix_of_unequal_lists_is_an_error():
    for rewards, weights in (([[1.0], [1.0, 2.0]], [1.0, 1.0]), ([[1.0], [2.0]], [1.0])):
        with pytest.raises(ValueError, match="zip"):
            mix(rewards, weights)


@given(st.lists(st.lists(st.tuples(reward, st.booleans()), min_size=4, max_size=4), min_size=1, max_size=3))
def test_less_their_mean_rewards_add_up_to_nothing(rows):
    rewards = torch.tensor([[value for value, _ in row] for row in rows], dtype=torch.double)
    present = torch.tensor([[float(on) for _, on in row] for row in rows], dtype=torch.double)
    found = less_mean(rewards, present)
    assert found.sum(-1).abs().max() < 1e-9
    assert (found[present == 0] == 0).all()
    shifted = less_mean(rewards + 7.0, present)
    torch.testing.assert_close(found, shifted)
    assert less_mean(torch.full_like(rewards, 3.0), present).abs().max() == 0
