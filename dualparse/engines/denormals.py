"""Numbers next to zero, which cost a processor many times as much as others.

What is never updated, such as the vectors of words that are in no labeled pair, decays towards 0 and stays among the
smallest numbers there are. Where much is computed with them they count as 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

SMALLEST = 1e-40  # too small for all of its digits


@contextmanager
def denormals_are_zero() -> Iterator[None]:
    """In this thread, and in threads that begin meanwhile. Nothing changes where the processor cannot do it."""
    before = float(torch.tensor(SMALLEST) * 1.0) == 0.0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)
