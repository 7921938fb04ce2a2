"""New logical forms from an ontology, from a grammar (paper Section 4.2 and Appendix B), or from parts of known ones.

In: a domain's training forms, with them its ontology, or its grammar. Out: distinct forms that are valid and that
training does not have, with a report of what was rejected and why. The same seed gives the same forms in the same
order.
"""

from __future__ import annotations

import hashlib
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain

from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.lf import numbered
from dualparse.lf.canonical import normalize, normalize_text
from dualparse.lf.grammar import Derivation, Deriver, Grammar, Keep, Limits, read_grammar, swappable_types, swapped
from dualparse.lf.grammar.semantics import apply_lambda, is_lambda
from dualparse.lf.ontology import Ontology
from dualparse.lf.recombine import conditions, extended, says_already, without
from dualparse.lf.recombine import places as places_of_conditions
from dualparse.lf.replace import KINDS, alternatives, places, replaced
from dualparse.lf.sexpr import Tree, read, write
from dualparse.lf.trees import atoms
from dualparse.lf.typecheck import check
from dualparse.lf.verdict import Verdict

DERIVED, SWAPPED = "derived", "entities swapped"
ADDED, DROPPED = "condition added", "condition dropped"
FREQUENCY_POWER = 0.5
DRAWS = 300  # derivations in a row that gave nothing new, before all of them are gone through
DROP = 0.3  # of new forms made of known ones, about the share that has a condition less and not one more
MOST_OF_A_SCHEMA = 20_000  # forms, where all are asked for
FUTILE = 5  # the same where so many derivations were drawn for each that was new
PATIENCE = 20_000  # replacements in a row that gave nothing new, before the ontology counts as exhausted

# Functions that take a property without asking whether the things have it, and where the property stands.
_RANKINGS = {"SW.superlative": 4, "SW.countSuperlative": 4, "SW.countComparative": 3}

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


def synthesize(
    domain: Domain,
    forms: Mapping[str, Sequence[str]],
    *,
    n: int | None,
    seed: int,
    source: str | None = None,
    limits: Limits | None = None,
    swap: bool = True,
) -> Synthesis:
    """New forms for a domain. `forms` has the forms of its splits by name; those of "train" are the known ones.

    `source` is "grammar", "ontology" or "forms"; without it the grammar is taken where the domain has one, else the
    ontology.
    """
    rng = random.Random(f"synthesis {seed}")
    known = forms.get("train", ())
    made = domain.canonical if domain.grammar is None else None
    source = source or ("grammar" if domain.grammar is not None or made is not None else "ontology")
    if source == "grammar" and made is not None:
        result = from_schema(made, n=n or MOST_OF_A_SCHEMA, seed=seed, known=known, normalize_form=domain.normalize)
    elif source == "grammar":
        if domain.grammar is None:
            raise InputError(f"the domain {domain.name!r} has no grammar")
        grammar = read_grammar(domain.grammar)
        result = from_grammar(
            grammar,
            n=n,
            rng=rng,
            keep=keep_valid(domain.check, root=grammar.root),
            known=known,
            normalize_form=domain.normalize,
            limits=limits,
            swap=swap,
        )
    elif source == "forms":
        if n is None or not any(conditions(map(read, known))):
            raise InputError(f"the domain {domain.name!r} has no training forms with conditions to put together")
        result = from_forms(known, domain.check, n=n, rng=rng)
    else:
        if not isinstance(domain.ontology, Ontology) or n is None or not known:
            needed = "ontology of predicates" if known else "training forms"
            raise InputError(f"the domain {domain.name!r} has no {needed} to make new forms from")
        result = from_ontology(known, domain.ontology, n=n, rng=rng, entities=domain.lexicon.entities)
    result.compare({name: others for name, others in forms.items() if name != "train"}, domain.normalize)
    return result


def from_schema(
    make: Callable[[int, int], Sequence[tuple[str, str]]],
    *,
    n: int,
    seed: int,
    known: Iterable[str] = (),
    normalize_form: Callable[[str], str] = normalize_text,
) -> Synthesis:
    """Take `n` of the forms that the schema of a database lets say, with their utterances, and training has not."""
    start = time.perf_counter()
    trained = {normalize_form(form) for form in known}
    result = Synthesis()
    for utterance, form in make(n + len(trained), seed):
        if normalize_form(form) in trained:
            result.rejected[KNOWN] += 1
        elif len(result.forms) < n:
            result.forms.append(Synthetic(form, DERIVED, utterance=utterance))
    result.complete = len(result.forms) < n
    result.seconds = time.perf_counter() - start
    return result


def from_ontology(
    forms: Sequence[str],
    ontology: Ontology,
    *,
    n: int,
    rng: random.Random,
    entities: Iterable[str] = (),
    frequency_power: float = FREQUENCY_POWER,
    patience: int = PATIENCE,
) -> Synthesis:
    """Replace one entity, unary or binary predicate of a training form at a time, until there are `n` new forms.

    `entities` may name more of them than the training forms do, as a lexicon does. A name comes in with a chance
    that grows with its frequency in training to this power: 0 makes all alike, 1 keeps the training's habits.
    Fewer than `n` come back when `patience` attempts in a row gave nothing new.
    """
    start = time.perf_counter()
    trees = [read(form) for form in forms]
    pool = _by_type([*chain.from_iterable(map(atoms, trees)), *sorted(entities)], ontology)
    frequency = Counter(chain.from_iterable(map(atoms, trees)))
    weight = {name: (1 + frequency[name]) ** frequency_power for name in {*frequency, *entities}}

    def change(tree: Tree) -> tuple[str, Tree] | None:
        return _replace_one(tree, ontology, pool, weight, rng)

    known = {normalize(tree) for tree in trees}
    result = _varied(trees, change, lambda tree: check(tree, ontology), known, n=n, rng=rng, patience=patience)
    result.seconds = time.perf_counter() - start
    return result


def _varied(
    sources: Sequence[Tree],
    change: Callable[[Tree], tuple[str, Tree] | None],
    check_tree: Callable[[Tree], Verdict],
    known: set[Tree],
    *,
    n: int,
    rng: random.Random,
    patience: int,
) -> Synthesis:
    """Forms that a change makes of sources drawn at random, until there are `n` that are valid and new, or `patience`
    attempts in a row gave none. A change gives its kind and a form, or None."""
    result, made, misses = Synthesis(), set[Tree](), 0
    while sources and len(result.forms) < n and misses < patience:
        source = rng.choice(sources)
        changed = change(source)
        reason = _objection(source, changed[1], check_tree, known, made, result.reasons) if changed else NOTHING_ELSE
        if reason or not changed:
            result.rejected[reason] += 1
            misses += 1
            continue
        misses = 0
        kind, tree = changed
        made.add(normalize(tree))
        result.forms.append(Synthetic(write(tree), kind, source=write(source)))
    result.complete = misses >= patience
    return result


def _replace_one(
    tree: Tree,
    ontology: Ontology,
    pool: Mapping[str, Sequence[str]],
    weight: Mapping[str, float],
    rng: random.Random,
) -> tuple[str, Tree] | None:
    """The kind of a replacement and the new form, or None where there is nothing to replace.

    The kind is drawn before the place, because forms hold many more entities than unary predicates.
    """
    found = places(tree, ontology)
    present = [kind for kind in KINDS if any(place.kind == kind for place in found)]
    if not present:
        return None
    kind = rng.choice(present)
    place = rng.choice([place for place in found if place.kind == kind])
    names = alternatives(place, ontology, pool)
    if not names:
        return None
    (name,) = rng.choices(names, [weight.get(name, 1.0) for name in names])
    return kind, replaced(tree, place, name, ontology)


def _objection(
    source: Tree,
    tree: Tree,
    check_tree: Callable[[Tree], Verdict],
    known: set[Tree],
    made: set[Tree],
    reasons: Counter[str],
) -> str:
    """Why a form is not taken; empty if it is."""
    if _gaps(tree) - _gaps(source):
        return GAP
    verdict = check_tree(tree)
    if not verdict.ok:
        reasons[verdict.reason.partition(", but")[0]] += 1
        return ILL_TYPED
    normal = normalize(tree)
    return KNOWN if normal in known else AGAIN if normal in made else ""


def from_forms(
    forms: Sequence[str],
    check_form: Callable[[str], Verdict],
    *,
    n: int,
    rng: random.Random,
    frequency_power: float = FREQUENCY_POWER,
    patience: int = PATIENCE,
) -> Synthesis:
    """Put a condition into a training form that another one has, or leave one out, until there are `n` new forms.

    A condition comes in with a chance that grows with its frequency to this power. Fewer than `n` come back when
    `patience` attempts in a row gave nothing new.
    """
    start = time.perf_counter()
    trees = [read(form) for form in forms]
    frequency = conditions(trees)
    parts = list(frequency)
    weights = list(accumulate(count**frequency_power for count in frequency.values()))

    def change(tree: Tree) -> tuple[str, Tree] | None:
        place = rng.choice(places_of_conditions(tree))
        if len(place.conditions) > 1 and rng.random() < DROP:
            return DROPPED, without(tree, place, rng.randrange(len(place.conditions)))
        (part,), variable = rng.choices(parts, cum_weights=weights), rng.choice(place.variables or [""])
        if not variable or says_already(place, part, variable):
            return None
        return ADDED, extended(tree, place, part, variable)

    sources = [tree for tree in trees if parts and places_of_conditions(tree)]
    known = {normalize(tree) for tree in trees}
    result = _varied(sources, change, lambda tree: check_form(write(tree)), known, n=n, rng=rng, patience=patience)
    result.seconds = time.perf_counter() - start
    return result


def _gaps(tree: Tree) -> set[str]:
    """Kinds of numbered entities that do not count 0, 1, 2, ...: no query anonymised in order gives such a form."""
    numbers: dict[str, set[int]] = {}
    for kind, number in filter(None, map(numbered.split, atoms(tree))):
        numbers.setdefault(kind, set()).add(number)
    return {kind for kind, found in numbers.items() if max(found) >= len(found)}


def _by_type(names: Iterable[str], ontology: Ontology) -> dict[str, list[str]]:
    pool: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        kind = ontology.entity_type(name)
        if kind is not None:
            pool.setdefault(kind, []).append(name)
    return pool


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


def canonical_pairs(synthesis: Synthesis) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """(query words, form tokens) of the forms that have a canonical utterance: training pairs nobody had to write."""
    return [
        (tuple(item.utterance.lower().split()), tuple(item.form.split())) for item in synthesis.forms if item.utterance
    ]
