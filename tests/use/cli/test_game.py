"""`plot` and `game`: a run on the toy domain, watched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import toy
from shell import Result

from dualparse.config import make_recipe
from dualparse.training.run import train

REWARDS = [
    {"name": "validity", "weight": 0.25},
    {"name": "fluency", "weight": 0.5},
    {"name": "reconstruction", "weight": 0.75},
]
STAGES = ["q2lf", "lf2q", "query_lm", "dual"]


@pytest.fixture
def dualparse(dualparse, toy_domain, run):
    """With the toy among the domains."""
    toy_domain({})
    return dualparse


def make_run(folder: Path, stages: list[str]) -> Path:
    values = {
        "domain": "toy",
        "stages": stages,
        "model": {"embedding": 8, "hidden": 12},
        "train": {"epochs": 8, "learning_rate": 0.02, "batch_size": 8, "evaluate_from": 8},
        "language_model": {"epochs": 1},
        "game": {"epochs": 1, "beams": 3, "max_length": 10, "rewards": REWARDS},
        "search": {"max_length": 12},
    }
    with toy.registered(toy.write_files(folder / "toy")):
        list(train(make_recipe(values), folder / "run", device=torch.device("cpu")))
    return folder / "run"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    return make_run(tmp_path_factory.mktemp("dual"), STAGES)


@pytest.fixture(scope="module")
def supervised(tmp_path_factory) -> Path:
    return make_run(tmp_path_factory.mktemp("supervised"), STAGES[:2])


def told(result: Result, *words: str) -> None:
    assert result.code == 2, result
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    for word in words:
        assert word in result.err


def test_a_round_from_a_query(run, dualparse):
    result = dualparse("game", run, "how deep is arn")
    assert (result.code, result.err) == (0, "")
    assert "q2lf writes 3 forms" in result.out
    assert "reward = 0.25 x validity + 0.75 x reconstruction" in result.out
    for word in ("how deep is arn", "log P", "validity", "reconstruction", "reward", "advantage", "lf2q says back"):
        assert word in result.out
    assert result.out.count("lf2q says back") == 3


def test_a_round_from_a_form(run, dualparse):
    result = dualparse("game", run, "--form", "( get town.arn depth )", "--k", "2")
    assert (result.code, result.err) == (0, "")
    assert "lf2q writes 2 queries, q2lf finds the way back" in result.out
    assert result.out.count("q2lf says back") == 2
    assert "reward = 0.5 x fluency + 0.75 x reconstruction" in result.out


def test_the_numbers_add_up(run, dualparse):
    round_ = json.loads(dualparse("game", run, "how deep is arn", "--json").out)
    assert round_["writer"] == "q2lf"
    moves = round_["moves"]
    assert len(moves) == 3
    for move in moves:
        said = move["rewards"]
        assert move["reward"] == pytest.approx(0.25 * said["validity"] + 0.75 * said["reconstruction"], abs=1e-5)
        assert move["verdict"].keys() == {"surface", "semantics", "reason"}
    assert sum(move["advantage"] for move in moves) == pytest.approx(0.0, abs=1e-4)


def test_before_the_game(run, dualparse, supervised):
    now, before = (dualparse("game", run, "how deep is arn", "--json", *more).out for more in ([], ["--before"]))
    assert now != before
    told(dualparse("game", supervised, "how deep is arn", "--before"), "no pretrained-q2lf model")


def test_a_supervised_run_has_no_fluency(supervised, dualparse):
    result = dualparse("game", supervised, "--form", "( get town.arn depth )")
    assert (result.code, result.err) == (0, "")
    assert "reward = 0.75 x reconstruction" in result.out
    assert "fluency" not in result.out
    assert "validity" in dualparse("game", supervised, "how deep is arn").out


def test_bad_starts_of_a_round(run, dualparse, tmp_path):
    told(dualparse("game", run), "a round starts from a query or from a form")
    told(dualparse("game", run, "how deep", "--form", "( all lake )"), "a round starts from a query or from a form")
    told(dualparse("game", run, ""), "empty")
    told(dualparse("game", run, "--form", "( all lake"), "not a logical form")
    told(dualparse("game", run, "h\udcfcts"), "not UTF-8")
    told(dualparse("game", tmp_path, "how deep"), "not a run folder")


def test_curves_of_a_run(run, dualparse, tmp_path):
    result = dualparse("plot", run, "--out", tmp_path / "curves.svg")
    assert (result.code, result.err, result.out) == (0, "", f"{tmp_path / 'curves.svg'}\n")
    assert "rewards of the game" in (tmp_path / "curves.svg").read_text(encoding="utf-8")
    result = dualparse("plot", run)
    assert (result.code, result.out) == (0, f"{run / 'curves.png'}\n")
    assert (run / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_bad_pictures(run, dualparse, tmp_path):
    told(dualparse("plot", tmp_path), "log.jsonl is missing")
    told(dualparse("plot", tmp_path / "x"), "no such run folder")
    told(dualparse("plot", run, "--out", tmp_path / "curves.gif"), "unknown picture format")
    (tmp_path / "file").write_text("", encoding="utf-8")
    told(dualparse("plot", run, "--out", tmp_path / "file" / "curves.png"), "cannot write")


@pytest.mark.parametrize("command", ["plot", "game"])
def test_help_has_an_example(dualparse, command):
    assert f"Example: dualparse {command}" in dualparse(command, "--help").out
