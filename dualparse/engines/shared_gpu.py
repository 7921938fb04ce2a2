"""Whether other processes use the same GPU. Alone, what counts is how soon a kernel ends; together, how little of the
card it takes. A process is told by the one that starts it.
"""

from __future__ import annotations

import os

TOLD = {"DUALPARSE_SHARED_GPU": "1"}  # goes into the environment of a process with others on its GPU


def is_shared() -> bool:
    """Whether this process was told so."""
    return all(os.environ.get(name) == value for name, value in TOLD.items())
