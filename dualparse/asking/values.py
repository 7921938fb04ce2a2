"""What a set of things may be asked for: the things, their values, how many they are, sums and averages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from dualparse.asking.drafts import COUNTED, FIGURE, GET, SELECT, Draft, Given
from dualparse.asking.lexis import lexis
from dualparse.asking.measures import MONEY, Measure
from dualparse.asking.paths import Hop
from dualparse.asking.question import AVG, COUNT, SUM, UNITS
from dualparse.asking.terms import strength
from dualparse.database.model import Property
from dualparse.domains.units import factor

ASKED = 0.55  # of a word, from which on it may be what "how many" asks for
TURNED = 0.5
BETWEEN, OTHER_END = 0.3, 0.1  # cost of giving what has no name, and of giving what it leads to
HEAD = 0.8
LED_TO = 0.15  # what it costs to give what things lead to


@dataclass(frozen=True)
class Values:
    """What one question asks of a set."""

    given: Given

    def listed(self, base: Draft) -> Draft:
        """The things; a thing that is named is hardly what is asked for."""
        between = BETWEEN * (not base.itself and self._between(base.target))
        return replace(base, cost=base.cost + 1.2 * base.itself + between, gives=base.target)

    def _between(self, table: str) -> bool:
        """Whether things of a table have no name and stand between others, so that those are asked for: the lines of an
        order; where they are not what the question speaks of first."""
        held = self.given.database.by_name[table]
        if held.label or len(held.relations) < 2:
            return False
        return strength(self.given.evidence, table) < HEAD

    def values(self, base: Draft) -> Iterator[Draft]:
        """Values of the things, of things they lead to, and things with values beside them."""
        spoken = [each for each in self.given.spoken(base.target) if f"{base.target}.{each.name}" not in base.uses]
        whole = base.form == f"( all {base.target} )"
        for held in [each for each in spoken if self._worth_giving(base, each)][:6]:
            element = (f"{base.target}.{held.name}",)
            form, cost = f"( get {base.form} {held.name} )", 0.25 if whole else 0.0
            yield base.asks(form, GET, uses=element, cost=cost, gives=element[0])
            if not base.named_only:
                form = f"( select {base.form} {held.name} )"
                yield base.asks(form, SELECT, uses=element, cost=0.12, gives=element[0])
        for one, other in self._beside(base.target, spoken):
            both = (f"{base.target}.{one.name}", f"{base.target}.{other.name}")
            yield base.asks(f"( select {base.form} {one.name} {other.name} )", SELECT, uses=both, cost=0.2)
        for held in self.given.database.by_name[base.target].properties:
            fits = self._how(held)
            counts = bool(fits & self.given.question.at(COUNT))
            if fits and (held not in spoken or counts) and (base.itself or not counts):
                spoken_too = self.given.conditions.said(f"{base.target}.{held.name}")
                yield base.asks(
                    self._how_unit(f"( get {base.form} {held.name} )", held),
                    FIGURE if counts else GET,
                    uses=spoken_too,
                    covers=fits,
                    cost=0.1 + 0.3 * whole,
                    gives=f"{base.target}.{held.name}",
                )
        for hop in self.given.ways.hops[base.target]:
            if not hop.many and not whole and f" {hop.word} = " not in base.form:
                said = max(strength(self.given.evidence, hop.element), strength(self.given.evidence, hop.target))
                if said >= 0.45:
                    uses = self.given.conditions.along((hop,))
                    yield base.asks(
                        f"( get {base.form} {hop.word} )",
                        GET,
                        uses=uses,
                        cost=LED_TO + 0.1 * (1 - said) + self._turned(base, hop),
                        gives=hop.target,
                    )
                elif self._between(base.target) and hop.target not in {named.type for named in base.names}:
                    uses = self.given.conditions.along((hop,))
                    yield base.asks(f"( get {base.form} {hop.word} )", GET, uses=uses, cost=OTHER_END, gives=hop.target)
                for held in self.given.spoken(hop.target, 0.55)[:3]:
                    form = f"( get ( get {base.form} {hop.word} ) {held.name} )"
                    end = f"{hop.target}.{held.name}"
                    yield base.asks(form, GET, uses=(hop.element, end), cost=2 * LED_TO, gives=end)

    def _turned(self, base: Draft, hop: Hop) -> float:
        """What it costs to give what a named thing leads to where those that lead to it are asked for."""
        if hop.source != hop.target or not base.named_only or len(base.names) != 1:
            return 0.0
        return TURNED * (not self.given.conditions.directed(base.names[0], replace(hop, back=True)))

    def _worth_giving(self, base: Draft, held: Property) -> bool:
        """Nobody asks for the name of what they name, nor of many things whether each is so or not."""
        if base.itself:
            return held.column not in self.given.database.by_name[base.target].label
        return held.kind != "boolean"

    def _beside(self, table: str, spoken: Sequence[Property]) -> Iterator[tuple[Property, Property]]:
        """Two properties with "and" or a comma between them."""
        text, words = self.given.question.text, self.given.question.words
        for one, other in combinations(spoken, 2):
            first, second = (max(said, key=lambda p: said[p]) for said in self._said_at(table, (one, other)))
            low, high = sorted((first, second))
            between = text[words[low].end : words[high].start]
            if low != high and ("," in between or any(word.text in ("and", "plus") for word in words[low:high])):
                yield (one, other) if first < second else (other, one)

    def _said_at(self, table: str, held: Sequence[Property]) -> list[Mapping[int, float]]:
        return [self.given.evidence[f"{table}.{each.name}"] for each in held]

    def _how(self, held: Property) -> frozenset[int]:
        """Such as "how long", "how old", "how much": the places of the words that ask for this property."""
        for place, word in enumerate(self.given.question.words[:-1]):
            if word.text != "how":
                continue
            after = self.given.question.words[place + 1].text
            found = lexis().adjectives.get(after)
            if found and found.measures(self.given.conditions.measures(held)) > 0.7:
                return frozenset({place, place + 1})
            unit = UNITS.get(self.given.question.words[min(place + 2, len(self.given.question.words) - 1)].text, "")
            if after == "many" and unit and held.unit and factor(unit, held.unit) is not None:
                return frozenset({place, place + 1, place + 2})
            if after == "many" and (asked := self._how_many(held, place)):
                return asked
            if after == "much" and held.unit in ("money", "usd", "eur", "gbp"):
                return frozenset({place, place + 1})
        first = self.given.question.words[0].text if self.given.question.words else ""
        if first == "when" and held.kind == "date":
            return frozenset({0})
        return frozenset()

    def _how_many(self, held: Property, how: int) -> frozenset[int]:
        """Such as "how many credits has A", where credits are a number of A; the places of these words."""
        said = self.given.evidence.get(f"{held.owner}.{held.name}", {})
        close = [place for place in (how + 2, how + 3) if said.get(place, 0.0) >= ASKED]
        return frozenset({how, how + 1, close[0]}) if close and held.kind == "number" else frozenset()

    def _how_unit(self, form: str, held: Property) -> str:
        """Such as "how many minutes is A": a value in the unit that is asked for."""
        words = self.given.question.words
        for place, word in enumerate(words[:-2]):
            unit = UNITS.get(words[place + 2].text, "")
            if word.text == "how" and words[place + 1].text == "many" and unit and held.unit and unit != held.unit:
                return f"( in {unit} {form} )" if factor(unit, held.unit) is not None else form
        return form

    def counted(self, base: Draft) -> Iterator[Draft]:
        """How many they are, or how many different values they have; nobody counts a thing they name."""
        if base.one:
            return
        covers = self.given.question.at(COUNT)
        penalty = 0.0 if self.given.question.has(COUNT) else 0.8
        yield base.asks(f"( count {base.form} )", COUNTED, covers=covers, cost=penalty)
        for held in self.given.spoken(base.target, 0.5)[:3]:
            if held.kind == "text" and not self._by(f"{base.target}.{held.name}"):
                element = (f"{base.target}.{held.name}",)
                form = f"( count ( get {base.form} {held.name} ) )"
                yield base.asks(
                    form, COUNTED, uses=element, covers=covers | self.given.question.at("distinct"), cost=penalty
                )

    def _by(self, element: str) -> bool:
        """Whether something is asked for each of these: "by nationality"."""
        words = self.given.question.words
        places = [place for place, weight in self.given.evidence.get(element, {}).items() if weight >= ASKED]
        return all(place and words[place - 1].text in ("by", "per", "each") for place in places)

    def figures(self, base: Draft) -> Iterator[Draft]:
        """Sums and averages of numbers."""
        question = self.given.question
        single = 0.6 * base.itself
        for measure in self.given.measures.of(base.target)[:4]:
            if question.has(AVG):
                form = f"( avg {base.form} {measure.property} )"
                yield base.asks(
                    self._in_unit(form, measure),
                    FIGURE,
                    uses=measure.uses,
                    covers=question.at(AVG)
                    | question.at(COUNT)
                    | self._much
                    | measure.covers
                    | self.given.measures.unit_places(measure),
                    cost=measure.cost + single,
                )
            counts = question.has(COUNT) and measure.unit not in MONEY and self._counts(base, measure)
            if question.has(AVG) and question.at(SUM) <= self._much:
                continue
            if question.has(SUM) or counts or measure.covers:
                form = f"( sum {base.form} {measure.property} )"
                covers = (
                    question.at(SUM)
                    | (question.at(COUNT) if counts else frozenset())
                    | measure.covers
                    | self.given.measures.unit_places(measure)
                )
                form, cost = self._in_unit(form, measure), measure.cost + 0.05 + single
                yield base.asks(form, FIGURE, uses=measure.uses, covers=covers, cost=cost)

    @property
    def _much(self) -> frozenset[int]:
        """The places of "how much", which asks for a sum or for a single figure."""
        places = self.given.question.cues.get(SUM, ())
        words = self.given.question.words
        return frozenset(p for each in places for p in each if any(words[q].text == "much" for q in each))

    def _counts(self, base: Draft, measure: Measure) -> bool:
        """Whether "how many" asks for a number of the things rather than for the things: "how many copies"."""
        said = self.given.evidence.get(f"{base.target}.{measure.property}", {})
        last = {max(places) for places in self.given.question.cues.get(COUNT, ())}
        near = {place + step for place in last for step in (1, 2)}
        near -= {max(amount.places) + 1 for amount in self.given.question.amounts}  # "5-star reviews" are reviews
        return bool(near & (measure.covers | {p for p, weight in said.items() if weight >= ASKED})) or bool(
            self.given.measures.unit_places(measure)
        )

    def _in_unit(self, form: str, measure: Measure) -> str:
        """Such as "in minutes", "in km": the figure in another unit."""
        unit = self.given.measures.wanted_unit(measure)
        return f"( in {unit} {form} )" if unit else form
