"""Attention scores in parts equal the formula, gradients included."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dualparse.models import additive, compiled

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


@pytest.mark.skipif(not compiled.load(), reason="needs the extra `fast`")
@given(sizes, sizes, sizes, st.integers(1, 40), st.floats(0.1, 16.0), st.integers(0, 99))
def test_compiled_scores_give_the_formula_and_its_gradients(batch, steps, source, width, scale, seed):
    """Where positions and steps count; also where numbers are too large for the kernel."""
    generator = torch.Generator().manual_seed(seed)
    shapes = ((batch, source, width), (batch, steps, width), (width,))
    tensors = [(scale * torch.randn(shape, generator=generator)).requires_grad_() for shape in shapes]
    counts = [torch.randint(1, most + 1, (batch,), generator=generator) for most in (source, steps)]
    written, read = (
        torch.arange(most) < count[:, None] for most, count in zip((steps, source), counts[::-1], strict=True)
    )
    counted = written[:, :, None] & read[:, None]
    scores = additive.additive_scores(*tensors, positions=counts[0], steps=counts[1]) * counted
    weights = torch.randn(scores.shape, generator=generator)
    gradients = torch.autograd.grad((scores * weights).sum(), tensors)
    expected = formula(*tensors) * counted
    torch.testing.assert_close(scores, expected, atol=1e-5 * scale * width, rtol=1e-5)
    wanted = torch.autograd.grad((expected * weights).sum(), tensors)
    for found, right in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(found, right, atol=1e-5 * (1 + scale) * width, rtol=1e-4)


def test_compiled_scores_are_used_where_they_can_be(monkeypatch):
    keys, query, vector, counts = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(4), torch.tensor([1, 1])
    expected = additive.in_parts(keys, query, vector)
    monkeypatch.setattr(compiled, "_loaded", False)
    torch.testing.assert_close(additive.additive_scores(keys, query, vector, positions=counts, steps=counts), expected)
    monkeypatch.undo()
    if not compiled.load():
        pytest.skip("needs the extra `fast`")
    found = additive.additive_scores(keys, query, vector, positions=counts, steps=counts)
    torch.testing.assert_close(found[:, 0, 0], expected[:, 0, 0])
    assert not found[:, 1:].any() and not found[:, :, 1:].any()
    doubles = [tensor.double() for tensor in (keys, query, vector)]
    assert additive.additive_scores(*doubles, positions=counts, steps=counts)[:, 1:].any(), "single precision only"


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
