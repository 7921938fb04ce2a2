"""What a command of the shell leaves behind; the fixture `dualparse` of tests/cli gives it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str
