"""`POST /feedback` and the journal of a service."""

from __future__ import annotations

import json

import fake_asker
import httpx
import pytest
import toy_run
from typer.testing import CliRunner

from dualparse.asking.journal import Journal, collect
from dualparse.use.cli.main import app
from dualparse.use.service.app import make_app

SHOP = "( all genre )"


@pytest.fixture
def journal(tmp_path) -> Journal:
    return Journal(tmp_path / "journal.jsonl", redact=lambda text: text.replace("Jane", "..."))


@pytest.fixture
def service(journal):
    targets = {"films": fake_asker.target(), "quiet": fake_asker.target()}
    with (
        toy_run.serving(make_app(targets, journals={"films": journal})) as url,
        httpx.Client(base_url=url, timeout=30) as http,
    ):
        yield http


def test_questions_and_what_is_said_of_them_are_kept(service, journal):
    asked = service.post("/ask", json={"question": "which kinds does Jane have"}).json()
    assert asked["question"] == "which kinds does Jane have" and asked["id"]
    said = {"question": asked["question"], "judgement": "meant", "form": SHOP, "of": asked["id"]}
    assert service.post("/feedback", json=said).json()["run"] == "films"
    first, second = journal.records()
    assert (first.kind, first.status, first.question) == ("asked", "ambiguous", "which kinds does ... have")
    assert (second.kind, second.form, second.of, second.question) == ("meant", SHOP, first.id, first.question)
    assert collect(journal.records()).labeled == ((first.question, SHOP),)
    assert 'dualparse_feedback_total{judgement="meant",run="films"} 1.0' in service.get("/metrics").text


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"judgement": "right"}, "the form is missing"),
        ({"judgement": "meant", "form": "( broken"}, "this is no form that runs: a parenthesis is missing"),
        ({"judgement": "great"}, "judgement: Input should be 'right', 'wrong' or 'meant'"),
        ({"judgement": "right", "form": SHOP, "run": "quiet"}, "no journal is kept here"),
    ],
)
def test_what_cannot_be_kept_is_told(service, journal, said, problem):
    answer = service.post("/feedback", json={"question": "which kinds"} | said)
    assert answer.status_code == 422 and problem in answer.json()["error"]
    assert not journal.path.exists()


def test_without_a_journal_nothing_is_kept(service, journal):
    assert service.post("/ask", json={"question": "which kinds", "run": "quiet"}).json()["id"] == ""
    told = {run["name"]: run["feedback"] for run in service.get("/domains").json()["runs"]}
    assert told == {"films": True, "quiet": False}
    assert not journal.path.exists()


def test_a_journal_that_cannot_be_written_costs_no_answer(service, journal, monkeypatch):
    journal.path.mkdir()
    asked = service.post("/ask", json={"question": "which kinds"})
    assert (asked.status_code, asked.json()["id"]) == (200, "")
    said = service.post("/feedback", json={"question": "which kinds", "judgement": "wrong"})
    assert said.status_code == 422 and "cannot write" in json.dumps(said.json())


def test_options_of_the_journal_need_one(tmp_path):
    told = CliRunner().invoke(app, ["serve", str(tmp_path), "--keep-days", "3"])
    assert "add --journal" in str(told.exception)
