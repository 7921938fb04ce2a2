"""What training asks of a CPU, once a process."""

from __future__ import annotations

from dualparse.models import compiled
from dualparse.models.heap import keep_freed_memory


def prepare() -> None:
    """Compiled loops, and memory that stays."""
    keep_freed_memory()
    compiled.load()
