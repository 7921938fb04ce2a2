"""An index proposes forms, says how well a form fits, and is built once for what it is made of."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import torch

from dualparse.domains.embedded import EMBEDDED
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.matching import index as index_of
from dualparse.matching.candidates import candidates_of
from dualparse.matching.index import FLOOR, open_index, templates_of, vectors_of
from dualparse.matching.matcher import Matcher
from dualparse.networks.encoder import open_encoder

GRAMMAR = """
(rule $ROOT ($Huts) (IdentityFn))
(rule $ROOT (beds of the $HutName) (lambda h (get (var h) beds)))
(rule $HutName (marmot hut) (ConstantFn hut.marmot_hut))
(rule $HutName (ibex hut) (ConstantFn hut.ibex_hut))
(rule $Huts (huts) (ConstantFn (all hut)))
(rule $Huts (huts with more than 20 beds) (ConstantFn (filter (all hut) beds > (number 20 bed))))
"""


def words(text: str) -> list[str]:
    return text.split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "huts"
    shutil.copytree(EMBEDDED / "trails", folder)
    (folder / "domain.grammar").write_text(GRAMMAR)
    return folder


@pytest.fixture
def matcher(tiny_encoder) -> Matcher:
    return Matcher(open_encoder(str(tiny_encoder)))


def indexed(folder: Path, matcher: Matcher, cache: Path, monkeypatch, small: int = 0) -> index_of.Index:
    monkeypatch.setattr(index_of, "SMALL", small)
    return open_index(templates_of(open_domain(str(folder)), cache=cache), matcher, cache=cache)


def test_a_large_grammar_becomes_templates_that_questions_fill(folder, matcher, tmp_path, monkeypatch):
    index = indexed(folder, matcher, tmp_path / "cache", monkeypatch)
    assert sorted(t.text for t in index.templates.items) == [
        "beds of the [hut]",
        "huts",
        "huts with more than [number] beds",
    ]
    found = dict(index.propose([words("how many beds has the gentian hut")], 5)[0])
    assert set(found) == {"( get hut.gentian_hut beds )", "( all hut )"}
    assert set(dict(index.propose([words("huts over 7 beds")], 5)[0])) == {
        "( filter ( all hut ) beds > ( number 7 bed ) )",
        "( all hut )",
    }


def test_a_small_grammar_is_taken_as_it_is(folder, matcher, tmp_path, monkeypatch):
    index = indexed(folder, matcher, tmp_path / "cache", monkeypatch, small=100)
    forms = set(candidates_of(open_domain(str(folder))).forms)
    assert {form for form, _ in index.propose([words("which huts")], 10)[0]} == forms


def test_a_form_has_the_score_it_was_proposed_with_and_one_without_words_the_floor_s(
    folder, matcher, tmp_path, monkeypatch
):
    for small in (0, 100):
        index = indexed(folder, matcher, tmp_path / "cache", monkeypatch, small=small)
        question = words("huts over 7 beds like the ibex hut")
        proposed = index.propose([question], 5)[0]
        scores = index.scores([question], [[form for form, _ in proposed]])[0]
        assert scores.tolist() == pytest.approx([score for _, score in proposed], abs=1e-2)
        assert index.scores([question], [["( all peak )", "( nonsense"]])[0].tolist() == [index.steepness * FLOOR] * 2
        near = index.nearness([question], [["( all hut )", "( all peak )"]])[0]
        assert 0 < abs(near[0]) <= 1 and near[1] == FLOOR


def test_what_is_named_and_not_used_costs(folder, matcher, tmp_path, monkeypatch):
    index = indexed(folder, matcher, tmp_path / "cache", monkeypatch)
    question, other = words("beds of the ibex hut"), words("beds of the ibex hut and the marmot hut")
    right, wrong = "( get hut.ibex_hut beds )", "( get hut.marmot_hut beds )"
    score, bad = index.scores([question], [[right, wrong]])[0]
    assert score > bad
    assert dict(index.propose([other], 5)[0]).keys() >= {right, wrong}


def test_vectors_and_templates_are_made_once_and_again_when_grammar_names_or_weights_change(
    folder, matcher, tmp_path, monkeypatch
):
    cache, made = tmp_path / "cache", []
    real = index_of.candidates_of
    monkeypatch.setattr(index_of, "candidates_of", lambda domain: made.append("forms") or real(domain))
    monkeypatch.setattr(
        type(matcher.encoder), "vectors", lambda self, texts, **_: made.append("vectors") or torch.zeros(len(texts), 32)
    )

    def build() -> list[str]:
        made.clear()
        index_of.vectors_of(
            matcher, [t.text for t in templates_of(open_domain(str(folder)), cache=cache).items], cache=cache
        )
        return list(made)

    assert build() == ["forms", "vectors"] and build() == []
    with (folder / "lexicon.txt").open("a") as names:
        names.write("the ibex lodge :- NP : hut.ibex_hut\n")
    assert build() == ["forms"]
    (folder / "domain.grammar").write_text(GRAMMAR.replace("beds of", "how many beds has"))
    assert build() == ["forms", "vectors"]
    with torch.no_grad():
        next(matcher.encoder.parameters()).add_(1.0)
    assert build() == ["vectors"]


def test_a_damaged_cache_is_made_anew(folder, matcher, tmp_path):
    cache = tmp_path / "cache"
    texts = [t.text for t in templates_of(open_domain(str(folder)), cache=cache).items]
    before = vectors_of(matcher, texts, cache=cache)
    for path in filter(Path.is_file, cache.rglob("*.*")):
        path.write_bytes(path.read_bytes().replace(b"huts", b"hots"))
    assert [t.text for t in templates_of(open_domain(str(folder)), cache=cache).items] == texts
    for path in filter(Path.is_file, cache.rglob("*.*")):
        os.truncate(path, 20)
    assert [t.text for t in templates_of(open_domain(str(folder)), cache=cache).items] == texts
    assert torch.equal(vectors_of(matcher, texts, cache=cache), before)


def test_without_a_place_to_keep_it_an_index_is_made_all_the_same(folder, matcher, tmp_path, monkeypatch):
    (tmp_path / "taken").write_text("a file, where a folder would have to be")
    index = indexed(folder, matcher, tmp_path / "taken" / "cache", monkeypatch)
    assert len(index) == 3 and index.propose([words("huts")], 1)[0]


def test_a_domain_without_a_grammar_has_no_index(folder, tmp_path):
    (folder / "domain.grammar").unlink()
    with pytest.raises(InputError, match="has no grammar"):
        templates_of(open_domain(str(folder)), cache=tmp_path)


def test_questions_that_nobody_types_are_not_kept(folder, matcher, tmp_path, monkeypatch):
    index = indexed(folder, matcher, tmp_path / "cache", monkeypatch)
    for question in (["huts"], ["beds"] * 200, ["x" * 2_000]):
        assert index.read_all([question])[0][0].text
    assert index._vector.cache_info().currsize == 1
