"""Run folders: what is written reads back; what is damaged is told, with the file."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import toy
from hypothesis import given, settings
from hypothesis import strategies as st

from dualparse import runs
from dualparse.config import make_recipe, read_saved_recipe
from dualparse.data.vocab import Vocab
from dualparse.errors import InputError
from dualparse.files import replacing, replacing_folder, unfinished, write_text
from dualparse.networks.tensors import load_tensors, save_tensors
from dualparse.runs import Run, new_agent, new_language_model

CPU = torch.device("cpu")
RECIPE = make_recipe({"domain": "toy", "model": {"embedding": 5, "hidden": 6}})


def make_run(folder: Path) -> Run:
    """A run with both agents and a language model, untrained."""
    run = Run(folder)
    run.save_recipe(RECIPE)
    query, lf = toy.vocabularies()
    run.save_vocab("query", query)
    run.save_vocab("lf", lf)
    for direction in ("q2lf", "lf2q"):
        agent = new_agent(RECIPE, direction, query, lf, toy.domain())
        agent.model.initialize(generator=torch.Generator().manual_seed(3))
        run.save_weights(direction, agent.model, metadata={"stage": direction})
    run.save_weights("query_lm", new_language_model(RECIPE, "query_lm", query), metadata={})
    return run


@pytest.fixture
def run(tmp_path) -> Run:
    return make_run(tmp_path / "run")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_weights_next_to_nothing_are_nothing(run):
    model = run.agent("q2lf", toy.domain(), CPU).model
    with torch.no_grad():
        model.target_embedding.weight[4, :3] = torch.tensor([1e-40, -1e-31, 1e-20])
    run.save_weights("q2lf", model, metadata={})
    read = run.agent("q2lf", toy.domain(), CPU).model.target_embedding.weight
    assert read[4, :3].tolist() == [0.0, 0.0, pytest.approx(1e-20)]
    assert torch.equal(read[5:], model.target_embedding.weight[5:])


def test_a_run_reads_back_as_it_was_written(run):
    again = Run.open(run.folder)
    assert again.recipe == RECIPE
    for direction, sizes in (("q2lf", (0, 1)), ("lf2q", (1, 0))):
        agent = again.agent(direction, toy.domain(), CPU)
        assert [len(vocab) for vocab in (agent.source_vocab, agent.target_vocab)] == [
            len(toy.vocabularies()[i]) for i in sizes
        ]
        assert not agent.model.training
        tensors, metadata = load_tensors(run.weights(direction))
        assert metadata == {"stage": direction}
        for name, tensor in agent.model.state_dict().items():
            assert torch.equal(tensor, tensors[name])
    assert not again.language_model("query_lm", CPU).training


def test_a_run_without_copying_reads_back_too(tmp_path):
    recipe = make_recipe({"domain": "toy", "model": {"embedding": 5, "hidden": 6, "copy_mechanism": False}})
    run = make_run(tmp_path / "run")
    run.save_recipe(recipe)
    agent = new_agent(recipe, "q2lf", *toy.vocabularies(), toy.domain())
    assert agent.model.gate is None
    run.save_weights("q2lf", agent.model, metadata={})
    assert Run.open(run.folder).agent("q2lf", toy.domain(), CPU).model.gate is None


def test_what_is_no_run_folder(tmp_path):
    with pytest.raises(InputError, match="no such run folder"):
        Run.open(tmp_path / "nothing")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="no such run folder"):
        Run.open(tmp_path / "file")
    with pytest.raises(InputError, match=r"not a run folder: config\.toml is missing"):
        Run.open(tmp_path)


@pytest.mark.parametrize("name", ["query.vocab", "lf.vocab", "q2lf.safetensors"])
def test_a_missing_file_is_named(run, name):
    (run.folder / name).unlink()
    with pytest.raises(InputError, match=name):
        run.agent("q2lf", toy.domain(), CPU)


def test_a_stage_that_was_not_trained_is_told(run):
    with pytest.raises(InputError, match="this run has no lf_lm model: its recipe trains"):
        run.language_model("lf_lm", CPU)


@pytest.mark.parametrize("keep", [0, 4, 200, -1])
def test_weights_cut_short_are_told_and_left_alone(run, keep):
    path = run.weights("q2lf")
    path.write_bytes(path.read_bytes()[:keep])
    before = contents(run.folder)
    with pytest.raises(InputError, match=r"q2lf\.safetensors: damaged or cut short"):
        run.agent("q2lf", toy.domain(), CPU)
    assert contents(run.folder) == before


@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_weights_damaged_anywhere_never_give_a_traceback(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("w") / "w.safetensors"
    save_tensors(path, {"a": torch.ones(2, 3), "b": torch.zeros(4)}, {"stage": "x"})
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        load_tensors(path)
    except InputError as error:
        assert error.path == path


@pytest.mark.parametrize(("side", "name"), [("query", "source_embedding"), ("lf", "target_embedding")])
def test_a_vocabulary_that_does_not_fit_the_weights_is_told(run, side, name):
    vocab = run.vocab(side)
    run.save_vocab(side, Vocab((*vocab.tokens, "added")))
    with pytest.raises(InputError, match=f"{name}.weight is .*do not fit the vocabulary") as caught:
        run.agent("q2lf", toy.domain(), CPU)
    assert "\n" not in str(caught.value)


def test_a_vocabulary_cut_short_is_told(run):
    path = run.vocab_path("lf")
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(InputError, match=r"lf\.vocab: cut short"):
        run.agent("q2lf", toy.domain(), CPU)


def test_weights_of_another_model_are_told(run):
    query, _ = toy.vocabularies()
    run.save_weights("q2lf", new_language_model(RECIPE, "query_lm", query), metadata={})
    with pytest.raises(InputError, match="weights of another kind of model"):
        run.agent("q2lf", toy.domain(), CPU)


@pytest.mark.parametrize("content", [b"domain = ", b"\xff\xfe", b'domain = "toy"\nnonsense = 3\n'])
def test_a_damaged_config_is_told(run, content):
    (run.folder / "config.toml").write_bytes(content)
    with pytest.raises(InputError, match=r"config\.toml"):
        _ = run.recipe


def test_the_log_grows_and_forgives_a_line_cut_short(run):
    assert run.read_log() == []
    record = {"stage": "q2lf", "epoch": 1, "figures": {}, "scores": {}, "best": False}
    run.append_log(record)
    run.append_log(record | {"epoch": 2})
    with (run.folder / "log.jsonl").open("ab") as stream:
        stream.write(b'{"stage": "\xc3')
    assert [record["epoch"] for record in run.read_log()] == [1, 2]
    run.write_log([record | {"epoch": 9}])
    assert [record["epoch"] for record in run.read_log()] == [9]


def test_metrics_and_predictions(run):
    assert run.metrics() == {}
    run.save_metrics({"dev": {"accuracy": 50.0}})
    assert Run.open(run.folder).metrics() == {"dev": {"accuracy": 50.0}}
    run.save_predictions("dev", [{"query": "à la"}, {"query": "b"}])
    assert (run.folder / "predictions.dev.jsonl").read_text(encoding="utf-8") == '{"query": "à la"}\n{"query": "b"}\n'


@pytest.mark.parametrize("content", [b"{", b"[1, 2]", b"\xff", b""])
def test_damaged_metrics_are_told_and_left_alone(run, content):
    (run.folder / "metrics.json").write_bytes(content)
    with pytest.raises(InputError, match=r"metrics\.json: not a JSON object"):
        run.metrics()
    assert (run.folder / "metrics.json").read_bytes() == content


# Writing files.


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "folder"
    with pytest.raises(ZeroDivisionError), replacing_folder(path) as part:
        (part / "a").write_text("1")
        raise ZeroDivisionError
    assert list(path.parent.iterdir()) == []
    (path.parent / ".folder.part").mkdir()
    (path.parent / ".folder.part" / "of a killed process").touch()
    with replacing_folder(path) as part:
        (part / "b").write_text("2")
        assert not path.exists()
    assert list(path.parent.iterdir()) == [path] and [each.name for each in path.iterdir()] == ["b"]
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file/x: cannot write"), replacing_folder(tmp_path / "file" / "x"):
        pass


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "file.txt"
    write_text(path, "first")
    with pytest.raises(ZeroDivisionError), replacing(path) as part:
        part.write_text("half of the sec", encoding="utf-8")
        assert unfinished(part)
        raise ZeroDivisionError
    assert path.read_text(encoding="utf-8") == "first"
    assert list(path.parent.iterdir()) == [path]
    assert not unfinished(path)


def test_a_place_that_cannot_be_written_is_an_input_error(tmp_path):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="cannot write"):
        write_text(tmp_path / "file" / "below", "x")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def test_a_folder_is_no_file_to_write(tmp_path):
    with pytest.raises(InputError, match="is a folder; expected the name of a file to write"):
        write_text(tmp_path, "text")
    assert list(tmp_path.iterdir()) == [] and not list(tmp_path.parent.glob(".*.part"))


def test_a_recipe_is_read_once_and_again_when_another_has_written_it(run, monkeypatch):
    read = []
    monkeypatch.setattr(runs, "read_saved_recipe", lambda path: read.append(path) or read_saved_recipe(path))
    run = Run.open(run.folder)
    assert run.recipe is run.recipe and len(read) == 1
    Run(run.folder).save_recipe(run.recipe.model_copy(update={"seed": 77}))
    assert run.recipe.seed == 77 and len(read) == 2
