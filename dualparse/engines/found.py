"""What a search is asked, and what it found: the same on every engine.

Options in; arrays of numbers out, which know no words. `trace` makes them from what the steps of a search left behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dualparse.data.vocab import PAD

Place = Any
"""Where a hypothesis stands under a constraint; what that is, only the `Walk` knows."""


class Walk(Protocol):
    """A constraint on the searches of one batch: which token may come next, so that a hypothesis can still become a
    whole output within the limit. Hypotheses come as rows: the number of their source in the batch, and their place."""

    def start(self) -> Place:
        """The place of a hypothesis that has written nothing."""
        ...

    def allowed(self, sources: Sequence[int], places: Sequence[Place], *, left: int, width: int) -> np.ndarray:
        """[R, width] bool: which tokens (extended numbers) may come next, where `left` more fit after that one."""
        ...

    def after(self, sources: Sequence[int], places: Sequence[Place], tokens: Sequence[int]) -> list[Place]:
        """The places after these tokens, which were allowed and are not </s>."""
        ...


@dataclass(frozen=True)
class Options:
    """How to search: `beams=1` is greedy; no output is longer than `max_length` tokens."""

    beams: int = 5
    max_length: int = 100
    length_power: float = 1.0


@dataclass(frozen=True)
class Found:
    """n-best lists as arrays, best first; empty places have length 0 and log-probability -inf.

    tokens [B, k, T] extended numbers without </s>, PAD behind the end; length [B, k]; log_prob [B, k] with </s>;
    finished [B, k]: whether </s> was reached within the limit. What was not finished stands behind what was.
    copied [B, k, T], where it was asked for: the share of each token's probability that came by copying.
    """

    tokens: np.ndarray
    length: np.ndarray
    log_prob: np.ndarray
    finished: np.ndarray
    copied: np.ndarray | None = None

    def score(self, length_power: float) -> np.ndarray:
        """What hypotheses are ranked by; </s> counts where it was written."""
        return self.log_prob / np.maximum(self.length + self.finished, 1) ** length_power


def joined(parts: Sequence[tuple[np.ndarray, Found]]) -> Found:
    """What was found for groups of sources, as one, the sources in their order."""
    order = np.argsort(np.concatenate([sources for sources, _ in parts]))
    width = max(found.tokens.shape[-1] for _, found in parts)

    def join(arrays: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate(arrays)[order]

    def wide(array: np.ndarray) -> np.ndarray:
        return np.pad(array, ((0, 0), (0, 0), (0, width - array.shape[-1])), constant_values=PAD)

    copied = [wide(found.copied) for _, found in parts if found.copied is not None]
    return Found(
        tokens=join([wide(found.tokens) for _, found in parts]),
        length=join([found.length for _, found in parts]),
        log_prob=join([found.log_prob for _, found in parts]),
        finished=join([found.finished for _, found in parts]),
        copied=join(copied) if copied else None,
    )


def trace(
    history: np.ndarray,
    ended: np.ndarray,
    ends: np.ndarray,
    live: np.ndarray,
    *,
    length_power: float,
    copied: np.ndarray | None = None,
) -> Found:
    """Follow the parents back from every end; places that did not end by the limit are filled with what was live.

    The arrays are those of `beam.Beam`; of a source all of whose places ended, the history after that is not read.
    """
    steps, _, beams = history.shape
    finished = np.isfinite(ended)
    rest = np.cumsum(~finished, axis=1) - 1  # which live hypothesis fills an unfinished place
    length = np.where(finished, ends // beams, steps)
    place = np.where(finished, ends % beams, rest)
    own = ended.astype(np.float64) * (length + 1.0) ** length_power
    log_prob = np.where(finished, own, np.take_along_axis(live, np.maximum(rest, 0), axis=1))
    tokens = np.full((*place.shape, max(int(length.max(initial=0)), 1)), PAD, dtype=np.int64)
    shares = None if copied is None else np.zeros(tokens.shape, dtype=np.float32)
    rows = np.arange(place.shape[0])[:, None]
    for t in range(tokens.shape[-1] - 1, -1, -1):
        on = length > t
        code = history[t][rows, place]
        tokens[..., t] = np.where(on, code // beams, PAD)
        if shares is not None and copied is not None:
            shares[..., t] = np.where(on, copied[t][rows, place], 0.0)
        place = np.where(on, code % beams, place)
    empty = ~np.isfinite(log_prob)
    tokens[empty], length[empty] = PAD, 0
    return Found(tokens, length, log_prob, finished, shares)
