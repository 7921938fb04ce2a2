"""The two exceptions that mean "this logical form is bad".

`LFSyntaxError`: the text is not one well-formed tree. `LFExecutionError`: the tree does not type-check or does
not run. Rewards and evaluation catch these two and nothing else; any other exception is a bug and stops the run.
"""

from __future__ import annotations


class LFSyntaxError(ValueError):
    """The text is not one complete tree. `position` counts tokens from 0."""

    def __init__(self, reason: str, *, position: int | None = None):
        self.reason, self.position = reason, position
        super().__init__(reason if position is None else f"{reason} (at token {position + 1})")

    def anew(self) -> LFSyntaxError:
        """The same error without a past: one that is kept must not keep the frames it went through."""
        return LFSyntaxError(self.reason, position=self.position)


class LFExecutionError(ValueError):
    """The tree is well formed and has no meaning in this domain."""

    def __init__(self, reason: str):
        self.reason = reason
        super().__init__(reason)

    def anew(self) -> LFExecutionError:
        """The same error without a past."""
        return LFExecutionError(self.reason)


LF_ERRORS = (LFSyntaxError, LFExecutionError)
