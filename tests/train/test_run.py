"""Whole runs in a folder: what they leave behind, and that being killed changes nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
import torch
import toy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dualparse.api import Parser
from dualparse.committee import find_by_committee
from dualparse.config import Recipe, make_recipe
from dualparse.data.examples import load_examples
from dualparse.data.vocab import Vocab
from dualparse.errors import InputError
from dualparse.models.tensors import load_tensors
from dualparse.rerank import Prior, rerank
from dualparse.runs import REFIT, Run, search_options
from dualparse.train import loop
from dualparse.train.anatomy import WHOLE, members
from dualparse.train.loop import Record, Tick
from dualparse.train.material import load_material, set_word_vectors
from dualparse.train.run import Note, choose_device, refit, refit_recipe, train
from dualparse.train.score import score_run
from dualparse.train.sharing import parser_recipe

CPU = torch.device("cpu")
STAGES = ["q2lf", "lf2q", "query_lm", "lf_lm"]


def recipe(**changes: object) -> Recipe:
    values: dict[str, object] = {
        "domain": "toy",
        "stages": STAGES,
        "model": {"embedding": 6, "hidden": 8},
        "train": {"epochs": 3, "learning_rate": 0.01, "average": 0.5},
        "language_model": {"epochs": 2},
        "search": {"max_length": 12},
    }
    return make_recipe(values | changes)


@pytest.fixture
def toy_files(tmp_path, monkeypatch):
    """The toy domain under the name "toy", its examples in files."""
    files = toy.write_files(tmp_path / "toy")
    toy.install(monkeypatch, files)
    return files


def left_behind(folder: Path) -> dict[str, object]:
    """Everything a run wrote, less the seconds."""
    found: dict[str, object] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".safetensors":
            tensors, metadata = load_tensors(path)
            found[path.name] = {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}
            found[path.name + "?"] = {key: value for key, value in metadata.items() if key != "seconds"}
        elif path.suffix == ".jsonl":
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            found[path.name] = [{key: value for key, value in line.items() if key != "seconds"} for line in lines]
        else:
            found[path.name] = left_behind(path) if path.is_dir() else path.read_bytes()
    return found


def test_a_run_leaves_settings_vocabularies_weights_and_a_log(toy_files, tmp_path):
    folder = tmp_path / "runs" / "first"
    events = list(train(recipe(), folder, device=CPU))
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["config.toml", "query.vocab", "lf.vocab", "log.jsonl", *(f"{stage}.safetensors" for stage in STAGES)]
    )
    assert isinstance(events[0], Note)
    assert "42 pairs to train on, 9 for dev" in events[0].text
    told = [event for event in events if isinstance(event, Record)]
    assert [(r.stage, r.epoch) for r in told] == [
        *(("q2lf", e) for e in (1, 2, 3)),
        *(("lf2q", e) for e in (1, 2, 3)),
        *((stage, e) for stage in ("query_lm", "lf_lm") for e in (1, 2)),
    ]
    assert [Record(**line) for line in Run.open(folder).read_log()] == told
    assert Run.open(folder).recipe == recipe()
    best = [r.epoch for r in told if r.stage == "q2lf" and r.best][-1]
    assert load_tensors(folder / "q2lf.safetensors")[1]["epoch"] == str(best)


def test_a_refit_learns_from_dev_as_long_as_dev_found_best(toy_files, tmp_path):
    stages = [*STAGES, "pseudo", "dual"]
    game = {"epochs": 2, "beams": 2, "max_length": 8}
    data = {"labeled": 0.5}
    first = recipe(stages=stages, game=game, data=data, refit=True)
    notes = [event.text for event in train(first, tmp_path / "run", device=CPU) if isinstance(event, Note)]
    run, again = Run.open(tmp_path / "run"), Run.open(tmp_path / "run" / REFIT)
    best = {record["stage"]: record["epoch"] for record in run.read_log() if record["best"]}
    assert again.recipe.stop_at == best and set(best) == set(stages)
    assert again.recipe.data.everything and not again.recipe.refit and again.recipe.game == first.game
    log = again.read_log()
    assert all(record["scores"] == {} for record in log)
    assert {record["stage"]: record["epoch"] for record in log if record["best"]} == best
    assert any("once more" in note for note in notes) and any("the dev pairs among them" in note for note in notes)
    assert load_tensors(again.weights("q2lf"))[1]["epoch"] == str(best["dual"])
    with pytest.raises(InputError, match="has learned from the dev pairs"):
        score_run(again, split="dev", device=CPU)
    assert score_run(again, split="test", device=CPU)["q2lf"]["examples"] == 9
    with pytest.raises(InputError, match="already"):
        refit_recipe(again)


def test_a_refit_goes_on_where_it_was(toy_files, tmp_path):
    list(train(recipe(stages=["q2lf", "lf2q"]), tmp_path / "run", device=CPU))
    run = Run.open(tmp_path / "run")
    whole = list(refit(run, device=CPU))
    before = left_behind(run.folder / REFIT)
    again = Run.open(run.folder / REFIT)
    again.weights("lf2q").unlink()
    told = list(refit(run, device=CPU))
    assert left_behind(run.folder / REFIT) == before
    assert len([event for event in told if isinstance(event, Tick)]) < len(
        [event for event in whole if isinstance(event, Tick)]
    )


def test_members_of_a_committee_are_runs_that_answer_together(toy_files, tmp_path):
    folder = tmp_path / "run"
    events = list(train(recipe(stages=["q2lf", "lf2q"], committee=3), folder, device=CPU))
    run, others = Run.open(folder), [Run.open(folder / "members" / name) for name in ("2", "3")]
    assert [other.recipe.seed for other in others] == [1001, 2001]
    assert all(other.recipe.stages == ("q2lf",) for other in others), "their lf2q would teach nobody"
    parsers = run.parsers(toy.domain(), CPU)
    assert len(parsers) == 3 and len({parser.model.generate.weight.sum().item() for parser in parsers}) == 3
    together = score_run(run, split="test", device=CPU)["q2lf"]
    asked = [example.query for example in load_examples(toy.domain(files=toy_files), dev_seed=1).test]
    found = find_by_committee(parsers, asked, search_options(run.recipe), rng=Random(0))
    told = [json.loads(line) for line in (folder / "predictions.test.jsonl").read_text().splitlines()]
    assert [[text for text, _ in line["hypotheses"]] for line in told] == [[h.text for h in forms] for forms in found]
    assert together["examples"] == 9 and together["parsers"] == 3
    again = [event for event in train(recipe(stages=["q2lf", "lf2q"], committee=3), folder, resume=True, device=CPU)]
    assert not any(isinstance(event, Tick) for event in again) and any(isinstance(event, Tick) for event in events)
    others[1].weights("q2lf").unlink()
    with pytest.raises(
        InputError, match=f"members/3, one of 3 parsers, is not trained yet: .* --out {folder} --resume"
    ):
        score_run(run, split="test", device=CPU)


def test_before_a_later_stage_the_same_parsers_answer_with_what_they_knew(toy_files, tmp_path):
    changes = {"stages": ["q2lf", "lf2q", "pseudo"], "data": {"labeled": 0.5}, "committee": 2}
    list(train(recipe(**changes), tmp_path / "run", device=CPU))
    run = Run.open(tmp_path / "run")
    asked = [example.query for example in load_examples(toy.domain(files=toy_files), dev_seed=1).test]
    for before, weights in ((True, "pretrained-q2lf"), (False, "q2lf")):
        assert score_run(run, split="test", before=before, device=CPU)["q2lf"]["parsers"] == 2
        parsers = run.parsers(toy.domain(), CPU, weights=weights)
        found = find_by_committee(parsers, asked, search_options(run.recipe), rng=Random(0))
        name = "predictions.test.before.jsonl" if before else "predictions.test.jsonl"
        told = [json.loads(line) for line in (run.folder / name).read_text().splitlines()]
        expected = [[[h.text, round(h.score, 4)] for h in forms] for forms in found]
        assert [line["hypotheses"] for line in told] == expected


@pytest.mark.parametrize(("stages", "listeners"), [(["q2lf", "lf2q", "pseudo"], 2), (["q2lf", "lf2q"], 1)])
def test_where_both_agents_choose_every_lf2q_of_a_committee_has_a_say(toy_files, tmp_path, stages, listeners):
    changes = {"stages": stages, "data": {"labeled": 0.5}, "committee": 2, "search": {"reconstruction": 0.5}}
    list(train(recipe(**changes), tmp_path / "run", device=CPU))
    run = Run.open(tmp_path / "run")
    heard = [run.agent("lf2q", toy.domain(), CPU), *run.other_listeners(toy.domain(), CPU)]
    assert len(heard) == listeners and len({agent.model.generate.weight.sum().item() for agent in heard}) == listeners
    scores = score_run(run, split="test", device=CPU)["both"]
    assert scores["parsers"] == 2 and scores.get("listeners", 1) == listeners
    asked = [example.query for example in load_examples(toy.domain(files=toy_files), dev_seed=1).test]
    parsers = run.parsers(toy.domain(), CPU)
    found = rerank(heard, asked, find_by_committee(parsers, asked, search_options(run.recipe), rng=Random(0)), 0.5)
    told = [json.loads(line) for line in (run.folder / "predictions.test.both.jsonl").read_text().splitlines()]
    assert [line["hypotheses"] for line in told] == [[[h.text, round(h.score, 4)] for h in forms] for forms in found]


def test_common_forms_go_first_where_the_recipe_says_so(toy_files, tmp_path):
    """By the language models of all members, and in answers as in scores."""
    search = {"reconstruction": 0.5, "prior": 0.7}
    stages = ["q2lf", "lf2q", "lf_lm", "pseudo"]
    list(train(recipe(stages=stages, data={"labeled": 0.5}, committee=2, search=search), tmp_path / "run", device=CPU))
    run, domain = Run.open(tmp_path / "run"), toy.domain(files=toy_files)
    prior = Prior(run.form_models(CPU), 0.7)
    assert len({model.predict.weight.sum().item() for model in prior.models}) == 2
    assert score_run(run, split="test", device=CPU)["both"]["prior"] == 0.7
    asked = [example.query for example in load_examples(domain, dev_seed=1).test]
    found = find_by_committee(run.parsers(domain, CPU), asked, search_options(run.recipe), rng=Random(0))
    heard = [run.agent("lf2q", domain, CPU), *run.other_listeners(domain, CPU)]
    expected = [[[h.text, round(h.score, 4)] for h in forms] for forms in rerank(heard, asked, found, 0.5, prior=prior)]
    told = [json.loads(line) for line in (run.folder / "predictions.test.both.jsonl").read_text().splitlines()]
    assert [line["hypotheses"] for line in told] == expected
    assert expected != [[[h.text, round(h.score, 4)] for h in forms] for forms in rerank(heard, asked, found, 0.5)]
    answers = Parser(run, domain, CPU).parse_all([" ".join(query) for query in asked], k=len(expected[0]))
    for answer, forms in zip(answers, expected, strict=True):
        valid_first = sorted(forms, key=lambda pair: not toy.check(pair[0]).ok)
        assert [parse.form for parse in answer] == [form for form, _ in valid_first]
        assert [parse.score for parse in answer] == pytest.approx([score for _, score in valid_first], abs=1e-3)


def test_members_are_refit_and_taken_over_as_well(toy_files, tmp_path):
    first = recipe(stages=["q2lf", "lf2q", "pseudo"], data={"labeled": 0.5}, committee=2, refit=True)
    list(train(first, tmp_path / "run", device=CPU))
    again = Run.open(tmp_path / "run" / REFIT)
    member = Run.open(again.folder / "members" / "2")
    log = Run.open(tmp_path / "run" / "members" / "2").read_log()
    assert member.recipe.data.everything
    assert member.recipe.stop_at == {record["stage"]: record["epoch"] for record in log if record["best"]}
    assert again.recipe.stop_at.items() >= {f"members/2/{s}": e for s, e in member.recipe.stop_at.items()}.items()
    assert not (tmp_path / "run" / "members" / "2" / REFIT).exists(), "that of the whole is enough"
    later = first.model_copy(update={"start_from": str(tmp_path / "run"), "refit": False})
    notes = [event.text for event in train(later, tmp_path / "later", device=CPU) if isinstance(event, Note)]
    assert f"q2lf: taken from {tmp_path / 'run' / 'members' / '2'}" in notes


def test_what_one_run_below_has_trained_the_others_take_over(toy_files, tmp_path):
    """Of two parsers with two teachers each, three pairs of agents are different."""
    both = recipe(stages=["q2lf", "lf2q", "pseudo"], data={"labeled": 0.5}, committee=2, pseudo={"teachers": 2})
    events = list(train(both, tmp_path / "run", device=CPU))
    trained = [event.stage for event in events if isinstance(event, Tick) and (event.epoch, event.done) == (1, 1)]
    assert sorted(trained) == sorted(
        ["q2lf", "lf2q", "teachers/2/q2lf", "teachers/2/lf2q", "pseudo"]
        + ["members/2/teachers/2/q2lf", "members/2/teachers/2/lf2q", "members/2/pseudo"]
    )
    other = both.model_copy(update={"start_from": str(tmp_path / "run")})
    events = list(train(other, tmp_path / "other", device=CPU))
    assert {event.stage for event in events if isinstance(event, Tick)} == {"pseudo", "members/2/pseudo"}
    assert not any("kept" in event.text for event in events if isinstance(event, Note)), "they are told as taken"


def test_parsers_that_other_runs_have_trained_are_taken_whole(toy_files, tmp_path):
    changes = {"data": {"labeled": 0.5}, "pseudo": {"teachers": 2}, "search": {"reconstruction": 0.5}}
    both = recipe(stages=["q2lf", "lf2q", "pseudo"], committee=2, **changes)
    [(place, member)] = members(both).items()
    list(train(parser_recipe(both), tmp_path / "first", device=CPU))
    list(train(parser_recipe(member), tmp_path / "member", device=CPU))
    shared = {WHOLE: tmp_path / "first", place: tmp_path / "member"}
    events = list(train(both, tmp_path / "run", device=CPU, shared=shared))
    assert not any(isinstance(event, Tick) for event in events)
    run = left_behind(tmp_path / "run")
    below = run.pop("members")["2"]
    assert below == left_behind(tmp_path / "member") | {"config.toml": below["config.toml"]}
    assert run == left_behind(tmp_path / "first") | {"config.toml": run["config.toml"]}
    assert Run.open(tmp_path / "run").recipe == both and Run.open(tmp_path / "run" / place).recipe == member
    other = both.model_copy(update={"seed": 7})
    with pytest.raises(InputError, match="another run than this recipe's: seed is 1 there and 7 here"):
        list(train(other, tmp_path / "other", device=CPU, shared=shared))
    assert not (tmp_path / "other").exists()


def test_of_a_run_that_is_taken_whole_neither_scores_nor_half_a_file_come_along(toy_files, tmp_path):
    both = recipe(stages=["q2lf", "lf2q", "pseudo"], data={"labeled": 0.5}, committee=2)
    first = tmp_path / "first"
    list(train(parser_recipe(both), first, device=CPU))
    score_run(Run.open(first), split="test", device=CPU)
    (first / ".log.jsonl.abc.part").touch()
    taken = train(both, tmp_path / "run", device=CPU, shared={WHOLE: first})
    assert next(taken) == Note(f"taken from {first}")
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {"config.toml", "query.vocab", "lf.vocab", "log.jsonl"} | {
        f"{name}.safetensors" for name in ("pretrained-q2lf", "q2lf", "lf2q")
    }
    taken.close()
    Run(first).save_vocab("query", Vocab.build([("lake",)]))
    with pytest.raises(InputError, match=f"{first / 'query.vocab'}: the examples of the domain have changed"):
        list(train(both, tmp_path / "other", device=CPU, shared={WHOLE: first}))
    assert not (tmp_path / "other").exists()


def test_a_finished_run_may_become_a_committee(toy_files, tmp_path):
    folder = tmp_path / "run"
    alone, together = recipe(stages=["q2lf"]), recipe(stages=["q2lf"], committee=2)
    list(train(alone, folder, device=CPU))
    before = load_tensors(folder / "q2lf.safetensors")[0]
    list(train(together, folder, resume=True, device=CPU))
    run = Run.open(folder)
    assert run.recipe == together and len(run.parsers(toy.domain(), CPU)) == 2
    assert all(torch.equal(before[name], tensor) for name, tensor in load_tensors(run.weights("q2lf"))[0].items())
    list(refit(run, device=CPU))
    list(train(recipe(stages=["q2lf"], committee=3), folder, resume=True, device=CPU))
    list(refit(run, device=CPU))
    assert len(Run.open(folder / REFIT).parsers(toy.domain(), CPU)) == 3
    other = recipe(stages=["q2lf"], committee=3, seed=4, search={"max_length": 9})
    with pytest.raises(InputError, match="seed is 1 there and 4 here; search.max_length is 12 there and 9 here$"):
        list(train(other, folder, resume=True, device=CPU))
    score_run(run, split="test", device=CPU)
    list(train(alone, folder, resume=True, device=CPU))
    assert len(run.parsers(toy.domain(), CPU)) == 1, "and one alone again"
    assert run.metrics() == {} and not list(folder.glob("predictions.*")), "which has not been scored"


def test_a_refused_recipe_changes_nothing(toy_files, tmp_path):
    folder = tmp_path / "run"
    list(train(recipe(stages=["q2lf"]), folder, device=CPU))
    score_run(Run.open(folder), split="test", device=CPU)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with toy_files["train"].open("a") as stream:
        stream.write("something new\t( all lake )\n" * 3)
    with pytest.raises(InputError, match="the examples of the domain have changed"):
        list(train(recipe(stages=["q2lf"], committee=2), folder, resume=True, device=CPU))
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_who_is_not_trained_yet_is_told_with_the_way_on(toy_files, tmp_path):
    folder = tmp_path / "run"
    list(train(recipe(stages=["q2lf"], committee=2), folder, device=CPU))
    list(refit(Run.open(folder), device=CPU))
    again = Run.open(folder / REFIT)
    Run(again.folder / "members" / "2").weights("q2lf").unlink()
    with pytest.raises(InputError, match=f"members/2, one of 2 .*: dualparse refit {folder} goes on with it$"):
        again.parsers(toy.domain(), CPU)
    again.weights("q2lf").unlink()
    with pytest.raises(InputError, match=f"q2lf is not trained yet: dualparse refit {folder} goes on with it$"):
        again.parsers(toy.domain(), CPU)


def test_an_unfinished_run_is_not_refit(toy_files, tmp_path):
    list(train(recipe(stages=["q2lf", "lf2q"]), tmp_path / "run", device=CPU))
    run = Run.open(tmp_path / "run")
    run.weights("lf2q").unlink()
    with pytest.raises(InputError, match="not finished: lf2q"):
        list(refit(run, device=CPU))
    assert not (run.folder / REFIT).exists()


def test_a_folder_with_a_run_is_not_touched_without_resume(toy_files, tmp_path):
    folder = tmp_path / "run"
    list(train(recipe(stages=["q2lf"]), folder, device=CPU))
    before = left_behind(folder)
    with pytest.raises(InputError, match="holds a run already: use --resume"):
        list(train(recipe(stages=["q2lf"]), folder, device=CPU))
    with pytest.raises(InputError, match="started with other settings"):
        list(train(recipe(stages=["q2lf"], seed=5), folder, resume=True, device=CPU))
    assert left_behind(folder) == before


def test_a_folder_with_something_else_is_not_touched(toy_files, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work", encoding="utf-8")
    for resume in (False, True):
        with pytest.raises(InputError, match="not empty and holds no run"):
            list(train(recipe(), tmp_path / "mine", resume=resume, device=CPU))
        with pytest.raises(InputError, match="is a file"):
            list(train(recipe(), tmp_path / "mine" / "thesis.tex", resume=resume, device=CPU))
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_what_fails_before_training_leaves_no_folder(tmp_path):
    with pytest.raises(InputError):
        list(train(recipe(domain="nowhere"), tmp_path / "run", device=CPU))
    assert not (tmp_path / "run").exists()


def test_examples_that_changed_under_a_run_are_an_error(toy_files, tmp_path):
    folder = tmp_path / "run"
    list(train(recipe(stages=["q2lf"]), folder, device=CPU))
    before = left_behind(folder)
    with toy_files["train"].open("a", encoding="utf-8") as stream:
        stream.write("a word that was not there\t( all lake )\n")
    with pytest.raises(InputError, match="have changed since this run began"):
        list(train(recipe(stages=["q2lf"]), folder, resume=True, device=CPU))
    assert left_behind(folder) == before


@pytest.mark.parametrize("split", ["train", "dev"])
def test_a_domain_without_pairs_is_an_input_error(toy_files, split):
    toy_files[split].write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="has no (training|dev) pairs"):
        load_material(recipe())


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """What a run leaves when nobody disturbs it."""
    folder = tmp_path_factory.mktemp("whole")
    files = toy.write_files(folder / "toy")
    with pytest.MonkeyPatch.context() as patch:
        toy.install(patch, files)
        list(train(recipe(), folder / "run", device=CPU))
    return left_behind(folder / "run")


@given(interruptions=st.lists(st.integers(0, 100), min_size=1, max_size=3), every=st.sampled_from([-1.0, 3600.0]))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_run_abandoned_anywhere_and_resumed_leaves_the_same(
    toy_files, uninterrupted, tmp_path_factory, monkeypatch, interruptions, every
):
    folder = tmp_path_factory.mktemp("run")
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", every)
    for events in interruptions:
        generator = train(recipe(), folder, resume=True, device=CPU)
        for _ in range(events):
            next(generator, None)
        generator.close()
    list(train(recipe(), folder, resume=True, device=CPU))
    assert left_behind(folder) == uninterrupted


def test_what_a_kill_can_leave_is_swept_up(toy_files, uninterrupted, tmp_path):
    """Half a temporary file, half a line of the log, a checkpoint whose stage is finished."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ".config.toml.abc.part").write_text("dom", encoding="utf-8")
    generator = train(recipe(), folder, resume=True, device=CPU)
    while not isinstance(event := next(generator), Tick) or event.stage != "lf2q":
        pass
    generator.close()
    (folder / "q2lf.checkpoint.safetensors").write_bytes(b"left over")
    (folder / ".lf2q.safetensors.xyz.part").write_bytes(b"half")
    with (folder / "log.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"stage": "lf2q", "epo')
    list(train(recipe(), folder, resume=True, device=CPU))
    assert left_behind(folder) == uninterrupted


KILLED = """
import sys, time
from pathlib import Path
import pytest, torch, toy
from dualparse.train import loop
from test_run import recipe, train
loop.CHECKPOINT_SECONDS = -1.0
files = {{name: Path({data!r}) / f"{{name}}.tsv" for name in ("train", "dev", "test")}}
toy.install(pytest.MonkeyPatch(), files)
for event in train(recipe(), Path({folder!r}), resume=True, device=torch.device("cpu")):
    time.sleep(0.005)
"""


def test_a_run_killed_for_real_and_resumed_leaves_the_same(toy_files, uninterrupted, tmp_path):
    """SIGKILL as soon as the log has three lines, wherever the process happens to be then."""
    folder, tests = tmp_path / "run", Path(__file__).parents[1]
    script = KILLED.format(data=str(toy_files["train"].parent), folder=str(folder))
    paths = os.pathsep.join([str(tests), str(tests / "train"), str(tests.parent)])
    process = subprocess.Popen([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": paths})
    log = folder / "log.jsonl"
    while process.poll() is None and (not log.exists() or log.read_bytes().count(b"\n") < 3):
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    list(train(recipe(), folder, resume=True, device=CPU))
    assert left_behind(folder) == uninterrupted


def test_a_finished_run_resumed_does_nothing(toy_files, uninterrupted, tmp_path):
    list(train(recipe(), tmp_path / "run", device=CPU))
    again = list(train(recipe(), tmp_path / "run", resume=True, device=CPU))
    assert all(isinstance(event, Note) for event in again)
    assert left_behind(tmp_path / "run") == uninterrupted


def test_held_back_pairs_are_not_trained_on_but_their_words_are_known(toy_files):
    material = load_material(recipe(data={"labeled": 0.5, "unlabeled": 0.5}))
    assert len(material.labeled) == 21
    assert len(material.queries) == len(material.forms) == 10
    everything = load_material(recipe())
    assert material.query_vocab == everything.query_vocab
    assert material.lf_vocab == everything.lf_vocab


def test_words_of_phrases_join_the_vocabulary_of_forms(toy_files):
    vocab = load_material(recipe()).lf_vocab
    assert {"old", "berg", "town", "town.berg"} <= set(vocab.tokens)


def test_word_vectors_start_the_embeddings_of_both_sides(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("lake 1 1 1 1 1 1\nberg 2 2 2 2 2 2\nthe 3 3 3 3 3 3\nunused 4 4 4 4 4 4\n", encoding="utf-8")
    agent = toy.agent(hidden=6)
    before = agent.model.source_embedding.weight.detach().clone()
    settings = recipe(model={"embedding": 6, "word_vectors": str(path)}).model
    note = set_word_vectors(agent.model, agent.source_vocab, agent.target_vocab, settings)
    words = {*agent.source_vocab.tokens[4:], *agent.target_vocab.tokens[4:]}
    assert note.startswith(f"3 of {len(words)} tokens start from word vectors; {len(words) - 3} have none")
    for word, value in (("lake", 1.0), ("berg", 2.0), ("the", 3.0)):
        for vocab, embedding in (
            (agent.source_vocab, agent.model.source_embedding),
            (agent.target_vocab, agent.model.target_embedding),
        ):
            if word in vocab.index:
                assert embedding.weight[vocab.index[word]].tolist() == [value] * 6
    untouched = [i for i, token in enumerate(agent.source_vocab.tokens) if token not in ("lake", "berg", "the")]
    assert torch.equal(agent.model.source_embedding.weight[untouched], before[untouched])


def test_devices():
    assert choose_device("cpu").type == "cpu"
    assert choose_device().type in ("cpu", "cuda")
    for name in ("banana", "meta", ""):
        with pytest.raises(InputError, match="unknown device"):
            choose_device(name)
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no CUDA device here"):
            choose_device("cuda")
