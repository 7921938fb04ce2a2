"""Conditions: what a question says of the things it asks for, as filters of a form.

In: a name, a number, a date, a negation of the question, and the table asked for. Out: `Condition`s: the ways this can
be said of the things of that table, the cheapest first. `§` stands for the set that is filtered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dualparse.asking.lexis import Adjective, lexis, stem
from dualparse.asking.names_in import Named
from dualparse.asking.paths import Hop, Way, Ways, got, path
from dualparse.asking.question import UNITS, Amount, Question
from dualparse.asking.terms import LEAST, Evidence, Terms, strength
from dualparse.asking.times import Dates
from dualparse.database.model import Database, Property, Relation, is_year
from dualparse.domains.units import factor
from dualparse.lf.values import text

SET = "§"
MOST_OPTIONS = 4
_STEP_COST = 0.12
_NOT_SAID = 0.45  # cost of a property that no word evokes
_QUALIFIED = 0.01  # cost of each further word in the name of a relation
_BIRTH = frozenset(["birth", "born", "dob"])
_SELDOM = 0.25  # cost of a year or a day of birth that nothing speaks of
_LATER = 0.04  # cost of each date that stands before one in its table: things have begun with the first
_NOT_MEANT = 0.5  # cost of a step among things of one kind that no word evokes
_OF_OTHERS = 0.4  # cost of a name that is of the kind which is said to be of it
_TURNED = 0.35  # cost of a relation that is said the other way round
_SAID_SO = 0.1  # what one gains that a word says
_FORWARD = 0.05  # cost of the lack of what a thing leads to, which seldom lacks
_MONEY = frozenset(
    [
        "money",
        "dollar",
        "dollars",
        "euro",
        "euros",
        "pound",
        "pounds",
        "usd",
        "eur",
        "gbp",
        "bucks",
        "quid",
        "$",
        "€",
        "£",
        "cents",
    ]
)


# What a number is called that is said in a unit, where the schema names none.
_OF_UNIT: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("second", "minute", "hour", "day", "week"), ("duration", "time", "runtime", "length")),
    "km": ("distance", "length"),
    "m": ("height", "elevation", "altitude", "ascent", "depth", "length"),
    **dict.fromkeys(("kg", "g"), ("weight", "mass")),
    **dict.fromkeys(("kb", "mb", "gb", "byte"), ("size",)),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter over `§`; or, for the thing itself, a `base` to begin with."""

    form: str
    uses: tuple[str, ...] = ()
    covers: frozenset[int] = frozenset()
    cost: float = 0.0
    base: str = ""
    way: Way = ()
    about: str = ""  # the single value that it says to be equal to something


@dataclass(frozen=True)
class Conditions:
    """Makes the conditions of one question."""

    database: Database
    ways: Ways
    terms: Terms
    evidence: Evidence
    question: Question

    def along(self, way: Way) -> tuple[str, ...]:
        """The names of a way: its relations, and the tables on it that are spoken of."""
        return tuple(element for hop in way for element in (hop.element, *self.said(hop.target)))

    # -- names

    @cached_property
    def _known(self) -> dict[object, list[Condition]]:
        """What was worked out before: the same names and dates are asked about again and again."""
        return {}

    def of_name(self, named: Named, table: str, negated: frozenset[int] = frozenset()) -> list[Condition]:
        """What a name can say of the things of a table."""
        key = named, table, negated
        if key not in self._known:
            self._known[key] = self._of_name(named, table, negated)
        return self._known[key]

    def _of_name(self, named: Named, table: str, negated: frozenset[int]) -> list[Condition]:
        found: list[Condition] = []
        own = named.type == table
        if own and not named.property and not negated:
            cost = 0.15 * (len(named.keys) > 1)  # several of one name are seldom meant
            found.append(Condition("", (), named.places, cost, base=entities(named)))
        if own and named.property:
            found.append(self._named(named, (), negated))
        found += [self._named(named, way, negated) for way in self.ways.between(table, named.type)]
        if not named.property and self._of_others(named):
            found = [replace(each, cost=each.cost + _OF_OTHERS) for each in found]
        return sorted(found, key=lambda each: each.cost)[:MOST_OPTIONS]

    def _of_others(self, named: Named) -> bool:
        """Whether things of its own kind are said to be of a name: "Iron Maiden songs" are songs of no song."""
        after = max(named.places) + 1
        said = self.evidence.get(named.type, {}).get(after, 0.0)
        return said >= 0.7 and self.question.words[after].text.endswith("s")

    def _named(self, named: Named, way: Way, negated: frozenset[int]) -> Condition:
        uses = self.along(way) + ((f"{named.type}.{named.property}",) if named.property else ())
        covers = named.places | negated
        cost = self.way_cost(way) + (0.12 if named.property else 0.0)
        if named.property:
            about, value = path(way, named.property), text_form(named.value)
            op = "contains" if named.contains else "="
        else:
            about, value, op = path(way), entities(named), "="
        many = any(hop.many for hop in way)
        if len(way) == 1 and way[0].source == way[0].target and not named.property:
            cost += _TURNED * (not self.directed(named, way[0]))
        cost += self._turned(named, way)
        if len(way) == 1 and way[0].back and not negated and not named.property and len(named.keys) == 1:
            relation = self.database.places[way[0].owner, way[0].name]
            if isinstance(relation, Relation) and relation.link is None:  # "the boss of A" is where A leads to
                return Condition("", uses, covers, cost, base=f"( get {value} {way[0].name} )", way=way)
        if not negated:
            single = "" if many or named.contains else about
            return Condition(f"( filter {SET} {about} {op} {value} )", uses, covers, cost, way=way, about=single)
        if many or named.contains:
            table = way[0].source if way else named.type
            inner = f"( filter ( all {table} ) {about} {op} {value} )"
            return Condition(f"( and {SET} ( not {inner} ) )", uses, covers, cost, way=way)
        return Condition(f"( filter {SET} {about} != {value} )", uses, covers, cost, way=way)

    def _turned(self, named: Named, way: Way) -> float:
        """What it costs to go along a relation that is said the other way round: "flights from Oslo" start there."""
        hop = way[-1] if way else None
        if hop is None:
            return 0.0
        other = [each for each in self.ways.hops[hop.source] if each.target == hop.target and each.back == hop.back]
        if len(other) < 2:
            return 0.0
        fits = role_of(self.question, named.places, hop.name)
        return 0.0 if fits is None else -_SAID_SO if fits else _TURNED

    def directed(self, named: Named, hop: Hop) -> bool:
        """Whether a relation among things of one table is said in this direction; true where the words do not tell."""
        leads = leads_to(self.question, named.places, self.evidence.get(hop.element, {}))
        return leads is None or leads == hop.back

    def way_cost(self, way: Way) -> float:
        """Long ways cost, those along relations and tables that are spoken of less."""
        said = [strength(self.evidence, hop.element) for hop in way]
        among = [hop.source == hop.target for hop in way]
        told = sum(
            each if own else max(each, strength(self.evidence, hop.target))
            for hop, each, own in zip(way, said, among, strict=True)
        )
        unsaid = sum(own and each < LEAST for each, own in zip(said, among, strict=True))
        steps = _QUALIFIED * sum(hop.name.count("_") for hop in way)
        steps += _STEP_COST * max(0.0, len(way) - 0.7 * min(told, len(way)))
        return steps + 0.05 * max(0, len(way) - 1) + _NOT_MEANT * unsaid

    # -- numbers

    def of_amount(self, amount: Amount, table: str) -> list[Condition]:
        """What a number can say: of a property, of how many there are, of a sum."""
        found = [*self._of_property(amount, table, ()), *self._of_count(amount, table)]
        for hop in self.ways.hops[table]:
            if not hop.many:
                found += self._of_property(amount, hop.target, (hop,))
        found += self._of_sum(amount, table)
        return sorted(found, key=lambda each: each.cost)[:MOST_OPTIONS]

    def _of_property(self, amount: Amount, table: str, way: Way) -> Iterator[Condition]:
        for held in self.database.by_name[table].properties:
            if held.kind == "date" and amount.adjective and amount.adjective.word in ("old", "young"):
                yield from self._of_age(amount, held, way)
            if held.kind != "number":
                continue
            element = f"{held.owner}.{held.name}"
            fits, unit_place = self._fits(amount, held)
            if fits <= 0:
                continue
            cost = _NOT_SAID * (1 - min(1.0, fits)) + self.way_cost(way) + longer(held)
            about = path(way, held.name)
            covers = amount.places | unit_place
            op = amount.op or "="
            if op == "between" and amount.second is not None:
                low, high = self._number(amount.value, amount, held), self._number(amount.second, amount, held)
                form = f"( filter {SET} {about} between {low} {high} )"
            else:
                op = _turned(op, held, amount.adjective)
                form = f"( filter {SET} {about} {op} {self._number(amount.value, amount, held)} )"
            uses = (*self.along(way), *((element,) if fits < 0.6 else self.said(element)))
            yield Condition(form, uses, covers, cost, way=way)

    def _apart(self, element: str) -> float:
        """The strongest word that speaks of a property and not of its table: a loan is no day on which it is lent."""
        table = self.evidence.get(element.partition(".")[0], {})
        places = self.evidence.get(element, {})
        return max((weight for place, weight in places.items() if weight > table.get(place, 0.0)), default=0.0)

    def said(self, element: str) -> tuple[str, ...]:
        """A name that something else than its words speaks for: it counts as used where words speak of it as well."""
        return (element,) if strength(self.evidence, element) >= LEAST else ()

    def _of_age(self, amount: Amount, held: Property, way: Way) -> Iterator[Condition]:
        if _BIRTH & {stem(part) for part in held.name.split("_")} and amount.value == int(amount.value):
            form = f"( filter {SET} {path(way, held.name)} {amount.op or '='} ( past {int(amount.value)} year ) )"
            yield Condition(form, (f"{held.owner}.{held.name}",), amount.places, 0.1, way=way)

    def _fits(self, amount: Amount, held: Property) -> tuple[float, frozenset[int]]:
        """How well a number's unit, adjective and the words around it fit a property."""
        fits = strength(self.evidence, f"{held.owner}.{held.name}")
        unit = UNITS.get(amount.unit, amount.unit)
        place = self._unit_place(amount)
        money = amount.unit in _MONEY
        if money:
            if held.unit in ("money", "usd", "eur", "gbp"):
                return max(fits, 0.75), place if amount.unit != "money" else frozenset()
            return fits - 0.5, frozenset()
        if unit != amount.unit or amount.unit in UNITS:
            if held.unit and factor(unit, held.unit) is not None:
                measured = amount.adjective.measures(self.measures(held)) if amount.adjective else 0.0
                return max(fits, 0.8 + 0.1 * (unit == held.unit) + 0.1 * measured), place
            if held.unit and factor(unit, held.unit) is None:
                return fits - 0.6, frozenset()
        if unit in _OF_UNIT and not held.unit:
            fits = max(fits, self._called(held, _OF_UNIT[unit]))
        if amount.adjective is not None:
            fits = max(fits, 0.9 * amount.adjective.measures(self.measures(held)))
        return max(fits, 0.15), frozenset()

    def _unit_place(self, amount: Amount) -> frozenset[int]:
        """Where the word stands that follows a number, be it before what else is said of it: "20 dollars or more"."""
        near = range(min(amount.places), min(max(amount.places) + 2, len(self.question.words)))
        return frozenset([place for place in near if self.question.words[place].text == amount.unit][-1:])

    def _called(self, held: Property, words: tuple[str, ...]) -> float:
        """How well the name of a property without a unit says that it has one; the first words say it best."""
        own = self.measures(held)
        return max((0.8 - 0.05 * place for place, word in enumerate(words) if stem(word) in own), default=0.0)

    def measures(self, held: Property) -> frozenset[str]:
        """The stems of the words and of the unit of a property."""
        element = f"{held.owner}.{held.name}"
        said = {part for phrase in self.terms.words.of(element) for part in phrase.split()}
        extra = {"price"} if held.unit in ("money", "usd", "eur", "gbp") and "price" in held.name else set()
        return frozenset(map(stem, {*said, held.unit, *held.name.split("_"), *extra} - {""}))

    def _number(self, value: float, amount: Amount, held: Property) -> str:
        unit = UNITS.get(amount.unit, "")
        if not unit or not held.unit or factor(unit, held.unit) is None:
            unit = held.unit
        return number_form(value, unit)

    def _of_count(self, amount: Amount, table: str) -> Iterator[Condition]:
        """Such as "at least 3 orders": the word after the number is what is counted."""
        after = self._unit_place(amount)
        for other in self.database.by_name:
            said = max((self.evidence.get(other, {}).get(place, 0.0) for place in after), default=0.0)
            if said < 0.5 or other == table and not self.ways.between(table, table):
                continue
            for way in self.ways.between(table, other)[:2]:
                if not any(hop.many for hop in way):
                    continue
                count = f"( count {got('it', way)} )"
                form = f"( filter {SET} {count} {amount.op or '='} {number_form(amount.value, '')} )"
                uses = (*self.along(way), other)
                yield Condition(form, uses, amount.places | after, 0.1 + self.way_cost(way), way=way)

    def _of_sum(self, amount: Amount, table: str) -> Iterator[Condition]:
        """Such as "spent more than 38 dollars": a number of things that lead here, added up."""
        if amount.op in ("", "="):
            return
        for other in self.database.tables:
            for held in other.properties:
                if held.kind != "number" or other.name == table:
                    continue
                fits, place = self._fits(amount, held)
                if fits < 0.5:
                    continue
                for way in self.ways.between(table, other.name)[:1]:
                    if way[0].many and len(way) <= 2:
                        total = f"( sum {got('it', way)} {held.name} )"
                        form = f"( filter {SET} {total} {amount.op} {self._number(amount.value, amount, held)} )"
                        uses = (*self.along(way), *self.said(f"{other.name}.{held.name}"))
                        cost = 0.35 + _NOT_SAID * (1 - min(1.0, fits)) + self.way_cost(way)
                        yield Condition(form, uses, amount.places | place, cost, way=way)

    # -- dates

    def of_dates(self, dates: Dates, table: str, negated: frozenset[int] = frozenset()) -> list[Condition]:
        """What a date can say: of a date of the things, or of things that lead to them."""
        key = dates, table, negated
        if key not in self._known:
            self._known[key] = self._of_dates(dates, table, negated)
        return self._known[key]

    def _of_dates(self, dates: Dates, table: str, negated: frozenset[int]) -> list[Condition]:
        found: list[Condition] = []
        for other in self.database.tables:
            for held in other.properties:
                if held.kind != "date" and not (dates.year and is_year(held)):
                    continue
                ways: Sequence[Way] = ((),) if other.name == table else self.ways.between(table, other.name)[:2]
                for way in ways:
                    if len(way) <= 3:
                        found.append(self._dated(dates, held, way, negated))
        return sorted(found, key=lambda each: each.cost)[:MOST_OPTIONS]

    def _dated(self, dates: Dates, held: Property, way: Way, negated: frozenset[int]) -> Condition:
        said = self._apart(f"{held.owner}.{held.name}")
        if way:
            said = max(said, 0.6 * strength(self.evidence, way[-1].target))
        same = [each for each in self.database.by_name[held.owner].properties if each.kind == "date"]
        cost = (0.15 if len(same) == 1 else 0.3) * (1 - said) + self.way_cost(way)
        if said < LEAST and (held.kind == "number" or _BIRTH & {stem(part) for part in held.name.split("_")}):
            cost += _SELDOM
        cost += 0.25 * (1 - said) * bool(way) + (_LATER * same.index(held) if held in same else 0.0)
        own = (f"{held.owner}.{held.name}",)
        uses = (*self.along(way), *(own if self._apart(*own) >= LEAST else ()))
        about, op = path(way, held.name), dates.op or "="
        if held.kind == "number":
            form = f"( filter {SET} {about} {op if op != 'between' else '='} {number_form(dates.year, held.unit)} )"
        elif op == "between":
            form = f"( filter {SET} {about} between {dates.form} {dates.second} )"
        else:
            form = f"( filter {SET} {about} {op} {dates.form} )"
        covers = dates.places
        if negated and way:
            form = f"( and {SET} ( not {form.replace(SET, f'( all {way[0].source} )')} ) )"
            covers |= negated
        single = op == "=" and not any(hop.many for hop in way)
        return Condition(form, uses, covers, cost, way=way, about=about if single else "")

    # -- what is true, what is missing

    def of_boolean(self, held: Property, table: str, negated: frozenset[int]) -> Condition:
        """A property that is true, or is not."""
        form = f"( filter {SET} {held.name} != true )" if negated else f"( filter {SET} {held.name} )"
        return Condition(form, (f"{table}.{held.name}",), negated)

    def of_lack(
        self, element: str, table: str, negated: frozenset[int], *, having: frozenset[int] = frozenset()
    ) -> list[Condition]:
        """Nothing of this is there ("without albums"); without a negation, something is. `having` are the places of a
        "with" before it."""
        op = "missing" if negated else "present"
        owner, _, name = element.partition(".")
        if name and owner == table:
            cost = 0.0 if negated or having else 0.3
            return [Condition(f"( filter {SET} {name} {op} )", (element,), negated | having, cost)]
        if name:
            return []
        return [
            Condition(
                f"( filter {SET} {path(way)} {op} )",
                (*self.along(way), element),
                negated,
                (_FORWARD * (not any(hop.many for hop in way)) if negated else 0.3) + self.way_cost(way),
                way=way,
            )
            for way in self.ways.between(table, element)[:2]
        ]


_ONES = ("report", "subordin", "team", "underl", "minion")  # stems of those that lead to somebody
_TO = frozenset(["to", "by", "under", "for"])


def leads_to(question: Question, name: frozenset[int], said: Mapping[int, float]) -> bool | None:
    """Of a relation among things of one kind: whether what the named thing leads to is asked for ("A's boss", "who
    manages A"), or those that lead to it ("who reports to A", "A's reports"); None where the words do not tell.

    >>> from dualparse.asking.question import take_apart
    >>> def told(text, name, place):
    ...     return leads_to(take_apart(text), frozenset({name}), {place: 1.0})
    >>> told("ann's boss", 0, 1), told("who is the boss of ann", 5, 3), told("who does ann report to", 2, 3)
    (True, True, True)
    >>> told("who reports to ann", 3, 1), told("people managed by ann", 3, 1), told("ann's direct reports", 0, 2)
    (False, False, False)
    >>> told("who manages ann", 2, 1), told("who does ann manage", 2, 3), told("whose boss is ann", 3, 1)
    (True, False, False)
    """
    words = question.words
    first, last = min(name), max(name)
    for place in sorted(said, key=lambda each: -said[each]):
        if place in name or said[place] < LEAST:
            continue
        word = words[place]
        report = word.stem == "report"
        asked = any(each.text in ("does", "did", "do") for each in words[:first])
        verb = word.text.endswith(("ed", "ing")) or word.stem in ("manag", "supervis", "lead", "head", "oversee", "run")
        noun = word.text in ("head", "lead", "leader", "leads") or not verb
        if place > last:
            to = place + 1 < len(words) and words[place + 1].text == "to"
            if report or word.stem in _ONES:
                return to or (asked and word.text == "report")
            if words[place - 1].text in ("a", "an", "the"):  # "is A a part of B"
                return False
            return noun and not (asked and place == last + 1)  # "who does A mentor"
        between = {each.text for each in words[place + 1 : first]}
        if report or between & (_TO if verb else _TO - {"for"}):
            return False
        return verb or "of" in between or not between & {"is", "are", "was"}  # "whose boss is A"
    return None


def role_of(question: Question, name: frozenset[int], relation: str) -> bool | None:
    """Whether a relation is the one that the words before a name say: "from" an origin, "to" a destination; None where
    they say neither.

    >>> from dualparse.asking.question import take_apart
    >>> told = take_apart("flights that leave from oslo")
    >>> [role_of(told, frozenset({4}), name) for name in ("origin", "to_airport", "captain")]
    [True, False, None]
    """
    parts = {stem(part) for part in relation.split("_")}
    ends = [end for end in lexis().ends if parts & end.names]
    first = min(name)
    before = [question.words[place] for place in range(first - 1, max(first - 4, -1), -1)]
    for word in before:
        said = [end for end in lexis().ends if word.text in end.words or word.stem in end.words]
        if said and ends:
            return any(end in ends for end in said)
    return None


def longer(held: Property) -> float:
    """What a name of several words costs: a fee is meant rather than a late fee."""
    return 0.005 * (len(held.name.split("_")) - 1)


def entities(named: Named) -> str:
    """The things of a name, as a set.

    >>> entities(Named(frozenset(), "artist", "", "AC/DC", ("artist.1",), 1.0, "exact"))
    'artist.1'
    """
    return named.keys[0] if len(named.keys) == 1 else f"( or {' '.join(named.keys)} )"


def text_form(value: str) -> str:
    """
    >>> text_form("Back (live)")
    '( text Back %28live%29 )'
    """
    return f"( {text(value)[1:-1]} )"


def number_form(value: float, unit: str) -> str:
    """
    >>> number_form(3.0, "km"), number_form(2.5, "")
    ('( number 3 km )', '( number 2.5 )')
    """
    amount = str(int(value)) if value == int(value) else repr(value)
    return f"( number {amount} {unit} )" if unit else f"( number {amount} )"


def applied(conditions: Sequence[Condition], table: str) -> str:
    """The set that all conditions leave of a table."""
    bases = list(dict.fromkeys(each.base for each in conditions if each.base)) or [f"( all {table} )"]
    base = bases[0] if len(bases) == 1 else f"( and {' '.join(bases)} )"
    for each in conditions:
        if each.form:
            base = each.form.replace(SET, base)
    return base


def _turned(op: str, held: Property, adjective: Adjective | None) -> str:
    """Such as "older than 40" of an age is more, though of a date it is less."""
    if adjective is not None and adjective.word in ("old", "young") and "age" in held.name.split("_"):
        return {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)
    return op
