"""Questions to grade an asker by. In: a file of JSON lines. Out: `Question`s, or an `InputError` with file and line.

    {"question": "how many bikes are there", "kind": "count", "sql": "SELECT COUNT(*) FROM bikes"}
    {"question": "will it rain", "kind": "unanswerable", "sql": null, "reason": "off-topic"}

In the place of `sql` there may be a `form`. A question whose `sql` or `form` is null cannot be answered.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from dualparse.errors import InputError
from dualparse.lines import numbered_lines


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the SQL or the form whose rows answer it; without either it should be refused.

    ordered  whether the order of the rows counts; None: where SQL or form asks for one
    reason   why it cannot be answered
    """

    text: str
    line: int
    kind: str = ""
    sql: str = ""
    form: str = ""
    ordered: bool | None = None
    reason: str = ""

    @property
    def answerable(self) -> bool:
        """Whether there is an answer."""
        return bool(self.sql or self.form)


def read_questions(path: Path) -> list[Question]:
    """All questions of a file; keys that grading does not know are left alone."""
    found = [_question(text, path, line) for line, text in numbered_lines(path) if text.strip()]
    if not found:
        raise InputError("holds no question", path=path)
    return found


def _question(text: str, path: Path, line: int) -> Question:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", path=path, line=line) from None
    if not isinstance(row, dict):
        raise InputError("expected an object with 'question' and 'sql'", path=path, line=line)
    if "sql" not in row and "form" not in row:
        raise InputError("expected 'sql' or 'form', null where there is no answer", path=path, line=line)
    told = {key: row.get(key) or "" for key in ("question", "kind", "sql", "form", "reason")}
    for key, value in told.items():
        if not isinstance(value, str):
            raise InputError(f"{key!r}: expected a text", path=path, line=line)
    if not told["question"].strip():
        raise InputError("'question': expected a text that is not empty", path=path, line=line)
    if told["sql"] and told["form"]:
        raise InputError("expected 'sql' or 'form', not both", path=path, line=line)
    ordered = row.get("ordered")
    if ordered not in (None, True, False):
        raise InputError("'ordered': expected true or false", path=path, line=line)
    return Question(told["question"], line, told["kind"], told["sql"], told["form"], ordered, told["reason"])
