"""A trained run from Python: the toy domain, learned once."""

from __future__ import annotations

import pytest
import torch
import toy

from dualparse.api import MAX_WORDS, Parser, form_tokens, load, words
from dualparse.config import make_recipe
from dualparse.data.vocab import Vocab
from dualparse.errors import InputError
from dualparse.train.run import train

RECIPE = {
    "domain": "toy",
    "model": {"embedding": 24, "hidden": 24, "dropout": 0.1},
    "train": {"epochs": 30, "learning_rate": 0.01, "batch_size": 8, "evaluate_from": 20, "evaluate_every": 5},
    "search": {"max_length": 12},
}


@pytest.fixture(scope="module")
def parser(tmp_path_factory) -> Parser:
    folder = tmp_path_factory.mktemp("api")
    files = toy.write_files(folder / "toy")
    with pytest.MonkeyPatch.context() as patch:
        toy.install(patch, files)
        list(train(make_recipe(dict(RECIPE)), folder / "run", device=torch.device("cpu")))
        return load(folder / "run")


def test_a_question_has_a_form_a_verdict_and_an_answer(parser):
    best = parser.parse("how deep is blue lake", k=1)[0]
    assert best.form == "( get lake.blue depth )"
    assert best.verdict.ok
    assert best.answer == toy.execute(best.form)
    assert best.score < 0


def test_upper_case_and_spaces_do_not_matter(parser):
    assert parser.parse("  How DEEP is\tBlue Lake\n", k=1) == parser.parse("how deep is blue lake", k=1)


def test_valid_readings_come_first_each_group_by_score(parser):
    readings = parser.parse("how many lakes are there", k=20)
    assert len(readings) == 20
    keys = [(not reading.verdict.ok, -reading.score) for reading in readings]
    assert keys == sorted(keys)
    assert any(reading.verdict.ok for reading in readings)
    invalid = [reading for reading in readings if not reading.verdict.ok]
    assert invalid
    assert all(reading.answer is None and reading.verdict.reason for reading in invalid)


def test_many_questions_at_once_are_answered_as_one_by_one(parser):
    questions = ["how deep is arn", "list all lakes", "everything near the blue one"]
    together = parser.parse_all(questions, k=2)
    for question, readings in zip(questions, together, strict=True):
        alone = parser.parse(question, k=2)
        assert [reading.form for reading in readings] == [reading.form for reading in alone]
        assert [reading.score for reading in readings] == pytest.approx([reading.score for reading in alone], rel=1e-3)
    assert parser.parse_all([]) == []


def test_a_question_of_unknown_words_gets_some_reading(parser):
    assert parser.parse("<pad> </s> ünbekannt 💧", k=1)[0].form


def test_a_form_is_worded(parser):
    wordings = parser.verbalize("( all lake )", k=3)
    assert wordings[0].query == "list all lakes"
    assert len(wordings) == 3
    assert [w.score for w in wordings] == sorted((w.score for w in wordings), reverse=True)
    assert parser.verbalize("(all lake)")[0].query == "list all lakes", "spaces around parentheses do not matter"


def test_a_form_without_meaning_is_worded_all_the_same(parser):
    assert parser.verbalize("( near )")[0].query


@pytest.mark.parametrize("form", ["", "   ", "( all lake", "( ) (", "( " * 10_000])
def test_what_is_no_form_is_an_input_error(parser, form):
    with pytest.raises(InputError, match="not a logical form"):
        parser.verbalize(form)


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
def test_an_empty_question_is_an_input_error(parser, question):
    with pytest.raises(InputError, match="empty"):
        parser.parse(question)
    with pytest.raises(InputError, match="empty"):
        parser.parse_all(["list all lakes", question])


def test_a_question_of_ten_thousand_words_is_an_input_error(parser):
    with pytest.raises(InputError, match="10000 words; 200 are the most"):
        parser.parse("lake " * 10_000)
    assert parser.parse("lake " * MAX_WORDS, k=1)


def test_words():
    assert words("Which huts, exactly ?") == ["which", "huts", "exactly"]


def test_forms_are_read_as_their_training_files_write_them():
    apart = Vocab.build([("(", "!", "type", ")")])
    joined = Vocab.build([("(", "!type", ")")])
    for text in ("( !type )", "( ! type )", "(! type)"):
        assert form_tokens(text, apart) == ["(", "!", "type", ")"]
        assert form_tokens(text, joined) == ["(", "!type", ")"]
    assert form_tokens("( ! )", apart) == ["(", "!", ")"]


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(InputError, match="no such run folder"):
        load(tmp_path / "nothing")
    with pytest.raises(InputError, match="not a run folder"):
        load(str(tmp_path))
