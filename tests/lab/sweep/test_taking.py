"""Runs that begin with whole parsers of other runs."""

from __future__ import annotations

import pytest
import torch
import toy
from small_runs import left_behind, recipe

from dualparse.errors import InputError
from dualparse.lab.sharing import WHOLE, parser_recipe
from dualparse.lab.sweep.taking import take_parsers
from dualparse.runs import Run
from dualparse.training.loop import Tick
from dualparse.training.run import train
from dualparse.training.run_parts import members
from dualparse.training.score import score_run

CPU = torch.device("cpu")


@pytest.fixture
def toy_files(toy_domain, tmp_path):
    toy_domain(toy.write_files(tmp_path / "toy"))


def test_parsers_that_other_runs_have_trained_are_taken_whole(toy_files, tmp_path):
    changes = {"data": {"labeled": 0.5}, "search": {"reconstruction": 0.5}}
    both = recipe(stages=["q2lf", "lf2q", "pseudo"], committee=2, **changes)
    [(place, member)] = members(both).items()
    list(train(parser_recipe(both), tmp_path / "first", device=CPU))
    list(train(parser_recipe(member), tmp_path / "member", device=CPU))
    shared = {WHOLE: tmp_path / "first", place: tmp_path / "member", "q2lf": tmp_path / "other"}
    assert take_parsers(both, tmp_path / "run", shared) == {"q2lf": tmp_path / "other"}
    events = list(train(both, tmp_path / "run", resume=True, device=CPU))
    assert not any(isinstance(event, Tick) for event in events)
    run = left_behind(tmp_path / "run")
    below = run.pop("members")["2"]
    assert below == left_behind(tmp_path / "member") | {"config.toml": below["config.toml"]}
    assert run == left_behind(tmp_path / "first") | {"config.toml": run["config.toml"]}
    assert Run.open(tmp_path / "run").recipe == both and Run.open(tmp_path / "run" / place).recipe == member
    other = both.model_copy(update={"seed": 7})
    with pytest.raises(InputError, match="another run than this recipe's: seed is 1 there and 7 here"):
        take_parsers(other, tmp_path / "other", shared)
    assert not (tmp_path / "other").exists()


def test_a_parser_that_has_begun_by_itself_takes_stages(toy_files, tmp_path):
    both = recipe(stages=["q2lf", "lf2q", "pseudo"], data={"labeled": 0.5})
    list(train(parser_recipe(both), tmp_path / "first", device=CPU))
    (tmp_path / "run").mkdir()
    left = take_parsers(both, tmp_path / "run", {WHOLE: tmp_path / "first"})
    assert left == dict.fromkeys(both.stages, tmp_path / "first")
    ticks = [event for event in train(both, tmp_path / "run", device=CPU, shared=left) if isinstance(event, Tick)]
    assert {tick.stage for tick in ticks} == {"pseudo"}


def test_of_a_run_that_is_taken_whole_neither_scores_nor_half_a_file_come_along(toy_files, tmp_path):
    both = recipe(stages=["q2lf", "lf2q", "pseudo"], data={"labeled": 0.5}, committee=2)
    first = tmp_path / "first"
    list(train(parser_recipe(both), first, device=CPU))
    score_run(Run.open(first), split="test", device=CPU)
    (first / ".log.jsonl.abc.part").touch()
    take_parsers(both, tmp_path / "run", {WHOLE: first})
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {"config.toml", "query.vocab", "lf.vocab", "log.jsonl"} | {
        f"{name}.safetensors" for name in ("pretrained-q2lf", "q2lf", "lf2q")
    }
