"""Attention scores in parts equal the formula, gradients included."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from dualparse.networks import attention as additive

sizes = st.integers(1, 6)


def formula(keys, query, vector):
    return torch.tanh(keys.unsqueeze(1) + query.unsqueeze(2)) @ vector


@given(sizes, sizes, sizes, sizes, st.integers(1, 200), st.integers(0, 99))
def test_parts_of_any_size_give_the_formula_and_its_gradients(batch, steps, source, width, room, seed):
    generator = torch.Generator().manual_seed(seed)
    shapes = ((batch, source, width), (batch, steps, width), (width,))
    tensors = [torch.randn(shape, generator=generator, dtype=torch.double).requires_grad_() for shape in shapes]
    before = dict(additive.ROOM)
    try:
        additive.ROOM["cpu"] = room
        scores = additive.additive_scores(*tensors)
        weights = torch.randn(scores.shape, generator=generator, dtype=torch.double)
        gradients = torch.autograd.grad((scores * weights).sum(), tensors)
    finally:
        additive.ROOM.update(before)
    expected = formula(*tensors)
    torch.testing.assert_close(scores, expected)
    torch.testing.assert_close(gradients, torch.autograd.grad((expected * weights).sum(), tensors))


def test_what_needs_no_gradient_gets_none():
    keys, query, vector = torch.randn(2, 3, 4), torch.randn(2, 5, 4, requires_grad=True), torch.randn(4)
    additive.additive_scores(keys, query, vector).sum().backward()
    assert query.grad is not None and keys.grad is None


@given(sizes, sizes, sizes, sizes, st.integers(0, 99))
def test_scores_of_powers_differ_from_the_formula_by_a_constant(batch, steps, source, width, seed):
    generator = torch.Generator().manual_seed(seed)
    shapes = ((batch, source, width), (batch, steps, width), (width,))
    keys, query, vector = (3 * torch.randn(shape, generator=generator, dtype=torch.double) for shape in shapes)
    scores = additive.scores_of_powers(additive.powers_of(keys), query, vector)
    torch.testing.assert_close(scores + vector.sum(), formula(keys, query, vector))
