"""`weigh`: which way to choose is best on dev, from the shell."""

from __future__ import annotations

import json
import shutil

import pytest
import toy_run

from dualparse.manifest import forget_manifest
from dualparse.runs import Run

STAGES = ["q2lf", "lf2q", "lf_lm"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    train = toy_run.RECIPE["train"] | {"epochs": 8, "evaluate_from": 8}
    folder = tmp_path_factory.mktemp("weigh")
    return toy_run.make_run(folder, stages=STAGES, train=train, language_model={"epochs": 1})


@pytest.fixture
def run(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "run")


@pytest.fixture
def dualparse(dualparse, trained, toy_domain):
    """With the toy among the domains."""
    toy_domain({name: trained.parent / "toy" / f"{name}.tsv" for name in ("train", "dev", "test")})
    return dualparse


def test_a_table_for_every_beam_width_and_what_is_best(dualparse, run, tmp_path):
    told = dualparse("weigh", run, "--beams", 2, "--out", tmp_path / "ways.json")
    assert told.code == 0 and "Traceback" not in told.err
    assert told.out.index("2 beams: q2lf alone") < told.out.index("5 beams: q2lf alone")
    assert "way back  prior 0  prior 0.1" in told.out
    stored = json.loads((tmp_path / "ways.json").read_text())
    best = max(way["mean"] for way in stored["dev"])
    assert f"best on dev: {_said(next(way for way in stored['dev'] if way['mean'] == best))}: {best:.1f}" in told.out
    assert f"{run}: {best:.1f}; as its recipe chooses (5 beams, q2lf alone)" in told.out
    assert stored["runs"] == [{"run": str(run), "domain": "toy", "seed": 1}] and stored["parsers"] == "all"
    assert all(way["by_run"] == [round(way["mean"], 2)] for way in stored["dev"])
    assert stored.keys() >= {"commit", "hardware", "software", "seconds"}
    assert Run.open(run).recipe.search.beams == 5, "nothing is kept"


def _said(way: dict[str, float]) -> str:
    assert not way["matcher"], "this run trains none"
    if not way["reconstruction"]:
        return f"{way['beams']} beams, q2lf alone"
    return f"{way['beams']} beams, search.reconstruction {way['reconstruction']:g}, search.prior {way['prior']:g}"


def test_of_several_runs_the_mean_is_shown_and_kept_in_all(dualparse, run, tmp_path):
    other = shutil.copytree(run, tmp_path / "other")
    told = dualparse("weigh", run, other, "--beams", 3, "--keep", "--out", tmp_path / "ways.json")
    assert told.code == 0 and f"kept in {run}, {other}: evaluate again" in told.out
    stored = json.loads((tmp_path / "ways.json").read_text())
    best = max(stored["dev"], key=lambda way: way["mean"])
    for folder in (run, other):
        search = Run.open(folder).recipe.search
        assert (search.beams, search.reconstruction, search.prior) == (
            best["beams"],
            best["reconstruction"],
            best["prior"],
        )


def test_runs_with_other_beams_need_some_in_common(dualparse, run, tmp_path):
    other = shutil.copytree(run, tmp_path / "other")
    opened = Run.open(other)
    recipe = opened.recipe
    opened.save_recipe(recipe.model_copy(update={"search": recipe.search.model_copy(update={"beams": 2})}))
    told = dualparse("weigh", run, other)
    assert told.code == 2 and "say with --beams which to try for all" in told.err
    assert dualparse("weigh", run, other, "--beams", 2).code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--parsers", 2), "2 parsers were asked for, this run has 1"),
        (("--parsers", 1, "--keep"), "a run answers with all of its parsers"),
        (("--out", "."), "--out is a folder; expected the name of a file"),
        (("--device", "abacus"), "abacus"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(dualparse, run, arguments, told):
    result = dualparse("weigh", run, *arguments)
    assert result.code == 2 and told in result.err and "Traceback" not in result.err


def test_a_folder_without_a_run_or_without_lf2q(dualparse, run, tmp_path):
    result = dualparse("weigh", tmp_path / "nowhere")
    assert result.code == 2 and "no such run folder" in result.err
    (run / "lf2q.safetensors").unlink()
    result = dualparse("weigh", run)
    assert result.code == 2 and "lf2q.safetensors: missing" in result.err
    forget_manifest(run)
    result = dualparse("weigh", run)
    assert result.code == 2 and "lf2q is not trained yet" in result.err


def test_a_run_without_a_language_model_of_forms_is_told(dualparse, run):
    opened = Run.open(run)
    opened.save_recipe(opened.recipe.model_copy(update={"stages": ("q2lf", "lf2q")}))
    told = dualparse("weigh", run)
    assert told.code == 0 and f"no prior: lf_lm is not among the stages of {run}" in told.out
    assert f"no matcher: matcher is not among the stages of {run}" in told.out and "search.matcher" not in told.out
    assert "prior 0 " in told.out and "prior 0.1" not in told.out


def test_a_run_that_has_learned_from_dev(dualparse, run):
    opened = Run.open(run)
    data = opened.recipe.data.model_copy(update={"everything": True})
    opened.save_recipe(opened.recipe.model_copy(update={"data": data}))
    told = dualparse("weigh", run)
    assert told.code == 2 and "weigh the one it follows" in told.err


def test_beams_that_found_pseudo_labels_cannot_be_changed(dualparse, run):
    opened = Run.open(run)
    opened.save_recipe(opened.recipe.model_copy(update={"stages": ("q2lf", "lf2q", "lf_lm", "pseudo")}))
    told = dualparse("weigh", run, "--beams", 3, "--keep")
    assert told.code == 2 and "its pseudo-labels were found with 5 beams" in told.err
