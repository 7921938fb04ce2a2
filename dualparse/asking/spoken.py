"""A form as a sentence for people: what was understood, so that it can be checked at a glance; and names of columns.

In: a typed form, and what people call the types and properties of its schema. Out: an English phrase, always the same
for the same form: "albums with tracks whose composer is Angus Young". `Wording` has fewer patterns, and a matcher
compares questions with them; here the grammar of English is minded as well. Nothing is guessed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dualparse.asking.verbs import as_date, ends_open, is_done, of_many
from dualparse.asking.wording import NUMBER_OPS, Wording, listed
from dualparse.database import names
from dualparse.domains import nodes as n
from dualparse.domains.intervals import Interval, Relative
from dualparse.domains.units import factor
from dualparse.lf.values import TRUE

_DOES = ("can", "serves", "allows", "accepts", "offers", "needs", "includes", "does", "takes")
_CHANGED = {"!=": "=", "missing": "present"}  # what is denied with "without" instead
_OF_ANOTHER = {"=": "", "!=": "not ", "<=": "not after ", ">=": "not before "}  # dates that a form looks up
_LATER = {">=": "or later", "<=": "or earlier"}
_SETS = (n.All, n.Filter, n.Both, n.Others, n.Best, n.Ranked)
_MEASURED = {"second": "duration", "metre": "length", "gram": "weight", "byte": "size"}  # unit -> what is told in it
_DISTANCES = ("km", "kilometre", "kilometer", "mile")
_FAR = ("length", "distance")
_NO_NOUNS = ("since", "until", "before", "after")
_NAMES = ("name", "title")
_THIRD = {"is": "is not", "was": "was not", "can": "cannot", "has": "does not have", "does": "does not"}
Condition = n.Filter | n.Either  # an `Either` of sets that differ in conditions alone


class Spoken(Wording):
    """Words forms for people."""

    def __call__(self, node: n.Node) -> str:
        """The phrase of a form."""
        if isinstance(node, n.Exists):
            return self._whether(node.of)
        if isinstance(node, n.Best) and isinstance(node.of, n.Filter):
            return f"of {self.things(node.of)}, those with {self._extreme(node.property, node.greatest)}"
        if isinstance(node, n.Best) and isinstance(node.of, n.Either):
            parts = listed([self.things(part) for part in node.of.parts])
            return f"of {parts}, the one with {self._extreme(node.property, node.greatest)}"
        return super().__call__(node)

    # -- names of columns

    def columns(self, node: n.Node) -> tuple[str, ...]:
        """What stands above each column of a form's answer."""
        while isinstance(node, (n.Having, n.BestRows, n.RankedRows)):
            node = node.of
        if isinstance(node, n.Select):
            return self.type(node.of.kind.name), *map(self.property, node.properties)
        if isinstance(node, n.Row):
            return tuple(map(self.number, node.scalars))
        if isinstance(node, n.Group):
            return self.property(node.key), *(self._figure(total, node) for total in node.totals)
        if isinstance(node, n.Get):
            return (self.step(node.step),)
        if isinstance(node, (n.Total, n.Arithmetic)):
            return (self.number(node),)
        return (self.type(node.kind.name) if node.kind.name != "boolean" else "answer",)

    def _figure(self, total: n.Property, group: n.Group) -> str:
        """A figure of a group without what it is about, which the sentence says."""
        if isinstance(total, n.Total) and total.name != "count" and total.property is not None:
            return self._total(total, "").removesuffix(" of ")
        return self._of_group(total, group)

    def rows(self, node: Any) -> str:
        """A table; what things are chosen or ranked by is said once."""
        if isinstance(node, n.Select):
            told = _told(node.of)
            beside = tuple(each for each in node.properties if each not in told)
            if not beside:
                return self.things(node.of)
            node = replace(node, properties=beside)
        return super().rows(node)

    # -- whether

    def _whether(self, of: n.Set) -> str:
        base, conditions = taken_apart(of)
        if not _is_one(base):
            return f"whether there are {self.things(of)}"
        one = self.owner(base)
        claims = [self._claim(each) for each in conditions]
        if claims and all(claims):
            return f"whether {one} {' and '.join(claims)}"
        if conditions and isinstance(base, n.Entity) and all(map(_names_it, conditions)):
            return f"whether there is {names.article(self.type(base.kind.name))} called {one}"
        if conditions:
            return f"whether {one} is one of the {self.types(base.kind.name)} {self._conditions(conditions)}"
        if isinstance(base, n.Get):
            return f"whether {self.things(base.of)} has {names.article(self.step(base.step))}"
        return f"whether there is {names.article(self.type(base.kind.name))} called {one}"

    def _claim(self, node: Condition) -> str:
        """A condition as what one thing is, has or does: "has no fax"; "" where that takes more words."""
        if not isinstance(node, n.Filter) or _names_it(node):
            return ""
        if node.op in ("present", "missing"):
            return f"has {'no ' * (node.op == 'missing')}{self._having(node)}"
        if node.property.kind.name != "boolean" or not isinstance(node.references[0], n.Literal):
            return ""
        phrase = self.property(node.property)
        first, _, rest = phrase.partition(" ")
        if not rest or (first not in _THIRD and first not in _DOES):
            return ""
        if (node.op == "=") == (node.references[0].value == TRUE):
            return phrase
        return f"{_THIRD.get(first) or f'does not {_they(first)}'} {rest}"

    def _having(self, node: n.Filter) -> str:
        phrase = self._indefinite(node.property)
        return phrase.split(" ", 1)[1] if node.op == "missing" and phrase.startswith(("a ", "an ")) else phrase

    # -- sets

    def things(self, node: n.Set) -> str:
        """A set as a phrase in the plural."""
        base, conditions = taken_apart(node)
        if not conditions or isinstance(base, (n.Both, n.Either)):
            return super().things(node)
        about_it = isinstance(base, n.Get) and isinstance(base.of, (n.It, n.Entity))
        comma = "" if about_it or isinstance(base, (n.All, n.Entity)) else ","
        return f"{self.things(base)}{comma} {self._conditions(conditions)}"

    def owner(self, node: n.Set) -> str:
        """One thing or value with its article, or a set."""
        return f"the {self.things(node)}" if isinstance(node, n.Get) and _is_one(node) else self.things(node)

    def _got(self, node: n.Get) -> str:
        """What a step leads to; a date that is called by a verb becomes a noun: "opened date of Old Mill"."""
        if node.kind.name == "date" and is_done(phrase := self.step(node.step)) and self.is_one(node.of):
            return f"{as_date(phrase)} of {self.owner(node.of)}"
        said = super()._got(node)
        if isinstance(node.of, n.Get):  # "name of the supplier", whose property is called "supplier name"
            return said.removeprefix(f"{self.step(node.of.step)} ")
        return said

    def is_one(self, node: n.Set) -> bool:
        """Whether a set holds one thing or value at the most."""
        return _is_one(node)

    def reference(self, node: n.Set, about: str) -> str:
        """What something is compared with."""
        if isinstance(node, _SETS) and node.kind.things:
            return f"one of the {self.things(node)}"
        if not isinstance(node, n.Get) or not _is_one(node):
            return super().reference(node, about)
        same = about == self.step(node.step)
        return f"that of {self.owner(node.of)}" if same else self.owner(node)

    # -- conditions

    def _conditions(self, conditions: Sequence[Condition]) -> str:
        """Conditions, the short ones first, and those last that have conditions of their own."""
        said = list(
            dict.fromkeys(
                self._either(each) if isinstance(each, n.Either) else self.condition(each) for each in conditions
            )
        )
        nested = [each for each in said if each.startswith("with") and (" whose " in each or " that " in each)]
        nested += [each for each in said if each.startswith("whose ") and " or whose " in each]
        whose = [each for each in said if each.startswith("whose ") and each not in nested]
        short = [each for each in said if each not in nested and each not in whose]
        phrase = " and ".join(short)
        if whose:
            phrase += (
                f"{' and ' if short and short[-1].startswith('that ') else ', ' if short else ''}{' and '.join(whose)}"
            )
        return f"{phrase}{', ' if phrase and nested else ''}{', and '.join(nested)}"

    def _either(self, node: n.Either) -> str:
        """Conditions one of which holds: "whose city is Berlin or Paris"."""
        parts = [taken_apart(part)[1] for part in node.parts]
        filters = [part[0] for part in parts if len(part) == 1]
        first = filters[0] if filters else None
        if (
            isinstance(first, n.Filter)
            and len(filters) == len(parts)
            and all(_is_like(first, each) for each in filters)
        ):
            values = n.Either(tuple(each.references[0] for each in filters), first.references[0].kind)  # type: ignore[union-attr]
            return self.condition(replace(first, references=(values,)))
        return " or ".join(dict.fromkeys(map(self._conditions, parts)))

    def linked(self, step: n.Step) -> str:
        """What stands before the name of a thing: "tracks with the playlist Music"."""
        return f"the {self.step(step)}"

    def condition(self, node: n.Filter) -> str:
        """What is asked of the things of a filter: "whose genre is Jazz", "without albums"."""
        about, op = node.property, node.op
        if isinstance(about, n.Total) and about.name == "count" and op == "=" and _is_zero(node.references[0]):
            return f"without {self.things(about.of)}"
        if not isinstance(about, n.Path):
            return super().condition(node)
        first, *rest = about.steps
        if rest and (first.back or first.many):
            inner = n.Filter(
                n.All(first.target), n.Path(tuple(rest), about.kind), _CHANGED.get(op, op), node.references, node.kind
            )
            word = "without" if op in _CHANGED else "with"
            if first.back and self._to_itself(first):
                return f"{word} {self._back(first, 'they')} and {self.condition(inner)}"
            return f"{word} {self.step(first, many=True)} {self.condition(inner)}"
        if op in ("missing", "present") or any(step.back for step in about.steps):
            return super().condition(node)
        if rest and first.target.things and ends_open(self.step(first)):
            inner = n.Filter(n.All(first.target), n.Path(tuple(rest), about.kind), op, node.references, node.kind)
            whom = names.article(self.type(first.target.name))
            return f"that {of_many(self.step(first))} {whom} {self.condition(inner)}"
        last = self.step(about.steps[-1])
        if any(step.many for step in rest[:-1]) or ends_open(last) or (about.kind.name == "date" and is_done(last)):
            return super().condition(node)
        return self._compared(node, about)

    def _indefinite(self, about: n.Property) -> str:
        """With an article, but for what is called by a plural: "milliseconds"."""
        phrase = self.property(about)
        if isinstance(about, n.Path) and not about.many and names.singular(phrase) != phrase:
            return phrase
        return super()._indefinite(about)

    def _compared(self, node: n.Filter, about: n.Path) -> str:
        """A condition on a property of one thing, or on that of something it has: "whose artist's name is AC/DC"."""
        op, kind, reference = node.op, about.kind.name, node.references[0]
        if kind == "boolean":
            return super().condition(node)
        phrase = _possessive([self.step(step, many=step.many) for step in about.steps])
        if about.many and kind not in ("number", "date", "time") and op in ("=", "!="):
            return f"whose {phrase} {'include' if op == '=' else 'do not include'} {self.reference(reference, phrase)}"
        verb = "are" if about.many or names.singular(phrase) != phrase else "is"
        if op == "contains":
            return f"whose {phrase} contains {self.reference(reference, phrase)}"
        if op == "between":
            low, high = (self.reference(each, phrase) for each in node.references)
            return f"whose {phrase} {verb} between {low} and {high}"
        if kind in ("date", "time"):
            return f"whose {phrase} {verb} {self.dated(op, reference, phrase)}"
        word = NUMBER_OPS[op] if kind == "number" else "not " * (op == "!=")
        return f"whose {phrase} {verb} {word}{self.reference(reference, phrase)}"

    def dated(self, op: str, reference: n.Set, about: str) -> str:
        """When: "in 2010 or later", "before 3 May 2011", "last month"."""
        value = self.reference(reference, about)
        if op in ("<", ">"):
            return f"{'before' if op == '<' else 'after'} {value}"
        if not isinstance(reference, n.Literal):
            return f"{_OF_ANOTHER[op]}{value}"
        return f"{'not ' * (op == '!=')}{_when(reference)}{value} {_LATER.get(op, '')}".rstrip()

    def _boolean(self, phrase: str, holds: bool) -> str:
        first, _, rest = phrase.partition(" ")
        if first in _DOES and rest:
            verb = "can" if first == "can" else "" if first == "does" else _they(first)
            no = "" if holds else "cannot " if first == "can" else "do not "
            return f"that {no}{'' if no == 'cannot ' else verb} {rest}".replace("  ", " ")
        return super()._boolean(phrase, holds)

    # -- numbers

    def step(self, step: n.Step, *, many: bool = False) -> str:
        """A property or relation; one that is called by its unit, by what is told in it."""
        phrase = super().step(step, many=many)
        unit = "" if step.back or not step.target.unit else names.singular(phrase)
        if unit in _DISTANCES:
            return "distance"
        return next((said for known, said in _MEASURED.items() if unit and _is_unit(unit, known)), phrase)

    def most(self, about: n.Property, greatest: bool) -> str:
        """The word for the greatest or smallest number."""
        if about.kind.unit and _is_unit(about.kind.unit, "second"):
            return "longest" if greatest else "shortest"
        phrase = self.property(about)
        one = names.singular(phrase)
        if isinstance(about, n.Path) and one != phrase and about.kind.unit in ("", "count", one):
            return "most" if greatest else "fewest"  # seats, pages
        if phrase.split()[-1] in _FAR:
            return "greatest" if greatest else "smallest"
        return super().most(about, greatest)

    def _total(self, node: n.Total, of: str) -> str:
        if node.name == "count" and isinstance(node.of, n.Get) and self.is_one(node.of):
            of = of.replace(self.step(node.of.step), self.step(node.of.step, many=True), 1)
        phrase = self.property(node.property) if node.property is not None else ""
        if node.name == "sum" and phrase.endswith(" total"):
            return f"sum of {names.plural(phrase)} of {of}"
        return super()._total(node, of)

    def _arithmetic(self, node: n.Arithmetic) -> str:
        if not isinstance(node.second, n.Literal) or node.name not in ("times", "divide") or not node.kind.unit:
            return super()._arithmetic(node)
        first, unit = self.number(node.first), node.kind.unit
        if node.first.kind.unit not in ("", "count", unit):  # the same in another unit
            return f"{first} in {unit if unit.endswith('s') else f'{unit}s'}"
        return f"{first} {'times' if node.name == 'times' else 'divided by'} {self.number(node.second)}"

    def _comparison(self, node: n.Comparison) -> str:
        said = super()._comparison(node)
        first = self.things(node.first)
        if isinstance(node.first, n.Get) and _is_one(node.first):
            said = said.replace(f"whether {first}", f"whether the {first}", 1)
        return said


def taken_apart(node: n.Set) -> tuple[n.Set, list[Condition]]:
    """A set without its conditions, and those in the order in which they were written."""
    if isinstance(node, n.Filter):
        base, conditions = taken_apart(node.of)
        return base, [*conditions, node]
    if isinstance(node, n.Both):
        parts = [taken_apart(part) for part in node.parts]
        bases = [base for base, _ in parts if base != n.All(node.kind)] or [parts[0][0]]
        if len(bases) == 1 and not isinstance(bases[0], (n.Both, n.Either)):
            return bases[0], [each for _, conditions in parts for each in conditions]
    if isinstance(node, n.Either):
        parts = [taken_apart(part) for part in node.parts]
        if all(base == n.All(node.kind) and conditions for base, conditions in parts):
            return n.All(node.kind), [node]
    return node, []


def _told(node: n.Set) -> set[n.Property]:
    """The properties that a set is ranked by, which stand beside its things in any case."""
    told: set[n.Property] = set()
    while isinstance(node, (n.Filter, n.Best, n.Ranked)):
        if not isinstance(node, n.Filter):
            told.add(node.property)
        node = node.of
    return told


def _names_it(node: Condition) -> bool:
    """Whether it is asked of something that it has a name."""
    if not isinstance(node, n.Filter) or not isinstance(node.property, n.Path) or node.op != "present":
        return False
    return len(node.property.steps) == 1 and node.property.steps[0].name in _NAMES


def _is_zero(reference: n.Set) -> bool:
    return isinstance(reference, n.Literal) and getattr(reference.value, "degree", None) == 0


def _is_like(first: n.Filter, other: Condition) -> bool:
    """Whether two conditions ask for one value of the same property each."""
    if not isinstance(other, n.Filter) or first.property != other.property or first.property.kind.name == "boolean":
        return False
    return first.op == other.op == "="


def _is_unit(unit: str, known: str) -> bool:
    return factor(unit, known) is not None


def _possessive(phrases: Sequence[str]) -> str:
    """
    >>> _possessive(["invoice", "invoice date"]), _possessive(["member", "member since"])
    ("invoice's date", "member's member since")
    """
    pairs = zip(["", *phrases], phrases, strict=False)
    shorter = [(phrase.removeprefix(f"{before} "), phrase) for before, phrase in pairs]
    return "'s ".join(phrase if short in _NO_NOUNS or ends_open(short) else short for short, phrase in shorter)


def _is_one(node: n.Set) -> bool:
    """Whether a set holds one thing or value at the most."""
    if isinstance(node, n.Get):
        return _is_one(node.of) and not (node.step.back or node.step.many)
    return isinstance(node, n.Entity)


def _they(verb: str) -> str:
    """
    >>> _they("reports to"), _they("serves"), _they("at")
    ('report to', 'serve', 'at')
    """
    first, space, rest = verb.partition(" ")
    return f"{names.singular(first)}{space}{rest}"


def _when(reference: n.Literal) -> str:
    """The word before a day, a month, a time of day; nothing before "last month"."""
    value = reference.value
    if isinstance(value, Relative):
        return "in " if value.length > 1 or value.offset < -1 else ""
    if isinstance(value, Interval):
        return "on " if value.high - value.low == 1 else "in "
    return "at " if reference.kind.name == "time" else "in "
