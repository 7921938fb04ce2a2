"""`demo` and `evaluate --before`: with a tiny network, so that the whole way takes seconds."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from dualparse.config import make_recipe, read_recipe, write_recipe
from dualparse.domains.embedded import EMBEDDED
from dualparse.domains.registry import open_domain
from dualparse.matching.index import Index, open_index, templates_of
from dualparse.matching.matcher import Matcher
from dualparse.networks.encoder import open_encoder
from dualparse.use.cli import demo as command

TINY = {
    "domain": "trails",
    "stages": ["query_lm", "q2lf", "lf2q", "dual"],
    "data": {"labeled": 0.1, "unlabeled": 0.05, "queries": False},
    "model": {"embedding": 4, "hidden": 4},
    "train": {"epochs": 1},
    "language_model": {"epochs": 1},
    "game": {"epochs": 1, "beams": 2, "max_length": 5, "batch_size": 64},
    "search": {"beams": 1, "max_length": 5},
}


GRAMMAR = """
(rule $ROOT (huts with showers) (ConstantFn (filter (all hut) has_showers)))
(rule $ROOT (how many huts are there) (ConstantFn (count (all hut))))
"""


def small_index(folder: Path, encoder: Path) -> Index:
    """What a grammar of two forms says."""
    shutil.copytree(EMBEDDED / "trails", folder)
    (folder / "domain.grammar").write_text(GRAMMAR)
    matcher = Matcher(open_encoder(str(encoder))).eval()
    return open_index(templates_of(open_domain(str(folder)), cache=folder / "cache"), matcher, cache=folder / "cache")


def test_the_demo_trains_compares_plots_answers_and_can_be_repeated(dualparse, monkeypatch, tmp_path, tiny_encoder):
    monkeypatch.setattr("dualparse.config.read_recipe", lambda path, **_: make_recipe(dict(TINY)))
    index = small_index(tmp_path / "small", tiny_encoder)
    monkeypatch.setattr(command, "_index", lambda domain, console: index)
    out = tmp_path / "demo"
    shown = dualparse("demo", "--out", out).out
    steps = ("no labels: schema and names", "no labels: what the grammar says", "half of the labels", "then the game")
    assert "game and grammar together" in shown
    for part in (*steps, *command.QUESTIONS, f"dualparse serve {out / 'trails'} {out / 'run'}"):
        assert part in shown
    assert shown.count("SELECT") >= 7 and "no answer: " in shown  # seven answers with their SQL, and a refusal
    assert (out / command.PLOT).stat().st_size > 10_000
    run = out / command.RUN
    metrics = json.loads((run / "metrics.json").read_text())
    assert set(metrics) == {"test", "test.before", "engine"} and "q2lf" in metrics["test.before"]
    monkeypatch.setattr(command, "_index", lambda domain, console: None)  # without the extra
    again = dualparse("demo", "--out", out)
    assert "grammar" not in again.out.partition("no labels")[2]
    assert again.code == 0 and "finished before, kept" in again.out
    assert "before" in dualparse("evaluate", run, "--split", "dev", "--before").out
    assert (run / "predictions.dev.before.jsonl").exists()


def test_a_run_without_a_game_has_no_agents_from_before(dualparse, tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(write_recipe(make_recipe(dict(TINY, stages=["q2lf"]))))
    assert dualparse("train", recipe, "--out", tmp_path / "run").code == 0
    told = dualparse("evaluate", tmp_path / "run", "--before")
    assert told.code == 2 and "no pre-trained agent" in told.err


def test_the_demo_recipe_is_a_recipe():
    from importlib.resources import as_file, files

    with as_file(files("dualparse.use.cli") / "demo.toml") as path:
        assert read_recipe(path).data.labeled < 1
