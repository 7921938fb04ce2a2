"""What training asks of a CPU, once a process."""

from __future__ import annotations

import torch

from dualparse.models import compiled
from dualparse.models.heap import keep_freed_memory


def prepare() -> None:
    """Compiled loops, memory that stays, and no numbers next to zero.

    What is never updated, such as the vectors of words that are in no labeled pair, decays towards 0 and ends in
    numbers for which a processor takes many times as long; so these count as 0 from now on.
    """
    keep_freed_memory()
    torch.set_flush_denormal(True)
    compiled.load()
