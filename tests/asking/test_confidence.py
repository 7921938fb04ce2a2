"""Probabilities: fitted on labels, drawn to a default, measured."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dualparse.asking.confidence import (
    DEFAULT,
    FEATURES,
    NEVER,
    Confidence,
    at_cut,
    calibration_error,
    choose_cut,
    error_by_chance,
    fit,
    held_out,
    read_confidence,
    reliability,
    sure_enough,
)

TRUE = Confidence(-1.0, {"share": 2.0, "form": 0.0, "back": 1.0, "strange": -1.0})


def drawn(count: int, *, seed: int = 0) -> tuple[list[dict[str, float]], list[float]]:
    """Evidence, and answers that are right as often as `TRUE` says."""
    rng = random.Random(seed)
    rows = [
        {
            "share": rng.uniform(-4, 9),
            "form": rng.uniform(-6, 0),
            "back": rng.uniform(-4, 0),
            "strange": rng.choice((0.0, 0.0, 1.0)),
        }
        for _ in range(count)
    ]
    return rows, [float(rng.random() < TRUE.of(row)) for row in rows]


def test_many_labels_replace_the_default():
    rows, right = drawn(4000)
    fitted = fit(rows, right)
    assert fitted.examples == 4000
    for name, weight in TRUE.weights.items():
        assert fitted.weights[name] == pytest.approx(weight, abs=0.35), name
    others, outcome = drawn(4000, seed=1)
    told = [fitted.of(row) for row in others]
    assert calibration_error(reliability(told, outcome)) < 0.03
    wrong = [DEFAULT.of(row) for row in others]
    assert calibration_error(reliability(wrong, outcome)) > 0.06


def test_without_labels_the_default_counts_and_with_few_it_moves_little():
    assert fit([], []) is DEFAULT
    rows, right = drawn(3)
    fitted = fit(rows, right)
    assert all(abs(fitted.weights[name] - weight) < 0.6 for name, weight in DEFAULT.weights.items())


def test_labels_that_all_agree_give_finite_weights():
    rows, _ = drawn(200)
    fitted = fit(rows, [1.0] * 200)
    assert all(np.isfinite(weight) and abs(weight) < 10 for weight in (fitted.bias, *fitted.weights.values()))
    assert 0.9 < fitted.of(rows[0]) < 1.0


def test_evidence_that_is_missing_or_strange_does_no_harm():
    centre = {name: FEATURES[name].centre for name in TRUE.weights}
    assert TRUE.of({}) == TRUE.of(centre) == TRUE.of({"share": float("nan")} | {"nobody knows": 3.0})
    assert TRUE.of({"share": 1e9}) == TRUE.of({"share": FEATURES["share"].high})


def test_a_held_out_probability_has_not_seen_its_own_label():
    """With one feature and a label that contradicts it, what is fitted on all bends towards it."""
    rows, right = drawn(40)
    own = fit(rows, right)
    flipped = [1 - right[0], *right[1:]]
    assert held_out(rows, right)[0] == pytest.approx(held_out(rows, flipped)[0])
    assert fit(rows, flipped).of(rows[0]) != pytest.approx(own.of(rows[0]), abs=1e-3)


def test_what_is_written_reads_back_and_damage_is_told():
    told = TRUE.told()
    assert read_confidence(told) == TRUE
    for damage in ({"weights": {"nonsense": 1.0}}, {"bias": float("nan")}, {"weights": 3}, {"bias": "x"}):
        with pytest.raises((ValueError, TypeError)):
            read_confidence(told | damage)
    with pytest.raises(KeyError):
        read_confidence({})


def test_the_calibration_error_is_the_gap_by_size_of_the_bin():
    bins = reliability([0.95] * 8 + [0.15] * 2, [1] * 4 + [0] * 4 + [0, 0])
    assert [(each.count, each.right) for each in bins] == [(2, 0.0), (8, 0.5)]
    assert calibration_error(bins) == pytest.approx(0.8 * 0.45 + 0.2 * 0.15)
    assert reliability([1.0], [1])[0].high == 1.0
    assert calibration_error([]) == 0


def test_exact_probabilities_have_an_error_by_chance_that_shrinks_with_the_number_of_questions():
    few, many = (error_by_chance([0.5, 0.9] * count, draws=50) for count in (20, 2000))
    assert few > 0.04 > 0.02 > many


def test_answers_are_given_from_where_their_own_probabilities_promise_the_precision():
    told, right = [0.99, 0.95, 0.9, 0.9, 0.3], [1, 0, 1, 1, 0]
    assert sure_enough(told, right, 0.96) == at_cut(told, right, 0.95), "the mistake at 0.95 alone moves nothing"
    assert sure_enough(told, right, 0.94).at == 0.95, "two that are as likely are given both, or neither"
    assert sure_enough(told, right, 0.93).at == 0.9
    assert sure_enough([0.9], [1], 0.95) is NEVER and sure_enough([], [], 0.95) is NEVER


def test_a_cut_is_the_lowest_that_keeps_the_precision():
    told, right = [0.9, 0.8, 0.8, 0.6, 0.5], [1, 1, 0, 1, 1]
    assert choose_cut(told, right, 1.0).at == 0.9
    assert choose_cut(told, right, 0.8) == at_cut(told, right, 0.5)
    assert choose_cut(told, right, 0.8).coverage == 1.0
    assert choose_cut([0.9], [0], 0.5) is NEVER
    assert at_cut(told, right, NEVER.at).coverage == 0


def test_what_speaks_against_an_answer_is_named():
    assert TRUE.because({"share": 9, "back": -9, "strange": 1}) == ["back", "strange"]


def test_fitting_ends_where_it_explains_best_however_wrong_the_default():
    rows = [{"share": 9.2, "form": -1.0 - 0.1 * n, "back": -0.4 - 0.05 * n, "strange": 0.0} for n in range(60)]
    rows += [{"share": 0.1 * n, "form": -4.0, "back": -2.5, "strange": float(n % 2)} for n in range(40)]
    right = [float(number % 3 == 0) for number in range(60)] + [float(number % 2) for number in range(40)]
    fitted = fit(rows, right)
    told = [fitted.of(row) for row in rows]
    assert sum(told) / len(told) == pytest.approx(sum(right) / len(right), abs=0.02)
