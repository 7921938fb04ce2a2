"""Our dropout against what dropout is."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dualparse.engines.numba import loading
from dualparse.engines.numba.dropping import drop
from dualparse.networks.dropout import Dropout


@pytest.fixture(params=["plain", "compiled"])
def dropped(request):
    """What a layer makes of values, as it is written or by the compiled loop."""
    if request.param == "plain":
        return lambda layer, values: layer(values)
    if not loading.load():
        pytest.skip("needs the extra `fast`")
    return drop


@given(st.floats(0.05, 0.95), st.integers(0, 999))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_elements_vanish_with_the_probability_given_and_the_mean_stays(dropped, probability, seed):
    torch.manual_seed(seed)
    count = 40_003
    values = dropped(Dropout(probability), torch.ones(count))
    spread = (probability * (1 - probability) / count) ** 0.5
    assert float((values == 0).double().mean()) == pytest.approx(probability, abs=5 * spread + 2**-16)
    kept = values[values != 0]
    assert float(kept.min()) == float(kept.max()) == pytest.approx(1 / (1 - probability), rel=1e-3)


def test_neighbours_are_dropped_independently(dropped):
    """Four elements share a draw; none of them may know of the others."""
    torch.manual_seed(1)
    kept = (dropped(Dropout(0.5), torch.ones(100_000, 8)) != 0).double()
    together = torch.corrcoef(kept.T) - torch.eye(8, dtype=torch.double)
    assert float(together.abs().max()) < 0.02


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3, 5), (0, 4)])
def test_any_shape_and_type(dropped, shape):
    for dtype in (torch.float32, torch.float64):
        values = dropped(Dropout(0.5), torch.ones(shape, dtype=dtype))
        assert values.shape == shape and values.dtype == dtype
        assert ((values == 0) | (values == 2)).all()


def test_gradients_pass_where_elements_do(dropped):
    ones = torch.ones(50, requires_grad=True)
    values = dropped(Dropout(0.3), ones)
    values.sum().backward()
    assert torch.equal(ones.grad, values.detach())


def test_the_seed_decides_and_evaluation_drops_nothing(dropped):
    layer, ones = Dropout(0.5), torch.ones(100)
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(dropped(layer, ones))
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])
    assert dropped(layer.eval(), ones) is ones
    assert dropped(Dropout(0.0), ones) is ones


def test_almost_everything_may_be_dropped(dropped):
    assert torch.isfinite(dropped(Dropout(0.9999999), torch.ones(1000))).all()
