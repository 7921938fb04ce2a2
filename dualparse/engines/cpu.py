"""What training asks of a CPU, once a process."""

from __future__ import annotations

from dualparse.engines.kept_memory import keep_freed_memory
from dualparse.engines.numba import loading


def prepare() -> None:
    """Compiled loops, and memory that stays."""
    keep_freed_memory()
    loading.load()
