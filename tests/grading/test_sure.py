"""How sure answers about a connected folder may be: measured on questions, and fitted on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shops import SHOP, sqlite_file
from typer.testing import CliRunner

from dualparse.asking.asker import FolderAsker, open_asker
from dualparse.asking.grounds import default_trust
from dualparse.asking.trust import Trust, write_trust
from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.grading.questions import read_questions
from dualparse.grading.sure import learn, measure, weigh
from dualparse.grading.wanted import answers_of
from dualparse.use.cli.main import app

QUESTIONS = [
    ("how many films are there", "SELECT COUNT(*) FROM Films"),
    ("which films are longer than two hours", "SELECT Title FROM Films WHERE RunningMinutes > 120"),
    ("films in the western genre", "SELECT Title FROM Films WHERE GenreId = 3"),
    ("chilean actors", "SELECT first_name, last_name FROM Actors WHERE country = 'Chile'"),
    ("films nobody liked", None),
]


@pytest.fixture
def folder(tmp_path) -> Path:
    sqlite_file(tmp_path / "shop.sqlite", SHOP)
    connect(locate(str(tmp_path / "shop.sqlite")), tmp_path / "folder")
    lines = [json.dumps({"question": question, "sql": sql}) for question, sql in QUESTIONS]
    (tmp_path / "asked.jsonl").write_text("\n".join(lines * 8), encoding="utf-8")
    return tmp_path / "folder"


def test_what_a_folder_begins_with_is_fitted():
    trust = default_trust()
    assert trust.fitted and 0 < trust.topic_cut < trust.cut < 1 and trust.coverage


def test_below_the_cut_readings_are_offered_and_above_it_answered(folder):
    replies = {}
    for cut in (0.0, 1.01):
        write_trust(folder, Trust(cut=cut, topic_cut=0.0))
        with open_asker(folder) as asker:
            replies[cut] = asker.ask("which films are longer than two hours")
    assert replies[0.0].status == "answered" and len(replies[0.0].rows) == 2
    offered = replies[1.01]
    assert replies[0.0].columns == ("film", "running minutes"), "what things are compared by stands beside them"
    assert offered.status == "ambiguous" and not offered.rows and 1 <= len(offered.choices) <= 3
    assert offered.form == offered.sql == offered.said == "", "nothing was chosen yet"
    assert offered.choices[0].said == "films whose running minutes are over 2 hours"
    assert offered.choices[0].probability == offered.probability == replies[0.0].probability


def test_a_question_of_no_word_that_the_data_knows_is_refused_with_the_words(folder):
    with open_asker(folder) as asker:
        weather, hello = asker.ask("will it rain in my street"), asker.ask("hello")
    assert weather.status == hello.status == "refused"
    assert "something other than the data here (shop)" in weather.reason and "'rain'" in weather.reason
    assert hello.reason == "this does not read like a question about the data here (shop)"


def test_probabilities_are_measured_and_fitted(folder):
    with open_asker(folder) as asker:
        path = folder.parent / "asked.jsonl"
        found = weigh(asker, read_questions(path), answers_of(path, asker, asker.source))
        assert [each.right for each in found[:5]] == [1, 1, 1, 1, 0]
        before = measure(asker, found, split="asked", away=[("off-topic", "who wrote hamlet")])
        assert before.examples == 40 and before.accuracy == 0.8 and before.strangers["off-topic"] == (1, 1.0)
        assert before.strangers["of the file"][0] == 8
        asker.trust = learn(asker, found, precision=0.9)
        assert asker.trust.wanted == 0.9 and asker.trust.right.examples == 32 and asker.trust.coverage
        after = measure(asker, found, split="asked", fitted=True)
    assert after.error < before.error and after.right >= 0.9


def test_the_command_measures_keeps_and_stores(folder):
    path, out = folder.parent / "asked.jsonl", folder.parent / "sure.jsonl"
    arguments = ["evaluate", str(folder), "--questions", str(path), "--calibration", "--out", str(out)]
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 0 and "40 questions, 80.0% right, calibration error" in told.output
    assert not (folder / "confidence.json").exists() and (folder / "calibration.asked.svg").is_file()
    told = CliRunner().invoke(app, [*arguments, "--precision", "0.9"])
    assert told.exit_code == 0 and "for a precision of 90% (chosen on these questions)" in told.output
    [line] = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert line["name"] == "folder" and line["split"] == "asked" and line["fitted"] and line["answered"] > 0
    with open_asker(folder) as asker:
        assert isinstance(asker, FolderAsker) and asker.trust.wanted == 0.9
