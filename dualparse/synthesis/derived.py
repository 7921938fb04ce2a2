"""New forms from a grammar: everything that it and its variants with swapped entities derive (paper Section 4.2.2)."""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from dualparse.lf.canonical import normalize_text
from dualparse.lf.grammar import Derivation, Deriver, Grammar, Keep, Limits, swappable_types, swapped
from dualparse.lf.grammar.semantics import apply_lambda, is_lambda
from dualparse.lf.sexpr import Tree, write
from dualparse.lf.verdict import Verdict
from dualparse.synthesis.made import AGAIN, DERIVED, KNOWN, NOT_KEPT, SWAPPED, TOO_LARGE, Synthesis, Synthetic

DRAWS = 300  # derivations in a row that gave nothing new, before all of them are gone through
FUTILE = 5  # the same where so many derivations were drawn for each that was new

# Functions that take a property without asking whether the things have it, and where the property stands.
_RANKINGS = {"SW.superlative": 4, "SW.countSuperlative": 4, "SW.countComparative": 3}


def from_grammar(
    grammar: Grammar,
    *,
    n: int | None,
    rng: random.Random,
    keep: Keep | None = None,
    known: Iterable[str] = (),
    normalize_form: Callable[[str], str] = normalize_text,
    limits: Limits | None = None,
    swap: bool = True,
) -> Synthesis:
    """Take `n` forms, or all (None), of what the grammar and its swapped variants derive and training has not.

    They are drawn rule by rule, which gives rare and common constructions the same chance. When draws bring nothing
    new any more, all derivations are gone through for the rest, of which nothing but a fingerprint is kept.
    """
    start = time.perf_counter()
    collector = _Collector(n, rng, normalize_form, known)
    derivers = [
        (kind, Deriver(variant, limits or Limits(), keep))
        for kind, variant in (variants(grammar) if swap else [(DERIVED, grammar)])
    ]
    if n is not None:
        collector.draw([(kind, iter(deriver.sample(rng))) for kind, deriver in derivers])
    for kind, deriver in derivers:
        if not collector.is_full:
            collector.take(kind, deriver)
            collector.result.complete = deriver.complete and (kind == DERIVED or collector.result.complete)
    for _, deriver in derivers:
        rejected = Counter({NOT_KEPT: deriver.counts.rejected, TOO_LARGE: deriver.counts.too_large})
        collector.result.rejected += rejected
    rng.shuffle(collector.result.forms)
    collector.result.seconds = time.perf_counter() - start
    return collector.result


class _Collector:
    """Derivations come in, new forms are kept; every form that came is remembered by a fingerprint."""

    def __init__(self, n: int | None, rng: random.Random, normalize_form: Callable[[str], str], known: Iterable[str]):
        self.result = Synthesis()
        self._n, self._rng, self._normalize = n, rng, normalize_form
        self._known = {_fingerprint(normalize_form(form)) for form in known}
        self._made: set[bytes] = set()

    @property
    def is_full(self) -> bool:
        return self._n is not None and len(self.result.forms) >= self._n

    def draw(self, samples: list[tuple[str, Iterator[Derivation]]]) -> None:
        """Draw from all variants in turn at random, until there are enough or nothing new comes."""
        misses, drawn = 0, 0
        while misses < DRAWS and drawn < DRAWS + FUTILE * len(self.result.forms) and not self.is_full:
            drawn += 1
            kind, sample = self._rng.choice(samples)
            derivation = next(sample, None)
            item = None if derivation is None else self._new(kind, derivation)
            misses = misses + 1 if item is None else 0
            if item is not None:
                self.result.forms.append(item)

    def take(self, kind: str, derivations: Iterable[Derivation]) -> None:
        """Go through all; where there are more than places left, each has the same chance of one."""
        fixed = len(self.result.forms)
        for derivation in derivations:
            item = self._new(kind, derivation)
            if item is None:
                continue
            if not self.is_full:
                self.result.forms.append(item)
            elif (place := fixed + self._rng.randrange(len(self._made) - fixed)) < len(self.result.forms):
                self.result.forms[place] = item

    def _new(self, kind: str, derivation: Derivation) -> Synthetic | None:
        form = spell(derivation.form)
        key = _fingerprint(self._normalize(form))
        if key in self._known or key in self._made:
            self.result.rejected[KNOWN if key in self._known else AGAIN] += 1
            return None
        self._made.add(key)
        return Synthetic(form, kind, utterance=derivation.utterance)


def _fingerprint(text: str) -> bytes:
    """Stands for a form among millions, in a few bytes."""
    return hashlib.blake2b(text.encode(), digest_size=10).digest()


def variants(grammar: Grammar) -> Iterator[tuple[str, Grammar]]:
    """The grammar; with the entities of all types swapped (what the paper did); and of one type at a time."""
    yield DERIVED, grammar
    types = list(swappable_types(grammar))
    if types:
        yield SWAPPED, swapped(grammar, types)
    if len(types) > 1:
        for kind in types:
            yield SWAPPED, swapped(grammar, [kind])


def keep_valid(check: Callable[[str], Verdict], *, root: str) -> Keep:
    """A function for `Deriver` that drops what a domain refuses: whole forms, and inner calls on the way to them.

    An inner form that is no call, such as a bare property, has no answer of its own and is kept. OVERNIGHT's evaluator
    ranks and counts by a property that the things at hand do not have at all, and finds nothing; its generator did not
    make such forms, so they are dropped too.
    """

    def keep(derivation: Derivation) -> bool:
        if derivation.category != root and not _is_call(derivation.form):
            return True
        if not check(write(derivation.form)).ok:
            return False
        return derivation.category != root or all(check(write(probe)).ok for probe in _probes(derivation.form))

    return keep


def _is_call(form: Tree) -> bool:
    return not isinstance(form, str) and form[0] == "call"


def _probes(form: Tree) -> Iterator[Tree]:
    """For every ranking or counting, a form that asks for the property of the same things."""
    if isinstance(form, str):
        return
    if len(form) == 2 and is_lambda(form[0]):
        form = apply_lambda(*form)
    if form[0] == "call" and form[1] in _RANKINGS:
        yield ("call", "SW.getProperty", form[2], form[_RANKINGS[form[1]]])
    for part in form:
        yield from _probes(part)


def spell(form: Tree) -> str:
    """The text of a form as the published files spell it: `( string ! type )` has a space after the mark.

    >>> spell(("call", "SW.getProperty", "en.block.block1", ("string", "!type")))
    '( call SW.getProperty en.block.block1 ( string ! type ) )'
    """
    return re.sub(r"\( string !(\S+) \)", r"( string ! \1 )", write(form))
