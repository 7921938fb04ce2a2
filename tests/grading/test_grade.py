"""Questions asked and graded, by an asker that says what the test wants."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from types import ModuleType

import pytest
from shops import sqlite_file
from typer.testing import CliRunner

from dualparse.asking.reply import AMBIGUOUS, ANSWERED, ERROR, REFUSED, Choice, Reply
from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.database.source import open_source
from dualparse.errors import InputError
from dualparse.grading.grade import by_kind, grade, scores_of
from dualparse.grading.questions import Question, read_questions
from dualparse.grading.wanted import answers_of
from dualparse.use.cli.main import app

SHOP = """
CREATE TABLE hats (hat_id INTEGER PRIMARY KEY, name TEXT, price REAL);
INSERT INTO hats VALUES (1, 'bowler', 30), (2, 'fez', 12.5), (3, 'beret', 12.5);
"""
NAMES = "SELECT name FROM hats"


@dataclass
class Fake:
    """Replies by question, rows by form."""

    replies: dict[str, Reply]
    forms: dict[str, tuple[tuple, ...]] = field(default_factory=dict)
    closed: bool = False

    def ask(self, question: str) -> Reply:
        return self.replies[question]

    def run(self, form: str, question: str = "") -> Reply:
        if form not in self.forms:
            return Reply(question, ERROR, form=form, reason="no such form")
        return Reply(question, ANSWERED, rows=self.forms[form], kind="rows", form=form)

    def close(self) -> None:
        self.closed = True


def reply(question: str, *rows: tuple, status: str = ANSWERED, kind: str = "rows", **more) -> Reply:
    return Reply(question, status, rows=rows, kind=kind, **more)


@pytest.fixture
def source(tmp_path):
    file = sqlite_file(tmp_path / "hats.sqlite", SHOP)
    with open_source(locate(str(file))) as opened:
        yield opened


def graded(source, *asked: tuple[Question, Reply], forms=None):
    asker = Fake({question.text: reply for question, reply in asked}, forms or {})
    questions = [question for question, _ in asked]
    return list(grade(asker, questions, answers_of("questions.jsonl", asker, source)))


def test_answers_refusals_and_readings_are_counted_apart(source):
    choices = (Choice("wrong", "", 0.5), Choice("right", "", 0.4))
    found = graded(
        source,
        (Question("hats", 1, "list_one", sql=NAMES), reply("hats", ("fez",), ("beret",), ("bowler",))),
        (Question("dear", 2, "list_one", sql=f"{NAMES} WHERE price > 20"), reply("dear", ("fez",))),
        (Question("both", 3, "list_one", sql=NAMES), reply("both", status=AMBIGUOUS, choices=choices)),
        (Question("lost", 4, "count", sql="SELECT COUNT(*) FROM hats"), reply("lost", status=REFUSED)),
        (Question("slow", 5, "count", sql="SELECT COUNT(*) FROM hats"), reply("slow", status=ERROR)),
        (Question("rain", 6, "unanswerable"), reply("rain", status=REFUSED)),
        (Question("snow", 7, "unanswerable"), reply("snow")),
        (Question("hail", 8, "unanswerable"), reply("hail", status=AMBIGUOUS, choices=choices)),
        forms={"right": (("fez",), ("beret",), ("bowler",)), "wrong": (("fez",),)},
    )
    assert [each.outcome for each in found] == [
        *("right", "wrong", "ambiguous", "refused", "error", "refused", "wrong", "ambiguous"),
    ]
    assert [each.offered for each in found] == [False, False, True, False, False, False, False, False]
    assert [each.good for each in found] == [True, False, False, False, False, True, False, False]
    scores = scores_of(found)
    assert (scores.right, scores.answerable, scores.given, scores.offered, scores.ambiguous) == (1, 5, 3, 1, 2)
    assert (scores.refused_rightly, scores.unanswerable, scores.refused) == (1, 3, 2)
    shares = scores.shares()
    assert [round(share["percent"]) for share in shares.values()] == [20, 33, 33]
    assert shares["right_of_answerable"]["low"] == pytest.approx(3.6, abs=0.1)
    assert {kind: scores.questions for kind, scores in by_kind(found).items()} == {
        "list_one": 3,
        "count": 2,
        "unanswerable": 3,
    }


def test_a_number_may_not_stand_beside_others_but_a_thing_may_show_more(source):
    total, names = Question("how many", 1, sql="SELECT 3"), Question("which", 2, sql=NAMES)
    rows = [("fez", 12.5), ("beret", 12.5), ("bowler", 30)]
    found = graded(
        source, (total, reply("how many", (3, 12.5), kind="value")), (names, reply("which", *rows, kind="rows"))
    )
    assert [(each.outcome, each.wider) for each in found] == [("wrong", False), ("right", True)]


def test_order_counts_where_the_sql_or_the_question_says_so(source):
    by_name = f"{NAMES} ORDER BY name DESC"
    turned = reply("sorted", ("beret",), ("bowler",), ("fez",))
    assert graded(source, (Question("sorted", 1, sql=by_name), turned))[0].outcome == "wrong"
    assert graded(source, (Question("sorted", 1, sql=by_name, ordered=False), turned))[0].outcome == "right"


def test_a_form_stands_in_the_place_of_sql(source):
    forms = {"( select ( top 2 ( all hat ) price ) price )": (("bowler",), ("fez",)), "( all hat )": (("fez",),)}
    ranked, plain = (Question(form, 1, form=form) for form in forms)
    found = graded(source, (ranked, reply(ranked.text, ("fez",), ("bowler",))), forms=forms)
    assert found[0].outcome == "wrong"  # its order counts
    assert graded(source, (plain, reply(plain.text, ("fez",))), forms=forms)[0].outcome == "right"
    with pytest.raises(InputError, match="questions.jsonl:1: the form has no answer: no such form"):
        graded(source, (Question("x", 1, form="( all cap )"), reply("x")))


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("DELETE FROM hats", "no SELECT"),
        ("SELECT 1; SELECT 2", "not one query"),
        ("SELECT ((", "not one query"),
        ("SELECT cap FROM hats", "does not run"),
        ("ATTACH 'other.sqlite' AS other", "no SELECT"),
    ],
)
def test_sql_that_is_no_query_is_told_with_its_line(source, sql, told):
    with pytest.raises(InputError, match=told) as caught:
        graded(source, (Question("x", 7, sql=sql), reply("x")))
    assert caught.value.line == 7


def test_sql_without_a_database_is_told(source):
    with pytest.raises(InputError, match="say --database"):
        graded(None, (Question("x", 7, sql=NAMES), reply("x")))


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A connected folder, a file of questions, and the asker that the command opens."""
    sqlite_file(tmp_path / "hats.sqlite", SHOP)
    connect(locate(str(tmp_path / "hats.sqlite")), tmp_path / "shop")
    asked = [
        {"question": "which hats", "kind": "list_one", "sql": NAMES},
        {"question": "the dear one", "kind": "lookup", "sql": f"{NAMES} WHERE price > 20"},
        {"question": "will it rain", "kind": "unanswerable", "sql": None, "reason": "off-topic"},
    ]
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, asked)))
    fake = Fake(
        {
            "which hats": reply("which hats", ("fez",), ("beret",), ("bowler",)),
            "the dear one": reply("the dear one", ("fez",), form="( all hat )", probability=0.81),
            "will it rain": reply("will it rain", status=REFUSED, reason="nothing is known of rain"),
        }
    )
    module = ModuleType("dualparse.asking.asker")
    module.open_asker = lambda target, *, database="", today=None: fake
    monkeypatch.setitem(sys.modules, "dualparse.asking.asker", module)
    return tmp_path, fake


def run(*words):
    return CliRunner().invoke(app, ["evaluate", *map(str, words)])


def test_the_command_shows_kinds_and_misses(shop):
    folder, fake = shop
    result = run(folder / "shop", "--questions", folder / "questions.jsonl")
    assert result.exit_code == 0, result.output
    assert "right among the answerable:    50.0 % (1 of 2;" in result.output
    assert "refused among the others:      100.0 % (1 of 1;" in result.output
    assert "2: the dear one   [lookup, wrong]" in result.output
    assert "wanted: bowler" in result.output and "given:  fez" in result.output
    assert "form:   ( all hat )   (0.81)" in result.output
    assert "which hats" not in result.output
    assert fake.closed


def test_the_command_prints_json_and_stores_a_result(shop):
    folder, _ = shop
    result = run(folder / "shop", "--questions", folder / "questions.jsonl", "--json", "--out", folder / "result.json")
    told = json.loads(result.stdout)
    assert told["scores"]["right"] == 1 and told["kinds"]["lookup"]["wrong"] == 1
    assert [miss["question"] for miss in told["misses"]] == ["the dear one"]
    assert told["misses"][0]["wanted"] == "bowler"
    stored = json.loads((folder / "result.json").read_text())
    assert stored["scores"]["right_of_given"]["percent"] == 50.0
    assert [each["outcome"] for each in stored["graded"]] == ["right", "wrong", "refused"]
    assert stored["questions"] == "questions.jsonl" and "sha256" in stored and "commit" in stored


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--split", "test", "--questions", "questions.jsonl"], "are for the examples of a run"),
        (["--json"], "--json: needs --questions"),
        (["--today", "soon", "--questions", "questions.jsonl"], "expected a day"),
        (["--questions", "nowhere.jsonl"], "nowhere.jsonl: cannot be read"),
    ],
)
def test_options_that_do_not_go_together(shop, monkeypatch, words, told):
    monkeypatch.chdir(shop[0])
    result = run("shop", *words)
    assert isinstance(result.exception, InputError) and told in str(result.exception)


def test_a_bad_line_ends_the_command_before_anything_is_asked(shop):
    folder, fake = shop
    (folder / "questions.jsonl").write_text('{"question": "x", "sql": "SELECT 1"}\n{"question": "y"}\n')
    result = run(folder / "shop", "--questions", folder / "questions.jsonl")
    assert isinstance(result.exception, InputError) and "questions.jsonl:2:" in str(result.exception)
    assert not fake.closed


def test_the_benchmarks_questions_can_be_read():
    from pathlib import Path

    files = sorted((Path(__file__).parents[2] / "benchmarks" / "databases").rglob("questions.jsonl"))
    assert files and {len(read_questions(file)) for file in files} == {60}
