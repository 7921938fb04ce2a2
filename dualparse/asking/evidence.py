"""What is known of the readings of a question, in numbers: what a probability is worked out from.

In: the forms that were found, with what each agent makes of them, whether they are valid and what they come to. Out:
`Option`s, one for each thing the question may mean, likeliest first, and the evidence for the first of them. Forms that
come to the same are one option: it does not matter which of them is meant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LEAST = 1e-4  # shares are told from 0 and from 1 by this


@dataclass(frozen=True, slots=True)
class Candidate:
    """A form that was found.

    comes_to  what tells its answer from others: its denotation, or its normal form where nothing is executed
    log_prob  log P(form | question); tokens: how many of them that is over
    back      log P(question | form); None where nobody can tell
    bonus     what else speaks for it, as a log-probability: that somebody has said so
    """

    form: str
    valid: bool
    comes_to: str
    log_prob: float
    tokens: int
    back: float | None = None
    bonus: float = 0.0

    @property
    def rank(self) -> float:
        """By which forms are chosen: both agents count alike."""
        return self.log_prob + (self.back or 0.0) + self.bonus


@dataclass(frozen=True, slots=True)
class Option:
    """One thing the question may mean: its forms, the likeliest first, and their share of all that was found."""

    forms: tuple[Candidate, ...]
    share: float

    @property
    def form(self) -> str:
        return self.forms[0].form

    @property
    def valid(self) -> bool:
        return self.forms[0].valid


def options_of(candidates: Sequence[Candidate]) -> list[Option]:
    """The options among candidates, largest share first. Invalid forms count only where there are no others."""
    counted = [candidate for candidate in candidates if candidate.valid] or list(candidates)
    if not counted:
        return []
    top = max(candidate.rank for candidate in counted)
    weights = {id(candidate): math.exp(candidate.rank - top) for candidate in counted}
    whole = math.fsum(weights.values())
    groups: dict[str, list[Candidate]] = {}
    for candidate in sorted(counted, key=lambda each: -each.rank):
        groups.setdefault(candidate.comes_to, []).append(candidate)
    found = [Option(tuple(group), math.fsum(weights[id(each)] for each in group) / whole) for group in groups.values()]
    return sorted(found, key=lambda option: -option.share)


def evidence_for(option: Option, options: Sequence[Option], words: int) -> dict[str, float]:
    """What speaks for one of the options, by the names of `dualparse.asking.confidence`; `words` of the question."""
    best = option.forms[0]
    other = max((each.share for each in options if each is not option), default=0.0)
    found = {
        "share": log_odds(option.share),
        "margin": math.log(max(option.share, LEAST)) - math.log(max(other, LEAST)),
        "form": best.log_prob,
        "token": best.log_prob / (best.tokens + 1),
        "valid": float(option.valid),
        "forms": math.log(1 + len(option.forms)),
    }
    if best.back is not None:
        found["back"] = best.back / (words + 1)
    return found


def log_odds(share: float) -> float:
    """
    >>> log_odds(0.5)
    0.0
    """
    kept = min(max(share, LEAST), 1 - LEAST)
    return math.log(kept / (1 - kept))
