"""Scores of predictions, with a domain made here."""

from __future__ import annotations

import json

import numpy as np
import pytest
import toy
from hypothesis import given
from hypothesis import strategies as st

from dualparse.domains.metrics import denotation, exact, meaning
from dualparse.evaluate import bleu, bootstrap, judge, percent, pick, summarize
from dualparse.lf.errors import LFExecutionError, LFSyntaxError
from dualparse.lf.verdict import VALID, Verdict

ANSWERS = {"( a )": "(list 1)", "( b )": "(list 1)", "( c )": "(list 2)", "( a  )": "(list 1)"}


def execute(text: str) -> str:
    if text == "( fails )":
        raise LFExecutionError("no")
    if text not in ANSWERS:
        raise LFSyntaxError("what?")
    return ANSWERS[text]


def normalize(text: str) -> str:
    if text not in ANSWERS and text != "( fails )":
        raise LFSyntaxError("what?")
    return " ".join(text.split())


def check(text: str) -> Verdict:
    return VALID if text in ANSWERS else Verdict(text == "( fails )", False, "bad")


def domain(metric=denotation, **changes):
    return toy.domain(**{"execute": execute, "normalize": normalize, "check": check, "metric": metric} | changes)


def test_the_prediction_is_the_first_valid_form():
    assert pick(domain(), ["soup", "( fails )", "( b )", "( a )"]) == "( b )"
    assert pick(domain(), ["soup", "( fails )"]) == "soup"
    assert pick(domain(), []) == ""


@pytest.mark.parametrize(
    ("gold", "predicted", "alike", "same"),
    [
        ("( a )", "( a )", True, True),
        ("( a )", "( a  )", True, True),
        ("( a )", "( b )", False, True),
        ("( a )", "( c )", False, False),
        ("( a )", "( fails )", False, False),
        ("( a )", "soup", False, False),
        ("( a )", "", False, False),
        ("( fails )", "( fails )", True, False),
    ],
)
def test_exact_match_and_denotation(gold, predicted, alike, same):
    by_meaning, by_form = (judge(domain(metric), "q", gold, predicted) for metric in (denotation, exact))
    assert (by_meaning.exact, by_meaning.correct) == (alike, same)
    assert (by_form.exact, by_form.correct) == (alike, alike)


def test_what_is_known_about_a_prediction():
    found = judge(domain(), "how many", "( a )", "( fails )")
    assert (found.verdict.surface, found.verdict.ok, found.denotation, found.gold_denotation) == (
        True,
        False,
        None,
        "(list 1)",
    )
    assert json.loads(json.dumps(found.as_json()))["verdict"]["reason"] == "bad"


def test_a_domain_without_an_executor_has_no_denotations():
    found = judge(domain(exact, execute=None), "q", "( a )", "( a )")
    assert (found.correct, found.denotation, found.gold_denotation) == (True, None, None)
    assert "denotation" not in summarize([found], domain=domain(exact))


def test_only_the_two_errors_of_forms_mean_a_bad_form():
    def broken(text: str) -> str:
        raise KeyError(text)

    with pytest.raises(KeyError):
        meaning("( a )", domain(execute=broken))


def test_a_summary_names_its_metric():
    judged = [judge(domain(), "q", "( a )", predicted) for predicted in ("( a )", "( b )", "( c )", "soup")]
    scores = summarize(judged, domain=domain())
    assert scores["metric"] == "denotation"
    assert (scores["accuracy"], scores["denotation"], scores["exact"], scores["valid"]) == (50.0, 50.0, 25.0, 75.0)
    low, high = scores["interval_95"]
    assert 0 <= low < 50 < high <= 100
    assert scores["examples"] == 4


def test_a_metric_of_ones_own_is_a_function_and_may_give_shares():
    def words(gold: str, predicted: str, domain) -> float:
        """The share of the gold words that were said."""
        wanted = gold.split()
        return sum(word in predicted.split() for word in wanted) / len(wanted)

    judged = [judge(domain(words), "q", "( a )", predicted) for predicted in ("( a )", "( b )")]
    scores = summarize(judged, domain=domain(words))
    assert (scores["metric"], scores["accuracy"], scores["exact"]) == ("words", 83.33, 50.0)
    assert json.loads(json.dumps(judged[1].as_json()))["correct"] == pytest.approx(2 / 3)


def test_a_summary_of_nothing():
    assert summarize([], domain=domain(exact))["accuracy"] == 0.0


def test_percent():
    assert percent([]) == 0.0
    assert percent([True] * 3) == 100.0


@given(st.lists(st.booleans(), min_size=1, max_size=50))
def test_the_interval_holds_the_mean_and_repeats(hits):
    values = np.array(hits, dtype=float)
    low, high = bootstrap(values, resamples=300)
    assert 0 <= low <= 100 * values.mean() + 0.01
    assert 100 * values.mean() - 0.01 <= high <= 100
    assert bootstrap(values, resamples=300) == (low, high)


def test_the_interval_has_the_width_of_theory():
    """1000 coins: 1.96 standard errors to each side."""
    values = np.array([True, False] * 500, dtype=float)
    low, high = bootstrap(values)
    assert high - low == pytest.approx(2 * 1.96 * 100 * (0.25 / 1000) ** 0.5, rel=0.1)


def test_bleu():
    gold = ["which huts have showers near the lake", "how long is the fox trail"]
    assert bleu(gold, gold) == 100.0
    assert bleu(["", ""], gold) == 0.0
    assert 0 < bleu(["which huts have showers near a lake", "how long is a trail"], gold) < 100
    assert bleu([], []) == 0.0


def test_bleu_takes_tokens_as_they_are():
    """`o'clock` and `10:30` are one word each, as in the training text."""
    assert bleu(["at 10:30 o'clock or so"], ["at 10 : 30 o ' clock or so"]) < 50
