"""The second reader: it sees both texts at once, what lies below is read apart, and all of it is kept."""

from __future__ import annotations

import pytest
import torch

from dualparse.errors import InputError
from dualparse.matching import reader as module
from dualparse.matching.adapter import open_matcher
from dualparse.matching.matcher import Matcher
from dualparse.matching.reader import SecondReader, open_reader, restored_reader
from dualparse.networks.encoder import open_encoder

QUESTIONS = ["which huts have showers", "show all long trails"]
UTTERANCES = [["hut that has showers", "a", "number of trails"], ["trail whose length is over 10 km"]]


def matcher_of(folder) -> Matcher:
    return Matcher(open_encoder(str(folder))).eval().requires_grad_(False)


def moved(folder, layers: int = 1) -> SecondReader:
    """A reader whose every weight has learned something."""
    reader = SecondReader(matcher_of(folder), layers).eval()
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in reader.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return reader


@pytest.mark.parametrize("layers", [1, 2])
def test_scores_are_those_of_each_pair_by_itself_whatever_stands_beside_it(tiny_encoder, layers):
    reader = moved(tiny_encoder, layers)
    together = reader.scores(QUESTIONS, UTTERANCES)
    assert [len(each) for each in together] == [3, 1]
    for question, texts, scores in zip(QUESTIONS, UTTERANCES, together, strict=True):
        for text, score in zip(texts, scores.tolist(), strict=True):
            ((alone,),) = reader.scores([question], [[text]])
            assert score == pytest.approx(float(alone), abs=2e-3)


def test_each_text_is_seen_with_the_other_and_their_order_counts(tiny_encoder):
    reader = moved(tiny_encoder)
    (one, same, turned) = (
        float(reader.scores([question], [[text]])[0]) for question, text in [("a b", "c"), ("a b", "c"), ("c", "a b")]
    )
    assert one == same != pytest.approx(turned, abs=1e-3)
    as_matcher = SecondReader(matcher_of(tiny_encoder), 1).eval()
    vectors = as_matcher._matcher[0].encoder.vectors(["a b", "c"])
    apart = float(as_matcher._matcher[0].scale.exp() * (vectors[0] @ vectors[1]))
    assert float(as_matcher.scores(["a b"], [["c"]])[0]) != pytest.approx(apart, abs=1e-3), "it looks at both"


def test_it_reads_where_products_are_in_bfloat16(tiny_encoder):
    reader = moved(tiny_encoder)
    asked, said = reader.states(QUESTIONS), reader.states(["a", "b c"])
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        half = reader(asked, said)
    with torch.no_grad():
        assert torch.allclose(half.float(), reader(asked, said), atol=0.3)


def test_nothing_to_read_is_no_error(tiny_encoder):
    reader = moved(tiny_encoder)
    assert [len(each) for each in reader.scores(QUESTIONS, [[], ["a"]])] == [0, 1]
    assert [len(each) for each in reader.scores(QUESTIONS, [[], []])] == [0, 0]


def test_a_reader_learns_alone_and_its_matcher_stays_as_it_is(tiny_encoder):
    matcher = matcher_of(tiny_encoder)
    before = [parameter.clone() for parameter in matcher.parameters()]
    reader = SecondReader(matcher, 1)
    scores = reader(reader.states(QUESTIONS), reader.states(["a", "b"]))
    scores.sum().backward()
    assert all(parameter.grad is not None for parameter in reader.parameters())
    with torch.no_grad():
        for parameter in reader.parameters():
            parameter += 1.0
    assert all(torch.equal(a, b) and b.grad is None for a, b in zip(before, matcher.parameters(), strict=True))


def test_what_is_kept_gives_the_reader_back(tiny_encoder, tmp_path):
    reader = moved(tiny_encoder)
    kept = reader.state_dict()
    assert {tensor.dtype for tensor in kept.values()} == {torch.float16}
    again = restored_reader(matcher_of(tiny_encoder), kept, path=tmp_path / "reader.safetensors")
    assert not any(parameter.requires_grad for parameter in again.parameters())
    for one, other in zip(reader.scores(QUESTIONS, UTTERANCES), again.scores(QUESTIONS, UTTERANCES), strict=True):
        assert torch.allclose(one, other, atol=5e-2)


def test_a_reader_is_where_its_matcher_is(tiny_encoder, tmp_path):
    kept = moved(tiny_encoder).state_dict()
    matcher = matcher_of(tiny_encoder).to("meta")
    read = restored_reader(matcher, {name: t.to("meta") for name, t in kept.items()}, path=tmp_path / "reader")
    assert {parameter.device.type for parameter in read.parameters()} == {"meta"}


@pytest.mark.parametrize("damage", ["none", "missing", "shape", "more layers"])
def test_weights_of_another_encoder_are_an_error(tiny_encoder, tmp_path, damage):
    kept = moved(tiny_encoder).state_dict()
    if damage == "none":
        kept = {}
    elif damage == "missing":
        del kept["which"]
    elif damage == "shape":
        kept["which"] = torch.zeros(2, 3)
    else:
        kept |= {name.replace("layers.0.", f"layers.{number}."): kept[name] for name in list(kept) for number in (1, 2)}
    with pytest.raises(InputError, match="it was trained with another encoder|it has 2"):
        restored_reader(matcher_of(tiny_encoder), kept, path=tmp_path / "reader.safetensors")


def test_the_reader_that_ships_prefers_what_says_the_same_and_is_checked(tmp_path, monkeypatch):
    pytest.importorskip("transformers", reason="needs the extra pretrained")
    matcher = open_matcher().eval().requires_grad_(False)
    reader = open_reader(matcher)
    asked = ["which ships are longer than [number] meters", "who owns the [ship]"]
    said = [
        ["ships whose length is under [number] meters", "ships whose length is over [number] meters", "ships"],
        ["ships whose owner is [company]", "flag of [ship]", "owner of [ship]"],
    ]
    assert [int(scores.argmax()) for scores in reader.scores(asked, said)] == [1, 2]
    (tmp_path / "reader.safetensors").write_bytes(module.SHIPPED.read_bytes()[:-1] + b"x")
    monkeypatch.setattr(module, "SHIPPED", tmp_path / "reader.safetensors")
    with pytest.raises(InputError, match="not the reader this version came with"):
        open_reader(matcher)
