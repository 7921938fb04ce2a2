"""`parse` and `verbalize`: notes, bad lines among good ones, many lines at once."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from shell import Result

from dualparse.config import make_recipe
from dualparse.data.examples import load_examples
from dualparse.data.vocab import Vocab
from dualparse.domains.registry import open_domain
from dualparse.domains.text import Reader
from dualparse.manifest import write_manifest
from dualparse.runs import Run, new_agent

GOOD = b"which huts have showers\n"
BAD = GOOD + b"\n" + b"which h\xfcts\n" + b"x" * 500_000 + b"\n?!\n" + GOOD


@pytest.fixture
def dualparse(dualparse):
    """On the CPU, whatever the machine has."""
    return lambda *arguments, **more: dualparse(*arguments, "--device", "cpu", **more)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run whose agents have learned nothing: what the commands do with results does not depend on that."""
    run = Run(tmp_path_factory.mktemp("parse"))
    recipe = make_recipe({"domain": "trails", "model": {"embedding": 8, "hidden": 8}, "search": {"max_length": 8}})
    domain = open_domain("trails")
    train = load_examples(domain, dev_seed=1).train
    query, lf = Vocab.build(e.query for e in train), Vocab.build(e.lf for e in train)
    run.save_recipe(recipe)
    run.save_vocab("query", query)
    run.save_vocab("lf", lf)
    for direction in ("q2lf", "lf2q"):
        model = new_agent(recipe, direction, query, lf, domain).model
        model.initialize(generator=torch.Generator().manual_seed(1))
        run.save_weights(direction, model, metadata={})
    return run.folder


def test_guesses_about_the_text_are_shown(run, dualparse):
    result = dualparse("parse", run, "is the Marmott hut open [bold]")
    assert (result.code, result.err) == (0, "")
    noted = "read 'marmott hut' as 'marmot hut'; never seen in training: 'bold'"
    assert f"is the Marmott hut open [bold]\nnote: {noted}\n" in result.out
    assert "note" not in dualparse("parse", run, "is the marmot hut open").out


def test_constrained_readings_are_valid(run, dualparse):
    """By agents that have learned nothing: all that is valid in their forms comes from the constraint."""
    question = "which huts have showers"
    free, held = (
        json.loads(dualparse("parse", run, question, "--json", "-k", 5, *more).out)["hypotheses"]
        for more in ((), ("--constrained",))
    )
    assert not any(each["ok"] for each in free)
    assert held and all(each["ok"] and each["answer"] for each in held)
    assert "invalid" not in dualparse("parse", run, question, "-k", 5, "--constrained").out


def test_no_valid_reading_is_told(run, dualparse, tmp_path):
    """No form of this domain is as short."""
    short = Run(shutil.copytree(run, tmp_path / "run"))
    search = short.recipe.search.model_copy(update={"max_length": 1})
    short.save_recipe(short.recipe.model_copy(update={"search": search}))
    result = dualparse("parse", short.folder, "which huts have showers", "--constrained")
    assert result.code == 0 and "no valid reading found" in result.out


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_question_is_read_once(run, dualparse, monkeypatch, more):
    asked, read = [], Reader.read
    monkeypatch.setattr(Reader, "read", lambda self, text: asked.append(text) or read(self, text))
    dualparse("parse", run, "which huts have showers", *more)
    assert asked == ["which huts have showers"]


def test_what_each_added_to_the_score_is_told_when_asked_for(run, dualparse, tmp_path):
    question = "which huts have showers"
    alone = dualparse("parse", run, question, "-k", 2, "--explain").out.splitlines()[1]
    assert alone.split()[-1] == "q2lf"
    both = Run(shutil.copytree(run, tmp_path / "run"))
    search = both.recipe.search.model_copy(update={"reconstruction": 0.5})
    both.save_recipe(both.recipe.model_copy(update={"search": search}))
    lines = dualparse("parse", both.folder, question, "-k", 2, "--explain").out.splitlines()
    assert lines[1].split()[-3:] == ["q2lf", "reconstruction", "sum"]
    q2lf, back, whole = map(float, lines[2].split()[-3:])
    assert whole == pytest.approx(q2lf + back, abs=0.011) and back < 0
    assert "q2lf" not in dualparse("parse", both.folder, question, "-k", 2).out
    told = json.loads(dualparse("parse", both.folder, question, "--json", "--explain").out)["hypotheses"][0]
    assert list(told["parts"]) == ["q2lf", "reconstruction"] and told["parts"]["q2lf"] == pytest.approx(q2lf, abs=0.01)
    assert "parts" not in json.loads(dualparse("parse", both.folder, question, "--json").out)["hypotheses"][0]


def test_json_has_the_words_and_the_notes(run, dualparse):
    told = json.loads(dualparse("parse", run, "is the Marmott hut open?", "--json").out)
    assert told["words"] == ["is", "the", "marmot", "hut", "open"]
    assert told["notes"] == ["read 'marmott hut' as 'marmot hut'"]
    for copy in told["hypotheses"][0]["copies"]:
        assert all(0 <= word < 5 for word in copy["words"])


@pytest.mark.parametrize("batch", [1, 4, 64])
def test_bad_lines_are_reported_and_the_others_answered(run, dualparse, batch):
    result = dualparse("parse", run, "--json", "--batch", batch, stdin=BAD)
    assert result.code == 2
    assert [json.loads(line)["question"] for line in result.out.splitlines()] == ["which huts have showers"] * 2
    assert result.err.splitlines() == [
        "error: standard input:2: the question is empty",
        "error: standard input:3: not UTF-8",
        "error: standard input:4: the line is too long",
        "error: standard input:5: the question has no words",
    ]


@pytest.mark.parametrize("batch", [1, 64])
def test_bad_forms_are_reported_and_the_others_worded(run, dualparse, batch):
    stdin = b"( all hut )\n( all\n( count ( all hut ) )\n"
    result = dualparse("verbalize", run, "--batch", batch, stdin=stdin)
    assert result.code == 2
    assert len(result.out.splitlines()) == 2
    assert result.err.startswith("error: standard input:2: not a logical form: missing closing parenthesis")
    assert result.err.count("\n") == 1


def test_lines_at_once_are_answered_as_one_by_one(run, dualparse):
    stdin = GOOD + b"how long is the larch path\n" + GOOD

    def forms(*options: object) -> list[list[str]]:
        lines = dualparse("parse", run, "--json", "-k", 2, *options, stdin=stdin).out.splitlines()
        return [[found["form"] for found in json.loads(line)["hypotheses"]] for line in lines]

    assert len(forms()) == 3
    assert forms() == forms("--batch", 2)


def test_wordings_as_json(run, dualparse):
    told = json.loads(dualparse("verbalize", run, "( all hut )", "--json", "-k", 2).out)
    assert told["form"] == "( all hut )"
    assert [set(wording) for wording in told["wordings"]] == [{"query", "score"}] * 2


def test_nothing_on_standard_input_is_no_error(run, dualparse):
    assert dualparse("parse", run) == Result(0, "", "")


def test_wordings_need_lf2q_alone(run, dualparse, tmp_path):
    copied = Run(Path(shutil.copytree(run, tmp_path / "run")))
    form = "( count ( all hut ) )"
    said = dualparse("verbalize", run, form).out
    copied.weights("q2lf").unlink()
    assert (told := dualparse("verbalize", copied.folder, form)).code == 0 and told.out == said
    copied.weights("lf2q").unlink()
    told = dualparse("verbalize", copied.folder, stdin=form.encode() + b"\n")
    assert told.code == 2 and told.err.startswith(f"error: {copied.weights('lf2q')}: lf2q is not trained yet")


@pytest.mark.parametrize("command", ["parse", "ask"])
def test_one_question_is_answered_without_torch(run, tmp_path, command):
    """Loading torch takes longer than all the rest."""
    shutil.copytree(run, tmp_path / "run")
    write_manifest(tmp_path / "run")
    program = f"""
import sys
from dualparse.use.cli.main import app
app([{command!r}, {str(tmp_path / "run")!r}, "which huts have showers"], standalone_mode=False)
print(sorted({{"torch", "scipy", "matplotlib", "sklearn", "transformers"}} & sys.modules.keys()))
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told.splitlines()[-1] == "[]"
