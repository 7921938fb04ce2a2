"""Small changes to an encoder: made beside it, written, and worked into its weights."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
import torch
from safetensors import safe_open

from dualparse.errors import InputError
from dualparse.matching import adapter as adapters
from dualparse.matching.adapter import SHIPPED, apply_adapter, make_adaptable, open_matcher, save_adapter
from dualparse.networks.encoder import open_encoder
from dualparse.networks.minilm import MINILM_PACKAGE, MINILM_SHA256

TEXTS = ["which huts have showers", "all long trails", "a"]


@pytest.fixture
def changed(tiny_encoder):
    """An encoder with changes beside its weights that do something."""
    encoder = open_encoder(str(tiny_encoder))
    changes = make_adaptable(encoder, rank=2)
    torch.manual_seed(0)
    for change in changes.values():
        torch.nn.init.normal_(change.up, std=0.2)
    return encoder, changes


def test_changes_that_have_learned_nothing_change_nothing(tiny_encoder):
    encoder = open_encoder(str(tiny_encoder))
    before = encoder.vectors(TEXTS)
    make_adaptable(encoder, rank=2)
    assert torch.equal(encoder.vectors(TEXTS), before)


def test_only_the_changes_learn(changed):
    encoder, changes = changed
    encoder(encoder.tokens(TEXTS)).sum().backward()
    learning = {id(p) for change in changes.values() for p in (change.down, change.up)}
    assert {id(p) for p in encoder.parameters() if p.grad is not None} == learning


def test_an_adapter_that_was_written_gives_the_vectors_it_was_trained_with(changed, tiny_encoder, tmp_path):
    encoder, changes = changed
    save_adapter(tmp_path / "one.safetensors", changes, 3.5, {"encoder": "tiny"})
    plain = open_encoder(str(tiny_encoder))
    before = plain.vectors(TEXTS)
    assert apply_adapter(plain, tmp_path / "one.safetensors") == pytest.approx(3.5)
    assert torch.allclose(plain.vectors(TEXTS), encoder.vectors(TEXTS), atol=2e-3)
    assert not torch.allclose(plain.vectors(TEXTS), before, atol=2e-3)


def test_a_matcher_opens_with_an_adapter_of_ones_own(changed, tiny_encoder, tmp_path):
    encoder, changes = changed
    save_adapter(tmp_path / "one.safetensors", changes, 3.5, {})
    matcher = open_matcher(str(tiny_encoder), adapter=tmp_path / "one.safetensors")
    assert float(matcher.scale.detach()) == pytest.approx(3.5)
    assert torch.allclose(matcher.encoder.vectors(TEXTS), encoder.vectors(TEXTS), atol=2e-3)


def test_another_encoder_comes_without_the_adapter_of_minilm(tiny_encoder):
    plain = open_encoder(str(tiny_encoder)).vectors(TEXTS)
    assert torch.equal(open_matcher(str(tiny_encoder)).encoder.vectors(TEXTS), plain)


def test_an_adapter_of_another_encoder_is_an_error(tiny_encoder):
    with pytest.raises(InputError, match="its layers are others"):
        apply_adapter(open_encoder(str(tiny_encoder)), SHIPPED)


def test_what_is_no_adapter_is_an_error(tiny_encoder, tmp_path):
    (tmp_path / "one.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="not an adapter"):
        apply_adapter(open_encoder(str(tiny_encoder)), tmp_path / "one.safetensors")


def test_a_shipped_adapter_that_was_changed_is_an_error(monkeypatch):
    pytest.importorskip(MINILM_PACKAGE)
    monkeypatch.setattr(adapters, "SHIPPED_SHA256", "0" * 64)
    with pytest.raises(InputError, match="SHA-256 differs"):
        open_matcher()


def test_the_shipped_adapter_is_small_and_says_what_it_is_for():
    assert SHIPPED.stat().st_size < 3_000_000
    with safe_open(SHIPPED, framework="pt") as file:
        about = file.metadata()
    assert about["encoder_sha256"] == MINILM_SHA256
    assert {"made_by", "version", "settings"} <= set(about)


@pytest.mark.skipif(find_spec(MINILM_PACKAGE) is None, reason="needs the extra pretrained")
def test_the_shipped_adapter_tells_apart_what_minilm_does_not():
    """Comparisons that differ by one small word, in a domain of no training."""
    pairs = {
        "lamps that cost no more than 20 euros": "lamps whose price is at most 20 euros",
        "lamps for 20 euros or more": "lamps whose price is at least 20 euros",
        "lamps cheaper than 20 euros": "lamps whose price is under 20 euros",
        "lamps above 20 euros": "lamps whose price is over 20 euros",
        "which lamp is the cheapest": "lamps with the lowest price",
        "what is the most expensive lamp": "lamps with the highest price",
        "how many lamps are there": "number of lamps",
    }

    def right(matcher):
        scores = matcher.encoder.vectors(list(pairs)) @ matcher.encoder.vectors(list(pairs.values())).T
        return int((scores.argmax(1) == torch.arange(len(pairs))).sum())

    assert right(open_matcher()) > right(open_matcher(adapter=None))
