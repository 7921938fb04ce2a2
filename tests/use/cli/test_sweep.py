"""`sweep`, `report` and `errors` as a user calls them: on a small domain of one's own, with real processes."""

from __future__ import annotations

import json
from dataclasses import astuple

import pytest

from dualparse.data.template import write_template
from dualparse.lab.store import Store

RECIPE = """
domain = "lib"
stages = ["q2lf"]
[model]
embedding = 6
hidden = 8
[train]
epochs = 1
[search]
beams = 2
max_length = 10
"""
GRID = 'recipe = "tiny.toml"\ntest = true\n[axes]\nseed = [1, 2]\n'


@pytest.fixture
def dualparse(dualparse, monkeypatch, tmp_path):
    """In a folder with a domain, a recipe and a grid."""
    monkeypatch.chdir(tmp_path)
    write_template(tmp_path / "lib")
    (tmp_path / "tiny.toml").write_text(RECIPE)
    (tmp_path / "grid.toml").write_text(GRID)
    return lambda *arguments: astuple(dualparse(*arguments))


def test_a_sweep_from_the_shell(dualparse, tmp_path):
    """One process for the stage, one for the cell, then the errors of its run and a report."""
    code, out, _ = dualparse("sweep", "grid.toml", "--list")
    assert code == 0 and "2 cells: 2 waiting" in out and "2 stages to train first" in out
    assert not (tmp_path / "runs").exists()
    code, out, err = dualparse("sweep", "grid.toml", "--only", "*seed=1", "--device", "cpu")
    assert code == 0, out + err
    assert "done    shared/q2lf-" in out and "done    grid/tiny,seed=1  dev " in out
    stored = Store(tmp_path / "results").get("grid/tiny,seed=1")
    assert stored and stored.path == tmp_path / "results" / "grid.jsonl"
    result = stored.result
    assert result["recipe"]["seed"] == 1 and "q2lf" in result["test"]
    code, out, _ = dualparse("sweep", "grid.toml", "--list")
    assert code == 0 and "2 cells: 1 done, 1 waiting" in out
    code, out, _ = dualparse("errors", "runs/grid/tiny,seed=1", "--split", "test", "--examples", 1)
    assert code == 0 and "tiny,seed=1, test: " in out and "gold  ( " in out
    code, out, _ = dualparse("errors", "runs/grid/tiny,seed=1", "--split", "test", "--json")
    assert {"kind", "detail", "query", "gold", "predicted"} <= json.loads(out.splitlines()[0]).keys()
    code, out, _ = dualparse("report", "results", "--out", "report", "--errors", "runs/grid/tiny,seed=1")
    assert code == 0 and "report/report.md" in out
    assert "## Errors of tiny,seed=1" in (tmp_path / "report" / "report.md").read_text()


def test_failed_cells_end_with_code_1_and_their_reason(dualparse, tmp_path):
    (tmp_path / "lib" / "train.tsv").write_text("one column\n")
    code, out, _ = dualparse("sweep", "grid.toml", "--only", "*seed=1", "--device", "cpu")
    assert code == 1
    assert "failed  shared/q2lf-" in out and "train.tsv:1: expected query<TAB>form" in out
    code, out, _ = dualparse("sweep", "grid.toml", "--list")
    assert code == 0 and "2 cells: 1 failed, 1 waiting" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["sweep", "none.toml"], "none.toml: no such grid"),
        (["sweep", "grid.toml", "--only", "nothing"], "no cell is called nothing"),
        (["sweep", "grid.toml", "--backend", "rya"], "unknown backend 'rya', did you mean 'ray'"),
        (["report", "nowhere"], "no such folder of results"),
        (["report", "--errors", "runs/x"], "--errors is for a report"),
        (["errors", "runs/x"], "not a run folder"),
        (["errors", "lib", "--split", "train"], "expected dev or test"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(dualparse, arguments, told):
    code, _, err = dualparse(*arguments)
    assert code == 2 and told in err and "Traceback" not in err


def test_a_report_is_printed_without_a_folder(dualparse, tmp_path):
    (tmp_path / "results").mkdir()
    code, out, _ = dualparse("report", "results")
    assert code == 0 and "| AttPtr+Dual+LF | 89.1 | - |" in out
