"""Numbers next to zero count as zero for a while, and only then."""

from __future__ import annotations

import pytest
import torch

from dualparse.engines import cores as module
from dualparse.engines.cores import each_on_a_core
from dualparse.engines.denormals import SMALLEST, denormals_are_zero


def product(*_: object) -> float:
    return float(torch.tensor(SMALLEST) * 1.0)


@pytest.fixture(autouse=True)
def possible():
    can = torch.set_flush_denormal(True)
    torch.set_flush_denormal(False)
    if not can:
        pytest.skip("this processor cannot do it")


def test_inside_they_are_zero_in_new_threads_too_and_outside_they_are_not(monkeypatch):
    monkeypatch.setattr(module, "_cores", 2)
    assert product() > 0
    with denormals_are_zero():
        assert product() == 0
        assert each_on_a_core(product, range(2)) == [0, 0]
        with denormals_are_zero():
            assert product() == 0
        assert product() == 0, "the outer one is not over"
    assert product() > 0


def test_what_goes_wrong_inside_ends_it():
    with pytest.raises(RuntimeError), denormals_are_zero():
        raise RuntimeError
    assert product() > 0
