"""`feedback`, `learn` and `suggest` on a run of the toy domain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import toy
import toy_run
from shops import SHOP, sqlite_file

from dualparse.database.connect import connect
from dualparse.database.location import locate


@pytest.fixture
def run(tmp_path_factory, toy_domain) -> Path:
    folder = tmp_path_factory.mktemp("feedback")
    made = toy_run.make_run(folder, train={"epochs": 6, "learning_rate": 0.01, "batch_size": 8, "evaluate_from": 6})
    toy_domain(toy.write_files(folder / "toy"))
    return made


def test_feedback_is_noted_learned_and_suggests_what_to_ask_next(run, dualparse):
    meant = dualparse("feedback", run, "the blue one please", "--meant", "( near town.arn )")
    assert (meant.code, meant.err) == (0, "") and f"noted in {run / 'journal.jsonl'}: meant" in meant.out
    noted = dualparse("feedback", run, "how deep is arn", "--wrong")
    assert noted.code == 0 and not noted.out.rstrip().endswith(","), "a question that was asked back about, too"
    assert dualparse("feedback", run, "how shallow is cham", "--wrong").code == 0
    lines = (run / "journal.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["meant", "wrong", "wrong"]
    learned = dualparse("learn", run, "--epochs", "1")
    assert (learned.code, learned.err) == (0, "")
    assert "3 records: 1 questions with the form that is meant (1 are remembered), 2 without" in learned.out
    assert "q2lf on dev: " in learned.out
    assert (run / "logged.txt").read_text() == "how deep is arn\nhow shallow is cham\n"
    told = json.loads(dualparse("ask", run, "--json", "the blue one please").out)
    assert (told["status"], told["form"]) == ("answered", "( near town.arn )")
    suggested = [json.loads(line) for line in dualparse("suggest", run, "--json", "-n", "5").out.splitlines()]
    assert {each["question"] for each in suggested} <= {"how deep is arn", "how shallow is cham"}
    assert dualparse("verify", run).code == 0


def test_a_connected_folder_learns_without_training(tmp_path, dualparse):
    sqlite_file(tmp_path / "shop.sqlite", SHOP)
    folder = tmp_path / "shop"
    connect(locate(str(tmp_path / "shop.sqlite")), folder)
    question, form = "what flickers longest", "( argmax ( all film ) running_minutes )"
    assert dualparse("feedback", folder, question, "--meant", form).code == 0
    assert dualparse("feedback", folder, "films of members", "--wrong").code == 0
    learned = dualparse("learn", folder)
    assert (learned.code, learned.err) == (0, "")
    assert "2 records: 1 questions with the form that is meant" in learned.out and "1 new ones without" in learned.out
    told = json.loads(dualparse("ask", folder, "--json", question).out)
    assert (told["status"], told["form"]) == ("answered", form)
    suggested = [json.loads(line) for line in dualparse("suggest", folder, "--json").out.splitlines()]
    assert [each["question"] for each in suggested] == ["films of members"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("huts",), "say one of --right, --wrong and --meant"),
        (("huts", "--right", "--wrong"), "say one of"),
        (("huts", "--meant", "( near"), "is no form that runs"),
        ((" ", "--wrong"), "the question is empty"),
    ],
)
def test_feedback_that_says_nothing_is_an_error(run, dualparse, arguments, told):
    result = dualparse("feedback", run, *arguments)
    assert result.code == 2 and told in result.err and not (run / "journal.jsonl").exists()


def test_without_a_journal_there_is_nothing_to_learn(run, dualparse):
    for command in ("learn", "suggest"):
        result = dualparse(command, run)
        assert result.code == 2 and "no journal here" in result.err
