"""Jobs done in this process on the toy domain: what a sweep leaves behind, and that sharing changes no result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence

import pytest
import torch
import toy

from dualparse.config import make_recipe
from dualparse.errors import InputError
from dualparse.lab.report.results import outcomes_of, read_results
from dualparse.lab.sweep.board import Board
from dualparse.lab.sweep.grid import Cell
from dualparse.lab.sweep.jobs import Job, current_commit, is_running, read_progress, run_job
from dualparse.lab.sweep.line import Line
from dualparse.lab.sweep.plan import Folders, State, look, work_of
from dualparse.lab.sweep.run import Ended, score_chosen, sweep
from dualparse.migration import SCHEMA
from dualparse.networks.tensors import load_tensors
from dualparse.training import run as run_module
from dualparse.training.run import train

TINY = {
    "domain": "toy",
    "data": {"labeled": 0.5},
    "model": {"embedding": 5, "hidden": 6},
    "train": {"epochs": 2},
    "language_model": {"epochs": 1},
    "game": {"epochs": 1, "max_length": 8, "beams": 2},
    "search": {"max_length": 8, "beams": 2},
}
METHODS = {"sup": ["q2lf"], "pseudo": ["q2lf", "lf2q", "pseudo"], "dual": ["q2lf", "lf2q", "query_lm", "dual"]}


class InProcess:
    """The jobs one after the other, here."""

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, str]]:
        line = Line(jobs)
        for job in line:
            error = ""
            try:
                run_job(job)
            except InputError as raised:
                error = str(raised)
            yield from line.end(job, error)


@pytest.fixture
def folders(tmp_path, monkeypatch, toy_domain):
    toy_domain(toy.write_files(tmp_path / "toy"))
    monkeypatch.setenv("DUALPARSE_COMMIT", "abc")
    return Folders(tmp_path / "runs", tmp_path / "results")


def cells(*methods: str, test: bool = True, **settings) -> list[Cell]:
    return [
        Cell("grid", name, make_recipe({**TINY, "stages": METHODS[name], **settings}), {"x": name}, name, test)
        for name in methods or METHODS
    ]


def stored(name: str, folders: Folders) -> dict:
    found = folders.store.get(name)
    assert found
    return found.result


def run(cells: list[Cell], folders: Folders, **options) -> list[Ended]:
    work = work_of(look(cells, folders), folders, device="cpu", commit=current_commit(), **options)
    return list(sweep(work, folders, InProcess()))


def test_a_sweep_trains_stages_once_and_scores_every_cell(folders):
    ended = run(cells(), folders)
    assert [event.error for event in ended] == [""] * 6
    assert sorted(event.job.kind for event in ended) == ["cell"] * 3 + ["stage"] * 3
    assert {entry.state for entry in look(cells(), folders)} == {State.DONE}
    assert run(cells(), folders) == []


def test_a_refit_is_scored_on_test_and_the_run_before_it_on_dev(folders):
    plain, again = cells("dual"), cells("dual", refit=True)
    run(again, folders)
    result = stored("grid/dual", folders)
    folder = folders.run(again[0])
    assert (folder / "predictions.dev.jsonl").exists() and not (folder / "predictions.test.jsonl").exists()
    assert (folder / "refit" / "predictions.test.jsonl").exists()
    assert json.loads((folder / "refit" / "metrics.json").read_text())["test"] == result["test"]
    assert result["refit"]["epochs"] == {stage: best["epoch"] for stage, best in result["best"].items()}
    assert result["refit"]["seconds"].keys() == result["best"].keys()
    assert [entry.state for entry in look(plain, folders)] == [State.OUTDATED], "another result than without"
    [outcome] = outcomes_of(read_results(folders.results))
    assert outcome.method == "AttPtr+Dual+LF+Q (dev pairs too)"


def test_test_is_scored_later_with_the_refit_as_well(folders):
    run(cells("sup", test=False, refit=True), folders)
    run(cells("sup", refit=True), folders)
    result = stored("grid/sup", folders)
    folder = folders.run(cells("sup")[0])
    assert json.loads((folder / "refit" / "metrics.json").read_text())["test"] == result["test"]


def test_a_result_says_where_it_comes_from(folders, tmp_path):
    run(cells("dual"), folders)
    result = stored("grid/dual", folders)
    assert (result["cell"], result["grid"], result["method"], result["varied"]) == (
        "dual",
        "grid",
        "dual",
        {"x": "dual"},
    )
    assert result["recipe"] == cells("dual")[0].recipe.model_dump(mode="json") and result["schema"] == SCHEMA
    assert result["commit"] == "abc" and result["hardware"].endswith("CPU") and result["seconds"] > 0
    assert result["software"]["torch"] == torch.__version__
    train_file = tmp_path / "toy" / "train.tsv"
    assert result["data"]["train.tsv"] == hashlib.sha256(train_file.read_bytes()).hexdigest()
    assert set(result["stages"]) == set(METHODS["dual"])
    assert {name for name, stage in result["stages"].items() if "shared" in stage} == {"q2lf", "lf2q", "query_lm"}
    assert result["best"].keys() == result["stages"].keys()
    assert all(set(stage["engines"]) <= {"Seq2Seq", "LanguageModel"} for stage in result["stages"].values())
    assert {stage["device"] for stage in result["stages"].values()} == {"cpu"}
    for split, examples in (("dev", 9), ("test", 9)):
        scores, hits = result[split]["q2lf"], result["correct"][split]
        assert sum(result["mistakes"][split].values()) == hits.count("0")
        assert scores["metric"] == "exact" and scores["examples"] == examples == len(hits)
        assert scores["accuracy"] == pytest.approx(100 * hits.count("1") / examples, abs=0.01)
    [outcome] = outcomes_of(read_results(folders.results))
    assert (outcome.method, outcome.labeled, outcome.correct) == ("AttPtr+Dual+LF+Q", 0.5, result["correct"]["test"])


def test_shared_stages_change_nothing(folders, tmp_path):
    """The weights of a cell are those of a run that trains all its stages itself."""
    [cell] = cells("dual")
    run([cell], folders)
    for _ in train(cell.recipe, tmp_path / "alone", device=torch.device("cpu")):
        pass
    names = sorted(path.name for path in (tmp_path / "alone").glob("*.safetensors"))
    assert names == sorted(path.name for path in folders.run(cell).glob("*.safetensors"))
    for name in names:
        ours, alone = (load_tensors(folder / name)[0] for folder in (folders.run(cell), tmp_path / "alone"))
        assert all(torch.equal(ours[key], alone[key]) for key in alone), name
    logs = [
        [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
        for folder in (folders.run(cell), tmp_path / "alone")
    ]
    assert [(r["stage"], r["epoch"], r["scores"]) for r in logs[0]] == [
        (r["stage"], r["epoch"], r["scores"]) for r in logs[1]
    ]


def test_cells_take_the_stages_over_and_train_only_what_is_theirs(folders, monkeypatch):
    real, trained = run_module._train_stage, []

    def noted(recipe, run, stage, *rest):
        trained.append((run.folder.parent.name, stage))
        yield from real(recipe, run, stage, *rest)

    monkeypatch.setattr(run_module, "_train_stage", noted)
    run(cells(), folders)
    assert sorted(trained) == [
        ("grid", "dual"),
        ("grid", "pseudo"),
        ("shared", "lf2q"),
        ("shared", "q2lf"),
        ("shared", "query_lm"),
    ]


def test_a_stage_that_fails_fails_its_cells_and_no_others(folders, tmp_path):
    bad = Cell("grid", "bad", make_recipe({**TINY, "stages": ["q2lf"], "model": {"word_vectors": "nowhere.txt"}}))
    ended = run([bad, *cells("sup")], folders)
    errors = {event.job.name: event.error for event in ended if event.error}
    assert len(errors) == 2 and "shared/q2lf-" in errors["grid/bad"] and "nowhere.txt" in errors["grid/bad"]
    assert [entry.state for entry in look([bad, *cells("sup")], folders)] == [State.FAILED, State.DONE]
    assert folders.store.get("grid/bad") is None


def test_a_failed_cell_is_tried_again(folders):
    error = folders.runs / "grid" / "jobs" / "sup.error.txt"
    error.parent.mkdir(parents=True)
    error.write_text("the process was killed\n")
    assert look(cells("sup"), folders)[0].state == State.FAILED
    run(cells("sup"), folders)
    assert not error.exists() and look(cells("sup"), folders)[0].state == State.DONE


def test_changed_settings_replace_result_and_run_when_asked(folders):
    run(cells("sup"), folders)
    changed = cells("sup", seed=7)
    assert run(changed, folders) == []
    assert look(changed, folders)[0].state == State.OUTDATED
    run(changed, folders, replace=True)
    assert stored("grid/sup", folders)["recipe"]["seed"] == 7


def test_test_is_scored_later_where_it_is_missing(folders):
    run(cells("sup", test=False), folders)
    before = stored("grid/sup", folders)
    assert "test" not in before and set(before["correct"]) == {"dev"}
    [ended] = run(cells("sup"), folders)
    after = stored("grid/sup", folders)
    grown = ("correct", "mistakes")
    assert ended.job.kind == "test" and all(set(after[key]) == {"dev", "test"} for key in grown)
    assert {key: after[key] for key in before if key not in grown} == {
        k: v for k, v in before.items() if k not in grown
    }


def test_chosen_settings_are_tested_and_the_others_are_not(folders):
    grid = [
        Cell("grid", f"seed{seed}", make_recipe({**TINY, "stages": ["q2lf"], "seed": seed}), {"seed": seed})
        for seed in (1, 2)
    ]
    assert not list(score_chosen(grid, {"grid": ["seed"]}, folders, InProcess(), device="cpu"))  # nothing is done yet
    run(grid, folders)
    for seed, accuracy in ((1, 10.0), (2, 20.0)):
        result = stored(f"grid/seed{seed}", folders)
        result["dev"]["q2lf"]["accuracy"] = accuracy
        folders.store.put(f"grid/seed{seed}", result)
    [ended] = score_chosen(grid, {"grid": ["seed"]}, folders, InProcess(), device="cpu")
    assert ended.job.name == "grid/seed2"
    assert [item.name for item in folders.store.read() if item.tested] == ["grid/seed2"]


def test_a_job_tells_how_far_it_is_while_it_holds_its_lock(folders, monkeypatch):
    """The board sees it; afterwards nothing is left of it."""
    work = work_of(look(cells("sup"), folders), folders, device="cpu", commit="abc")
    board, seen = Board.of(work), []
    real = train

    def watched(*arguments, **options):
        for event in real(*arguments, **options):
            board.look()
            seen.extend(board.running)
            yield event

    monkeypatch.setattr("dualparse.lab.sweep.jobs.PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr("dualparse.training.run.train", watched)
    for ended in sweep(work, folders, InProcess()):
        board.end(ended.job, ended.error)
    stages = [running for running in seen if running.job.kind == "stage"]
    assert {running.told.get("stage") for running in stages} == {None, "q2lf"}
    assert stages[-1].told["epochs"] == 2 and 0 < stages[-1].told["done"] <= 1
    board.look()
    assert (len(board.done), board.running, board.waiting) == (2, [], {})
    state = folders.state(cells("sup")[0])
    assert not is_running(state) and read_progress(state) == {}


def test_a_job_takes_its_progress_away_even_when_nobody_waits_for_it(folders):
    work = work_of(look(cells("sup"), folders), folders, device="cpu", commit="abc")
    run_job(work.stages[0])
    assert list((folders.runs / "shared" / "jobs").iterdir()) == [work.stages[0].beside(".lock")]


def test_the_commit_is_the_packages(monkeypatch, tmp_path):
    monkeypatch.setenv("DUALPARSE_COMMIT", "given")
    assert current_commit() == "given"
    monkeypatch.delenv("DUALPARSE_COMMIT")
    monkeypatch.chdir(tmp_path)
    assert current_commit()
