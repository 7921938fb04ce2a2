"""Rows of the matching benchmark: what is stored counts, what is cut short does not, and no time is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tiny_encoder import write_tiny_encoder

from benchmarks import matching
from benchmarks.matching import ROWS, Asked, Row, cut_short, read_records, run_cell, updates_of

RESULTS = Path(__file__).parents[1] / "results" / "bench-matching.jsonl"


@pytest.fixture
def encoder(tmp_path) -> str:
    pytest.importorskip("transformers", reason="needs the extra pretrained")
    return str(write_tiny_encoder(tmp_path / "encoder"))


@pytest.fixture
def asked() -> dict[str, Asked]:
    utterances = ["number of huts", "hut that has showers", "trail whose length is over 10 km", "highest peak"]
    questions = ["how many huts are there", "which huts have showers", "all long trails", "the highest peak"]
    wanted = list(zip(questions, "abcd", strict=True))
    one = Asked(utterances, list("abcd"), {"1.0": (questions, [0, 1, 2, 3])}, {"1.0": 4}, wanted, wanted)
    return {"huts": one, "peaks": one}


def test_rows_that_are_stored_need_not_be_scored_again():
    stored = read_records(RESULTS).values()
    for row in ("none", "shipped"):
        (settings,) = {json.dumps(each["settings"]) for each in stored if each["row"] == row}
        assert json.loads(settings) == matching._settings(row)


def test_a_row_without_labels_goes_on_with_questions_alone(asked, encoder, monkeypatch):
    monkeypatch.setitem(ROWS, "others", Row(2, reader=2, others=True, unlabeled=2))
    asked["huts"].taught["1.0"] = (asked["huts"].taught["1.0"][0], [0, 0, 0, 0])  # its own labels are never looked at
    (record,) = run_cell("others", 1, "huts", asked, encoder, "cpu", test=False)
    assert set(record["dev"]) == {"matcher", "reader", "unlabeled", "among_10", "examples"}
    assert "test" not in record and record["settings"]["unlabeled"] == 2
    again = asked["huts"].taught["1.0"][0]
    asked["huts"].taught["1.0"] = (again, [3, 2, 1, 0])
    (other,) = run_cell("others", 1, "huts", asked, encoder, "cpu", test=False)
    assert other["dev"] == record["dev"]


def test_a_training_is_cut_short_in_each_of_its_parts():
    assert cut_short(Row(1000, reader=600, unlabeled=200), 2) == Row(2, reader=2, unlabeled=2)
    assert cut_short(Row(0), 2) == Row(0) and updates_of(Row(2, reader=2, unlabeled=2)) == 8


def test_of_a_domain_the_first_questions_are_enough_to_see_that_it_goes_through(asked):
    few = matching.first_of(asked["huts"], 2)
    assert few.taught["1.0"] == (["how many huts are there", "which huts have showers"], [0, 1])
    assert len(few.dev) == len(few.test) == 2 and few.utterances == asked["huts"].utterances


def test_a_cell_that_fails_does_not_take_the_others_with_it(monkeypatch, capsys):
    def run(*_, **__):
        raise FloatingPointError("the loss is nan at update 50")

    monkeypatch.setattr(matching, "run_cell", run)
    assert matching._work(("few-16", 1, "blocks"), "", "cpu", matching.time.time() + 100, False) == []
    assert "nan at update 50" in capsys.readouterr().out


def test_a_cell_that_would_not_be_done_in_time_is_not_begun(monkeypatch):
    monkeypatch.setattr(matching, "_PACE", [1.0])
    monkeypatch.setattr(matching, "run_cell", lambda *args, **named: [{"row": args[0]}])
    now = matching.time.time()
    assert matching._work(("few-16", 1, "blocks"), "", "cpu", now + 100, False) == []
    assert matching._work(("few-16", 1, "blocks"), "", "cpu", now + 10_000, False) == [{"row": "few-16"}]


def test_a_training_cut_short_is_never_stored(monkeypatch):
    monkeypatch.setattr("sys.argv", ["matching", "--updates", "2", "--rows", "others"])
    with pytest.raises(SystemExit, match="no result"):
        matching.main()
