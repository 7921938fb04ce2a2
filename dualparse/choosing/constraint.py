"""Search that writes nothing but forms of a domain: at every step only tokens that can still lead to one.

In: a domain's guide (`dualparse.lf.guide`), which knows beginnings of forms, and the vocabulary of forms. Out: a
`Constraint`, which makes a `Walk` for the sources of a batch: tokens of the vocabulary and words that can be copied,
each allowed where the guide lets it come next and the form can still end within the limit. What was worked out for a
beginning is kept for the next question.

A guide knows types, not values: that a selection is empty, or two lists turn out equal, only running can tell. So who
wants valid forms alone checks what was found as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from dualparse.data.batch import Row
from dualparse.data.vocab import EOS, SPECIAL, Vocab
from dualparse.domains.domain import Domain
from dualparse.lf.guide import Guide, Place, trees

MOST = 20_000  # beginnings that are kept; a service must not grow without end
HERE = -1.0  # what is left to write after </s>


@dataclass(frozen=True, slots=True)
class Spot:
    """A beginning of forms, and what follows from it.

    ends [V]  for every token of the vocabulary, how many more lead to an end at the least; infinite where it may not
              come next
    """

    place: Place
    ends: np.ndarray
    next: dict[str, Spot]


class Constraint:
    """The forms that a guide allows, written with a vocabulary: `guide` is asked for one with the tokens that can
    always be written."""

    def __init__(self, guide: Callable[[Collection[str]], Guide], vocab: Vocab):
        self.vocab, self._guide_for = vocab, guide
        self._begin()

    @classmethod
    def of(cls, domain: Domain, vocab: Vocab) -> Constraint:
        """By the types of a domain; of one that has none, complete trees."""
        return cls(domain.guide or trees, vocab)

    def _begin(self) -> None:
        tokens = self.vocab.tokens[len(SPECIAL) :]
        self.guide = self._guide_for(tokens)
        numbers: dict[str, list[int]] = {}
        for number, token in enumerate(tokens, start=len(SPECIAL)):
            for kind in self.guide.kinds(token):
                numbers.setdefault(kind, []).append(number)
        self._numbers = {kind: np.array(found) for kind, found in numbers.items()}
        self._spots: dict[Place, Spot] = {}

    def walk(self, rows: Sequence[Row]) -> Steps:
        """The constraint on the searches for some sources."""
        if len(self._spots) > MOST:
            self._begin()
        return Steps(self, rows)

    def spot(self, place: Place) -> Spot:
        known = self._spots.get(place)
        if known is None:
            known = self._spots.setdefault(place, Spot(place, self._ends(place), {}))
        return known

    def _ends(self, place: Place) -> np.ndarray:
        ends = np.full(len(self.vocab), math.inf, dtype=np.float32)
        for kind, reached in place.moves().items():
            if kind in self._numbers:
                numbers = self._numbers[kind]
                ends[numbers] = np.minimum(ends[numbers], reached.need)
        if place.need == 0:
            ends[EOS] = HERE
        return ends

    def after(self, spot: Spot, token: str) -> Spot:
        """Where a token leads that may come next."""
        known = spot.next.get(token)
        if known is None:
            moves = spot.place.moves()
            reached = tuple(moves[kind] for kind in self.guide.kinds(token) if kind in moves)
            place = reached[0] if len(reached) == 1 else self.guide.union(reached)
            known = spot.next.setdefault(token, self.spot(place))
        return known


class Steps:
    """A `Walk` (`dualparse.engines.found`) for the sources of one batch; its places are `Spot`s."""

    def __init__(self, constraint: Constraint, rows: Sequence[Row]):
        self._constraint, self._tokens = constraint, constraint.vocab.tokens
        self._words = [row.words for row in rows]
        kinds = constraint.guide.kinds
        self._copies = [list(enumerate(map(kinds, words), start=len(self._tokens))) for words in self._words]

    def start(self) -> Spot:
        return self._constraint.spot(self._constraint.guide.start())

    def allowed(self, sources: Sequence[int], places: Sequence[Spot], *, left: int, width: int) -> np.ndarray:
        ends = np.full((len(places), width), math.inf, dtype=np.float32)
        ends[:, : len(self._tokens)] = [spot.ends for spot in places]
        for row, (source, spot) in enumerate(zip(sources, places, strict=True)):
            moves = spot.place.moves()
            for number, kinds in self._copies[source]:
                for kind in kinds:
                    if kind in moves and number < width:  # it is not where nothing is copied
                        ends[row, number] = min(ends[row, number], moves[kind].need)
        return ends <= left - 1  # </s> takes a place as well

    def after(self, sources: Sequence[int], places: Sequence[Spot], tokens: Sequence[int]) -> list[Spot]:
        return [
            self._constraint.after(spot, self._text(source, token))
            for source, spot, token in zip(sources, places, tokens, strict=True)
        ]

    def _text(self, source: int, token: int) -> str:
        size = len(self._tokens)
        return self._tokens[token] if token < size else self._words[source][token - size]
