"""Verdicts about claims: numbers made so that we know what must come out."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.lab.report.claims import Comparison, Verdict, claims, find
from dualparse.lab.report.paper import DATASETS
from dualparse.lab.report.results import Outcome, Side

EXAMPLES = 400
ATIS = Comparison("ATIS", Side("AttPtr+Dual"), Side("AttPtr"))


def outcome(method: str, right: int, *, domain: str = "atis", seed: int = 1, vector: bool = True, **amounts) -> Outcome:
    """A run that gets the first `right` examples right: two of them differ in as few examples as can be."""
    amounts = {"labeled": 1.0, "unlabeled": 1.0} | amounts
    correct = ("1" * right).ljust(EXAMPLES, "0") if vector else ""
    accuracy = 100 * right / EXAMPLES
    share = (amounts["labeled"], amounts["unlabeled"])
    return Outcome(method, domain, *share, seed, settings(), 0.0, accuracy, EXAMPLES, correct)


def settings(epochs: int = 1, *, game: int = 0) -> str:
    """As a result has them: epochs of training, and of the game where there is one."""
    played = {"game": {"epochs": game}} if game else {}
    return json.dumps({"stages": ["q2lf", *(["dual"] if game else [])], "train": {"epochs": epochs}} | played)


def claim(outcomes: list[Outcome], text: str):
    return next(claim for claim in claims(outcomes) if claim.together.text.startswith(text))


def test_a_clear_difference_is_supported_and_a_small_one_is_not():
    clear = find([outcome("AttPtr+Dual", 360), outcome("AttPtr", 340)], ATIS)
    assert clear.verdict == Verdict.SUPPORTED
    assert clear.difference == pytest.approx(5.0)
    assert clear.paper == pytest.approx(2.9)
    low, high = clear.interval
    assert 2 < low < 5 < high < 8
    small = find([outcome("AttPtr+Dual", 341), outcome("AttPtr", 340)], ATIS)
    assert (small.verdict, small.note) == (Verdict.NOT_SUPPORTED, "ahead, but within the noise")
    worse = find([outcome("AttPtr+Dual", 330), outcome("AttPtr", 340)], ATIS)
    assert (worse.verdict, worse.note) == (Verdict.NOT_SUPPORTED, "")


def test_without_verdicts_per_example_the_interval_is_wider():
    runs = [outcome("AttPtr+Dual", 350), outcome("AttPtr", 340)]
    paired = find(runs, ATIS)
    loose = find([replace(runs[0], correct=""), runs[1]], ATIS)
    assert loose.interval[0] < paired.interval[0] and loose.interval[1] > paired.interval[1]
    assert (paired.verdict, loose.verdict) == (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED)
    assert "independent samples" in loose.note


def test_vectors_of_different_examples_are_not_paired():
    runs = [outcome("AttPtr+Dual", 360), replace(outcome("AttPtr", 340), correct="1" * 10)]
    assert "independent samples" in find(runs, ATIS).note


def test_seeds_are_averaged_as_far_as_both_sides_have_them():
    runs = [outcome("AttPtr+Dual", right, seed=seed) for seed, right in enumerate((350, 360, 370, 400))]
    found = find([*runs, *(outcome("AttPtr", 340, seed=seed) for seed in range(3))], ATIS)
    assert found.difference == pytest.approx(5.0)
    assert find([*runs, outcome("AttPtr", 340, seed=9)], ATIS).verdict == Verdict.NOT_RUN


def test_overnight_needs_all_its_domains():
    comparison = Comparison("OVERNIGHT", Side("Att+Dual"), Side("Att"))
    runs = [
        outcome(m, right, domain=d) for d in DATASETS["OVERNIGHT"] for m, right in (("Att+Dual", 320), ("Att", 300))
    ]
    assert find(runs[:-1], comparison).verdict == Verdict.NOT_RUN
    assert find(runs, comparison).difference == pytest.approx(5.0)


def test_not_more_is_not_refuted_unless_it_is_clearly_more():
    comparison = Comparison("ATIS", Side("AttPtr"), Side("Att"), more=False)
    assert find([outcome("AttPtr", 340), outcome("Att", 340)], comparison).verdict == Verdict.NOT_REFUTED
    assert find([outcome("AttPtr", 300), outcome("Att", 340)], comparison).verdict == Verdict.NOT_REFUTED
    assert find([outcome("AttPtr", 380), outcome("Att", 340)], comparison).verdict == Verdict.NOT_SUPPORTED


def test_a_claim_stands_on_the_mean_of_its_comparisons():
    """One clear gain and one within the noise: together clear."""
    runs = [outcome("Att+Dual", 341), outcome("Att", 340), outcome("AttPtr+Dual", 370), outcome("AttPtr", 340)]
    found = claim(runs, "Dual learning beats supervised")
    assert (found.run, len(found.findings)) == (2, 8)
    assert found.together.verdict == Verdict.SUPPORTED
    assert found.together.difference == pytest.approx((0.25 + 7.5) / 2)
    assert found.together.paper == pytest.approx((2.0 + 2.9) / 2)


def test_both_sides_were_trained_alike():
    """A longer game with the check does not count against a short one with the language model; against a parser that
    has not played it does, if that was trained as the game's own was."""
    check, lm = "AttPtr+Dual+LF+Q", "AttPtr+Dual+LF+Q (LM validity)"
    runs = [replace(outcome(m, 300, labeled=0.5), settings=settings(game=1)) for m in (check, lm)]
    runs.append(replace(outcome(check, 390, labeled=0.5), settings=settings(game=9), dev=99.0))
    assert claim(runs, "A hard check").together.difference == 0.0
    own = outcome("AttPtr", 300, labeled=0.5)
    other = replace(outcome("AttPtr", 380, labeled=0.5), settings=settings(epochs=9), dev=99.0)
    assert claim([*runs, own, other], "Dual learning beats supervised").together.difference == pytest.approx(22.5)
    assert claim([*runs, other], "Dual learning beats supervised").together.verdict == Verdict.NOT_RUN


def test_a_claim_with_scores_alone_in_part_has_an_interval_between():
    pair = [outcome("Att+Dual", 341), outcome("Att", 340)]
    others = [outcome("AttPtr+Dual", 350), outcome("AttPtr", 340)]
    widths = []
    for blind in ((), others, pair + others):
        runs = [replace(run, correct="") if run in blind else run for run in pair + others]
        found = claim(runs, "Dual learning beats supervised").together
        widths.append(found.interval[1] - found.interval[0])
        note = {0: "", 2: "interval partly of independent samples", 4: "interval of independent samples"}[len(blind)]
        assert found.note.removeprefix("ahead, but within the noise; ") == note
    assert widths == sorted(widths)


def test_nothing_run_is_not_run_yet():
    assert {claim.together.verdict for claim in claims([])} == {Verdict.NOT_RUN}
    assert all(claim.run == 0 for claim in claims([]))


def curve(gains: dict[float, int]) -> list[Outcome]:
    sides = (("AttPtr", 0), ("AttPtr+Dual+LF+Q", 1))
    return [outcome(m, 300 + on * gain, labeled=share) for share, gain in gains.items() for m, on in sides]


@pytest.mark.parametrize(
    ("gains", "verdict"),
    [
        ({0.1: 4, 0.3: 20, 0.5: 8}, Verdict.SUPPORTED),
        ({0.1: 24, 0.3: 20, 0.5: 8}, Verdict.NOT_SUPPORTED),
        ({0.1: -4, 0.3: -2, 0.5: -8}, Verdict.NOT_SUPPORTED),
        ({0.3: 20, 0.5: 8}, Verdict.NOT_RUN),
        ({0.1: 20, 0.3: 30}, Verdict.NOT_RUN),
        ({0.1: 20, 0.5: 30}, Verdict.NOT_RUN),
    ],
)
def test_where_the_gain_is_largest(gains, verdict):
    assert claim(curve(gains), "The gain").together.verdict == verdict


def test_all_labels_are_no_point_of_the_curve():
    """There dual learning has nothing without label to learn from, which is another method."""
    runs = [*curve({0.1: 4, 0.3: 20}), outcome("AttPtr", 300), outcome("AttPtr+Dual", 399)]
    assert claim(runs, "The gain").together.verdict == Verdict.NOT_RUN


@given(st.integers(0, 10_000))
def test_the_difference_lies_in_its_interval(seed):
    rng = random.Random(seed)
    runs = []
    for method in ("AttPtr+Dual", "AttPtr"):
        for number in (1, 2):
            hits = "".join(rng.choice("01") for _ in range(60))
            runs.append(replace(outcome(method, 0, seed=number), correct=hits, test=100 * hits.count("1") / 60))
    found = find(runs, ATIS)
    assert found.interval[0] <= found.difference <= found.interval[1]
