"""A run learns from what people say: by memory at once, by a warm start, and it says what to ask about next."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
import toy
import toy_run

from dualparse.asking.calibrate import weighed
from dualparse.asking.familiar import Familiar
from dualparse.asking.journal import ASKED, MEANT, RIGHT, WRONG, Record, collect
from dualparse.asking.learning import Warmed, warm_start
from dualparse.asking.memory import Lesson, Memory, Recalled, read_lessons, write_lessons
from dualparse.asking.suggesting import suggest
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.manifest import NAME as MANIFEST
from dualparse.manifest import verify
from dualparse.use.api import Parser, load

QUESTION, FORM = "who minds blue lake", "( get lake.blue warden )"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return toy_run.make_run(tmp_path_factory.mktemp("learning"))


@pytest.fixture
def parser(made, tmp_path) -> Parser:
    folder = shutil.copytree(made, tmp_path / "run")
    return load(folder, domain=toy.domain(files=toy.write_files(tmp_path / "toy")))


def test_a_corrected_question_is_answered_right_at_once_and_after_loading(parser):
    wrong = "( near town.arn )"
    assert parser.parse("how deep is blue lake", k=1)[0].form != wrong
    parser.learn([("how deep is blue lake", wrong)])
    again = load(parser.run.folder, domain=parser.domain)
    for each in (parser, again):
        best = each.parse("How deep is Blue Lake?", k=3)[0]
        assert best.form == wrong and best.probability >= 0.99
        reply = each.ask("how deep is blue lake")
        assert (reply.status, reply.form) == ("answered", wrong) and reply.probability >= 0.99
        assert each.parse("how deep is arn", k=1)[0].form == "( get town.arn depth )"
    assert verify(again.run.folder)


def test_what_holds_for_one_name_holds_for_another(parser):
    words = "zebra zebra blue lake"
    parser.learn([(words, FORM)])
    assert parser.ask(words).form == FORM
    other = weighed(parser, ["zebra zebra long lake"])[0]
    assert other.options[0].form == "( get lake.long warden )" and not other.known


def test_the_words_of_a_lesson_are_known_from_then_on(parser):
    before = weighed(parser, ["has long lake a zebra"])[0]
    assert before.strange == ("zebra",)
    parser.learn([("zebra of blue lake", FORM)])
    for each in (parser, load(parser.run.folder, domain=parser.domain)):
        after = weighed(each, ["has long lake a zebra"])[0]
        assert after.strange == () and after.topic > before.topic


def test_the_last_word_on_a_question_counts_and_a_form_that_is_none_is_refused(parser):
    parser.learn([(QUESTION, "( all lake )"), (QUESTION, FORM)])
    assert parser.parse(QUESTION, k=1)[0].form == FORM
    with pytest.raises(InputError, match="no valid form"):
        parser.learn([(QUESTION, "( get lake.blue )")])
    assert len(read_lessons(parser.run.folder)) == 1
    (parser.run.folder / "learned.jsonl").write_text('{"words": 3}\n')
    with pytest.raises(InputError, match=r"learned.jsonl:1: not a lesson"):
        read_lessons(parser.run.folder)


def test_names_and_numbers_move_only_where_they_fit(tmp_path):
    domain = open_domain("trails")
    familiar = Familiar([("which", "huts", "cost", "less", "than", "50", "euro")], domain.lexicon)
    words = tuple(["which", "huts", "cost", "less", "than", "40", "euro"])
    form = tuple(["(", "filter", "(", "all", "hut", ")", "price", "<", "(", "number", "40", "euro", ")", ")"])
    write_lessons(tmp_path, [Lesson(words, form)])
    memory = Memory(read_lessons(tmp_path), familiar, domain.lexicon)
    assert memory.known(words) == form
    moved = tuple(["(", "filter", "(", "all", "hut", ")", "price", "<", "(", "number", "30", "euro", ")", ")"])
    assert memory.recall(["which", "huts", "cost", "less", "than", "30", "euro"]) == [Recalled(moved, 1.0)]
    assert memory.recall(["which", "huts", "cost", "less", "than", "30", "or", "40", "euro"]) == []
    assert memory.recall(["how", "high", "is", "the", "grauhorn"]) == []


def test_what_was_learned_elsewhere_is_taken_up_when_all_of_it_is_written(parser):
    question, folder = "azure please", parser.run.folder
    before = parser.ask(question)
    load(folder, domain=parser.domain).learn([(question, FORM)])
    listed = (folder / MANIFEST).read_bytes()
    (folder / MANIFEST).unlink()
    parser.keep_up()
    assert parser.ask(question) == before, "somebody is writing"
    (folder / MANIFEST).write_bytes(listed.replace(b'"size": ', b'"size": 1'))
    parser.keep_up()
    assert parser.ask(question) == before, "damaged"
    (folder / MANIFEST).write_bytes(listed)
    parser.keep_up()
    assert (parser.ask(question).status, parser.ask(question).form) == ("answered", FORM)


def test_a_warm_start_learns_the_lessons_and_keeps_the_rest(parser):
    lessons = [Lesson(tuple(QUESTION.split()), tuple(FORM.split()))]
    before = parser.run.weights("q2lf").read_bytes()
    *_, end = warm_start(parser.run, parser.domain, lessons, epochs=2, device=torch.device("cpu"))
    assert isinstance(end, Warmed) and end.kept == (end.after >= end.before - 1)
    assert (parser.run.weights("q2lf").read_bytes() != before) == end.kept
    assert verify(parser.run.folder)


def test_a_warm_start_that_costs_too_much_leaves_the_weights(parser, monkeypatch):
    monkeypatch.setattr("dualparse.asking.learning.RATE", 10.0)
    before = parser.run.weights("q2lf").read_bytes()
    *_, end = warm_start(parser.run, parser.domain, [], epochs=1, device=torch.device("cpu"))
    assert not end.kept and end.after < end.before
    assert parser.run.weights("q2lf").read_bytes() == before


def test_the_journal_becomes_labels_and_questions_without():
    told = [
        Record(ASKED, "Huts?", "( all hut )"),
        Record(RIGHT, "huts?", "( all hut )"),
        Record(ASKED, "peaks", "( all hut )"),
        Record(WRONG, "peaks", "( all hut )"),
        Record(MEANT, "trails", "( all trail )"),
        Record(WRONG, "trails", "( all peak )"),
        Record(RIGHT, "villages", "( all village )"),
        Record(WRONG, "villages", "( all village )"),
    ]
    found = collect(told)
    assert found.labeled == (("huts?", "( all hut )"), ("trails", "( all trail )"))
    assert found.unlabeled == ("peaks", "villages")


def test_what_is_unsure_and_different_is_suggested_first(parser):
    parser.learn([("list all lakes", "( all lake )")])
    questions = [
        "list all lakes",
        "how deep is arn",
        "deep town lakes",
        "deep town lakes lakes",
        "everything warden of",
    ]
    found = weighed(parser, questions)
    chosen = suggest(found, parser.scales.familiar, most=3)
    assert 0 not in chosen, "it is known"
    assert not {2, 3} <= set(chosen[:2]), "they say the same"
    assert found[chosen[0]].probability <= min(each.probability for each in found[1:]) + 0.3
    assert suggest(found, parser.scales.familiar, most=99, topic_cut=1.01) == []
