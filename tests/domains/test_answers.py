"""Remembered answers: the same as fresh ones, and no more of them than there is room for."""

from __future__ import annotations

import gc
import weakref

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


def test_answers_are_kept_in_so_many_bytes():
    runs.clear()
    answers = Answers(Executor(SempreReader({"note": Function("note", {(Value,): _note})})), most_bytes=100_000)
    for _ in range(2):
        for number in range(50):
            answers.execute(f"( call note en.{'a' * 5_000}{number} )")
    assert len(runs) == 100  # each of them is gone by the time it is asked for again
    answers.execute("( call note en.a )")
    answers.execute("( call note en.a )")
    assert len(runs) == 101
    assert answers._bytes <= 100_000


def test_what_strangers_ask_is_not_remembered(answers):
    for _ in range(3):
        verdict, denotation = answers.fresh("( call note en.a )")
        assert verdict.ok and denotation == "(list (name en.a))"
    assert len(runs) == 3
    assert answers.fresh("( call note")[1] is None
    assert not answers.fresh("( call note ( string a ) )", 1.0)[0].semantics


def test_what_is_kept_keeps_nothing_of_those_who_asked(answers):
    """An error that is raised holds the frames it went through, with all that stands in them."""

    class Asked:
        pass

    def ask() -> weakref.ref[Asked]:
        here = Asked()
        for _ in range(2):  # the first fails, the second is told what is kept
            with pytest.raises(LFExecutionError):
                answers.execute("( call note ( var s ) )")
        return weakref.ref(here)

    left = ask()
    gc.collect()
    assert left() is None
