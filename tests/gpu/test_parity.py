"""The checks of a card, under pytest; without a card they are skipped."""

from __future__ import annotations

import pytest
import torch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def checks():
    from gpu.checks import CHECKS

    return CHECKS


@pytest.mark.parametrize("name", sorted(check.__name__ for check in checks()))
def test_a_card_gives_what_the_plain_engine_gives(name):
    check, tolerance = next((check, allowed) for check, allowed in checks().items() if check.__name__ == name)
    assert check() <= tolerance
