"""One round told in full agrees with what the game does."""

from __future__ import annotations

import random

import letters
import pytest
import torch

from dualparse.engines.found import Options
from dualparse.engines.scoring import reconstruction
from dualparse.game.dual import Rules
from dualparse.game.game import Loop
from dualparse.game.tell import Told, play_round
from dualparse.lf.errors import LFExecutionError

LIMITS = Options(letters.LARGEST, letters.LONGEST)


def tell(writer: int, source: tuple[str, ...], rules: Rules, *, judged: bool = True, **changes: object) -> Told:
    who = letters.players()
    judge = (who.lf_lm, who.query_lm)[writer] if judged else None
    told = letters.options(graded=True)
    return play_round(who, letters.domain(**changes), source, Loop(writer, True, rules, judge), LIMITS, told)


def test_a_round_from_a_query_shows_every_reward():
    query, who = letters.QUERIES[0], letters.players()
    rules = Rules(0.3)
    told = tell(0, query, rules)
    assert (told.writer, told.source, told.rules) == ("q2lf", "x new", rules)
    assert {move.text for move in told.moves} == {" ".join(form) for form, _ in letters.space(who.q2lf, query)}
    forms = [tuple(move.text.split()) for move in told.moves]
    back = reconstruction(who.lf2q, forms, [query] * len(forms), random.Random(0))
    mean = sum(move.reward for move in told.moves) / len(told.moves)
    for move, form, expected in zip(told.moves, forms, back, strict=True):
        assert move.verdict == letters.check(move.text)
        assert move.validity == (1.0 if move.verdict.ok else 0.5 if move.verdict.surface else 0.0)
        assert move.reconstruction == pytest.approx(expected)
        assert move.reward == pytest.approx(0.3 * move.validity + 0.7 * expected)
        assert move.advantage == pytest.approx(move.reward - mean)
        assert move.finished == (len(form) < letters.LONGEST)
        own = letters.log_prob(who.q2lf, query, form, ends=move.finished).item()
        assert move.log_prob == pytest.approx(own)


def test_a_round_from_a_form_is_judged_by_the_language_model():
    form, who = letters.FORMS[0], letters.players()
    told = tell(1, form, Rules(0.6, check=0.0, lm=1.0, per_token=True))
    assert told.writer == "lf2q"
    for move in told.moves:
        words = tuple(move.text.split())
        assert move.verdict is None
        assert move.validity == pytest.approx(
            letters.fluency(who.query_lm, letters.QUERY, words, ends=move.finished), abs=1e-6
        )
        expected = letters.log_prob(who.q2lf, words, form).item() / (len(form) + 1)
        assert move.reconstruction == pytest.approx(expected)
        assert move.reward == pytest.approx(0.6 * move.validity + 0.4 * expected)


def test_without_a_language_model_queries_have_no_validity():
    told = tell(1, letters.FORMS[1], Rules(0.6, check=0.0, lm=1.0), judged=False)
    assert {move.validity for move in told.moves} == {None}
    assert all(move.reward == pytest.approx(0.4 * move.reconstruction) for move in told.moves)


def test_without_a_baseline_the_advantage_is_the_reward():
    told = tell(0, letters.QUERIES[1], Rules(0.3, baseline=False))
    assert len(told.moves) == letters.SIZES[1], "places that search left empty are not shown"
    assert all(move.advantage == pytest.approx(move.reward) for move in told.moves)


def test_what_is_said_back_is_the_readers_best_guess():
    who = letters.players()
    for move in tell(0, letters.QUERIES[0], Rules()).moves:
        said = tuple(move.said_back.split())
        likeliest = letters.log_prob(who.lf2q, tuple(move.text.split()), said, ends=len(said) < letters.LONGEST)
        assert isinstance(likeliest, torch.Tensor)
        assert len(said) <= letters.LONGEST


def test_a_check_may_raise_the_logical_form_errors_and_nothing_else():
    def strict(text: str):
        raise LFExecutionError("no such place") if text else ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tell(0, letters.QUERIES[0], Rules(), check=strict)

    def lenient(text: str):
        raise LFExecutionError("no such place")

    moves = tell(0, letters.QUERIES[0], Rules(), check=lenient).moves
    assert {move.verdict.reason for move in moves} == {"no such place"}
    assert {move.validity for move in moves} == {0.5}
