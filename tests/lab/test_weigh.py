"""Ways to choose a form, tried on dev."""

from __future__ import annotations

import shutil

import pytest
import torch
import toy

from dualparse.config import Recipe, make_recipe
from dualparse.errors import InputError
from dualparse.lab.weigh import Way, best_way, choose_so, mean_scores, try_ways
from dualparse.runs import REFIT, Run
from dualparse.training.loop import Tick
from dualparse.training.run import refit, train
from dualparse.training.score import score_run

CPU = torch.device("cpu")


def recipe(**changes: object) -> Recipe:
    values: dict[str, object] = {
        "domain": "toy",
        "stages": ["q2lf", "lf2q", "query_lm", "lf_lm", "dual"],
        "committee": 2,
        "data": {"labeled": 0.5},
        "model": {"embedding": 12, "hidden": 16, "dropout": 0.2},
        "train": {"epochs": 12, "learning_rate": 0.02, "batch_size": 8, "evaluate_from": 12},
        "language_model": {"epochs": 2},
        "game": {"epochs": 1, "beams": 2, "max_length": 10, "updates": 2},
        "search": {"max_length": 12, "beams": 3, "reconstruction": 0.4, "prior": 0.25},
    }
    return make_recipe(values | changes)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return toy.write_files(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def trained(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("weigh") / "run"
    with toy.registered(files):
        list(train(recipe(), folder, device=CPU))
    return folder


@pytest.fixture
def run(trained, files, toy_domain, tmp_path):
    toy_domain(files)
    return Run.open(shutil.copytree(trained, tmp_path / "run"))


def test_every_way_scores_as_a_run_that_chooses_so(run):
    scores = try_ways(run, device=CPU, beams=[1, 6], reconstructions=[0.5, 4.0], priors=[0.0, 2.0])
    assert {way.beams for way in scores} == {1, 3, 6}, "those of the recipe, too"
    assert Way(3, 0.4, 0.25) in scores and len(scores) == 3 * (1 + 2 * 2) + 1
    assert len(set(scores.values())) > 1
    for way, score in scores.items():
        choose_so(run, way)
        told = score_run(run, split="dev", device=CPU)
        assert told["both" if way.reconstruction else "q2lf"]["accuracy"] == round(score, 2), way


def test_the_first_parsers_of_a_committee_choose_as_a_smaller_one(run):
    first = try_ways(run, device=CPU, parsers=1, reconstructions=[0.5])
    run.save_recipe(run.recipe.model_copy(update={"committee": 1}))
    alone = try_ways(run, device=CPU, reconstructions=[0.5])
    assert first == alone


def test_without_a_language_model_of_forms_there_is_no_prior(run):
    search = run.recipe.search.model_copy(update={"prior": 0.0})
    stages = tuple(stage for stage in run.recipe.stages if stage != "lf_lm")
    run.save_recipe(run.recipe.model_copy(update={"stages": stages, "search": search}))
    assert {way.prior for way in try_ways(run, device=CPU, priors=[0.0, 2.0])} == {0.0}


def test_a_way_that_is_kept_is_the_run_s_own(run):
    score_run(run, split="dev", device=CPU)
    choose_so(run, Way(6, 1.5, 0.5))
    again = Run.open(run.folder)
    assert Way.of(again.recipe) == Way(6, 1.5, 0.5)
    assert again.recipe.search.max_length == 12 and again.recipe.model == recipe().model
    assert again.metrics() == {} and not list(run.folder.glob("predictions*"))


def test_what_is_kept_already_changes_nothing(run):
    score_run(run, split="dev", device=CPU)
    assert not choose_so(run, Way(3, 0.4, 0.25))
    assert run.metrics() and list(run.folder.glob("predictions*"))


def test_a_run_goes_on_as_before_when_a_way_is_kept(run):
    """It can be resumed with or without what was kept, enlarged, and refit; the refit chooses as the run does."""
    list(refit(run, device=CPU))
    score_run(Run.open(run.folder / REFIT), split="test", device=CPU)
    assert choose_so(run, Way(6, 1.5, 0.5))
    again = Run.open(run.folder / REFIT)
    assert Way.of(again.recipe) == Way(6, 1.5, 0.5) and again.recipe.data.everything and not again.metrics()
    for changed in (run.recipe, recipe(), recipe(committee=3)):
        score_run(run, split="dev", device=CPU)
        same = changed == run.recipe
        events = list(train(changed, run.folder, device=CPU, resume=True))
        assert bool(run.metrics()) == same, "scores of another way are forgotten"
        trained = {event.stage for event in events if isinstance(event, Tick)}
        assert all(stage.startswith("members/3/") for stage in trained), "nothing else is trained again"
        assert run.recipe == changed
    assert not any(isinstance(event, Tick) and "members/3/" not in event.stage for event in refit(run, device=CPU))


def test_the_beams_that_found_pseudo_labels_stay(run):
    stages = ("q2lf", "lf2q", "lf_lm", "pseudo")
    run.save_recipe(run.recipe.model_copy(update={"stages": stages}))
    with pytest.raises(InputError, match="pseudo-labels were found with 3 beams"):
        choose_so(run, Way(6, 1.5, 0.5))
    assert choose_so(run, Way(3, 1.5, 0.5))


def test_the_first_parsers_do_not_need_the_others(run):
    shutil.rmtree(run.folder / "members")
    assert try_ways(run, device=CPU, parsers=1, reconstructions=[0.5])
    with pytest.raises(InputError, match="members/2, one of 2 parsers, is not trained yet"):
        try_ways(run, device=CPU)


def test_what_cannot_be_weighed(run):
    with pytest.raises(InputError, match="3 parsers were asked for, this run has 2"):
        try_ways(run, device=CPU, parsers=3)
    data = run.recipe.data.model_copy(update={"everything": True})
    run.save_recipe(run.recipe.model_copy(update={"data": data}))
    with pytest.raises(InputError, match="learned from the dev pairs: weigh the one it follows"):
        try_ways(run, device=CPU)


def test_of_equals_the_least_is_best():
    scores = {Way(20, 0.5, 0.1): 70.0, Way(5, 1.0, 0.3): 70.0, Way(5, 1.0, 0.1): 70.0, Way(5): 69.0}
    assert best_way(scores) == Way(5, 1.0, 0.1)
    assert best_way(scores | {Way(20, 1.5): 70.1}) == Way(20, 1.5)
    rounded = {Way(5, 0.7, 0.2): 68.84333333333332, Way(5, 0.7, 0.3): 68.84333333333333}  # of as many right answers
    assert best_way(rounded) == Way(5, 0.7, 0.2)


def test_of_several_runs_the_mean_counts_where_all_have_a_way():
    one, other = {Way(5): 60.0, Way(5, 1.0): 70.0}, {Way(5): 80.0, Way(9): 90.0}
    assert mean_scores([one, other]) == {Way(5): 70.0}
    assert mean_scores([one]) == one
