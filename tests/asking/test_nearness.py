"""How near the wording of a form is to the question has a say in what is chosen, and in how sure that is."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from shops import SHOP, sqlite_file

from dualparse.asking import nearness as module
from dualparse.asking.asker import FolderAsker, open_asker
from dualparse.asking.nearness import Nearness, open_nearness
from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.engines.light.encoder import open_light_encoder
from dualparse.errors import InputError
from dualparse.networks.minilm import MINILM_PACKAGE

QUESTION = "films in the western genre"
needs_minilm = pytest.mark.skipif(find_spec(MINILM_PACKAGE) is None, reason="needs the extra pretrained")


class Likes:
    """Takes one sentence for the question, whatever the question is, and is surer of it than a cosine can be."""

    def __init__(self, sentence: str):
        self.sentence = sentence

    def cosines(self, question: str, sentences: list[str]) -> list[float]:
        return [3.0 * (sentence == self.sentence) for sentence in sentences]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("shop")
    sqlite_file(place / "shop.sqlite", SHOP)
    connect(locate(str(place / "shop.sqlite")), place / "folder")
    return place / "folder"


@pytest.fixture
def asker(folder) -> FolderAsker:
    asker = open_asker(folder)
    asker.nearness = None
    return asker


def test_the_reading_that_is_near_moves_up_and_the_others_are_less_sure(asker):
    _, _, before = asker.ranked(QUESTION)
    liked = before[1].said
    asker.nearness = Likes(liked)
    _, _, after = asker.ranked(QUESTION)
    assert after[0].said == liked and after[0].figures.behind == 0 and after[0].cosine == 3
    assert {each.draft for each in after} == {each.draft for each in before}
    assert all(each.figures.behind == 3 for each in after[1:])
    assert [each.score for each in after] == sorted((each.score for each in after), reverse=True)


def test_it_is_evidence_only_where_it_is_known(asker):
    assert not {"behind", "cosine"} & set(asker.grounds(QUESTION))
    asker.nearness = Likes(asker.ranked(QUESTION)[2][0].said)
    assert asker.grounds(QUESTION)["cosine"] == 3 and asker.grounds(QUESTION)["behind"] == 0


def test_a_word_that_nothing_has_stops_no_answer_whose_wording_is_near_and_is_told(asker):
    question = "films in the western genre bazaar"
    asker.trust = replace(asker.trust, cut=0.0, topic_cut=0.0)
    refused = asker.ask(question)
    assert refused.status == "refused" and "'bazaar'" in refused.reason
    asker.nearness = Likes(asker.ranked(question)[2][0].said)
    reply = asker.ask(question)
    assert reply.rows == (("Dust",),) and refused.reason in reply.notes
    asker.trust = replace(asker.trust, cut=1.1)
    assert asker.ask(question) == replace(refused, probability=asker.ask(question).probability)


def test_sentences_are_read_once(tiny_encoder):
    read: list[str] = []

    class Counted:
        vectors_of = open_light_encoder(tiny_encoder).vectors

        def vectors(self, texts):
            read.extend(texts)
            return Counted.vectors_of(texts)

    near = Nearness(Counted())
    first = near.cosines("which huts", ["huts", "Which huts"])
    assert first[1] == pytest.approx(1) and first[0] < 1
    assert near.cosines("which huts", ["huts"]) == pytest.approx(first[:1])
    assert read == ["which huts", "huts"]


def test_without_the_extra_forms_are_chosen_as_ever(folder, monkeypatch):
    def missing(**_: object) -> Path:
        raise InputError("not there")

    monkeypatch.setattr(module, "minilm_folder", missing)
    open_nearness.cache_clear()
    try:
        reply = open_asker(folder).ask(QUESTION)
    finally:
        open_nearness.cache_clear()
    assert reply.rows == (("Dust",),)


@needs_minilm
def test_minilm_knows_which_wording_is_nearer():
    near = open_nearness()
    assert near is not None
    meant, other = near.cosines("who wrote Salt", ["author of Salt", "members with rentals whose film is Salt"])
    assert meant > other + 0.1
