"""Forms that a question may mean: its names, numbers and dates put together along the relations of the schema.

In: a question taken apart, the names found in it, and what its words evoke. Out: `Draft`s: forms with the words they
explain and the names they use. Nothing is chosen here: every table that may be asked for is tried, with every way its
conditions may hold, and with what the question's words ask for (how many, the longest, for each ...).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from dualparse.asking.drafts import EXISTING, SHARED, Draft, Given
from dualparse.asking.measures import MONEY
from dualparse.asking.names_in import Assignment, Named, assignments
from dualparse.asking.orders import Orders
from dualparse.asking.question import AVG, COUNT, EACH, EXISTS, OR, ORDER, SHARE, SUM, TOP, Extreme
from dualparse.asking.sets import Sets
from dualparse.asking.terms import strength
from dualparse.asking.values import Values
from dualparse.database.model import Property

MOST_TABLES = 7
MOST_DRAFTS = 1500


@dataclass(frozen=True)
class Proposer:
    """Proposes forms for one question."""

    given: Given
    names: Sequence[Named]

    def drafts(self) -> list[Draft]:
        """All forms; one that is come to in several ways is there as often."""
        return list(dict.fromkeys(islice(self._drafts(), MOST_DRAFTS)))

    def _drafts(self) -> Iterator[Draft]:
        for names in assignments(self.names):
            if len(names) == 2 and (compared := list(self.orders.two(names))):
                yield from compared
                if self.given.question.has(OR):
                    continue
            for table in self._targets(names):
                for base in (*self.sets.of(table, names), *self.sets.through(table, names)):
                    yield from self._asked(base)

    @cached_property
    def sets(self) -> Sets:
        return Sets(self.given)

    @cached_property
    def values(self) -> Values:
        return Values(self.given)

    @cached_property
    def orders(self) -> Orders:
        return Orders(self.given)

    def _targets(self, names: Assignment) -> list[str]:
        """Tables that may be asked for: those that are spoken of, those of names, and their neighbours."""
        worth: dict[str, float] = {}
        for element in self.given.evidence:
            owner, _, name = element.partition(".")
            said = strength(self.given.evidence, element) * (0.7 if name else 1.0)
            worth[owner] = max(worth.get(owner, 0.0), said)
            relation = self.given.database.places.get((owner, name)) if name else None
            if relation is not None and not isinstance(relation, Property):
                worth[relation.target] = max(worth.get(relation.target, 0.0), said)
        if self.given.measures.spoken:
            for table in self.given.database.tables:
                if any(held.unit in MONEY for held in table.properties):
                    worth[table.name] = max(worth.get(table.name, 0.0), 0.5)
        for named in names:
            worth[named.type] = max(worth.get(named.type, 0.0), 0.6)
            for hop in self.given.ways.hops[named.type]:
                worth[hop.target] = max(worth.get(hop.target, 0.0), 0.25)
        if not worth:
            worth = {table.name: 0.1 for table in self.given.database.tables}
        return sorted(worth, key=lambda table: -worth[table])[:MOST_TABLES]

    def _asked(self, base: Draft) -> Iterator[Draft]:
        question = self.given.question
        yield self.values.listed(base)
        yield from self.values.values(base)
        if question.has(COUNT) or question.has(SUM):
            yield from self.values.counted(base)
        if question.has(AVG) or question.has(SUM) or question.has(COUNT) or self.given.measures.nouns:
            yield from self.values.figures(base)
        for extreme in question.extremes if not base.one else ():
            yield from self.orders.best(base, extreme)
        if question.has(TOP) and not question.extremes and not base.one:
            greatest = not any(word.text == "bottom" for word in question.words)
            yield from self.orders.best(base, Extreme(greatest, None, question.at(TOP)))
        if question.has(EACH) or any(word.text == "by" for word in question.words):
            yield from self.orders.grouped(base)
        if question.has(ORDER) or question.from_to:
            yield from self.orders.ordered(base)
        if question.has(EXISTS):
            cost = 0.8 if base.named_only else 0.0
            yield base.asks(f"( exists {base.form} )", EXISTING, covers=question.at(EXISTS), cost=cost)
        if question.has(SHARE) and base.form != f"( all {base.target} )":
            form = f"( share {base.form} ( all {base.target} ) )"
            yield base.asks(form, SHARED, covers=question.at(SHARE))
