"""What people ask of a real database can be said: each question with an answer has a form with the rows of its SQL."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from contextlib import closing
from itertools import islice
from pathlib import Path
from time import perf_counter

import pytest
from copies import copied_file
from same_rows import agree_on_chinook, chinook_forms

from dualparse.database.connect import connect
from dualparse.database.folder import read_connected
from dualparse.database.location import locate
from dualparse.database.run import Runner
from dualparse.database.source import open_source
from dualparse.database.worlds import read_database
from dualparse.domains.plain import Plain

DATA = Path(os.environ.get("DUALPARSE_DATA", "no such folder")) / "chinook"
FILE = DATA / "chinook.sqlite"
ORDERED = ("topn",)

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="needs DUALPARSE_DATA with chinook")


def questions() -> dict[int, dict]:
    lines = (DATA / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return dict(enumerate(map(json.loads, lines), 1))


@pytest.fixture(scope="module")
def chinook(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chinook") / "chinook"
    connect(locate(f"sqlite:///{FILE}"), folder)
    connected = read_connected(folder)
    with open_source(connected.location) as source:
        yield Runner(source, connected.database)


def cell(value: object) -> object:
    """A value as it is compared: numbers (and keys, and years) as numbers, dates without a time of day."""
    if isinstance(value, (int, float)):
        return float(value)
    if value is not None and re.fullmatch(r"\d+", str(value)):
        return float(str(value))
    return str(value).removesuffix(" 00:00:00")


def alike(ours: tuple, theirs: tuple) -> bool:
    """Rows are alike if their cells are; first and last name may be one cell or two."""
    if len(ours) != len(theirs):
        return " ".join(map(str, ours)) == " ".join(map(str, theirs))
    return all(map(near, ours, theirs))


def near(ours: object, theirs: object) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float):
        return abs(ours - theirs) <= 0.005
    return ours == theirs


def test_every_question_with_an_answer_has_a_form():
    assert sorted(chinook_forms()) == [number for number, question in questions().items() if question["sql"]]


def test_the_rows_of_every_form_are_those_of_the_questions_sql(chinook):
    wrong = []
    with closing(sqlite3.connect(f"file:{FILE}?mode=ro", uri=True)) as connection:
        for number, form in chinook_forms().items():
            question = questions()[number]
            expected = [tuple(map(cell, row)) for row in connection.execute(question["sql"])]
            answer = chinook.answer(form)
            found = [tuple(map(cell, row)) for row in answer.values]
            if question["kind"] not in ORDERED:
                expected, found = sorted(set(expected), key=str), sorted(set(found), key=str)
            else:
                assert answer.ordered, form
            if len(found) != len(expected) or not all(map(alike, found, expected)):
                wrong.append((number, form, found[:5], expected[:5]))
    assert not wrong


def test_the_forms_have_the_same_answers_in_memory(chinook):
    world, labels = read_database(chinook.source, chinook.database)
    memory = Plain(world, chinook.database.schema, labels, max_steps=10_000_000)
    for form in chinook_forms().values():
        assert memory.execute(form) == chinook.execute(form), form


def test_the_forms_have_the_same_answers_in_duckdb(tmp_path):
    agree_on_chinook(FILE, copied_file(FILE, "duckdb", tmp_path), tmp_path)


def test_the_forms_have_the_same_answers_in_postgresql(postgres_url, tmp_path):
    agree_on_chinook(FILE, copied_file(FILE, "postgresql", tmp_path, postgres_url), tmp_path)


def test_a_form_is_answered_quickly(chinook):
    seconds = []
    for form in islice(chinook_forms().values(), 40):
        start = perf_counter()
        chinook.answer(form)
        seconds.append(perf_counter() - start)
    assert sorted(seconds)[len(seconds) // 2] < 0.15
