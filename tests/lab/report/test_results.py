"""Result files -> outcomes: names of methods, medians over seeds, and which of several settings counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dualparse.config import make_recipe
from dualparse.errors import InputError
from dualparse.lab.report.paper import DATASETS, PAPER, paper_score, paper_scores
from dualparse.lab.report.results import (
    MISSING,
    Scores,
    Side,
    alike,
    all_outcomes,
    average,
    best_of_ours,
    chosen,
    method,
    outcomes_of,
    read_results,
    scores,
)

DUAL = ["q2lf", "lf2q", "query_lm", "dual"]


def result(accuracy: float = 50.0, *, dev: float = 50.0, correct: str = "", **settings) -> dict:
    """A result as the sweep writes it."""
    recipe = make_recipe({"domain": "atis", "stages": ["q2lf"], **settings}).model_dump(mode="json")
    told = {"recipe": recipe, "dev": {"q2lf": {"accuracy": dev}}}
    told |= {"test": {"q2lf": {"accuracy": accuracy, "examples": 448}}}
    return told | ({"correct": {"test": correct}} if correct else {})


def write(folder: Path, *results: dict) -> Path:
    (folder / "grid").mkdir(parents=True)
    for i, item in enumerate(results):
        (folder / "grid" / f"{i}.json").write_text(json.dumps(item))
    return folder


def rewards(*names: str) -> dict:
    return {"rewards": [{"name": name, "weight": 0.5} for name in names]}


LM = rewards("form_lm", "fluency", "reconstruction")
MEANING = rewards("validity", "fluency", "reconstruction", "meaning")
BOTH_JUDGE = rewards("validity", "form_lm", "fluency", "reconstruction")


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({}, "AttPtr"),
        ({"model": {"copy_mechanism": False}}, "Att"),
        ({"data": {"labeled": 0.5, "synthesized": True}}, "AttPtr"),
        ({"stages": DUAL}, "AttPtr+Dual"),
        ({"stages": DUAL, "data": {"synthesized": True}}, "AttPtr+Dual+LF"),
        ({"stages": DUAL, "data": {"labeled": 0.5}}, "AttPtr+Dual+LF+Q"),
        ({"stages": DUAL, "data": {"labeled": 0.5, "queries": False}}, "AttPtr+Dual+LF"),
        ({"stages": DUAL, "data": {"labeled": 0.5, "queries": False, "forms": False}}, "AttPtr+Dual"),
        ({"stages": DUAL[:2] + ["pseudo"], "data": {"labeled": 0.5, "forms": False}}, "AttPtr+Pseudo(Q)"),
        ({"stages": DUAL[:2] + ["pseudo"], "data": {"synthesized": True}}, "AttPtr+Pseudo(LF)"),
        (
            {"stages": ["lf_lm", *DUAL], "game": LM},
            "AttPtr+Dual (LM validity)",
        ),
        ({"stages": ["lf_lm", *DUAL], "game": BOTH_JUDGE}, "AttPtr+Dual (LM and check validity)"),
        ({"stages": [*DUAL[:-1], "pseudo", "dual"]}, "AttPtr+Dual (after pseudo-labels)"),
        ({"stages": DUAL, "game": rewards("validity")}, "AttPtr+Dual (no loop from forms)"),
        ({"stages": DUAL, "game": MEANING}, "AttPtr+Dual (rewarded for what is meant)"),
        (
            {"stages": DUAL, "data": {"labeled": 0.5, "synthesized": True}},
            "AttPtr+Dual+LF+Q (synthesised forms too)",
        ),
        ({"data": {"canonical": 100}}, "AttPtr (pairs from the grammar)"),
        ({"data": {"analogies": 100}}, "AttPtr (pairs by analogy)"),
        ({"refit": True}, "AttPtr (dev pairs too)"),
    ],
)
def test_a_recipe_has_the_papers_name(settings, name):
    assert outcomes_of([result(**settings)])[0].method == name


def test_names_need_few_settings():
    assert method({"model": {"copy_mechanism": False}, "stages": ["dual"], "data": {"labeled": 0.5}}) == "Att+Dual+LF+Q"
    three = {"model": {"copy_mechanism": False}, "stages": ["q2lf"], "data": {}, "committee": 3}
    assert method(three) == "Att (3 parsers together)" and method(three | {"committee": 1}) == "Att"
    played = {"model": {"copy_mechanism": True}, "stages": ["dual"], "data": {"recombined": 100}}
    assert method(played) == "AttPtr+Dual+LF (recombined forms)"
    taught = {"model": {"copy_mechanism": False}, "stages": ["pseudo"], "data": {"labeled": 0.5}}
    assert method(taught | {"pseudo": {"teachers": 5}}) == "Att+Pseudo(LF+Q) (5 teachers)"
    assert method(taught | {"pseudo": {"teachers": 1}}) == "Att+Pseudo(LF+Q)"


def test_seeds_become_a_median_with_count_and_spread(tmp_path):
    folder = write(tmp_path, *(result(a, seed=s) for s, a in ((1, 80.0), (2, 90.0), (3, 81.0))))
    found = outcomes_of(read_results(folder))
    assert str(scores(found, "AttPtr", "atis")) == "81.0 (80.0-90.0, 3 seeds)"
    assert str(scores(found, "Att", "atis")) == MISSING
    assert str(Scores((77.25,))) == "77.2"


def test_of_several_settings_those_best_on_dev_count():
    better_on_test = [result(90.0, dev=70.0, seed=seed, train={"epochs": 9}) for seed in (1, 2)]
    better_on_dev = [result(80.0, dev=75.0, seed=seed) for seed in (1, 2)]
    for results in (better_on_dev + better_on_test, better_on_test + better_on_dev):
        assert scores(outcomes_of(results), "AttPtr", "atis").values == (80.0, 80.0)


def test_all_domains_of_a_dataset_have_the_same_settings():
    """Although on dev the other ones are better in one of them."""
    short = [result(60.0, dev=dev, domain=domain) for domain, dev in (("calendar", 70.0), ("recipes", 90.0))]
    long = [
        result(50.0, dev=dev, domain=domain, train={"epochs": 9})
        for domain, dev in (("calendar", 75.0), ("recipes", 80.0))
    ]
    for results in (short + long, long + short):
        found = outcomes_of(results)
        assert [scores(found, "AttPtr", domain).values for domain in ("calendar", "recipes")] == [(60.0,), (60.0,)]


def test_settings_tested_on_more_domains_go_first_and_others_fill_the_gaps():
    whole = [result(60.0, dev=50.0, domain=domain) for domain in ("calendar", "recipes")]
    part = result(50.0, dev=90.0, domain="calendar", train={"epochs": 9})
    other = result(40.0, dev=10.0, domain="blocks", train={"epochs": 5})
    found = outcomes_of([part, *whole, other])
    assert {o.domain: o.test for o in found} == {"calendar": 60.0, "recipes": 60.0, "blocks": 40.0}
    assert sorted(map(repr, chosen(found))) == sorted(map(repr, found)), "chosen once, chosen for good"


def test_alike_are_runs_that_differ_in_nothing_but_what_makes_their_methods():
    half = {"labeled": 0.5}
    sides = [Side("AttPtr+Dual+LF+Q", 0.5), Side("AttPtr+Dual+LF+Q (LM validity)", 0.5)]

    def check(test: float, dev: float, seed: int = 1, **game: object) -> dict:
        return result(test, dev=dev, seed=seed, stages=DUAL, data=half, game=game)

    def lm(test: float, dev: float, **game: object) -> dict:
        return result(test, dev=dev, stages=["lf_lm", *DUAL], data=half, game=LM | game)

    def compared(*runs: dict, domains: tuple[str, ...] = ("atis",)) -> list[float]:
        return sorted(outcome.test for outcome in alike(all_outcomes(runs), sides, domains))

    long = check(80.0, 90.0, epochs=9)
    assert scores(outcomes_of([long, check(70.0, 60.0)]), "AttPtr+Dual+LF+Q", "atis", labeled=0.5).values == (80.0,)
    assert compared(long, check(70.0, 60.0), lm(71.0, 61.0)) == [70.0, 71.0]
    assert compared(long, check(70.0, 60.0), lm(71.0, 61.0), lm(75.0, 80.0, epochs=9)) == [75.0, 80.0]
    assert compared(check(70.0, 60.0), check(90.0, 60.0, seed=2), lm(71.0, 61.0)) == [70.0, 71.0], "the same seeds"
    assert compared(check(70.0, 60.0), lm(71.0, 61.0), domains=("atis", "calendar")) == [], "one domain is missing"
    assert compared(long, lm(71.0, 61.0)) == [], "played otherwise"
    refit = check(70.0, 60.0)
    refit["recipe"]["refit"] = True
    assert compared(refit, lm(71.0, 61.0)) == [], "one of them has learned from dev"
    other_split = check(70.0, 60.0)
    other_split["recipe"]["data"]["split_seed"] = 7
    assert compared(other_split, lm(71.0, 61.0)) == [], "other pairs have labels"


def test_alike_looks_at_what_all_methods_have():
    """The parser of a game and one that never played; whoever has no game has none that could differ."""
    sides = [Side("AttPtr"), Side("AttPtr+Dual")]
    parser, longer = result(70.0, dev=50.0), result(75.0, dev=60.0, train={"epochs": 9})
    games = [result(72.0, dev=55.0, stages=DUAL), result(74.0, dev=56.0, stages=DUAL, game={"epochs": 9})]
    found = alike(all_outcomes([parser, longer, *games]), sides, ["atis"])
    assert [outcome.test for outcome in found] == [70.0, 74.0]


def test_settings_nobody_reads_do_not_set_results_apart():
    found = outcomes_of([result(80.0, seed=1, dev=99.0), result(70.0, seed=2, game={"epochs": 3})])
    assert scores(found, "AttPtr", "atis").values == (80.0, 70.0)


def test_of_two_runs_alike_the_first_counts():
    assert [outcome.test for outcome in outcomes_of([result(80.0), result(81.0, correct="0" * 448)])] == [80.0]


def test_what_the_paper_has_a_number_of_is_not_our_own():
    runs = [result(80.0, stages=["lf_lm", *DUAL], data={"labeled": 0.5}, game=LM), result(70.0, data={"labeled": 0.5})]
    assert best_of_ours(outcomes_of(runs), ["atis"], base="AttPtr+Dual+LF+Q", labeled=0.5) is None


def test_amounts_of_data_are_kept_apart():
    found = outcomes_of([result(float(100 * labeled), data={"labeled": labeled}) for labeled in (0.3, 0.5, 1.0)])
    assert scores(found, "AttPtr", "atis", labeled=0.3).values == (30.0,)
    assert scores(found, "AttPtr", "atis").values == (100.0,)


def test_results_of_older_versions_are_read(tmp_path):
    """With settings that are gone, and without those that came later."""
    old = result(77.0)
    old["recipe"]["game"] = {"gone": 1}
    old["recipe"]["data"] = {"labeled": 1.0}
    [outcome] = outcomes_of(read_results(write(tmp_path, old)))
    assert (outcome.method, outcome.test, outcome.unlabeled, outcome.correct) == ("AttPtr", 77.0, 1.0, "")


def test_the_stored_results_are_read():
    folder = Path(__file__).parents[3] / "results"
    found = outcomes_of(read_results(folder))
    assert str(scores(found, "AttPtr", "atis")).endswith("seeds)")
    assert average([scores(found, "Att", domain) for domain in DATASETS["OVERNIGHT"]]) is not None


def test_results_without_a_test_score_are_no_results(tmp_path):
    assert read_results(write(tmp_path, {"recipe": {}, "dev": {}}, {"other": 1}, [1])) == []  # type: ignore[arg-type]


def test_bad_input_is_named(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        read_results(tmp_path / "nowhere")
    (write(tmp_path / "bad") / "grid" / "x.json").write_text("{")
    with pytest.raises(InputError, match=r"x\.json: not JSON"):
        read_results(tmp_path / "bad")


def test_the_papers_averages_are_those_of_its_columns():
    """A slip in typing a column would show."""
    for labeled, table in ((1.0, "table2"), (0.5, "table4")):
        for name in PAPER[table]:
            columns = paper_scores("OVERNIGHT", name, labeled)
            assert paper_score("OVERNIGHT", name, labeled) == pytest.approx(sum(columns) / 8, abs=0.1), name


def test_table_5_repeats_two_rows_of_table_4():
    for base, row in PAPER["table5"].items():
        assert row["check"] == [paper_score(dataset, f"{base}+Dual+LF+Q", 0.5) for dataset in DATASETS]
        name = f"{base}+Dual+LF+Q (LM validity)"
        assert row["lm"] == [paper_score(dataset, name, 0.5) for dataset in DATASETS]
    assert paper_score("ATIS", "AttPtr", 0.3) is None
