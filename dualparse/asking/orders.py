"""Things in an order, and things in groups: the longest, the first three, the most of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dualparse.asking.conditions import entities
from dualparse.asking.drafts import BEST, COMPARED, FIGURE, GROUPED, ORDERED, TOPPED, Draft, Given
from dualparse.asking.measures import Ranking
from dualparse.asking.names_in import Assignment
from dualparse.asking.paths import path
from dualparse.asking.question import COUNT, EACH, EXISTS, ORDER, REVERSE, SUM, TOP, Extreme
from dualparse.asking.terms import strength
from dualparse.database.model import Property

SAID = 0.6  # of a word, from which on something else of the most of all may be asked for
OF_BEST = 0.15  # what that costs


@dataclass(frozen=True)
class Orders:
    """What one question asks of the order of a set and of groups in it."""

    given: Given

    def best(self, base: Draft, extreme: Extreme) -> Iterator[Draft]:
        """The things with the most of something: one or all equal ones, or the first so many."""
        limit = self.given.question.limit
        for by in self.given.measures.rankings(base.target, extreme)[:6]:
            covers = extreme.places | by.covers
            greatest = by.greatest
            if limit is None:
                form = f"( {'argmax' if greatest else 'argmin'} {base.form} {by.property} )"
                best = base.asks(form, BEST, uses=by.uses, covers=covers, cost=by.cost, gives=base.target)
                yield best
                if by.held is not None:
                    yield from self._of_best(best, by)
                if by.held is not None:
                    ends = f"( {'max' if greatest else 'min'} {base.form} {by.property} )"
                    yield base.asks(ends, FIGURE, uses=by.uses, covers=covers, cost=by.cost + 0.3)
                    both = f"( row ( min {base.form} {by.property} ) ( max {base.form} {by.property} ) )"
                    if len(self.given.question.extremes) == 2 and not self.given.question.from_to:
                        every = frozenset(place for each in self.given.question.extremes for place in each.places)
                        yield base.asks(both, FIGURE, uses=by.uses, covers=covers | every, cost=by.cost)
                continue
            amount, places = limit
            form = f"( {'top' if greatest else 'bottom'} {amount} {base.form} {by.property} )"
            covers |= places | self.given.question.at(TOP)
            shown = f"( select {form} {by.property} )"
            yield base.asks(shown, TOPPED, uses=by.uses, covers=covers, cost=by.cost, gives=base.target)
            for word, element in self._beside(base, by):
                shown = f"( select {form} {word} {by.property} )"
                uses = (*by.uses, element)
                yield base.asks(shown, TOPPED, uses=uses, covers=covers, cost=by.cost, gives=base.target)
        yield from self._best_groups(base, extreme)

    def _beside(self, base: Draft, by: Ranking) -> list[tuple[str, str]]:
        """What is asked for beside that by which things are put in order: "the 3 longest tracks: album and length"."""
        given = self.given
        held = [
            (each.name, f"{base.target}.{each.name}") for each in given.spoken(base.target, SAID) if each != by.held
        ]
        hops = [each for each in given.ways.hops[base.target] if not each.back and not each.many]
        led_to = [(hop.word, hop.element) for hop in hops if strength(given.evidence, hop.element) >= SAID]
        return [each for each in (*held, *led_to) if each[1] not in (*base.uses, *by.uses)][:2]

    def _of_best(self, best: Draft, by: Ranking) -> Iterator[Draft]:
        """Such as "which album is the longest track on": what the thing leads to, or a value of it."""
        given = self.given
        if strength(given.evidence, best.target) < SAID:
            return
        for held in given.spoken(best.target, SAID):
            element = f"{best.target}.{held.name}"
            if held != by.held and element not in best.uses:
                yield best.asks(f"( get {best.form} {held.name} )", BEST, uses=(element,), cost=OF_BEST, gives=element)
        for hop in given.ways.hops[best.target]:
            said = max(strength(given.evidence, hop.target), (not hop.back) * strength(given.evidence, hop.element))
            if said >= SAID and hop.target not in best.uses:
                uses = given.conditions.along((hop,))
                yield best.asks(f"( get {best.form} {hop.word} )", BEST, uses=uses, cost=OF_BEST, gives=hop.target)

    def _best_groups(self, base: Draft, extreme: Extreme) -> Iterator[Draft]:
        """Such as "which country has the most customers": the value under which most fall."""
        limit = self.given.question.limit
        for key, uses, cost in self._keys(base.target)[:4]:
            for figure in self.given.measures.figures(base.target, extreme)[:3]:
                group = f"( group {base.form} {key} {figure.property} )"
                covers = extreme.places | figure.covers
                total = cost + figure.cost + 0.1
                if limit is None:
                    form = f"( keys ( {'argmax' if figure.greatest else 'argmin'} {group} ) )"
                    uses = (*uses, *figure.uses)
                    yield base.asks(form, BEST, uses=uses, covers=covers, cost=total, gives=uses[-1 - len(figure.uses)])
                else:
                    form = f"( {'top' if figure.greatest else 'bottom'} {limit[0]} {group} )"
                    covers |= limit[1] | self.given.question.at(TOP)
                    yield base.asks(form, TOPPED, uses=(*uses, *figure.uses), covers=covers, cost=total)

    def _keys(self, table: str, *, after: frozenset[int] | None = None) -> list[tuple[str, tuple[str, ...], float]]:
        """What the things of a table may be grouped by: spoken-of properties and tables they lead to."""
        found: list[tuple[str, tuple[str, ...], float]] = []

        def near(element: str) -> float:
            places = self.given.evidence.get(element, {})
            if after is None:
                return max(places.values(), default=0.0)
            return max((w for p, w in places.items() if any(0 < p - cue <= 3 for cue in after)), default=0.0)

        for held in self.given.database.by_name[table].properties:
            said = near(f"{table}.{held.name}")
            if held.kind in ("text", "boolean") and said >= 0.45:
                found.append((held.name, (f"{table}.{held.name}",), 0.3 * (1 - said)))
            if held.kind == "date":
                found += self._parts(table, held, after)
        for other in self.given.database.by_name:
            for way in self.given.ways.between(table, other)[:2]:
                if len(way) > 3 or any(hop.many and hop.back for hop in way):
                    continue
                said = max(near(other), near(way[-1].element))
                uses = tuple(hop.element for hop in way)
                if said >= 0.45:
                    cost = 0.3 * (1 - said) + 0.08 * (len(way) - 1)
                    found.append((path(way), (*uses, other), cost))
                for held in self.given.database.by_name[other].properties:
                    said = near(f"{other}.{held.name}")
                    if held.kind == "text" and said >= 0.7:
                        element = f"{other}.{held.name}"
                        found.append((path(way, held.name), (*uses, element), 0.15 + 0.3 * (1 - said) + 0.1 * len(way)))
        return sorted(found, key=lambda each: each[2])

    def _parts(
        self, table: str, held: Property, after: frozenset[int] | None
    ) -> list[tuple[str, tuple[str, ...], float]]:
        dates = [each for each in self.given.database.by_name[table].properties if each.kind == "date"]
        found: list[tuple[str, tuple[str, ...], float]] = []
        for place, word in enumerate(self.given.question.words):
            if word.text.rstrip("s") in ("year", "month", "quarter", "day") and (
                after is None or any(0 < place - cue <= 3 for cue in after)
            ):
                said = strength(self.given.evidence, f"{table}.{held.name}")
                cost = 0.05 if len(dates) == 1 else 0.25 * (1 - said) + 0.01 * dates.index(held)
                found.append((f"( {word.text.rstrip('s')} {held.name} )", (f"{table}.{held.name}",), cost))
        return found

    def grouped(self, base: Draft) -> Iterator[Draft]:
        """Figures for each of something."""
        question = self.given.question
        by = frozenset(place for place, word in enumerate(question.words) if word.text == "by")
        after = question.at(EACH) | by
        for key, uses, cost in self._keys(base.target, after=after)[:4]:
            for figure in self.given.measures.figures(base.target, None)[:4]:
                form = f"( group {base.form} {key} {figure.property} )"
                covers = after | figure.covers | self._of_part(key) | question.at(COUNT) | question.at(SUM)
                yield base.asks(form, GROUPED, uses=(*uses, *figure.uses), covers=covers, cost=cost + figure.cost)

    def _of_part(self, key: str) -> frozenset[int]:
        words = key.split()
        if len(words) < 3 or words[1] not in ("year", "month", "quarter", "day"):
            return frozenset()
        return frozenset(p for p, word in enumerate(self.given.question.words) if word.text.rstrip("s") == words[1])

    def ordered(self, base: Draft) -> Iterator[Draft]:
        question = self.given.question
        covers = question.at(ORDER) | question.at(REVERSE)
        extremes = question.extremes
        if extremes:
            first = min(extremes, key=lambda each: min(each.places))
            every = frozenset(place for each in extremes for place in each.places)
            for by in self.given.measures.rankings(base.target, first)[:3]:
                direction = "descending" if by.greatest else "ascending"
                form = f"( order {base.form} {by.property} {direction} )"
                shown = f"( select {form} {by.property} )"
                yield base.asks(shown, ORDERED, uses=by.uses, covers=covers | every, cost=by.cost)
                yield base.asks(form, ORDERED, uses=by.uses, covers=covers | every, cost=by.cost + 0.02)
            return
        table = self.given.database.by_name[base.target]
        direction = "descending" if question.has(REVERSE) else "ascending"
        for held in table.properties:
            said = strength(self.given.evidence, f"{base.target}.{held.name}")
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

    def two(self, names: Assignment) -> Iterator[Draft]:
        """Such as "is A older than B", "which sold more, A or B"."""
        first, second = sorted(names, key=lambda each: min(each.places))
        if first.property or second.property or first.type != second.type:
            return
        covers = first.places | second.places
        base = Draft("", first.type, COMPARED, (first.type,), covers, names, 0.0)
        for extreme in (*self.given.question.compared, *self.given.question.extremes):
            for by in self.given.measures.rankings(first.type, extreme)[:4]:
                pair = f"( or {entities(first)} {entities(second)} )"
                form = f"( {'argmax' if by.greatest else 'argmin'} {pair} {by.property} )"
                cost = by.cost + (0.3 if self.given.question.has(EXISTS) else 0.0)
                covered = extreme.places | by.covers | self.given.question.at("or")
                yield base.asks(form, BEST, uses=by.uses, covers=covered, cost=cost)
                if by.held is not None and len(first.keys) == len(second.keys) == 1:
                    op = ">" if by.greatest else "<"
                    form = f"( {op} ( get {entities(first)} {by.property} ) ( get {entities(second)} {by.property} ) )"
                    cost = by.cost + (0.0 if self.given.question.has(EXISTS) else 0.4)
                    covered = extreme.places | by.covers | self.given.question.at(EXISTS)
                    yield base.asks(form, COMPARED, uses=by.uses, covers=covered, cost=cost)
