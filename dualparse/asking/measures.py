"""Numbers that a question may speak of: properties, what they add up to, and how many things there are.

In: a schema and what the words of a question evoke. Out: `Measure`s of a table: what can be added up or averaged, and
`Ranking`s: by what its things can be put in order ("longest", "with the most orders", "who spent the most").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dualparse.asking.conditions import Conditions, longer
from dualparse.asking.lexis import Adjective, lexis, stem
from dualparse.asking.paths import Way, Ways, got
from dualparse.asking.question import UNITS, Extreme, Question
from dualparse.asking.terms import Evidence, Terms, strength
from dualparse.database.model import Database, Property, is_year
from dualparse.domains.units import factor

MONEY = ("money", "usd", "eur", "gbp")
_REVENUE = frozenset(
    [
        "revenue",
        "sales",
        "turnover",
        "income",
        "earnings",
        "takings",
        "money",
        "spend",
        "spent",
        "spending",
        "brought",
        "brings",
        "bring",
        "sold",
        "sell",
        "worth",
        "earned",
        "earn",
        "make",
        "made",
        "paid",
        "pay",
        "business",
    ]
)
FIGURES = frozenset(["revenue", "sales", "turnover", "income", "earnings", "takings", "spending"])
_UNITS_SOLD = frozenset(["copies", "units", "sold", "selling", "bestselling", "sell", "sells", "popular", "pieces"])
NARROWER = 0.2  # cost of a number whose name says more than the question does
_SIZES = frozenset(["big", "large", "huge", "small", "tiny", "little", "long", "short"])
ONLY_NUMBER = 0.35  # how well a size fits the only number of a thing
_ANY = frozenset(["high", "low", "good", "bad", "big", "large", "small", "great", "poor"])  # of whatever is named
_COUNTED_ADJECTIVES = frozenset(["popular", "busy", "loyal", "frequent", "common", "active", "good"])
_QUANTITIES = frozenset(map(stem, ["quantity", "count", "units", "copies", "pieces", "number", "amount", "qty"]))
_NOT_ADDED = frozenset(
    map(
        stem,
        ["year", "age", "rating", "score", "latitude", "longitude", "number", "code", "rate", "price", "temperature"],
    )
)


def is_key(name: str) -> bool:
    """Whether a number stands for a thing, so that nobody adds it up.

    >>> is_key("manager_id"), is_key("paid")
    (True, False)
    """
    return name.split("_")[-1] in ("id", "key", "code")


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of the things of a table, as the property of a form."""

    property: str
    uses: tuple[str, ...]
    covers: frozenset[int]
    cost: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Ranking:
    """By what things are put in order; `held` is the property itself, where it is one."""

    property: str
    uses: tuple[str, ...]
    covers: frozenset[int]
    cost: float
    greatest: bool
    held: Property | None = None


@dataclass(frozen=True)
class Measures:
    """The numbers of one question."""

    database: Database
    ways: Ways
    terms: Terms
    evidence: Evidence
    question: Question

    @cached_property
    def spoken(self) -> frozenset[int]:
        """Places of words that speak of money made or things sold."""
        return frozenset(p for p, word in enumerate(self.question.words) if word.text in _REVENUE | _UNITS_SOLD)

    @cached_property
    def nouns(self) -> frozenset[int]:
        """Places of words that ask for a figure all by themselves: "sales per country"."""
        return frozenset(p for p, word in enumerate(self.question.words) if word.text in FIGURES)

    def _money_words(self) -> frozenset[int]:
        return frozenset(p for p, word in enumerate(self.question.words) if word.text in _REVENUE)

    def of(self, table: str) -> list[Measure]:
        """What can be added up or averaged, the most spoken of first."""
        return sorted(self._of(table), key=lambda each: each.cost)

    def _of(self, table: str) -> Iterator[Measure]:
        held_here = self.database.by_name[table].properties
        numbers = [held for held in held_here if held.kind == "number" and not is_key(held.name)]
        money = self._money_words()
        much = any(word.text == "much" for word in self.question.words)
        for held in numbers:
            element = f"{table}.{held.name}"
            said = strength(self.evidence, element)
            covers: frozenset[int] = frozenset()
            if held.unit in MONEY and (money or much) and not self._is_rate(held):
                said, covers = max(said, 0.85), money
            if self._is_quantity(held):
                sold = frozenset(p for p, word in enumerate(self.question.words) if word.text in _UNITS_SOLD)
                if sold:
                    said, covers = max(said, 0.7), sold
            said = max(said, 0.75 * self._adjective_fits(held))
            uses = (element,) if said < 0.6 else self._conditions.said(element)
            yield Measure(held.name, uses, covers, 0.5 * (1 - said) + longer(held), held.unit)
        yield from self._products(table, numbers, money)

    def _is_rate(self, held: Property) -> bool:
        return bool({"price", "rate", "unit"} & set(held.name.split("_")))

    def _is_quantity(self, held: Property) -> bool:
        return held.unit in ("", "count") and bool(_QUANTITIES & set(map(stem, held.name.split("_"))))

    def _products(self, table: str, numbers: Sequence[Property], money: frozenset[int]) -> Iterator[Measure]:
        """A price times a quantity is what was made."""
        prices = [held for held in numbers if held.unit in MONEY and self._is_rate(held)]
        amounts = [held for held in numbers if self._is_quantity(held)]
        totals = [held for held in numbers if held.unit in MONEY and not self._is_rate(held)]
        if prices and amounts and not totals and money:
            uses = tuple(
                element for held in (prices[0], amounts[0]) for element in self._conditions.said(f"{table}.{held.name}")
            )
            yield Measure(f"( times {prices[0].name} {amounts[0].name} )", uses, money, 0.15, prices[0].unit)

    def _adjective_fits(self, held: Property) -> float:
        """Such as "how long is the average ...": an adjective in its plain form speaks of what it measures."""
        found = [lexis().adjectives[word.text] for word in self.question.words if word.text in lexis().adjectives]
        return max((each.measures(self._conditions.measures(held)) for each in found), default=0.0)

    @cached_property
    def _conditions(self) -> Conditions:
        return Conditions(self.database, self.ways, self.terms, self.evidence, self.question)

    def unit_places(self, measure: Measure) -> frozenset[int]:
        """The places of the unit that is asked for: "in minutes", "how many minutes"."""
        words = self.question.words
        for place, word in enumerate(words[:-1]):
            unit = UNITS.get(words[place + 1].text, "")
            if word.text in ("in", "many") and unit and measure.unit and factor(unit, measure.unit) is not None:
                return frozenset({place, place + 1})
        return frozenset()

    def wanted_unit(self, measure: Measure) -> str:
        """That unit, where it is another than the property's."""
        places = self.unit_places(measure)
        unit = UNITS[self.question.words[max(places)].text] if places else ""
        return unit if unit != measure.unit else ""

    # -- by what things are put in order

    def rankings(self, table: str, extreme: Extreme) -> list[Ranking]:
        """By what the things of a table may be the most of something, the likeliest first."""
        found = [*self._by_property(table, extreme), *self._by_related(table, extreme)]
        return sorted(found, key=lambda each: each.cost)

    def _by_property(self, table: str, extreme: Extreme) -> Iterator[Ranking]:
        adjective = extreme.adjective
        properties = self.database.by_name[table].properties
        numbers = [each for each in properties if each.kind == "number" and not is_key(each.name) and not is_year(each)]
        for held in properties:
            if held.kind not in ("number", "date") or is_key(held.name):
                continue
            element = f"{table}.{held.name}"
            near = self._after(element, extreme)
            fits, turned = near, False
            alone = not is_year(held) and held.kind == "number" and len(numbers) == 1
            if adjective is not None:
                measured, turned = adjective.sense(self._conditions.measures(held))
                fits = measured + (1 - measured) * near if measured else near * (adjective.word in _ANY)
            if fits < 0.3 and alone and adjective is not None and adjective.word in _SIZES:
                fits = ONLY_NUMBER
            if fits < 0.3:
                continue
            uses = (element,) if fits < 0.6 else self._conditions.said(element)
            greatest = _direction(extreme.greatest, adjective, held) != turned
            cost = 0.4 * (1 - fits) + self._narrower(held, properties, element)
            yield Ranking(held.name, uses, frozenset(), cost, greatest, held)

    def _narrower(self, held: Property, properties: Sequence[Property], element: str) -> float:
        """What it costs that a name says more than that of another property: the most expensive has the highest price,
        and not the highest cost price, unless the question says so."""
        parts, said = set(held.name.split("_")), strength(self.evidence, element)
        wider = [each for each in properties if each.kind == held.kind and set(each.name.split("_")) < parts]
        return NARROWER * any(said <= strength(self.evidence, f"{each.owner}.{each.name}") for each in wider)

    def _after(self, element: str, extreme: Extreme) -> float:
        """How much the words speak of a name, those after the superlative more."""
        places = self.evidence.get(element, {})
        last = max(extreme.places)
        return max((w if 0 < p - last <= 3 else 0.7 * w for p, w in places.items()), default=0.0)

    def _by_related(self, table: str, extreme: Extreme) -> Iterator[Ranking]:
        """How many things lead here, or what their numbers add up to."""
        counted = extreme.adjective is None or extreme.adjective.word in _COUNTED_ADJECTIVES
        for other in self.database.tables:
            for way in self.ways.between(table, other.name)[:2]:
                if not any(hop.many for hop in way) or len(way) > 3:
                    continue
                said = max(self._after(other.name, extreme), 0.9 * self._after(way[-1].element, extreme))
                cost = 0.08 * (len(way) - 1)
                uses = (*(hop.element for hop in way), other.name)
                if said >= 0.4 and counted:
                    yield Ranking(
                        f"( count {got('it', way)} )", uses, frozenset(), 0.35 * (1 - said) + cost, extreme.greatest
                    )
                if counted:
                    yield from self._by_sums(table, way, other.name, extreme, cost)

    def _by_sums(self, table: str, way: Way, other: str, extreme: Extreme, cost: float) -> Iterator[Ranking]:
        for measure in self.of(other)[:3]:
            if measure.cost > 0.3:
                continue
            uses = (*(hop.element for hop in way), *measure.uses)
            form = f"( sum {got('it', way)} {measure.property} )"
            yield Ranking(form, uses, measure.covers, measure.cost + cost + 0.15, extreme.greatest)

    def _fits(self, adjective: Adjective | None, table: str, measure: Measure) -> bool:
        """Whether an adjective measures this number."""
        held = self.database.places.get((table, measure.property))
        return (
            adjective is not None
            and isinstance(held, Property)
            and adjective.measures(self._conditions.measures(held)) > 0
        )

    # -- figures of a group

    def figures(self, table: str, extreme: Extreme | None) -> list[Ranking]:
        """Figures of the things of a group, which are `it`: how many, a sum, an average."""
        greatest = extreme.greatest if extreme else True
        found: list[Ranking] = []
        counting = self.question.has("count")
        said = strength(self.evidence, table)
        averaged = self.question.has("avg")
        adjective = extreme.adjective if extreme else None
        counted = adjective is None or adjective.word in _COUNTED_ADJECTIVES | _ANY
        for measure in self.of(table)[:4]:
            if measure.cost > 0.35 or not (counted or self._fits(adjective, table, measure)):
                continue
            name = "avg" if averaged else "sum"
            covers = measure.covers | self.question.at("avg")
            extra = 0.0 if averaged or measure.covers or self.question.has("sum") else 0.15
            found.append(
                Ranking(f"( {name} it {measure.property} )", measure.uses, covers, measure.cost + extra, greatest)
            )
        if not averaged and counted:
            cost = (0.0 if counting else 0.12) + 0.2 * (1 - said)
            found.append(Ranking("( count it )", (), self.question.at("count"), cost, greatest))
        return sorted(found, key=lambda each: each.cost)


def _direction(greatest: bool, adjective: Adjective | None, held: Property) -> bool:
    """Such as "oldest" is the least date and the greatest age."""
    if adjective is not None and adjective.word in ("old", "young") and "age" in held.name.split("_"):
        return not greatest
    return greatest
