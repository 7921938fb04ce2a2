"""The rewards of the game (paper Section 3.2): plain functions, lists in, floats out.

A loop judges what its first agent wrote: is it valid (a form that checks or runs, a query that sounds like one), and
can the second agent find the way back? Only a bad logical form scores 0; any other error is a bug and stops the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from dualparse.lf.errors import LFExecutionError, LFSyntaxError
from dualparse.lf.verdict import Verdict

TREE_ALONE = 0.5  # what a complete tree without meaning is worth when validity is graded


def validity(verdicts: Sequence[Verdict], *, graded: bool = False) -> list[float]:
    """Eq. 9: 1 for a form without error, else 0; graded, a complete tree alone is worth a half.

    >>> fine, tree, soup = Verdict(True, True), Verdict(True, False), Verdict(False, False)
    >>> validity([fine, tree, soup]), validity([fine, tree, soup], graded=True)
    ([1.0, 0.0, 0.0], [1.0, 0.5, 0.0])
    """
    tree_alone = TREE_ALONE if graded else 0.0
    return [1.0 if verdict.ok else tree_alone if verdict.surface else 0.0 for verdict in verdicts]


def verdict_of(check: Callable[[str], Verdict], text: str) -> Verdict:
    """What a check says; one that raises a logical-form error says "invalid", any other exception is its bug."""
    try:
        return check(text)
    except LFSyntaxError as error:
        return Verdict(False, False, error.reason)
    except LFExecutionError as error:
        return Verdict(True, False, error.reason)


def check_validity(check: Callable[[str], Verdict], texts: Sequence[str], *, graded: bool = False) -> list[float]:
    """The same from the text of the forms."""
    return validity([verdict_of(check, text) for text in texts], graded=graded)


def mix(rewards: Sequence[Sequence[float]], weights: Sequence[float]) -> list[float]:
    """A weighted sum of rewards.

    >>> mix([[1.0, 0.0], [-2.0, -4.0]], [0.5, 0.5])
    [-0.5, -2.0]
    """
    return [sum(w * r for w, r in zip(weights, column, strict=True)) for column in zip(*rewards, strict=True)]


def less_mean(rewards: Tensor, share: Tensor) -> Tensor:
    """Rewards [B, k] less their mean over the hypotheses of the same input, by share; those without any give 0.

    >>> less_mean(torch.tensor([[1.0, 3.0, 9.0]]), torch.tensor([[0.5, 0.5, 0.0]])).tolist()
    [[-1.0, 1.0, 0.0]]
    """
    whole = share.sum(-1, keepdim=True)
    mean = (rewards * share).sum(-1, keepdim=True) / torch.where(whole > 0, whole, 1.0)
    return (rewards - mean) * (share > 0)
