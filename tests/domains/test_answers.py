"""Remembered answers: the same as fresh ones, and no more of them than there is room for."""

from __future__ import annotations

import pytest

from dualparse.domains.answers import Answers
from dualparse.lf.errors import LFExecutionError, LFSyntaxError
from dualparse.lf.execute import Executor, Function, SempreReader
from dualparse.lf.values import Value

runs: list[Value] = []


def _note(value: Value) -> list:
    runs.append(value)
    return [value]


@pytest.fixture
def answers() -> Answers:
    runs.clear()
    return Answers(Executor(SempreReader({"note": Function("note", {(Value,): _note})})), size=2)


def test_an_answer_is_remembered(answers):
    for _ in range(3):
        assert answers.execute("( call note en.a )") == "(list (name en.a))"
        assert answers.check("( call note en.a )").ok
    assert len(runs) == 1


def test_the_executor_below_remembers_nothing(answers):
    for _ in range(3):
        answers.executor.execute("( call note en.a )")
    assert len(runs) == 3


def test_the_oldest_answer_is_forgotten(answers):
    for label in "abca":
        answers.execute(f"( call note en.{label} )")
    assert len(runs) == 4


def test_verdicts(answers):
    surface, semantics = answers.check("( call note"), answers.check("( call note ( string a ) )")
    assert (surface.surface, surface.semantics, surface.ok) == (False, False, False)
    assert (semantics.surface, semantics.semantics, semantics.ok) == (True, False, False)
    assert "missing closing parenthesis" in surface.reason
    assert "must be one value" in semantics.reason


def test_a_remembered_error_is_raised_each_time_anew(answers):
    for _ in range(3):
        with pytest.raises(LFSyntaxError) as caught:
            answers.execute("( call note")
        assert caught.value.position == 3
        frames = len(list(caught.traceback))
        with pytest.raises(LFExecutionError, match="unbound"):
            answers.execute("( call note ( var s ) )")
    assert frames < 5
