"""The language model against its equations, written out again."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dualparse.data.batch import pad
from dualparse.data.vocab import BOS, EOS, PAD
from dualparse.engines.engine import score_texts
from dualparse.networks.language_model import LanguageModel, length_normalized

V = 7


def tiny(seed: int = 0, *, scale: float = 1.0) -> LanguageModel:
    model = LanguageModel(V, embedding=4, hidden=5, dropout=0.5)
    model.initialize(scale=scale, generator=torch.Generator().manual_seed(seed))
    return model.double().eval()


def tensors(texts: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(pad([[BOS, *row] for row in texts])), torch.from_numpy(pad([[*row, EOS] for row in texts]))


def reference(model: LanguageModel, text: list[int]) -> float:
    p = {name: value.detach().numpy() for name, value in model.named_parameters()}
    hidden = cell = np.zeros(5)
    total = 0.0
    for read, wanted in zip([BOS, *text], [*text, EOS], strict=True):
        gates = p["lstm.weight_ih_l0"] @ p["embedding.weight"][read] + p["lstm.weight_hh_l0"] @ hidden
        i, f, g, o = np.split(gates + p["lstm.bias_ih_l0"] + p["lstm.bias_hh_l0"], 4)
        cell = cell / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        hidden = np.tanh(cell) / (1 + np.exp(-o))
        logits = p["predict.weight"] @ hidden + p["predict.bias"]
        total += logits[wanted] - np.log(np.exp(logits).sum())
    return total


@given(st.integers(0, 1000), st.lists(st.lists(st.integers(4, V - 1), max_size=5), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_probabilities_follow_the_equations_with_and_without_padding(seed, texts):
    model = tiny(seed)
    found = score_texts(model, *tensors(texts))
    np.testing.assert_allclose(found.detach().numpy(), [reference(model, text) for text in texts], rtol=1e-9)


def test_the_next_token_has_a_distribution():
    model = tiny()
    inputs = torch.tensor([[BOS, 4, 5]])
    total = sum(model.log_probs(inputs, torch.full_like(inputs, token)).exp() for token in range(1, V))
    pad_share = model.predict(model.lstm(model.embedding(inputs))[0]).softmax(-1)[..., PAD]
    torch.testing.assert_close(total + pad_share, torch.ones(1, 3, dtype=torch.float64))


def test_scores_are_per_token_with_the_end_counted():
    inputs, targets = tensors([[4, 5, 6], []])
    log_probs = score_texts(tiny(), inputs, targets)
    torch.testing.assert_close(length_normalized(log_probs, targets), log_probs / torch.tensor([4.0, 1.0]))


def test_normalising_nothing_is_no_division_by_zero():
    assert length_normalized(torch.zeros(1), torch.full((1, 3), PAD)).tolist() == [0.0]


@pytest.mark.parametrize("scale", [5.0, 50.0])
def test_extreme_weights_give_finite_values_and_gradients(scale):
    model = tiny(scale=scale).float()
    log_probs = model.log_probs(*tensors([[4, 5, 6, 4], [6]]))
    log_probs.sum().backward()
    assert bool(torch.isfinite(log_probs).all())
    assert all(bool(torch.isfinite(parameter.grad).all()) for parameter in model.parameters())


def test_initialisation_depends_on_its_generator_alone():
    for (name, a), b, c in zip(tiny(4).named_parameters(), tiny(4).parameters(), tiny(5).parameters(), strict=True):
        assert torch.equal(a, b), name
        assert not torch.equal(a, c), name
    assert not tiny().embedding.weight[PAD].any()
