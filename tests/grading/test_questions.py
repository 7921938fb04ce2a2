"""Files of questions."""

from __future__ import annotations

import pytest

from dualparse.errors import InputError
from dualparse.grading.questions import Question, read_questions


def test_questions_with_sql_with_a_form_and_without_an_answer(tmp_path):
    file = tmp_path / "questions.jsonl"
    file.write_text(
        '{"question": "how many", "kind": "count", "sql": "SELECT 1", "more": 3}\n\n'
        '{"question": "which", "form": "( all hut )", "ordered": true}\n'
        '{"question": "will it rain", "kind": "unanswerable", "sql": null, "reason": "off-topic"}\n'
    )
    assert read_questions(file) == [
        Question("how many", 1, "count", sql="SELECT 1"),
        Question("which", 3, form="( all hut )", ordered=True),
        Question("will it rain", 4, "unanswerable", reason="off-topic"),
    ]
    assert [question.answerable for question in read_questions(file)] == [True, True, False]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "expected an object"),
        ('{"question": "how many"}', "expected 'sql' or 'form'"),
        ('{"question": " ", "sql": "SELECT 1"}', "not empty"),
        ('{"question": 3, "sql": "SELECT 1"}', "'question': expected a text"),
        ('{"question": "x", "sql": ["SELECT 1"]}', "'sql': expected a text"),
        ('{"question": "x", "sql": "SELECT 1", "form": "( all hut )"}', "not both"),
        ('{"question": "x", "sql": "SELECT 1", "ordered": "yes"}', "'ordered'"),
    ],
)
def test_a_line_that_cannot_be_read_is_told_with_its_number(tmp_path, line, told):
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question": "ok", "sql": "SELECT 1"}\n' + line + "\n")
    with pytest.raises(InputError, match=told) as caught:
        read_questions(file)
    assert caught.value.line == 2


def test_a_file_without_questions(tmp_path):
    (tmp_path / "none.jsonl").write_text("\n\n")
    with pytest.raises(InputError, match="holds no question"):
        read_questions(tmp_path / "none.jsonl")
