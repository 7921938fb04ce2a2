"""Draws that are the same on every machine and with every Python: built on `random()` alone, which never changes.

In: a seed. Out: numbers, members of a list, days, in the order they are asked for.
"""

import random
from collections.abc import Sequence
from datetime import date, timedelta
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Draws from one seed. A change of the order of draws changes everything after it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - content of a benchmark, no secret

    def number(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def one(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[int(self._random.random() * len(items))]

    def some(self, items: Sequence[T], *, count: int) -> list[T]:
        """So many different ones of the items."""
        left = list(items)
        return [left.pop(int(self._random.random() * len(left))) for _ in range(min(count, len(left)))]

    def chance(self, share: float) -> bool:
        """True in this share of the draws."""
        return self._random.random() < share

    def skewed(self, items: Sequence[T]) -> T:
        """One of the items, the first ones more often: as customers and products are in life."""
        return items[int(self._random.random() ** 2 * len(items))]

    def day(self, first: str, last: str) -> date:
        """A day from the first to the last, both as YYYY-MM-DD."""
        start = date.fromisoformat(first)
        return start + timedelta(days=self.number(0, (date.fromisoformat(last) - start).days))
