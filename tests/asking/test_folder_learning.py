"""A connected folder learns from what people say of its answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from shops import SHOP, sqlite_file

from dualparse.asking.asker import open_asker
from dualparse.asking.folder_learning import helpful, keep_unlabeled, remember
from dualparse.database.connect import connect
from dualparse.database.location import locate

QUESTION, FORM = "what flickers longest", "( argmax ( all film ) running_minutes )"


@pytest.fixture
def folder(tmp_path) -> Path:
    sqlite_file(tmp_path / "shop.sqlite", SHOP)
    connect(locate(str(tmp_path / "shop.sqlite")), tmp_path / "folder")
    return tmp_path / "folder"


def test_what_was_meant_is_answered_and_the_last_word_counts(folder):
    with open_asker(folder) as asker:
        assert asker.ask(QUESTION).status == "refused"
        assert asker.run(FORM).status == "answered", "the form is one"
    (folder / "train.tsv").write_text("all genres there are\t( all genre )\n")
    remember(folder, [(QUESTION, "( all film )"), ("What\tflickers  longest", FORM)])
    assert (folder / "train.tsv").read_text() == f"all genres there are\t( all genre )\nWhat flickers longest\t{FORM}\n"
    with open_asker(folder) as asker:
        reply = asker.ask(QUESTION)
    assert (reply.status, reply.form) == ("answered", FORM) and reply.probability >= 0.99


def test_questions_without_a_label_are_kept_once(folder):
    (folder / "queries.txt").write_text("films by length\n")
    remember(folder, [(QUESTION, FORM)])
    assert keep_unlabeled(folder, ["Films by length", "old ones", "old  ones", QUESTION]) == 1
    assert (folder / "queries.txt").read_text() == "films by length\nold ones\n"


def test_what_is_unsure_and_about_the_data_is_suggested_first(folder):
    remember(folder, [(QUESTION, FORM)])
    sure = "how many films are there"
    questions = [sure, QUESTION, "zorp the glimmering fnord", "films of members", "members of films"]
    with open_asker(folder) as asker:
        found = helpful(asker, questions, most=9)
        assert helpful(asker, questions, most=1) == found[:1]
    assert {question for question, _ in found} == {sure, "films of members", "members of films"}
    assert found[0][0] != sure and max(found, key=lambda each: each[1].probability)[0] == sure
    assert dict(found)[sure].said == "number of films"
