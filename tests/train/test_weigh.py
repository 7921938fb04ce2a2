"""Ways to choose a form, tried on dev."""

from __future__ import annotations

import shutil

import pytest
import torch
import toy

from dualparse.config import Recipe, make_recipe
from dualparse.errors import InputError
from dualparse.runs import Run
from dualparse.train.run import train
from dualparse.train.score import score_run
from dualparse.train.weigh import Way, best_way, choose_so, mean_scores, weigh

CPU = torch.device("cpu")


def recipe(**changes: object) -> Recipe:
    values: dict[str, object] = {
        "domain": "toy",
        "stages": ["q2lf", "lf2q", "lf_lm", "pseudo"],
        "committee": 2,
        "data": {"labeled": 0.5},
        "model": {"embedding": 12, "hidden": 16, "dropout": 0.2},
        "train": {"epochs": 12, "learning_rate": 0.02, "batch_size": 8, "evaluate_from": 12},
        "language_model": {"epochs": 2},
        "search": {"max_length": 12, "beams": 3, "reconstruction": 0.4, "prior": 0.25},
    }
    return make_recipe(values | changes)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return toy.write_files(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def trained(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("weigh") / "run"
    with pytest.MonkeyPatch.context() as patch:
        toy.install(patch, files)
        list(train(recipe(), folder, device=CPU))
    return folder


@pytest.fixture
def run(trained, files, monkeypatch, tmp_path):
    toy.install(monkeypatch, files)
    return Run.open(shutil.copytree(trained, tmp_path / "run"))


def test_every_way_scores_as_a_run_that_chooses_so(run):
    scores = weigh(run, device=CPU, beams=[1, 6], reconstructions=[0.5, 4.0], priors=[0.0, 2.0])
    assert {way.beams for way in scores} == {1, 3, 6}, "those of the recipe, too"
    assert Way(3, 0.4, 0.25) in scores and len(scores) == 3 * (1 + 2 * 2) + 1
    assert len(set(scores.values())) > 1
    for way, score in scores.items():
        choose_so(run, way)
        told = score_run(run, split="dev", device=CPU)
        assert told["both" if way.reconstruction else "q2lf"]["accuracy"] == score, way


def test_the_first_parsers_of_a_committee_choose_as_a_smaller_one(run):
    first = weigh(run, device=CPU, parsers=1, reconstructions=[0.5])
    run.save_recipe(run.recipe.model_copy(update={"committee": 1}))
    alone = weigh(run, device=CPU, reconstructions=[0.5])
    assert first == alone


def test_without_a_language_model_of_forms_there_is_no_prior(run):
    search = run.recipe.search.model_copy(update={"prior": 0.0})
    stages = tuple(stage for stage in run.recipe.stages if stage != "lf_lm")
    run.save_recipe(run.recipe.model_copy(update={"stages": stages, "search": search}))
    assert {way.prior for way in weigh(run, device=CPU, priors=[0.0, 2.0])} == {0.0}


def test_a_way_that_is_kept_is_the_run_s_own(run):
    score_run(run, split="dev", device=CPU)
    choose_so(run, Way(6, 1.5, 0.5))
    again = Run.open(run.folder)
    assert Way.of(again.recipe) == Way(6, 1.5, 0.5)
    assert again.recipe.search.max_length == 12 and again.recipe.model == recipe().model
    assert again.metrics() == {} and not list(run.folder.glob("predictions*"))


def test_where_q2lf_chooses_alone_a_prior_is_not_read():
    assert Way.of(recipe(search={"beams": 3, "prior": 0.25})) == Way(3)


def test_what_cannot_be_weighed(run):
    with pytest.raises(InputError, match="3 parsers were asked for, this run has 2"):
        weigh(run, device=CPU, parsers=3)
    data = run.recipe.data.model_copy(update={"everything": True})
    run.save_recipe(run.recipe.model_copy(update={"data": data}))
    with pytest.raises(InputError, match="learned from the dev pairs"):
        weigh(run, device=CPU)


def test_of_equals_the_least_is_best():
    scores = {Way(20, 0.5, 0.1): 70.0, Way(5, 1.0, 0.3): 70.0, Way(5, 1.0, 0.1): 70.0, Way(5): 69.0}
    assert best_way(scores) == Way(5, 1.0, 0.1)
    assert best_way(scores | {Way(20, 1.5): 70.1}) == Way(20, 1.5)


def test_of_several_runs_the_mean_counts_where_all_have_a_way():
    one, other = {Way(5): 60.0, Way(5, 1.0): 70.0}, {Way(5): 80.0, Way(9): 90.0}
    assert mean_scores([one, other]) == {Way(5): 70.0}
    assert mean_scores([one]) == one
