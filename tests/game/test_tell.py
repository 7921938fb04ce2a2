"""One round told in full agrees with what the game does."""

from __future__ import annotations

import random

import letters
import pytest
import torch

from dualparse.config import GameSettings
from dualparse.engines.found import Options
from dualparse.engines.scoring import reconstruction
from dualparse.game.rewards import rewards_of
from dualparse.game.tell import Told, play_round
from dualparse.lf.errors import LFExecutionError

LIMITS = Options(letters.LARGEST, letters.LONGEST)


def tell(source: tuple[str, ...], told: GameSettings, *, judged: bool = True, **changes: object) -> Told:
    """A round from a query or from a form, whichever loop has rewards."""
    who, domain = letters.players(), letters.domain(**changes)
    writer, loop = ("q2lf", "query") if told.plays("query") else ("lf2q", "form")
    models = {"query_lm": who.query_lm, "lf_lm": who.lf_lm} if judged else {}
    return play_round(who, domain, source, writer, rewards_of(told, loop, domain, **models), LIMITS)


def graded(share: float) -> GameSettings:
    """The loop from queries alone."""
    return letters.options((letters.reward("validity", share, graded=True), letters.from_query(share)[1]), ())


def test_a_round_from_a_query_shows_every_reward():
    query, who = letters.QUERIES[0], letters.players()
    told = tell(query, graded(0.3))
    assert (told.writer, told.source, told.weights) == ("q2lf", "x new", {"validity": 0.3, "reconstruction": 0.7})
    assert {move.text for move in told.moves} == {" ".join(form) for form, _ in letters.space(who.q2lf, query)}
    forms = [tuple(move.text.split()) for move in told.moves]
    back = reconstruction(who.lf2q, forms, [query] * len(forms), random.Random(0))
    mean = sum(move.reward for move in told.moves) / len(told.moves)
    for move, form, expected in zip(told.moves, forms, back, strict=True):
        assert move.verdict == letters.check(move.text)
        assert move.rewards["validity"] == (1.0 if move.verdict.ok else 0.5 if move.verdict.surface else 0.0)
        assert move.rewards["reconstruction"] == pytest.approx(expected)
        assert move.reward == pytest.approx(0.3 * move.rewards["validity"] + 0.7 * expected)
        assert move.advantage == pytest.approx(move.reward - mean)
        assert move.finished == (len(form) < letters.LONGEST)
        own = letters.log_prob(who.q2lf, query, form, ends=move.finished).item()
        assert move.log_prob == pytest.approx(own)


def test_a_round_from_a_form_is_judged_by_the_language_model():
    form, who = letters.FORMS[0], letters.players()
    told = tell(form, letters.options((), letters.from_form(0.6, per_token=True)))
    assert told.writer == "lf2q"
    for move in told.moves:
        words = tuple(move.text.split())
        assert move.verdict is None
        assert move.rewards["fluency"] == pytest.approx(
            letters.fluency(who.query_lm, letters.QUERY, words, ends=move.finished), abs=1e-6
        )
        expected = letters.log_prob(who.q2lf, words, form).item() / (len(form) + 1)
        assert move.rewards["reconstruction"] == pytest.approx(expected)
        assert move.reward == pytest.approx(0.6 * move.rewards["fluency"] + 0.4 * expected)


def test_without_a_language_model_queries_have_no_fluency():
    told = tell(letters.FORMS[1], letters.options((), letters.from_form(0.6)), judged=False)
    assert told.weights == {"reconstruction": pytest.approx(0.4)}
    assert all(move.reward == pytest.approx(0.4 * move.rewards["reconstruction"]) for move in told.moves)


def test_without_a_baseline_the_advantage_is_the_reward():
    told = tell(letters.QUERIES[1], letters.options(letters.from_query(0.3), (), baseline=False))
    assert len(told.moves) == letters.SIZES[1], "places that search left empty are not shown"
    assert all(move.advantage == pytest.approx(move.reward) for move in told.moves)


def test_what_is_said_back_is_the_readers_best_guess():
    who = letters.players()
    for move in tell(letters.QUERIES[0], graded(0.5)).moves:
        said = tuple(move.said_back.split())
        likeliest = letters.log_prob(who.lf2q, tuple(move.text.split()), said, ends=len(said) < letters.LONGEST)
        assert isinstance(likeliest, torch.Tensor)
        assert len(said) <= letters.LONGEST


def test_a_check_may_raise_the_logical_form_errors_and_nothing_else():
    def strict(text: str):
        raise LFExecutionError("no such place") if text else ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tell(letters.QUERIES[0], graded(0.5), check=strict)

    def lenient(text: str):
        raise LFExecutionError("no such place")

    moves = tell(letters.QUERIES[0], graded(0.5), check=lenient).moves
    assert {move.verdict.reason for move in moves} == {"no such place"}
    assert {move.rewards["validity"] for move in moves} == {0.5}
