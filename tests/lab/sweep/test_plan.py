"""What is left to do: results count by what they trained, stages are shared, changed settings are noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from dualparse.config import make_recipe
from dualparse.lab.sweep.grid import Cell
from dualparse.lab.sweep.plan import Folders, State, choose, counted, look, scoring_job, stage_jobs, work_of
from dualparse.runs import Run

DUAL = ["q2lf", "lf2q", "query_lm", "dual"]


def cell(name: str, grid: str = "grid", *, test: bool = True, varied: dict | None = None, **settings) -> Cell:
    values = {"domain": "trails", "stages": ["q2lf"], **settings}
    return Cell(grid, name, make_recipe(values), varied or {}, test=test)


@pytest.fixture
def folders(tmp_path):
    return Folders(tmp_path / "runs", tmp_path / "results")


def store(folders: Folders, cell: Cell, *, accuracy: float = 50.0, test: bool = True, **more) -> None:
    result = {"cell": cell.name, "recipe": cell.recipe.model_dump(mode="json"), "dev": {"q2lf": {"accuracy": accuracy}}}
    if test:
        result["test"] = {"q2lf": {"accuracy": accuracy}}
    folders.store.put(cell.full_name, result | more)


def state(cell: Cell, folders: Folders, **options) -> State:
    return look([cell], folders, **options)[0].state


def work(cells, folders, **options):
    return work_of(look(cells, folders), folders, device="cpu", commit="abc", **options)


def test_a_result_is_found_under_its_name(folders):
    one = cell("one")
    assert state(one, folders) == State.WAITING
    store(folders, one)
    assert state(one, folders) == State.DONE
    assert not work([one], folders).cells


def test_a_result_of_another_grid_counts_by_what_it_trained(folders):
    one, same = cell("one"), cell("other-name", "other")
    store(folders, same)
    entry = look([one], folders)[0]
    assert entry.state == State.DONE and entry.source.name == same.full_name
    assert state(one, folders, own=True) == State.WAITING


def test_settings_that_are_not_read_do_not_keep_a_result_from_counting(folders):
    store(folders, cell("old", game={"epochs": 3}, pseudo={"discount": 0.1}))
    assert state(cell("new"), folders) == State.DONE


def test_a_result_of_an_older_version_counts_as_if_new_settings_had_their_default(folders):
    one = cell("one")
    recipe = one.recipe.model_dump(mode="json")
    del recipe["model"]["word_dropout"]
    store(folders, one, recipe=recipe)
    assert state(one, folders) == State.DONE


def test_other_settings_under_the_same_name_are_noticed_and_kept(folders):
    old, new = cell("one", seed=1), cell("one", seed=2)
    store(folders, old)
    entry = look([new], folders)[0]
    assert entry.state == State.OUTDATED and "other settings" in entry.note
    assert not work([new], folders).cells
    again = work([new], folders, replace=True)
    assert [job.name for job in again.cells] == ["grid/one"] and again.old == [new]


def test_a_run_with_other_settings_is_noticed(folders):
    one = cell("one")
    folders.run(one).mkdir(parents=True)
    (folders.run(one) / "config.toml").write_text('domain = "trails"\nseed = 5\n')
    assert state(one, folders) == State.OUTDATED


def test_results_that_no_recipe_fits_are_passed_over(folders):
    for name, recipe in (("a", {"domain": 3}), ("b", {}), ("c", {"domain": "trails", "oven": True})):
        folders.store.put(f"grid/{name}", {"recipe": recipe, "test": {}})
    assert state(cell("one"), folders) == State.WAITING


def test_running_failed_and_interrupted_cells_are_told_apart(folders):
    one = cell("one")
    jobs = folders.runs / "grid" / "jobs"
    folders.run(one).mkdir(parents=True)
    jobs.mkdir(parents=True)
    assert state(one, folders) == State.BEGUN
    (jobs / "one.error.txt").write_text("ValueError: no\n\nTraceback ...\n")
    entry = look([one], folders)[0]
    assert (entry.state, entry.note) == (State.FAILED, "ValueError: no")
    with FileLock(jobs / "one.lock"):
        assert state(one, folders) == State.RUNNING
    assert state(one, folders) == State.FAILED
    assert len(work([one], folders).cells) == 1  # and failed cells are tried again


def test_each_distinct_stage_is_one_job(folders):
    """Supervised, pseudo and dual go on from the same agents; the language model of queries never copies."""
    methods = {"sup": ["q2lf"], "pseudo": ["q2lf", "lf2q", "pseudo"], "dual": DUAL}
    cells = [
        cell(f"{name}{copy}{seed}", stages=stages, seed=seed, model={"copy_mechanism": copy})
        for name, stages in methods.items()
        for copy in (False, True)
        for seed in (1, 2)
    ]
    jobs = work(cells, folders)
    kinds = [job.recipe["stages"][0] for job in jobs.stages]
    assert {kind: kinds.count(kind) for kind in kinds} == {"q2lf": 4, "lf2q": 4, "query_lm": 2}
    for job in jobs.cells:
        assert set(job.shared.values()) <= {stage.folder for stage in jobs.stages}
        assert set(job.shared) == set(job.recipe["stages"]) - {"dual", "pseudo"}


def test_members_are_trained_side_by_side(folders):
    """Each is a job of its own behind its agents. Committees of two and of three have two in common."""
    pseudo = ["q2lf", "lf2q", "pseudo"]
    cells = [cell(f"{count}", stages=pseudo, committee=count) for count in (2, 3)]
    jobs = work(cells, folders)
    agents = [(job.recipe["seed"], job.recipe["stages"][0]) for job in jobs.stages if len(job.recipe["stages"]) == 1]
    assert sorted(agents) == [(seed, stage) for seed in (1, 1001, 2001) for stage in ("lf2q", "q2lf")]
    first, second, third = [job for job in jobs.stages if job.recipe["stages"] == pseudo]
    assert all(set(job.shared) == {"q2lf", "lf2q"} for job in (first, second, third))
    assert jobs.cells[0].shared == {".": first.folder, "members/2": second.folder}
    assert jobs.cells[1].shared == {**jobs.cells[0].shared, "members/3": third.folder}
    assert second.source("q2lf") == second.shared["q2lf"] and not second.source("pseudo")
    assert jobs.cells[0].source("members/2/pseudo") == second.folder
    assert jobs.cells[0].source("pseudo") == jobs.cells[0].source("q2lf") == first.folder
    line = [job.folder for job in jobs.jobs]
    assert len(line) == len(set(line)) == 11
    assert all(line.index(need) < line.index(job.folder) for job in jobs.jobs for need in job.shared.values())
    Path(second.folder).mkdir(parents=True)
    for weights in ("pretrained-q2lf", "q2lf", "lf2q"):
        assert len(work(cells[:1], folders).stages) == 6, "not finished yet"
        (Path(second.folder) / f"{weights}.safetensors").touch()
    assert len(work(cells[:1], folders).stages) == 3


def test_a_parser_that_a_committee_has_is_not_trained_again(folders):
    """Whatever way to choose it is to answer with; but with another seed it is another one."""
    pseudo = ["q2lf", "lf2q", "pseudo"]
    [together] = work([cell("two", stages=pseudo, committee=2)], folders).cells
    alone = cell("one", stages=pseudo, seed=1001, search={"reconstruction": 0.5})
    assert {job.recipe["stages"][0] for job in work([alone], folders).stages} == {"q2lf", "lf2q"}
    done = Path(together.shared["members/2"])
    done.mkdir(parents=True)
    for weights in ("pretrained-q2lf", "q2lf", "lf2q"):
        assert work([alone], folders).stages, "not finished yet"
        (done / f"{weights}.safetensors").touch()
    jobs = work([alone], folders)
    assert not jobs.stages and jobs.cells[0].shared == {".": str(done)}
    assert work([cell("other", stages=pseudo, seed=2)], folders).stages


def test_cells_that_differ_in_how_they_choose_have_one_parser(folders):
    """Alone or in a committee, it is trained once. A parser of one cell only is trained in its place."""
    pseudo = ["q2lf", "lf2q", "pseudo"]
    ways = [cell(f"{weight}", stages=pseudo, search={"reconstruction": weight}) for weight in (0.0, 0.5)]
    jobs = work([*ways, cell("other", stages=pseudo, seed=2)], folders)
    [parser] = [job for job in jobs.stages if job.recipe["stages"] == pseudo]
    assert set(parser.shared) == {"q2lf", "lf2q"} and len(jobs.stages) == 5
    first, second, other = jobs.cells
    assert first.shared == second.shared == {".": parser.folder} and set(other.shared) == {"q2lf", "lf2q"}
    together = work([ways[1], cell("two", stages=pseudo, committee=2)], folders)
    assert together.cells[0].shared["."] == together.cells[1].shared["."] == parser.folder


def test_parsers_that_nothing_teaches_are_stages_only(folders):
    jobs = work([cell("two", committee=2)], folders)
    assert [job.recipe["stages"] for job in jobs.stages] == [["q2lf"], ["q2lf"]]
    assert set(jobs.cells[0].shared) == {"q2lf", "members/2/q2lf"}


def test_a_finished_stage_is_not_trained_again(folders):
    one = cell("one", stages=DUAL)
    first = stage_jobs([one], folders, device="cpu")
    path = folders.runs / "shared" / first[0].name.removeprefix("shared/") / "q2lf.safetensors"
    path.parent.mkdir(parents=True)
    path.touch()
    assert [job.name for job in stage_jobs([one], folders, device="cpu")] == [job.name for job in first[1:]]


def test_a_cell_that_names_an_earlier_run_shares_nothing(folders):
    assert not work([cell("one", start_from="runs/earlier")], folders).stages


def test_a_cell_of_two_grids_is_run_once(folders):
    cells = [cell("a", "tuning", test=False), cell("b", "table")]
    assert [job.name for job in work(cells, folders).cells] == ["table/b"]
    assert len(work_of(look(cells, folders), folders, device="cpu", commit="", own=True).cells) == 2


def test_a_missing_test_score_is_a_job_of_its_own(folders):
    one = cell("one")
    store(folders, one, test=False)
    assert state(replace(one, test=False), folders) == State.DONE
    assert state(one, folders) == State.OUTDATED  # its run is gone
    folders.run(one).mkdir(parents=True)
    [job] = work([one], folders).cells
    assert (job.kind, job.folder, job.name) == ("test", str(folders.run(one)), "grid/one")


def test_a_run_that_was_changed_since_is_not_tested(folders):
    """Its dev score would be that of another way to choose."""
    one = cell("one")
    store(folders, one, test=False)
    folders.run(one).mkdir(parents=True)
    run = Run(folders.run(one))
    run.save_recipe(one.recipe)
    assert state(one, folders) == State.TEST
    search = one.recipe.search.model_copy(update={"reconstruction": 0.5})
    run.save_recipe(one.recipe.model_copy(update={"search": search}))
    [entry] = look([one], folders)
    assert entry.state == State.OUTDATED and "its run is gone or was changed" in entry.note


def test_a_test_score_never_changes_a_result_of_another_grid(folders):
    other, one = cell("x", "other"), cell("one")
    store(folders, other, test=False)
    folders.run(other).mkdir(parents=True)
    [job] = work([one], folders).cells
    assert (job.folder, job.name) == (str(folders.run(other)), "grid/one")


def test_the_best_values_on_dev_are_chosen_over_everything_else(folders):
    cells = []
    for average, domain, accuracy in ((0.0, "trails", 90), (0.5, "trails", 60), (0.0, "atis", 50), (0.5, "atis", 85)):
        varied, settings = {"train.average": average}, {"domain": domain, "train": {"average": average}}
        one = cell(f"{domain}{average}", test=False, varied=varied, **settings)
        store(folders, one, accuracy=accuracy, test=False)
        cells.append(one)
    entries = look(cells, folders)
    assert counted(entries) == {State.DONE: 4}
    assert {entry.cell.varied["train.average"] for entry in choose(entries, ["train.average"])} == {0.5}
    assert scoring_job(entries[0], folders, device="cpu").facts["dev"]["q2lf"]["accuracy"] == 90
