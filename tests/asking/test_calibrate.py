"""A run that has learned how far it can be relied on: the toy domain, learned once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import toy
import toy_run

from dualparse.asking.calibrate import examples_of, measure, read_strangers, weighed
from dualparse.asking.trust import NAME, Trust, learn_trust, read_trust, write_trust
from dualparse.errors import InputError
from dualparse.manifest import verify
from dualparse.use.api import Parser, load


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return toy_run.make_run(tmp_path_factory.mktemp("calibrated"))


@pytest.fixture
def parser(made, tmp_path) -> Parser:
    folder = shutil.copytree(made, tmp_path / "run")
    return load(folder, domain=toy.domain(files=toy.write_files(tmp_path / "toy")))


def test_a_run_keeps_what_dev_told_and_reads_it_again(parser):
    assert not read_trust(parser.run.folder).fitted
    before = parser.parse("how deep is arn")[0].probability
    trust = parser.calibrate(precision=0.8)
    assert trust.right.examples == len(examples_of(parser, "dev")) and trust.wanted == 0.8
    again = load(parser.run.folder, domain=parser.domain)
    assert again.scales.trust.right.told() == trust.right.told()
    assert verify(parser.run.folder), "the manifest names it"
    assert 0 < again.parse("how deep is arn")[0].probability != before
    (parser.run.folder / NAME).write_text("{}")
    with pytest.raises(InputError, match="confidence.json: damaged"):
        load(parser.run.folder, domain=parser.domain)


def test_the_probability_does_not_depend_on_how_many_readings_are_shown(parser):
    few, many = (parser.parse("how many lakes are there", k=k) for k in (1, 20))
    assert few[0].probability == pytest.approx(many[0].probability, abs=1e-3)
    answers = {reading.answer: reading.probability for reading in many if reading.verdict.ok}
    assert sum(answers.values()) <= 1.001
    for reading in many:
        assert reading.probability == (answers[reading.answer] if reading.verdict.ok else 0.0)


def test_a_question_that_was_learned_is_surer_than_one_about_something_else(parser):
    parser.calibrate()
    known, away = weighed(parser, ["how deep is blue lake", "zorp the glimmering fnord of venezuela"])
    assert known.probability > away.probability and known.topic > away.topic
    assert away.strange == ("zorp", "the", "glimmering", "fnord", "of", "venezuela")[:1] + (
        "glimmering",
        "fnord",
        "venezuela",
    )
    assert known.strange == ()


def test_measured_figures_fit_together(parser):
    parser.calibrate()
    found = measure(parser, "test", away=[("foreign", "wie tief ist der teich"), ("nonsense", "blorp blorp")])
    assert sum(each.count for each in found.bins) == found.examples
    assert found.accuracy == pytest.approx(sum(each.right * each.count for each in found.bins) / found.examples)
    assert found.strangers["all"][0] == 2 and found.strangers.keys() == {"foreign", "nonsense", "all"}
    assert json.loads(json.dumps(found.told()))["split"] == "test"


def test_few_labels_keep_the_default_cuts():
    rows, right = [{"share": 5.0}] * 4, [1.0] * 4
    few = learn_trust(rows, right, [])
    assert (few.cut, few.topic_cut) == (Trust().cut, Trust().topic_cut) and few.coverage is None
    assert learn_trust([], [], []).right == Trust().right
    with pytest.raises(InputError, match="not between 0 and 1"):
        learn_trust(rows, right, [], precision=1.0)


def test_a_folder_without_a_manifest_gets_none(tmp_path):
    write_trust(tmp_path, Trust())
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert read_trust(tmp_path) == Trust()


def test_questions_that_cannot_be_answered_are_read_with_their_kind(tmp_path):
    path = tmp_path / "away.tsv"
    path.write_text("# told\noff-topic\twhat is love\n\n")
    assert read_strangers(path) == [("off-topic", "what is love")]
    path.write_text("what is love\n")
    with pytest.raises(InputError, match="away.tsv:1: expected kind<TAB>question"):
        read_strangers(path)
