"""Derivations of a grammar: pairs of a canonical utterance and its logical form (paper Section 4.2.2).

In: a grammar, limits, and a function that says which forms to keep (it executes them, say). Out: a stream, shallow
derivations first and in the order of the rules, so that a limit cuts off the complicated end. Derivations of inner
categories are kept while they are few and made anew each time when they are many: memory stays bounded, however many
derivations a grammar has. A recursive grammar ends at the depth limit.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from dualparse.lf.grammar.rules import Grammar, Rule
from dualparse.lf.grammar.semantics import Constant, Select
from dualparse.lf.sexpr import MAX_DEPTH, Tree

KEPT_OF_ONE = 20_000  # derivations of one category and depth; more are derived again when they are needed again
KEPT_OF_ALL = 100_000  # of all categories together, some 50 MB
_TRIES_A_PART = 20  # to draw a part whose form is kept
_TRIES_A_DRAW = 1_000  # rules applied for one derivation drawn at random, failures included
_MISSES = 200  # draws in a row that came to nothing


class Derivation(NamedTuple):
    """`depth` counts rules from the words up; `words` is the canonical utterance."""

    category: str
    words: tuple[str, ...]
    form: Tree
    depth: int

    @property
    def utterance(self) -> str:
        return " ".join(self.words)


Keep = Callable[[Derivation], bool]


@dataclass(frozen=True)
class Limits:
    """Where a derivation ends: nested rules, tokens of a form, derivations given, and derivations tried."""

    depth: int = 10
    size: int = 300
    number: int | None = None
    tried: int | None = None


@dataclass
class Counts:
    """What became of the derivations so far, inner ones included."""

    tried: int = 0
    too_large: int = 0
    rejected: int = 0
    given: int = 0


@dataclass
class Deriver:
    """Derivations of one grammar. `keep` is asked about every complete form, inner ones included."""

    grammar: Grammar
    limits: Limits = Limits()
    keep: Keep | None = None
    counts: Counts = field(default_factory=Counts)
    _kept: dict[tuple[str, int], list[Derivation]] = field(default_factory=dict, repr=False)
    _fits: dict[tuple[str, int], list[Rule]] = field(default_factory=dict, repr=False)
    _room: int = field(default=KEPT_OF_ALL, repr=False)
    _budget: int = field(default=0, repr=False)

    @property
    def complete(self) -> bool:
        """Whether no limit but those of depth and size has cut anything off."""
        return not self._is_over() and not self._is_enough()

    def __iter__(self) -> Iterator[Derivation]:
        """All derivations of the root within the limits."""
        root = self.grammar.root
        deepest = int(min(self.limits.depth, self.grammar.max_depth[root]))
        for depth in range(self.grammar.min_depth[root], deepest + 1):
            for derivation in self._exactly(root, depth):
                if self._is_enough():
                    return
                self.counts.given += 1
                yield derivation

    def sample(self, rng: random.Random) -> Iterator[Derivation]:
        """Derivations drawn rule by rule from the root, for ever; the same one may come again.

        Ends at the limits, and when many draws in a row came to nothing.
        """
        misses = 0
        while misses < _MISSES and not self._is_over() and not self._is_enough():
            self._budget = _TRIES_A_DRAW
            derivation = self._draw(self.grammar.root, self.limits.depth, rng)
            if derivation is None:
                misses += 1
                continue
            misses = 0
            self.counts.given += 1
            yield derivation

    def _is_enough(self) -> bool:
        return self.limits.number is not None and self.counts.given >= self.limits.number

    def _is_over(self) -> bool:
        return self.limits.tried is not None and self.counts.tried >= self.limits.tried

    def _exactly(self, category: str, depth: int) -> Iterator[Derivation]:
        """Derivations of a category that are just so deep."""
        if not self.grammar.min_depth[category] <= depth <= self.grammar.max_depth[category]:
            return
        known = self._kept.get((category, depth))
        if known is not None:
            yield from known
            return
        fresh = self._fresh(category, depth)
        if category != self.grammar.root:
            # Gathered before the first is used: a rule may ask for the same ones again for its next part.
            room = min(KEPT_OF_ONE, self._room)
            found = list(islice(fresh, room + 1))
            if len(found) <= room:
                self._kept[category, depth] = found
                self._room -= len(found)
            yield from found
        yield from fresh

    def _fresh(self, category: str, depth: int) -> Iterator[Derivation]:
        for rule in self.grammar.by_category[category]:
            for parts in self._parts(rule, depth):
                derivation = self._make(rule, parts)
                if derivation is not None:
                    yield derivation
                elif self._is_over():
                    return

    def _parts(self, rule: Rule, depth: int) -> Iterator[tuple[Derivation, ...]]:
        """Derivations for a rule's categories, the deepest of them one level below `depth`."""
        children = rule.children
        if not children:
            if depth == 1:
                yield ()
            return
        for deepest in range(len(children)):  # the first child of the full depth; those before it are shallower
            spans = [
                (child, depth - 1 if place == deepest else 1, depth - 2 if place < deepest else depth - 1)
                for place, child in enumerate(children)
            ]
            if all(self.grammar.min_depth[child] <= high for child, _, high in spans):
                yield from self._products(spans)

    def _products(self, spans: list[tuple[str, int, int]]) -> Iterator[tuple[Derivation, ...]]:
        (category, low, high), rest = spans[0], spans[1:]
        for depth in range(low, high + 1):
            for first in self._exactly(category, depth):
                if not rest:
                    yield (first,)
                    continue
                for others in self._products(rest):
                    yield (first, *others)

    def _make(self, rule: Rule, parts: tuple[Derivation, ...]) -> Derivation | None:
        """The derivation of a rule from its parts, or None if it is too large or not kept."""
        if self._is_over():
            return None
        self.counts.tried += 1
        forms = [part.form for part in parts]
        if rule.distinct and len(set(forms)) < len(forms):
            self.counts.rejected += 1
            return None
        form = rule.semantics.apply(forms)
        if size(form) > self.limits.size:
            self.counts.too_large += 1
            return None
        words = rule.words(tuple([part.words for part in parts]))
        depth = 1 + max([part.depth for part in parts], default=0)
        derivation = Derivation(rule.category, words, form, depth)
        if self.keep is not None and self._is_new_form(rule) and not self.keep(derivation):
            self.counts.rejected += 1
            return None
        return derivation

    def _is_new_form(self, rule: Rule) -> bool:
        """Whether a rule makes a complete form that was not looked at before."""
        if rule.category == self.grammar.root:
            return True
        return not isinstance(rule.semantics, Constant | Select) and not self.grammar.waiting[rule.category]

    def _draw(self, category: str, depth: int, rng: random.Random) -> Derivation | None:
        """One derivation at most so deep, each fitting rule with the same chance; None where none was found."""
        fitting = self._fitting(category, depth)
        for _ in range(_TRIES_A_PART if fitting else 0):
            rule = rng.choice(fitting)
            parts: list[Derivation] = []
            for child in rule.children:
                part = self._draw(child, depth - 1, rng)
                if part is None:
                    break
                parts.append(part)
            self._budget -= 1
            if self._budget < 0 or self._is_over():
                return None
            if len(parts) == len(rule.children):
                derivation = self._make(rule, tuple(parts))
                if derivation is not None:
                    return derivation
        return None

    def _fitting(self, category: str, depth: int) -> list[Rule]:
        """Rules of a category that can be at most so deep."""
        known = self._fits.get((category, depth))
        if known is None:
            known = self._fits[category, depth] = [
                rule
                for rule in self.grammar.by_category[category]
                if depth > 0 and all(self.grammar.min_depth[child] < depth for child in rule.children)
            ]
        return known


def size(form: Tree) -> float:
    """Tokens of a form, parentheses included; infinite for one that is nested too deep to be read.

    >>> size(("count", ("all", "trail")))
    7
    """
    if isinstance(form, str):
        return 1
    total, level = 0, [form]
    for _ in range(MAX_DEPTH):
        total += 2 * len(level)
        inner = []
        for node in level:
            for part in node:
                if part.__class__ is tuple:
                    inner.append(part)
                else:
                    total += 1
        if not inner:
            return total
        level = inner
    return float("inf")
