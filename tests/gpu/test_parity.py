"""The checks of a card, under pytest. Without a card all but the long ones run on the CPU, which shows that they can be
run, and nothing of a card.
"""

from __future__ import annotations

import pytest
from gpu.checks import CARD, CHECKS

TRAINING = [check.__name__ for check in CHECKS if check.__name__.endswith("trains_and_plays")]


@pytest.mark.parametrize("name", [check.__name__ for check in CHECKS])
def test_a_card_gives_what_the_plain_engine_gives(name):
    if not CARD and name in TRAINING:
        pytest.skip("needs a GPU")
    check, tolerance = next((check, allowed) for check, allowed in CHECKS.items() if check.__name__ == name)
    assert check() <= tolerance
