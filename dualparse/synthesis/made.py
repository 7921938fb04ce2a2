"""What comes of making new forms: the forms, and a report of what was rejected and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from dualparse.lf.canonical import normalize_text

DERIVED, SWAPPED = "derived", "entities swapped"
ADDED, DROPPED = "condition added", "condition dropped"

KNOWN, AGAIN, GAP = "in the training data", "made before", "numbered entities with a gap"
NOTHING_ELSE, ILL_TYPED, NOT_KEPT, TOO_LARGE = "nothing else fits", "does not type-check", "does not run", "too large"


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A new form; `source` is the training form it was made from, `utterance` its canonical wording."""

    form: str
    kind: str
    source: str = ""
    utterance: str = ""


@dataclass
class Synthesis:
    """The forms, and how they came about.

    rejected   why -> how many candidates
    reasons    what the type checker said -> how often
    overlaps   name of another split -> how many of the forms occur there
    complete   whether everything that can be made was looked at
    """

    forms: list[Synthetic] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    overlaps: dict[str, int] = field(default_factory=dict)
    complete: bool = False
    seconds: float = 0.0

    @property
    def by_kind(self) -> Counter[str]:
        return Counter(item.kind for item in self.forms)

    def compare(
        self, others: Mapping[str, Iterable[str]], normalize_form: Callable[[str], str] = normalize_text
    ) -> None:
        """Count the forms that occur in other splits, by normal form."""
        ours = {normalize_form(item.form) for item in self.forms}
        self.overlaps = {name: len(ours & set(map(normalize_form, forms))) for name, forms in others.items()}


def canonical_pairs(synthesis: Synthesis) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """(query words, form tokens) of the forms that have a canonical utterance: training pairs nobody had to write."""
    return [
        (tuple(item.utterance.lower().split()), tuple(item.form.split())) for item in synthesis.forms if item.utterance
    ]
