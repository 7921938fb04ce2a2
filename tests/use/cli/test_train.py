"""`train`, `evaluate`, `parse`, `verbalize` on the domain that ships with the package, and all that can be wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shell import Result

import dualparse as package
from dualparse.config import explain

RECIPE = """
domain = "trails"
[model]
embedding = 8
hidden = 10
[train]
epochs = 2
batch_size = 64
evaluate_from = 2
[search]
beams = 2
max_length = 12
"""


def assert_told(result: Result, *words: str) -> None:
    """Exit code 2, one line on stderr with these words, no traceback."""
    assert result.code == 2, result
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err + result.out
    for word in words:
        assert word in result.err


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run of a tiny model, trained by the command in a process of its own, as a user does it."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "tiny.toml").write_text(RECIPE, encoding="utf-8")
    command = [sys.executable, "-m", "dualparse.use.cli.main", "train", "tiny.toml", "--set", "train.epochs=1"]
    done = subprocess.run(
        [*command, "--set", "train.evaluate_from=1", "--device", "cpu"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path(package.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "966 pairs to train on" in done.stdout
    return folder / "runs" / "tiny"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_training_leaves_a_run_folder(run):
    assert set(files(run)) == {
        "config.toml",
        "query.vocab",
        "lf.vocab",
        "q2lf.safetensors",
        "lf2q.safetensors",
        "log.jsonl",
        "confidence.json",
        "manifest.json",
    }
    records = [json.loads(line) for line in (run / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(record["stage"], record["epoch"]) for record in records] == [("q2lf", 1), ("lf2q", 1)]


def test_evaluation_writes_predictions_and_metrics(run, dualparse):
    result = dualparse("evaluate", run, "--split", "test", "--device", "cpu")
    assert (result.code, result.err) == (0, "")
    assert "denotation" in result.out
    assert "bleu" in result.out
    metrics = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["test"]["q2lf"]["metric"] == "denotation"
    assert metrics["test"]["q2lf"]["examples"] == 276
    assert {"accuracy", "exact", "denotation", "valid", "interval_95"} <= set(metrics["test"]["q2lf"])
    assert metrics["test"]["lf2q"]["metric"] == "bleu"
    lines = (run / "predictions.test.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 276
    assert {"query", "gold", "predicted", "verdict", "gold_denotation", "denotation", "exact", "correct"} <= set(
        json.loads(lines[0])
    )
    assert dualparse("evaluate", run, "--beams", "1", "--device", "cpu").code == 0
    assert set(json.loads((run / "metrics.json").read_text(encoding="utf-8"))) == {"test", "dev", "engine"}


def test_probabilities_are_fitted_on_dev_and_measured(run, dualparse, tmp_path):
    away = tmp_path / "away.tsv"
    away.write_text("off-topic\twho painted the mona lisa\nforeign\twie lang ist der weg\n")
    result = dualparse("evaluate", run, "--calibration", "--precision", "0.8", "--split", "test", "--strangers", away)
    assert (result.code, result.err) == (0, "")
    assert "for a precision of 80% (chosen on dev)" in result.out and "calibration error" in result.out
    assert "refused of 1 questions that cannot be answered (foreign)" in result.out
    told = json.loads((run / "metrics.json").read_text(encoding="utf-8"))["calibration"]["test"]
    assert told["examples"] == 276 and told["wanted"] == 0.8
    rows = (run / "calibration.test.tsv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + len(told["bins"]) and rows[0].startswith("low\thigh\tcount")
    assert (run / "calibration.test.svg").read_bytes().startswith(b"<?xml")
    assert json.loads((run / "confidence.json").read_text(encoding="utf-8"))["wanted"] == 0.8
    assert dualparse("verify", run).code == 0
    assert_told(dualparse("evaluate", run, "--precision", "0.9"), "go with --calibration")
    assert_told(dualparse("evaluate", run, "--calibration", "--beams", "3"), "without --before and --beams")


def test_a_run_answers_asks_back_or_refuses(run, dualparse):
    away = dualparse("ask", run, "who painted the mona lisa")
    assert away.code == 0 and "no answer: " in away.out
    told = json.loads(dualparse("ask", run, "--json", "which huts have showers").out)
    assert told["status"] in ("answered", "ambiguous", "refused") and 0 <= told["probability"] <= 1
    assert_told(dualparse("ask", run, "--today", "2024-01-01", "huts"), "for connected folders")


def test_a_question_as_an_argument(run, dualparse):
    result = dualparse("parse", run, "which huts have showers", "--k", "2", "--device", "cpu")
    assert (result.code, result.err) == (0, "")
    assert "which huts have showers" in result.out


def test_questions_from_standard_input_as_json(run, dualparse):
    result = dualparse(
        "parse", run, "--json", "--k", "2", stdin="which huts have showers\nle café [bold]?\r\n".encode()
    )
    assert (result.code, result.err) == (0, "")
    first, second = map(json.loads, result.out.splitlines())
    assert first["question"] == "which huts have showers"
    assert second["question"] == "le café [bold]?"
    for answered in (first, second):
        assert len(answered["hypotheses"]) == 2
        assert set(answered["hypotheses"][0]) == {
            "form",
            "probability",
            "score",
            "ok",
            "reason",
            "answer",
            "copies",
        }


def test_a_question_that_looks_like_markup_is_shown_as_it_is(run, dualparse):
    result = dualparse("parse", run, "[/red] [bold]huts[/bold] :smile:")
    assert result.code == 0
    assert "[/red] [bold]huts[/bold]" in result.out


def test_a_form_is_worded(run, dualparse):
    result = dualparse("verbalize", run, "( count ( all hut ) )", "--k", "2")
    assert (result.code, result.err) == (0, "")
    assert len(result.out.splitlines()) == 2
    assert len(dualparse("verbalize", run, stdin=b"( all hut )\n( all trail )\n").out.splitlines()) == 2


def test_bad_questions_and_forms(run, dualparse):
    assert_told(dualparse("parse", run, ""), "empty")
    assert_told(dualparse("parse", run, stdin=b"  \n"), "empty")
    assert_told(dualparse("parse", run, "hut " * 10_000), "10000 words")
    assert_told(dualparse("parse", run, stdin=b"hut " * 10_000 + b"\n"), "10000 words")
    assert_told(dualparse("parse", run, stdin=b"x" * 2_000_000), "too long")
    assert_told(dualparse("parse", run, stdin=b"which h\xfcts\n"), "standard input:1: not UTF-8")
    assert_told(dualparse("parse", run, "h\udcfcts"), "not UTF-8")
    assert_told(dualparse("verbalize", run, ""), "not a logical form")
    assert_told(dualparse("verbalize", run, "( count ( all hut )"), "not a logical form")
    assert_told(dualparse("verbalize", run, stdin=b"( all \xff )\n"), "standard input:1: not UTF-8")


def test_bad_run_folders(run, dualparse, tmp_path):
    for command in (["parse", tmp_path, "hut"], ["verbalize", tmp_path, "( all hut )"], ["evaluate", tmp_path]):
        assert_told(dualparse(*command), "not a run folder")
    for command in (["parse", tmp_path / "x", "hut"], ["evaluate", tmp_path / "x"]):
        assert_told(dualparse(*command), "no such run folder")


@pytest.mark.parametrize("listed", [True, False], ids=["manifest", "no-manifest"])
@pytest.mark.parametrize(
    ("name", "damage", "told"),
    [
        ("q2lf.safetensors", "cut", "q2lf.safetensors: damaged or cut short"),
        ("q2lf.safetensors", "gone", "q2lf is not trained yet"),
        ("query.vocab", "cut", "query.vocab: cut short"),
        ("query.vocab", "gone", "query.vocab: cannot be read"),
        ("lf.vocab", "longer", "do not fit the vocabulary"),
        ("config.toml", "cut", "config.toml: cut short"),
        ("config.toml", "gone", "not a run folder"),
    ],
)
def test_damaged_run_folders(run, dualparse, tmp_path, name, damage, told, listed):
    """The manifest tells of damage; without one, whoever reads the file does."""
    copied = tmp_path / "run"
    copied.mkdir()
    for file, content in files(run).items():
        (copied / file).write_bytes(content)
    path, content = copied / name, (copied / name).read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:-3] if damage == "cut" else content + b"one-more\n")
    if listed:
        told = f"{name}: {'missing' if damage == 'gone' else 'damaged'}"
    else:
        (copied / "manifest.json").unlink()
    before = files(copied)
    assert_told(dualparse("parse", copied, "hut"), told)
    assert files(copied) == before


def test_bad_recipes(dualparse, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "typo.toml").write_text('domain = "trails"\n[train]\nepoch = 3\n', encoding="utf-8")
    assert_told(dualparse("train", "typo.toml"), "typo.toml", "'train.epoch'", "did you mean 'train.epochs'?")
    (tmp_path / "bytes.toml").write_bytes(b'domain = "\xff"\n')
    assert_told(dualparse("train", "bytes.toml"), "not UTF-8")
    (tmp_path / "domain.toml").write_text('domain = "trials"\n', encoding="utf-8")
    assert_told(dualparse("train", "domain.toml"), "'trials'", "did you mean 'trails'?")
    assert_told(dualparse("train", "missing.toml"), "no such recipe")
    assert_told(dualparse("train"), "which recipe?")
    (tmp_path / "good.toml").write_text(RECIPE, encoding="utf-8")
    assert_told(dualparse("train", "good.toml", "--set", "train.epochs"), "expected KEY=VALUE")
    assert_told(dualparse("train", "good.toml", "--device", "abacus"), "unknown device")
    assert not (tmp_path / "runs").exists()


def test_a_run_is_not_overwritten(run, dualparse, tmp_path):
    before = files(run)
    recipe = run.parents[1] / "tiny.toml"
    assert_told(dualparse("train", recipe, "--out", run), "holds a run already: use --resume")
    assert_told(dualparse("train", recipe, "--out", run, "--resume"), "started with other settings")
    assert_told(dualparse("train", recipe, "--out", recipe), "is a file")
    assert files(run) == before


def test_a_finished_run_resumed_is_kept(run, dualparse):
    before = files(run)
    settings = ["--set", "train.epochs=1", "--set", "train.evaluate_from=1"]
    result = dualparse("train", run.parents[1] / "tiny.toml", *settings, "--out", run, "--resume", "--device", "cpu")
    assert (result.code, result.err) == (0, "")
    assert "q2lf: finished before, kept" in result.out
    assert files(run) == before


def test_every_setting_is_explained(dualparse):
    result = dualparse("train", "--explain")
    assert result.code == 0
    for key, _, _ in explain():
        assert key in result.out


def test_a_split_that_does_not_exist(run, dualparse):
    assert_told(dualparse("evaluate", run, "--split", "tets"), "expected dev or test")


def test_a_finished_run_is_refit_into_a_run_of_its_own(run, dualparse, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    done = dualparse("refit", tmp_path / "run", "--device", "cpu")
    assert done.code == 0, done.err
    assert "1104 pairs to train on, the dev pairs among them" in done.out
    assert f"done: {tmp_path / 'run' / 'refit'}" in done.out
    assert dualparse("parse", tmp_path / "run" / "refit", "which huts have showers").code == 0
    assert_told(dualparse("evaluate", tmp_path / "run" / "refit"), "has learned from the dev pairs", "refit")
    assert_told(dualparse("errors", tmp_path / "run" / "refit"), "has learned from the dev pairs", "--split test")
    assert_told(dualparse("refit", tmp_path / "run" / "refit"), "already")
    assert_told(dualparse("refit", tmp_path / "none"), "no such run folder")


@pytest.mark.parametrize("command", ["train", "refit", "evaluate", "parse", "verbalize"])
def test_every_command_has_help_with_an_example(dualparse, command):
    result = dualparse(command, "--help")
    assert result.code == 0
    assert f"Example: dualparse {command}" in result.out


def test_ctrl_c_ends_a_run_with_a_word_on_how_to_go_on(dualparse, tmp_path, monkeypatch):
    def interrupted(*arguments: object, **options: object):
        raise KeyboardInterrupt
        yield

    recipe = tmp_path / "trails.toml"
    recipe.write_text(RECIPE)
    monkeypatch.setattr("dualparse.training.run.train", interrupted)
    result = dualparse("train", recipe, "--out", tmp_path / "run")
    assert result.code == 130
    assert "the same command with --resume goes on with it" in result.out and result.err == "interrupted\n"
