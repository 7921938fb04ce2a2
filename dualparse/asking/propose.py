"""Forms that a question may mean: its names, numbers and dates put together along the relations of the schema.

In: a question taken apart, the names found in it, and what its words evoke. Out: `Draft`s: forms with the words they
explain and the names they use. Nothing is chosen here: every table that may be asked for is tried, with every way its
conditions may hold, and with what the question's words ask for (how many, the longest, for each ...).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice, product

from dualparse.asking.conditions import Condition, Conditions, applied, entities
from dualparse.asking.lexis import lexis
from dualparse.asking.measures import MONEY, Measure, Measures
from dualparse.asking.names_in import Assignment, Named, assignments
from dualparse.asking.paths import Ways, backwards, got, path
from dualparse.asking.question import (
    AVG,
    COUNT,
    EACH,
    EXISTS,
    NOT,
    ORDER,
    REVERSE,
    SHARE,
    SUM,
    TOP,
    UNITS,
    Extreme,
    Question,
)
from dualparse.asking.terms import Evidence, Terms, strength
from dualparse.database.model import Database, Property
from dualparse.domains.units import factor

MOST_TABLES = 7
MOST_SETS = 10  # ways to put the conditions of one table together
MOST_DRAFTS = 1500

LIST, GET, SELECT, COUNTED, FIGURE, BEST, TOPPED, GROUPED, ORDERED, EXISTING, COMPARED, SHARED = (
    *("list", "get", "select", "count", "figure", "best", "top", "group", "order", "exists", "compare", "share"),
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A form that may be meant.

    target  the table it asks for; op  what it asks of it
    uses    names of the schema it speaks of; covers  places of the words that its parts come from, whatever they evoke
    names   the names of the data it uses
    cost    of what was guessed about its structure
    """

    form: str
    target: str
    op: str
    uses: tuple[str, ...]
    covers: frozenset[int]
    names: Assignment
    cost: float
    gives: str = ""  # the table or property whose things or values it gives, where it gives such

    @property
    def named_only(self) -> bool:
        """Whether this is what is named in the question, and nothing is said of it."""
        return not self.form.startswith("( ") or self.form.startswith("( or ")

    @property
    def itself(self) -> bool:
        """Whether this is what is named in the question, under whatever conditions."""
        inner = self.form.removeprefix("( and ").replace("( filter ", "")
        return not inner.startswith("( ") or inner.startswith("( or ")

    def asks(
        self,
        form: str,
        op: str,
        *,
        uses: Sequence[str] = (),
        covers: frozenset[int] = frozenset(),
        cost: float = 0.0,
        gives: str = "",
    ) -> Draft:
        """This draft as the set that something else is asked of."""
        uses, covers = (*self.uses, *uses), self.covers | covers
        return replace(self, form=form, op=op, uses=uses, covers=covers, cost=self.cost + cost, gives=gives)


@dataclass(frozen=True)
class Proposer:
    """Proposes forms for one question."""

    database: Database
    ways: Ways
    terms: Terms
    question: Question
    evidence: Evidence
    names: Sequence[Named]

    def drafts(self) -> list[Draft]:
        """All forms; one that is come to in several ways is there as often."""
        return list(dict.fromkeys(islice(self._drafts(), MOST_DRAFTS)))

    def _drafts(self) -> Iterator[Draft]:
        for names in assignments(self.names):
            if len(names) == 2:
                yield from self._two(names)
            for table in self._targets(names):
                for base in (*self._sets(table, names), *self._through(table, names)):
                    yield from self._asked(base)

    @cached_property
    def conditions(self) -> Conditions:
        return Conditions(self.database, self.ways, self.terms, self.evidence, self.question)

    @cached_property
    def measures(self) -> Measures:
        return Measures(self.database, self.ways, self.terms, self.evidence, self.question)

    # -- what is asked for

    def _targets(self, names: Assignment) -> list[str]:
        """Tables that may be asked for: those that are spoken of, those of names, and their neighbours."""
        worth: dict[str, float] = {}
        for element in self.evidence:
            owner, _, name = element.partition(".")
            said = strength(self.evidence, element) * (0.7 if name else 1.0)
            worth[owner] = max(worth.get(owner, 0.0), said)
            relation = self.database.places.get((owner, name)) if name else None
            if relation is not None and not isinstance(relation, Property):
                worth[relation.target] = max(worth.get(relation.target, 0.0), said)
        if self.measures.spoken:
            for table in self.database.tables:
                if any(held.unit in MONEY for held in table.properties):
                    worth[table.name] = max(worth.get(table.name, 0.0), 0.5)
        for named in names:
            worth[named.type] = max(worth.get(named.type, 0.0), 0.6)
            for hop in self.ways.hops[named.type]:
                worth[hop.target] = max(worth.get(hop.target, 0.0), 0.25)
        if not worth:
            worth = {table.name: 0.1 for table in self.database.tables}
        return sorted(worth, key=lambda table: -worth[table])[:MOST_TABLES]

    @cached_property
    def _negated(self) -> frozenset[int]:
        return self.question.at(NOT)

    def _sets(self, table: str, names: Assignment) -> Iterator[Draft]:
        """The things of a table under all conditions of the question."""
        taken = frozenset(place for named in names for place in named.places)
        groups = self._joined(names)
        needed: list[list[Condition]] = []
        for together in groups:
            options = self._of_names(together, table)
            if not options:
                return
            needed.append(options)
        for amount in self.question.amounts:
            needed.append([*self.conditions.of_amount(amount, table), Condition("", cost=0.6)])
        for dates in self.question.dates:
            options = self.conditions.of_dates(dates, table)
            if self._negated:
                options = [*options, *self.conditions.of_dates(dates, table, self._negated)]
            needed.append([*options, Condition("", cost=0.6)])
        needed += self._said_of(table, taken)
        combined = sorted(islice(product(*needed), 3000), key=lambda parts: sum(each.cost for each in parts))
        made = 0
        for parts in combined:
            if sum(1 for each in parts if each.base) > 1:
                continue
            yield self._set(table, parts, names)
            made += 1
            if made == MOST_SETS:
                return

    def _through(self, table: str, names: Assignment) -> Iterator[Draft]:
        """The things that something else leads to, of which two conditions hold at once: "which bikes did Ann take in
        2024" are the bikes of the hires that are both by Ann and in 2024."""
        if len(names) + len(self.question.dates) < 2 or self._negated:
            return
        for other in self.database.by_name:
            ways = [way for way in self.ways.between(table, other)[:2] if any(hop.many for hop in way)]
            if other == table or not ways or len(ways[0]) > 3:
                continue
            there, left = self._at_once(other, names)
            if len(there) < 2:
                continue
            rest = [self.conditions.of_name(named, table)[:1] for named in left]
            if any(not options for options in rest):
                continue
            cost = self.conditions.way_cost(ways[0]) + 0.03
            joined = Condition(
                "", self.conditions.along(ways[0]), cost=cost, base=got(applied(there, other), backwards(ways[0]))
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
                for each in self.conditions.of_name(named, table)
                if each.form and not any(hop.many for hop in each.way) and len(each.way) < 3
            ]
            there += options[:1]
            left += [] if options else [named]
        for dates in self.question.dates:
            there += [each for each in self.conditions.of_dates(dates, table) if len(each.way) < 2][:1]
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
        ors = self.question.at("or")
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
        options = self.conditions.of_name(first, table)
        if self._negated and min(self._negated) < max(first.places):
            options = [*options, *self.conditions.of_name(first, table, self._negated)]
        if len(together) == 1:
            return options
        every = [self.conditions.of_name(named, table)[: len(options)] for named in together]
        return [self._either(parts, table) for parts in zip(*every, strict=False) if parts]

    def _either(self, parts: Sequence[Condition], table: str) -> Condition:
        """One of several conditions."""
        covers = frozenset(place for each in parts for place in each.covers) | self.question.at("or")
        uses = tuple(element for each in parts for element in each.uses)
        if all(each.base for each in parts):
            return Condition("", uses, covers, parts[0].cost, base=f"( or {' '.join(each.base for each in parts)} )")
        sets = [each.base or each.form.replace("§", f"( all {table} )") for each in parts]
        return Condition(f"( and § ( or {' '.join(sets)} ) )", uses, covers, parts[0].cost)

    def _said_of(self, table: str, taken: frozenset[int]) -> list[list[Condition]]:
        """Booleans that are spoken of, and what is said to be there or not to be there."""
        found: list[list[Condition]] = []
        nothing = Condition("")
        negated = self._negated
        for held in self.database.by_name[table].properties:
            element = f"{table}.{held.name}"
            places = [p for p, w in self.evidence.get(element, {}).items() if w >= 0.55 and p not in taken]
            if not places:
                continue
            if held.kind == "boolean":
                options = [self.conditions.of_boolean(held, table, frozenset())]
                if negated:
                    options.insert(0, self.conditions.of_boolean(held, table, negated))
                found.append([*options, replace(nothing, cost=0.3)])
            elif negated or held.kind in ("text", "date", "number"):
                having = frozenset(p for place in places for p in self._having(place))
                found.append([nothing, *self.conditions.of_lack(element, table, negated, having=having)])
        for other in self.database.by_name:
            least = 0.45 if negated else 0.75
            places = [p for p, w in self.evidence.get(other, {}).items() if w >= least and p not in taken]
            if other == table or not places:
                continue
            lacking = self.conditions.of_lack(other, table, negated)
            if negated:
                found.append([*lacking, replace(nothing, cost=0.3)])
            elif any(hop.many for each in lacking for hop in each.way):
                found.append([nothing, *(each for each in lacking[:1] if len(each.way) < 3)])
        if negated and not any(each.form for options in found for each in options if each.covers & negated):
            nowhere = [self.conditions.of_lack(hop.target, table, negated) for hop in self.ways.hops[table] if hop.back]
            options = [replace(each, cost=each.cost + 0.35) for lacking in nowhere for each in lacking[:1]]
            found.append([*options, replace(nothing, cost=0.6)])
        return found[:4]

    def _having(self, place: int) -> frozenset[int]:
        """The places of "with", "has a" and the like before a place."""
        words = self.question.words
        before = [
            p for p in range(max(0, place - 3), place) if words[p].text in ("with", "has", "have", "having", "had")
        ]
        return frozenset(before[-1:])

    # -- what is asked of them

    def _asked(self, base: Draft) -> Iterator[Draft]:
        question = self.question
        yield self._listed(base)
        yield from self._values(base)
        if question.has(COUNT) or question.has(SUM):
            yield from self._counted(base)
        if question.has(AVG) or question.has(SUM) or question.has(COUNT) or self.measures.nouns:
            yield from self._figures(base)
        for extreme in question.extremes:
            yield from self._best(base, extreme)
        if question.has(TOP) and not question.extremes:
            greatest = not any(word.text == "bottom" for word in question.words)
            yield from self._best(base, Extreme(greatest, None, question.at(TOP)))
        if question.has(EACH) or any(word.text == "by" for word in question.words):
            yield from self._grouped(base)
        if question.has(ORDER) or self._from_to():
            yield from self._ordered(base)
        if question.has(EXISTS):
            cost = 0.8 if base.named_only else 0.0
            yield base.asks(f"( exists {base.form} )", EXISTING, covers=question.at(EXISTS), cost=cost)
        if question.has(SHARE) and base.form != f"( all {base.target} )":
            form = f"( share {base.form} ( all {base.target} ) )"
            yield base.asks(form, SHARED, covers=question.at(SHARE))

    def _listed(self, base: Draft) -> Draft:
        """The things; a thing that is named is hardly what is asked for."""
        return replace(base, cost=base.cost + 1.2 * base.itself, gives=base.target)

    def _spoken(self, table: str, least: float = 0.45) -> list[Property]:
        """Properties of a table that are spoken of, the most first."""
        held = self.database.by_name[table].properties
        found = [each for each in held if strength(self.evidence, f"{table}.{each.name}") >= least]
        return sorted(found, key=lambda each: -strength(self.evidence, f"{table}.{each.name}"))

    def _values(self, base: Draft) -> Iterator[Draft]:
        """Values of the things, of things they lead to, and things with values beside them."""
        spoken = [each for each in self._spoken(base.target) if f"{base.target}.{each.name}" not in base.uses]
        whole = base.form == f"( all {base.target} )"
        for held in spoken[:6]:
            element = (f"{base.target}.{held.name}",)
            form, cost = f"( get {base.form} {held.name} )", 0.25 if whole else 0.0
            yield base.asks(form, GET, uses=element, cost=cost, gives=element[0])
            if not base.named_only:
                form = f"( select {base.form} {held.name} )"
                yield base.asks(form, SELECT, uses=element, cost=0.12, gives=element[0])
        for one, other in self._beside(base.target, spoken):
            both = (f"{base.target}.{one.name}", f"{base.target}.{other.name}")
            yield base.asks(f"( select {base.form} {one.name} {other.name} )", SELECT, uses=both, cost=0.2)
        for held in self.database.by_name[base.target].properties:
            fits = self._how(held)
            if fits and held not in spoken:
                spoken_too = self.conditions.said(f"{base.target}.{held.name}")
                yield base.asks(
                    self._how_unit(f"( get {base.form} {held.name} )", held),
                    GET,
                    uses=spoken_too,
                    covers=fits,
                    cost=0.1 + 0.3 * whole,
                    gives=f"{base.target}.{held.name}",
                )
        for hop in self.ways.hops[base.target]:
            if not hop.many and not whole:
                said = max(strength(self.evidence, hop.element), strength(self.evidence, hop.target))
                if said >= 0.45:
                    uses = self.conditions.along((hop,))
                    yield base.asks(
                        f"( get {base.form} {hop.word} )",
                        GET,
                        uses=uses,
                        cost=0.05 + 0.1 * (1 - said),
                        gives=hop.target,
                    )
                for held in self._spoken(hop.target, 0.55)[:3]:
                    form = f"( get ( get {base.form} {hop.word} ) {held.name} )"
                    end = f"{hop.target}.{held.name}"
                    yield base.asks(form, GET, uses=(hop.element, end), cost=0.2, gives=end)

    def _beside(self, table: str, spoken: Sequence[Property]) -> Iterator[tuple[Property, Property]]:
        """Two properties with "and" or a comma between them."""
        text, words = self.question.text, self.question.words
        for one, other in combinations(spoken, 2):
            first, second = (max(said, key=lambda p: said[p]) for said in self._said_at(table, (one, other)))
            low, high = sorted((first, second))
            between = text[words[low].end : words[high].start]
            if low != high and ("," in between or any(word.text in ("and", "plus") for word in words[low:high])):
                yield (one, other) if first < second else (other, one)

    def _said_at(self, table: str, held: Sequence[Property]) -> list[Mapping[int, float]]:
        return [self.evidence[f"{table}.{each.name}"] for each in held]

    def _how(self, held: Property) -> frozenset[int]:
        """Such as "how long", "how old", "how much": the places of the words that ask for this property."""
        for place, word in enumerate(self.question.words[:-1]):
            if word.text != "how":
                continue
            after = self.question.words[place + 1].text
            found = lexis().adjectives.get(after)
            if found and found.measures(self.conditions.measures(held)) > 0.7:
                return frozenset({place, place + 1})
            unit = UNITS.get(self.question.words[min(place + 2, len(self.question.words) - 1)].text, "")
            if after == "many" and unit and held.unit and factor(unit, held.unit) is not None:
                return frozenset({place, place + 1, place + 2})
            if after == "much" and held.unit in ("money", "usd", "eur", "gbp"):
                return frozenset({place, place + 1})
        first = self.question.words[0].text if self.question.words else ""
        if first == "when" and held.kind == "date":
            return frozenset({0})
        return frozenset()

    def _how_unit(self, form: str, held: Property) -> str:
        """Such as "how many minutes is A": a value in the unit that is asked for."""
        words = self.question.words
        for place, word in enumerate(words[:-2]):
            unit = UNITS.get(words[place + 2].text, "")
            if word.text == "how" and words[place + 1].text == "many" and unit and held.unit and unit != held.unit:
                return f"( in {unit} {form} )" if factor(unit, held.unit) is not None else form
        return form

    def _counted(self, base: Draft) -> Iterator[Draft]:
        covers = self.question.at(COUNT)
        penalty = 0.0 if self.question.has(COUNT) else 0.8
        penalty += 0.6 * (not base.form.startswith("( "))  # nobody counts a thing they name
        yield base.asks(f"( count {base.form} )", COUNTED, covers=covers, cost=penalty)
        for held in self._spoken(base.target, 0.5)[:3]:
            if held.kind == "text":
                element = (f"{base.target}.{held.name}",)
                form = f"( count ( get {base.form} {held.name} ) )"
                yield base.asks(form, COUNTED, uses=element, covers=covers | self.question.at("distinct"), cost=penalty)

    def _figures(self, base: Draft) -> Iterator[Draft]:
        """Sums and averages of numbers."""
        question = self.question
        single = 0.6 * base.itself
        for measure in self.measures.of(base.target)[:4]:
            if question.has(AVG):
                form = f"( avg {base.form} {measure.property} )"
                yield base.asks(
                    self._in_unit(form, measure),
                    FIGURE,
                    uses=measure.uses,
                    covers=question.at(AVG) | measure.covers | self.measures.unit_places(measure),
                    cost=measure.cost + single,
                )
            if question.has(SUM) or question.has(COUNT) or measure.covers:
                form = f"( sum {base.form} {measure.property} )"
                covers = question.at(SUM) | question.at(COUNT) | measure.covers | self.measures.unit_places(measure)
                form, cost = self._in_unit(form, measure), measure.cost + 0.05 + single
                yield base.asks(form, FIGURE, uses=measure.uses, covers=covers, cost=cost)

    def _in_unit(self, form: str, measure: Measure) -> str:
        """Such as "in minutes", "in km": the figure in another unit."""
        unit = self.measures.wanted_unit(measure)
        return f"( in {unit} {form} )" if unit else form

    def _best(self, base: Draft, extreme: Extreme) -> Iterator[Draft]:
        """The things with the most of something: one or all equal ones, or the first so many."""
        limit = self.question.limit
        for by in self.measures.rankings(base.target, extreme)[:6]:
            covers = extreme.places | by.covers
            greatest = by.greatest
            if limit is None:
                form = f"( {'argmax' if greatest else 'argmin'} {base.form} {by.property} )"
                yield base.asks(form, BEST, uses=by.uses, covers=covers, cost=by.cost, gives=base.target)
                if by.held is not None:
                    ends = f"( {'max' if greatest else 'min'} {base.form} {by.property} )"
                    yield base.asks(ends, FIGURE, uses=by.uses, covers=covers, cost=by.cost + 0.3)
                    both = f"( row ( min {base.form} {by.property} ) ( max {base.form} {by.property} ) )"
                    if len(self.question.extremes) == 2 and not self._from_to():
                        every = frozenset(place for each in self.question.extremes for place in each.places)
                        yield base.asks(both, FIGURE, uses=by.uses, covers=covers | every, cost=by.cost)
                continue
            amount, places = limit
            form = f"( {'top' if greatest else 'bottom'} {amount} {base.form} {by.property} )"
            covers |= places | self.question.at(TOP)
            form = f"( select {form} {by.property} )"
            yield base.asks(form, TOPPED, uses=by.uses, covers=covers, cost=by.cost, gives=base.target)
        yield from self._best_groups(base, extreme)

    def _best_groups(self, base: Draft, extreme: Extreme) -> Iterator[Draft]:
        """Such as "which country has the most customers": the value under which most fall."""
        limit = self.question.limit
        for key, uses, cost in self._keys(base.target)[:4]:
            for figure in self.measures.figures(base.target, extreme)[:3]:
                group = f"( group {base.form} {key} {figure.property} )"
                covers = extreme.places | figure.covers
                total = cost + figure.cost + 0.1
                if limit is None:
                    form = f"( keys ( {'argmax' if figure.greatest else 'argmin'} {group} ) )"
                    uses = (*uses, *figure.uses)
                    yield base.asks(form, BEST, uses=uses, covers=covers, cost=total, gives=uses[-1 - len(figure.uses)])
                else:
                    form = f"( {'top' if figure.greatest else 'bottom'} {limit[0]} {group} )"
                    covers |= limit[1] | self.question.at(TOP)
                    yield base.asks(form, TOPPED, uses=(*uses, *figure.uses), covers=covers, cost=total)

    def _keys(self, table: str, *, after: frozenset[int] | None = None) -> list[tuple[str, tuple[str, ...], float]]:
        """What the things of a table may be grouped by: spoken-of properties and tables they lead to."""
        found: list[tuple[str, tuple[str, ...], float]] = []

        def near(element: str) -> float:
            places = self.evidence.get(element, {})
            if after is None:
                return max(places.values(), default=0.0)
            return max((w for p, w in places.items() if any(0 < p - cue <= 3 for cue in after)), default=0.0)

        for held in self.database.by_name[table].properties:
            said = near(f"{table}.{held.name}")
            if held.kind in ("text", "boolean") and said >= 0.45:
                found.append((held.name, (f"{table}.{held.name}",), 0.3 * (1 - said)))
            if held.kind == "date":
                found += self._parts(table, held, after)
        for other in self.database.by_name:
            for way in self.ways.between(table, other)[:2]:
                if len(way) > 3 or any(hop.many and hop.back for hop in way):
                    continue
                said = max(near(other), near(way[-1].element))
                uses = tuple(hop.element for hop in way)
                if said >= 0.45:
                    cost = 0.3 * (1 - said) + 0.08 * (len(way) - 1)
                    found.append((path(way), (*uses, other), cost))
                for held in self.database.by_name[other].properties:
                    said = near(f"{other}.{held.name}")
                    if held.kind == "text" and said >= 0.7:
                        element = f"{other}.{held.name}"
                        found.append((path(way, held.name), (*uses, element), 0.15 + 0.3 * (1 - said) + 0.1 * len(way)))
        return sorted(found, key=lambda each: each[2])

    def _parts(
        self, table: str, held: Property, after: frozenset[int] | None
    ) -> list[tuple[str, tuple[str, ...], float]]:
        dates = [each for each in self.database.by_name[table].properties if each.kind == "date"]
        found: list[tuple[str, tuple[str, ...], float]] = []
        for place, word in enumerate(self.question.words):
            if word.text.rstrip("s") in ("year", "month", "quarter", "day") and (
                after is None or any(0 < place - cue <= 3 for cue in after)
            ):
                said = strength(self.evidence, f"{table}.{held.name}")
                cost = 0.05 if len(dates) == 1 else 0.25 * (1 - said) + 0.01 * dates.index(held)
                found.append((f"( {word.text.rstrip('s')} {held.name} )", (f"{table}.{held.name}",), cost))
        return found

    def _grouped(self, base: Draft) -> Iterator[Draft]:
        """Figures for each of something."""
        question = self.question
        by = frozenset(place for place, word in enumerate(question.words) if word.text == "by")
        after = question.at(EACH) | by
        for key, uses, cost in self._keys(base.target, after=after)[:4]:
            for figure in self.measures.figures(base.target, None)[:4]:
                form = f"( group {base.form} {key} {figure.property} )"
                covers = after | figure.covers | self._of_part(key) | question.at(COUNT) | question.at(SUM)
                yield base.asks(form, GROUPED, uses=(*uses, *figure.uses), covers=covers, cost=cost + figure.cost)

    def _of_part(self, key: str) -> frozenset[int]:
        words = key.split()
        if len(words) < 3 or words[1] not in ("year", "month", "quarter", "day"):
            return frozenset()
        return frozenset(p for p, word in enumerate(self.question.words) if word.text.rstrip("s") == words[1])

    def _from_to(self) -> bool:
        """Such as "from oldest to youngest"."""
        return len(self.question.extremes) == 2 and any(word.text == "to" for word in self.question.words)

    def _ordered(self, base: Draft) -> Iterator[Draft]:
        question = self.question
        covers = question.at(ORDER) | question.at(REVERSE)
        extremes = question.extremes
        if extremes:
            first = min(extremes, key=lambda each: min(each.places))
            every = frozenset(place for each in extremes for place in each.places)
            for by in self.measures.rankings(base.target, first)[:3]:
                direction = "descending" if by.greatest else "ascending"
                form = f"( order {base.form} {by.property} {direction} )"
                shown = f"( select {form} {by.property} )"
                yield base.asks(shown, ORDERED, uses=by.uses, covers=covers | every, cost=by.cost)
                yield base.asks(form, ORDERED, uses=by.uses, covers=covers | every, cost=by.cost + 0.02)
            return
        table = self.database.by_name[base.target]
        direction = "descending" if question.has(REVERSE) else "ascending"
        for held in table.properties:
            said = strength(self.evidence, f"{base.target}.{held.name}")
            label = held.kind == "text" and held.column in table.label
            alphabetical = any(word.text.startswith("alphabet") for word in question.words)
            if said >= 0.5 or (label and alphabetical):
                form = f"( order {base.form} {held.name} {direction} )"
                cost = 0.02 if said >= 0.5 or alphabetical else 0.2
                uses = (f"{base.target}.{held.name}",)
                yield base.asks(form, ORDERED, uses=uses, covers=covers, cost=cost)
                if not label:
                    yield base.asks(
                        f"( select {form} {held.name} )", ORDERED, uses=uses, covers=covers, cost=cost - 0.02
                    )

    # -- two names beside each other

    def _two(self, names: Assignment) -> Iterator[Draft]:
        """Such as "is A older than B", "which sold more, A or B"."""
        first, second = sorted(names, key=lambda each: min(each.places))
        if first.property or second.property or first.type != second.type:
            return
        covers = first.places | second.places
        base = Draft("", first.type, COMPARED, (first.type,), covers, names, 0.0)
        for extreme in (*self.question.compared, *self.question.extremes):
            for by in self.measures.rankings(first.type, extreme)[:4]:
                pair = f"( or {entities(first)} {entities(second)} )"
                form = f"( {'argmax' if by.greatest else 'argmin'} {pair} {by.property} )"
                cost = by.cost + (0.3 if self.question.has(EXISTS) else 0.0)
                covered = extreme.places | by.covers | self.question.at("or")
                yield base.asks(form, BEST, uses=by.uses, covers=covered, cost=cost)
                if by.held is not None and len(first.keys) == len(second.keys) == 1:
                    op = ">" if by.greatest else "<"
                    form = f"( {op} ( get {entities(first)} {by.property} ) ( get {entities(second)} {by.property} ) )"
                    cost = by.cost + (0.0 if self.question.has(EXISTS) else 0.4)
                    covered = extreme.places | by.covers | self.question.at(EXISTS)
                    yield base.asks(form, COMPARED, uses=by.uses, covers=covered, cost=cost)
