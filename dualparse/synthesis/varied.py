"""New forms from known ones: one name replaced by what the ontology allows, or a condition more or less (paper Section
4.2.1 and Appendix B).

In: training forms, and an ontology or a check. Out: distinct forms that are valid and that training does not have.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain

from dualparse.lf import numbered
from dualparse.lf.canonical import normalize
from dualparse.lf.ontology import Ontology
from dualparse.lf.recombine import conditions, extended, says_already, without
from dualparse.lf.recombine import places as places_of_conditions
from dualparse.lf.replace import KINDS, alternatives, places, replaced
from dualparse.lf.sexpr import Tree, read, write
from dualparse.lf.trees import atoms
from dualparse.lf.typecheck import check
from dualparse.lf.verdict import Verdict
from dualparse.synthesis.made import (
    ADDED,
    AGAIN,
    DROPPED,
    GAP,
    ILL_TYPED,
    KNOWN,
    NOTHING_ELSE,
    Synthesis,
    Synthetic,
)

FREQUENCY_POWER = 0.5
DROP = 0.3  # of new forms made of known ones, about the share that has a condition less and not one more
PATIENCE = 20_000  # replacements in a row that gave nothing new, before the ontology counts as exhausted


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
