"""What the right answer to a question is. In: questions with SQL or a form. Out: rows, and whether their order counts.

SQL runs in the database that is asked, opened for reading only, and only where it is one query. A form is run by the
asker itself, so that questions of any domain can be graded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dualparse.asking.reply import ANSWERED, Asker
from dualparse.errors import InputError
from dualparse.grading.questions import Question
from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.sexpr import Tree, read

if TYPE_CHECKING:
    from dualparse.database.source import Source

_ORDERS = ("top", "bottom", "order")
_AROUND = ("select", "keys", "having", "argmax", "argmin")  # what leaves the order of its first part as it is


@dataclass(frozen=True, slots=True)
class Wanted:
    """The right answer."""

    rows: list[tuple[object, ...]]
    ordered: bool = False


Answers = Callable[[Question], Wanted]


def answers_of(path: Path, asker: Asker, source: Source | None) -> Answers:
    """A function that says what a question of the file `path` should give; `source` is needed where there is SQL."""

    def wanted(question: Question) -> Wanted:
        if not question.answerable:
            return Wanted([])
        if question.form:
            return _of_form(question, path, asker)
        if source is None:
            raise InputError("has SQL, and no database to run it in: say --database", path=path, line=question.line)
        return _of_sql(question, path, source)

    return wanted


def _of_form(question: Question, path: Path, asker: Asker) -> Wanted:
    reply = asker.run(question.form, question.text)
    if reply.status != ANSWERED:
        raise InputError(f"the form has no answer: {reply.reason}", path=path, line=question.line)
    ordered = question.ordered if question.ordered is not None else _orders(question.form)
    return Wanted(list(reply.rows), ordered)


def _orders(form: str) -> bool:
    try:
        tree: Tree = read(form)
    except LFSyntaxError:
        return False
    while isinstance(tree, tuple) and len(tree) > 1 and tree[0] in _AROUND:
        tree = tree[1]
    return isinstance(tree, tuple) and bool(tree) and tree[0] in _ORDERS


def _of_sql(question: Question, path: Path, source: Source) -> Wanted:
    import sqlglot
    from sqlglot import exp

    try:
        [tree] = sqlglot.parse(question.sql, read=source.dialect)
    except (sqlglot.ParseError, sqlglot.TokenError, ValueError):
        raise InputError("the SQL is not one query that can be read", path=path, line=question.line) from None
    if not isinstance(tree, exp.Query):
        raise InputError("the SQL is no SELECT: nothing else is run", path=path, line=question.line)
    try:
        rows = _run(question.sql, source)
    except InputError as error:
        raise InputError(f"the SQL does not run: {error.message}", path=path, line=question.line) from None
    ordered = question.ordered if question.ordered is not None else tree.args.get("order") is not None
    return Wanted(rows, ordered)


def _run(sql: str, source: Source) -> list[tuple[object, ...]]:
    """The rows of SQL as it was written."""
    from dualparse.database.source import explained

    with explained(source.location):
        cursor = source.connection.cursor()
        try:
            cursor.execute(sql)
            return cursor.fetchall()
        finally:
            cursor.close()
