"""What a check says about a logical form (paper Section 3.2.1, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

from dualparse.lf.errors import LFExecutionError, LFSyntaxError


@dataclass(frozen=True, slots=True)
class Verdict:
    """Surface: one complete tree. Semantics: type-consistent, or executable where the domain executes."""

    surface: bool
    semantics: bool
    reason: str = ""

    @property
    def ok(self) -> bool:
        return self.surface and self.semantics


VALID = Verdict(surface=True, semantics=True)


def refused(error: LFSyntaxError | LFExecutionError) -> Verdict:
    """What one of the two errors about a form says: one that cannot run is a tree all the same.

    >>> refused(LFExecutionError("unknown property 'deepth'"))
    Verdict(surface=True, semantics=False, reason="unknown property 'deepth'")
    """
    return Verdict(isinstance(error, LFExecutionError), False, str(error))
