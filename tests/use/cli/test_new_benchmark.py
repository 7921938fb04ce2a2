"""A new benchmark is one file of another package: the command finds it, trains on it and scores it by its metric."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

ONE_FILE = Path(__file__).parents[2] / "domains" / "tides.py"
PLACES = ("old quay", "bay", "mole", "bar")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The file as pip would leave it: a module, and a folder beside it that names its entry point."""
    site = tmp_path / "site"
    told = site / "tides-1.0.dist-info"
    told.mkdir(parents=True)
    shutil.copy(ONE_FILE, site / "tides.py")
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: tides\nVersion: 1.0\n", encoding="utf-8")
    (told / "entry_points.txt").write_text("[dualparse.domains]\ntides = tides:FAMILY\n", encoding="utf-8")
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("DUALPARSE_DATA", str(tmp_path / "data"))
    yield tmp_path / "data" / "tides"
    sys.modules.pop("tides", None)


def write_examples(folder: Path) -> None:
    folder.mkdir(parents=True)
    forms = {"old quay": "quay.old"}
    asked = {"when is high water": "high", "when is low water": "low", "how deep is it": "depth"}
    pairs = [
        f"{question} at the {place}\t( {word} {forms.get(place, place)} )\n"
        for place in PLACES
        for question, word in asked.items()
    ]
    for split, chosen in (("train", pairs), ("dev", pairs[::3]), ("test", pairs[::2])):
        (folder / f"{split}.tsv").write_text("".join(chosen), encoding="utf-8")


def test_a_benchmark_in_one_file_is_listed_trained_and_scored(dualparse, installed, tmp_path):
    assert "dualparse data get tides" in dualparse("domain", "list").out
    recipe, run = tmp_path / "tides.toml", tmp_path / "run"
    recipe.write_text(
        'domain = "tides"\n[model]\nembedding = 8\nhidden = 8\n'
        "[train]\nepochs = 12\nlearning_rate = 0.01\n[search]\nmax_length = 8\n",
        encoding="utf-8",
    )
    missing = dualparse("train", recipe, "--out", run)
    assert missing.code == 2 and "get them with: dualparse data get tides" in missing.err
    write_examples(installed)
    assert "high and low water" in dualparse("data", "list").out
    assert dualparse("train", recipe, "--out", run).code == 0
    assert dualparse("evaluate", run, "--split", "test").code == 0
    scores = json.loads((run / "metrics.json").read_text(encoding="utf-8"))["test"]["q2lf"]
    assert scores["metric"] == "shared_tokens"
    assert scores["exact"] < scores["accuracy"] < 100, "shares count, though few forms are right after a moment"
    judged = (run / "predictions.test.jsonl").read_text(encoding="utf-8").splitlines()
    assert any(0 < json.loads(line)["correct"] < 1 for line in judged)


def test_the_page_on_benchmarks_shows_this_file():
    page = (Path(__file__).parents[3] / "docs" / "own-benchmark.md").read_text(encoding="utf-8")
    assert f"```python\n{ONE_FILE.read_text(encoding='utf-8').strip()}\n```" in page
