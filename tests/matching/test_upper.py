"""The last layers of a matcher: they see what the whole encoder sees, they learn alone, and all of it is kept."""

from __future__ import annotations

import pytest
import torch

from dualparse.errors import InputError
from dualparse.matching.adapter import apply_adapter, make_adaptable, save_adapter
from dualparse.matching.matcher import Matcher
from dualparse.matching.upper import Upper, restored, states_below
from dualparse.networks.encoder import open_encoder

TEXTS = ["which huts have showers", "all long trails", "a", "b c d e f g h"]


def matcher_of(folder) -> Matcher:
    return Matcher(open_encoder(str(folder))).eval()


@pytest.fixture
def adapter(tiny_encoder, tmp_path):
    """An adapter that changes both layers of the tiny encoder."""
    changes = make_adaptable(open_encoder(str(tiny_encoder)), rank=2)
    torch.manual_seed(0)
    for change in changes.values():
        torch.nn.init.normal_(change.up, std=0.2)
    save_adapter(tmp_path / "one.safetensors", changes, 3.5, {})
    return tmp_path / "one.safetensors"


@pytest.mark.parametrize("layers", [1, 2])
def test_states_and_last_layers_give_the_vectors_of_the_whole_encoder(tiny_encoder, layers):
    matcher = matcher_of(tiny_encoder)
    upper = Upper(matcher, layers).eval()
    states = states_below(matcher.encoder, matcher.encoder.tokens(TEXTS), upper.first, at_once=2)
    whole = matcher.encoder.vectors(TEXTS)
    assert torch.allclose(upper(states), whole, atol=2e-3)
    rows = torch.tensor([3, 0])
    assert torch.allclose(upper(states.take(rows)), whole[rows], atol=2e-3)
    assert torch.allclose(upper(states.take(rows).beside(states)), torch.cat([whole[rows], whole]), atol=2e-3)


def test_the_last_layers_alone_learn(tiny_encoder):
    matcher = matcher_of(tiny_encoder)
    upper = Upper(matcher, 1)
    below = [p.detach().clone() for p in matcher.encoder.body.encoder.layer[0].parameters()]
    vectors = upper(upper.states(TEXTS))
    (upper.scale.exp() * vectors).sum().backward()
    assert all(p.grad is not None for p in upper.parameters())
    with torch.no_grad():
        for parameter in upper.parameters():
            parameter += 0.1
    after = list(matcher.encoder.body.encoder.layer[0].parameters())
    assert all(torch.equal(a, b) and b.grad is None for a, b in zip(below, after, strict=True))
    assert not torch.allclose(matcher.encoder.vectors(TEXTS), vectors.detach(), atol=1e-2), "the matcher's own layers"


def test_what_is_kept_gives_the_matcher_back_whatever_adapter_it_began_with(tiny_encoder, adapter, tmp_path):
    matcher = matcher_of(tiny_encoder)
    apply_adapter(matcher.encoder, adapter)
    upper = Upper(matcher, 1, adapter=adapter).eval()
    with torch.no_grad():
        upper.scale.fill_(2.5)
        for parameter in upper.layers.parameters():
            parameter += 0.05 * torch.randn_like(parameter)
    kept = upper.state_dict()
    assert {tensor.dtype for tensor in kept.values()} == {torch.float16}
    again = restored(str(tiny_encoder), kept, path=tmp_path / "matcher.safetensors")
    assert torch.allclose(again.encoder.vectors(TEXTS), matcher.encoder.vectors(TEXTS), atol=5e-3)
    assert float(again.scale) == pytest.approx(2.5)
    plain = {name: tensor for name, tensor in kept.items() if not name.startswith("below.")}
    other = restored(str(tiny_encoder), plain, path=tmp_path / "matcher.safetensors")
    assert not torch.allclose(other.encoder.vectors(TEXTS), matcher.encoder.vectors(TEXTS), atol=5e-3)


@pytest.mark.parametrize("damage", [{}, {"scale": torch.tensor(1.0)}, {"layers.0.bias": torch.zeros(3)}])
def test_weights_of_another_encoder_are_an_error(tiny_encoder, tmp_path, damage):
    with pytest.raises(InputError, match="matcher.safetensors: it was trained with another encoder"):
        restored(str(tiny_encoder), damage, path=tmp_path / "matcher.safetensors")


def test_more_layers_than_there_are_cannot_learn(tiny_encoder):
    with pytest.raises(InputError, match="3 layers .* it has 2"):
        Upper(matcher_of(tiny_encoder), 3)
