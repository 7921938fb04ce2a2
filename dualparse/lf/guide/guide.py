"""What a guide is: a form's beginning is a `Place`, and every token that may come next leads to another.

Tokens that are alike to a guide have one kind: all cities, all whole numbers. A token may be of several kinds
(`en.block` is a name, and a word by itself), so a guide speaks of kinds and its user of tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Place(Protocol):
    """Where a form may stand after some tokens.

    need   how many tokens lead to an end at the least; 0 where the form may end here; infinite
           where none does
    """

    @property
    def need(self) -> float: ...

    def moves(self) -> Mapping[str, Place]:
        """Kind of the next token -> where it leads. No kind leads to a place that has no end."""
        ...


class Guide(Protocol):
    """Where a form begins, and what kinds a token has."""

    def start(self) -> Place: ...

    def kinds(self, token: str) -> tuple[str, ...]:
        """Every kind of a token, the token itself among them where rules name it; none for what no form says."""
        ...

    def union(self, places: tuple[Place, ...]) -> Place:
        """One place that stands for several: a token of two kinds leads to two."""
        ...
