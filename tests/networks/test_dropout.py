"""Our dropout against what dropout is."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dualparse.engines.numba import loading as compiled
from dualparse.networks.dropout import Dropout


@pytest.fixture(autouse=True, params=["with Numba", "without Numba"])
def numba(request, monkeypatch):
    if request.param == "without Numba":
        monkeypatch.setattr(compiled, "_loaded", False)
    elif not compiled.load():
        pytest.skip("needs the extra `fast`")


@given(st.floats(0.05, 0.95), st.integers(0, 999))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_elements_vanish_with_the_probability_given_and_the_mean_stays(probability, seed):
    torch.manual_seed(seed)
    count = 40_003
    dropped = Dropout(probability)(torch.ones(count))
    spread = (probability * (1 - probability) / count) ** 0.5
    assert float((dropped == 0).double().mean()) == pytest.approx(probability, abs=5 * spread + 2**-16)
    kept = dropped[dropped != 0]
    assert float(kept.min()) == float(kept.max()) == pytest.approx(1 / (1 - probability), rel=1e-3)


def test_neighbours_are_dropped_independently():
    """Four elements share a draw; none of them may know of the others."""
    torch.manual_seed(1)
    kept = (Dropout(0.5)(torch.ones(100_000, 8)) != 0).double()
    together = torch.corrcoef(kept.T) - torch.eye(8, dtype=torch.double)
    assert float(together.abs().max()) < 0.02


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3, 5), (0, 4)])
def test_any_shape_and_type(shape):
    for dtype in (torch.float32, torch.float64):
        dropped = Dropout(0.5)(torch.ones(shape, dtype=dtype))
        assert dropped.shape == shape and dropped.dtype == dtype
        assert ((dropped == 0) | (dropped == 2)).all()


def test_gradients_pass_where_elements_do():
    ones = torch.ones(50, requires_grad=True)
    dropped = Dropout(0.3)(ones)
    dropped.sum().backward()
    assert torch.equal(ones.grad, dropped.detach())


def test_the_seed_decides_and_evaluation_drops_nothing():
    dropout, ones = Dropout(0.5), torch.ones(100)
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(dropout(ones))
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
    assert dropout.eval()(ones) is ones
    assert Dropout(0.0)(ones) is ones


def test_almost_everything_may_be_dropped():
    assert torch.isfinite(Dropout(0.9999999)(torch.ones(1000))).all()
