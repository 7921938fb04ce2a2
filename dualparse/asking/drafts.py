"""Forms that a question may mean, as they are built up, and what they are built from.

In: a question taken apart, what its words evoke, a schema. Out: `Given`, which holds these, and `Draft`s: a form with
the words it explains and the names it uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dualparse.asking.compared import Compared
from dualparse.asking.conditions import Conditions
from dualparse.asking.measures import Measures
from dualparse.asking.names_in import Assignment
from dualparse.asking.paths import Ways
from dualparse.asking.question import NOT, Question
from dualparse.asking.terms import Evidence, Terms, strength
from dualparse.database.model import Database, Property

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

    @property
    def one(self) -> bool:
        """Whether this is a single thing, so that it cannot be counted nor be the most of anything."""
        return self.itself and "( or " not in self.form

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
class Given:
    """One question over one schema: what forms are made from."""

    database: Database
    ways: Ways
    terms: Terms
    question: Question
    evidence: Evidence

    @cached_property
    def conditions(self) -> Conditions:
        return Conditions(self.database, self.ways, self.terms, self.evidence, self.question)

    @cached_property
    def measures(self) -> Measures:
        return Measures(self.database, self.ways, self.terms, self.evidence, self.question)

    @cached_property
    def compared(self) -> Compared:
        return Compared(self.database, self.ways, self.evidence, self.question, self.conditions, self.measures)

    @cached_property
    def negated(self) -> frozenset[int]:
        """The places of "not", "without" and the like."""
        return self.question.at(NOT)

    @property
    def negations(self) -> tuple[frozenset[int], ...]:
        """The same, each by itself."""
        return self.question.cues.get(NOT, ())

    def spoken(self, table: str, least: float = 0.45) -> list[Property]:
        """Properties of a table that are spoken of, the most first."""
        held = self.database.by_name[table].properties
        found = [each for each in held if strength(self.evidence, f"{table}.{each.name}") >= least]
        return sorted(found, key=lambda each: -strength(self.evidence, f"{table}.{each.name}"))
