"""The paper's variation of a grammar: entity instances of one type change places (Section 4.2.2).

In: a grammar. Out: the same rules, with the entities of one type given to each other's categories. Where `$EntityNP1`
says Alice and `$EntityNP2` says Bob, a swapped grammar says Bob where it said Alice, so its forms are new ones.
Categories can be swapped when their names differ in a final number only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dualparse.lf.grammar.rules import Grammar, Rule
from dualparse.lf.grammar.semantics import Constant
from dualparse.lf.sexpr import Tree


def entity_type(form: Tree) -> str | None:
    """The type of an entity, read off its form; None for anything that is no entity.

    >>> entity_type("en.person.alice"), entity_type(("number", "3", "en.inch")), entity_type(("string", "height"))
    ('en.person', 'en.inch', None)
    """
    if isinstance(form, str):
        return form.rpartition(".")[0] or None
    if form[0] == "number" and len(form) == 3:
        return str(form[2])
    return form[0] if form[0] in ("date", "time") else None


def swappable_types(grammar: Grammar) -> dict[str, list[Rule]]:
    """Types whose entities stand in more than one numbered category, with the rules that say them."""
    entities: dict[str, list[Rule]] = {}
    for rule in grammar.rules:
        kind = entity_type(rule.semantics.form) if isinstance(rule.semantics, Constant) else None
        if kind is not None and rule.category in grammar.reachable and rule.category[-1].isdecimal():
            entities.setdefault(kind, []).append(rule)
    return {kind: rules for kind, rules in entities.items() if _differ_in_number({rule.category for rule in rules})}


def _differ_in_number(categories: set[str]) -> bool:
    return len(categories) > 1 and len({category.rstrip("0123456789") for category in categories}) == 1


def swapped(grammar: Grammar, types: Iterable[str]) -> Grammar:
    """The grammar with the entities of these types moved on by one place, the last to the first."""
    moved: dict[Rule, Rule] = {}
    for kind, rules in swappable_types(grammar).items():
        if kind in types:
            for rule, other in zip(rules, rules[1:] + rules[:1], strict=True):
                moved[rule] = replace(rule, parts=other.parts, semantics=other.semantics)
    return replace(grammar, rules=tuple(moved.get(rule, rule) for rule in grammar.rules))
