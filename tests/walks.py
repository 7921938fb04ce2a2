"""Walks through a guide: along a form that is known, and at random."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

from dualparse.lf.guide import Guide, Place


def step(guide: Guide, place: Place, token: str) -> Place | None:
    """Where a token leads."""
    moves = place.moves()
    reached = tuple(moves[kind] for kind in guide.kinds(token) if kind in moves)
    return guide.union(reached) if len(reached) > 1 else reached[0] if reached else None


def refused(guide: Guide, form: Sequence[str], *, room: int = 20) -> str:
    """Up to where a form is not allowed, if it is not all allowed with some tokens to spare; else nothing."""
    place: Place | None = guide.start()
    for number, token in enumerate(form):
        assert place is not None
        place = step(guide, place, token)
        if place is None or place.need > len(form) + room - number - 1:
            return " ".join(form[: number + 1])
    return "" if place is not None and place.need == 0 else " ".join(form)


def wander(guide: Guide, tokens: Collection[str], rng: random.Random, *, longest: int) -> list[str] | None:
    """A form by random steps within a length; None where a step has no next."""
    by_kind: dict[str, list[str]] = {}
    for token in sorted(tokens):
        for kind in guide.kinds(token):
            by_kind.setdefault(kind, []).append(token)
    place, form = guide.start(), list[str]()
    while place.need:
        left = longest - len(form) - 1
        moves = [
            kind
            for kind, reached in sorted(place.moves().items(), key=lambda move: move[0])
            if kind in by_kind and reached.need <= left
        ]
        if not moves:
            return None
        form.append(rng.choice(by_kind[rng.choice(moves)]))
        place = step(guide, place, form[-1]) or place
    return form
