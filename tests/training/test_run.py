"""Whole runs in a folder: what they leave behind, and that being killed changes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import toy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_runs import STAGES, left_behind, recipe

from dualparse.errors import InputError
from dualparse.networks.tensors import load_tensors
from dualparse.runs import REFIT, Run
from dualparse.training import loop
from dualparse.training.loop import Record, Tick
from dualparse.training.material import load_material, set_word_vectors
from dualparse.training.run import Note, choose_device, refit, refit_recipe, train
from dualparse.training.score import score_run

CPU = torch.device("cpu")


def test_a_run_leaves_settings_vocabularies_weights_and_a_log(toy_files, tmp_path):
    folder = tmp_path / "runs" / "first"
    events = list(train(recipe(), folder, device=CPU))
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["config.toml", "query.vocab", "lf.vocab", "log.jsonl", "manifest.json"]
        + [f"{stage}.safetensors" for stage in STAGES]
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
    with toy.registered(files):
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
import torch, toy
from dualparse.training import loop
from dualparse.domains.registry import register
from test_run import recipe, train
loop.CHECKPOINT_SECONDS = -1.0
files = {{name: Path({data!r}) / f"{{name}}.tsv" for name in ("train", "dev", "test")}}
register(toy.family(files))
for event in train(recipe(), Path({folder!r}), resume=True, device=torch.device("cpu")):
    time.sleep(0.005)
"""


def test_a_run_killed_for_real_and_resumed_leaves_the_same(toy_files, uninterrupted, tmp_path):
    """SIGKILL as soon as the log has three lines, wherever the process happens to be then."""
    folder, tests = tmp_path / "run", Path(__file__).parents[1]
    script = KILLED.format(data=str(toy_files["train"].parent), folder=str(folder))
    paths = os.pathsep.join([str(tests), str(tests / "training"), str(tests.parent)])
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
