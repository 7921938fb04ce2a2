"""Sets of things that a question may ask about: those of a table under all that is said of them.

In: what is given, a table, the names of the data that are used. Out: `Draft`s of sets, the cheapest ways to put the
conditions together first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from dualparse.asking.conditions import Condition, applied
from dualparse.asking.drafts import LIST, Draft, Given
from dualparse.asking.names_in import Assignment, Named
from dualparse.asking.paths import Way, backwards, got, path

AT_ONCE = 0.1  # cost of what something leads to of which all is said
MOST_SETS = 10  # ways to put the conditions of one table together


@dataclass(frozen=True)
class Sets:
    """Makes the sets of one question."""

    given: Given

    def of(self, table: str, names: Assignment) -> Iterator[Draft]:
        """The things of a table under all conditions of the question."""
        taken = frozenset(place for named in names for place in named.places)
        groups = self._joined(names)
        needed: list[list[Condition]] = []
        for together in groups:
            options = self._of_names(together, table)
            if not options:
                return
            needed.append(options)
        for amount in self.given.question.amounts:
            needed.append([*self.given.conditions.of_amount(amount, table), Condition("", cost=0.6)])
        for dates in self.given.question.dates:
            options = self.given.conditions.of_dates(dates, table)
            if self.given.negated:
                options = [*options, *self.given.conditions.of_dates(dates, table, self.given.negated)]
            needed.append([*options, Condition("", cost=0.6)])
        needed += self._said_of(table, taken)
        combined = sorted(islice(product(*needed), 3000), key=lambda parts: sum(each.cost for each in parts))
        made = 0
        for parts in combined:
            if self._many_things(parts) or self._denied(parts) > len(self.given.negations):
                continue
            yield self._set(table, self._of_one_value(parts, table), names)
            made += 1
            if made == MOST_SETS:
                return

    def _of_one_value(self, parts: Sequence[Condition], table: str) -> list[Condition]:
        """Nothing has two values where it can have one: "customers in Rome and Paris" are in one of them."""
        found: dict[str, list[Condition]] = {}
        for number, each in enumerate(parts):
            found.setdefault(each.about or f"#{number}", []).append(each)
        return [
            same[0] if len({each.form for each in same}) == 1 else self._either(same, table) for same in found.values()
        ]

    def _many_things(self, parts: Sequence[Condition]) -> bool:
        """Whether two of them are things that are named, so that nothing is both; what a thing leads to may be one."""
        return sum(1 for each in parts if each.base and not each.base.startswith("( get ")) > 1

    def _denied(self, parts: Sequence[Condition]) -> int:
        """How many conditions take up a "not"."""
        return sum(bool(each.covers & self.given.negated) for each in parts)

    def through(self, table: str, names: Assignment) -> Iterator[Draft]:
        """The things that something else leads to, of which two conditions hold at once: "which bikes did Ann take in
        2024" are the bikes of the hires that are both by Ann and in 2024."""
        if len(names) + len(self.given.question.dates) < 2 or self.given.negated:
            return
        for other in self.given.database.by_name:
            ways = [way for way in self.given.ways.between(table, other)[:2] if any(hop.many for hop in way)]
            if other == table or not ways or len(ways[0]) > 3:
                continue
            there, left = self._at_once(other, names)
            way = next((way for way in ways if len(way) <= 3 and not _is_told(way, there)), None)
            if len(there) < 2 or way is None:
                continue
            rest = [self.given.conditions.of_name(named, table)[:1] for named in left]
            if any(not options for options in rest):
                continue
            cost = self.given.conditions.way_cost(way) + AT_ONCE
            joined = Condition(
                "", self.given.conditions.along(way), cost=cost, base=got(applied(there, other), backwards(way))
            )
            inner = [replace(each, form="", base="") for each in there]
            yield self._set(table, [joined, *inner, *(options[0] for options in rest)], names)

    def _at_once(self, table: str, names: Assignment) -> tuple[list[Condition], list[Named]]:
        """What the names and dates of the question say of a single thing of a table, and the names that say nothing."""
        there: list[Condition] = []
        left: list[Named] = []
        for named in names:
            options = [
                each
                for each in self.given.conditions.of_name(named, table)
                if each.form and not any(hop.many for hop in each.way) and len(each.way) < 3
            ]
            if any(each.about == known.about != "" for each in options[:1] for known in there):
                return [], []  # no single thing has both
            there += options[:1]
            left += [] if options else [named]
        for dates in self.given.question.dates:
            there += [each for each in self.given.conditions.of_dates(dates, table) if len(each.way) < 2][:1]
        return there, left

    def _set(self, table: str, parts: Sequence[Condition], names: Assignment) -> Draft:
        return Draft(
            applied(parts, table),
            table,
            LIST,
            (table, *(element for each in parts for element in each.uses)),
            frozenset(place for each in parts for place in each.covers),
            names,
            sum(each.cost for each in parts),
        )

    def _joined(self, names: Assignment) -> list[tuple[Named, ...]]:
        """Names of one kind with "or" between them are one condition."""
        groups: list[tuple[Named, ...]] = []
        ors = self.given.question.at("or")
        for named in sorted(names, key=lambda each: min(each.places)):
            last = groups[-1][-1] if groups else None
            alike = last is not None and (last.type, last.property) == (named.type, named.property)
            if alike and last is not None and set(range(max(last.places) + 1, min(named.places))) & ors:
                groups[-1] = (*groups[-1], named)
            else:
                groups.append((named,))
        return groups

    def _of_names(self, together: tuple[Named, ...], table: str) -> list[Condition]:
        first = together[0]
        if len(together) == 1 and (compared := self.given.compared.with_thing(first, table)):
            return compared
        options = self.given.conditions.of_name(first, table)
        if self.given.negated and min(self.given.negated) < max(first.places):
            options = [*options, *self.given.conditions.of_name(first, table, self.given.negated)]
        if len(together) == 1:
            return options
        every = [self.given.conditions.of_name(named, table)[: len(options)] for named in together]
        return [self._either(parts, table) for parts in zip(*every, strict=False) if parts]

    def _either(self, parts: Sequence[Condition], table: str) -> Condition:
        """One of several conditions."""
        covers = frozenset(place for each in parts for place in each.covers) | self.given.question.at("or")
        uses = tuple(element for each in parts for element in each.uses)
        if all(each.base for each in parts):
            return Condition("", uses, covers, parts[0].cost, base=f"( or {' '.join(each.base for each in parts)} )")
        sets = [each.base or each.form.replace("§", f"( all {table} )") for each in parts]
        return Condition(f"( and § ( or {' '.join(sets)} ) )", uses, covers, parts[0].cost)

    def _said_of(self, table: str, taken: frozenset[int]) -> list[list[Condition]]:
        """Booleans that are spoken of, and what is said to be there or not to be there."""
        found: list[list[Condition]] = []
        nothing = Condition("")
        negated = self.given.negated
        for held in self.given.database.by_name[table].properties:
            element = f"{table}.{held.name}"
            places = [p for p, w in self.given.evidence.get(element, {}).items() if w >= 0.55 and p not in taken]
            if not places:
                continue
            if held.kind == "boolean":
                options = [self.given.conditions.of_boolean(held, table, frozenset())]
                if negated:
                    options.insert(0, self.given.conditions.of_boolean(held, table, negated))
                found.append([*options, replace(nothing, cost=0.3)])
            elif negated or held.kind in ("text", "date", "number"):
                having = frozenset(p for place in places for p in self._having(place))
                found.append([nothing, *self.given.conditions.of_lack(element, table, negated, having=having)])
        for relation in self.given.database.by_name[table].relations if negated else ():
            element = f"{table}.{relation.name}"
            of_target = self.given.evidence.get(relation.target, {})
            said = {p: w for p, w in self.given.evidence.get(element, {}).items() if w > of_target.get(p, 0.0)}
            if any(w >= 0.55 and p not in taken for p, w in said.items()):
                found.append([*self.given.conditions.of_lack(element, table, negated), replace(nothing, cost=0.3)])
        for other in self.given.database.by_name:
            least = 0.45 if negated else 0.75
            places = [p for p, w in self.given.evidence.get(other, {}).items() if w >= least and p not in taken]
            if other == table or not places:
                continue
            lacking = self.given.conditions.of_lack(other, table, negated)
            if negated:
                found.append([*lacking, replace(nothing, cost=0.3)])
            elif any(hop.many for each in lacking for hop in each.way):
                found.append([nothing, *(each for each in lacking[:1] if len(each.way) < 3)])
        if negated and not any(each.form for options in found for each in options if each.covers & negated):
            nowhere = [
                self.given.conditions.of_lack(hop.target, table, negated)
                for hop in self.given.ways.hops[table]
                if hop.back
            ]
            options = [replace(each, cost=each.cost + 0.35) for lacking in nowhere for each in lacking[:1]]
            found.append([*options, replace(nothing, cost=0.6)])
        return found[:4]

    def _having(self, place: int) -> frozenset[int]:
        """The places of "with", "has a" and the like before a place."""
        words = self.given.question.words
        before = [
            p for p in range(max(0, place - 3), place) if words[p].text in ("with", "has", "have", "having", "had")
        ]
        return frozenset(before[-1:])


def _is_told(way: Way, there: Sequence[Condition]) -> bool:
    """Whether a question names what a way leads back to, so that nobody asks for it: "what is on in Lab 4 in May"."""
    return any(each.about == path(backwards(way)) for each in there)
