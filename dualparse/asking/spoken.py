"""A form as a sentence for people: what was understood, so that it can be checked at a glance; and names of columns.

In: a typed form, and what people call the types and properties of its schema. Out: an English phrase, always the same
for the same form: "albums with tracks whose composer is Angus Young". `Wording` has fewer patterns, and a matcher
compares questions with them; here the grammar of English is minded as well. Nothing is guessed here.
"""

from __future__ import annotations

from collections.abc import Sequence

from dualparse.asking.verbs import ends_open, is_done
from dualparse.asking.wording import NUMBER_OPS, Wording
from dualparse.database import names
from dualparse.domains import nodes as n
from dualparse.domains.intervals import Interval, Relative

_DOES = ("can", "serves", "allows", "accepts", "offers", "needs", "includes", "does", "takes")
_CHANGED = {"!=": "=", "missing": "present"}  # what is denied with "without" instead
_OF_ANOTHER = {"=": "", "!=": "not ", "<=": "not after ", ">=": "not before "}  # dates that a form looks up
_LATER = {">=": "or later", "<=": "or earlier"}
_SETS = (n.All, n.Filter, n.Both, n.Others, n.Best, n.Ranked)


class Spoken(Wording):
    """Words forms for people."""

    def __call__(self, node: n.Node) -> str:
        """The phrase of a form."""
        if isinstance(node, n.Exists):
            return self._whether(node.of)
        if isinstance(node, n.Best) and isinstance(node.of, n.Filter):
            return f"of {self.things(node.of)}, those with {self._extreme(node.property, node.greatest)}"
        if isinstance(node, n.Best) and isinstance(node.of, n.Either):
            parts = _all_of([self.things(part) for part in node.of.parts])
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

    # -- whether

    def _whether(self, of: n.Set) -> str:
        if isinstance(of, n.Both) and isinstance(of.parts[0], n.Entity):
            one, *others = map(self.things, of.parts)
            return f"whether {one} is among {' that are also '.join(others)}"
        base, filters = _taken_apart(of)
        if not _is_one(base):
            return f"whether there are {self.things(of)}"
        one = self._the(base)
        if filters and all(each.op in ("present", "missing") for each in filters):
            has = [f"{'no' if each.op == 'missing' else ''} {self._having(each)}".strip() for each in filters]
            return f"whether {one} has {' and '.join(has)}"
        if filters:
            return f"whether {one} is one of the {self.types(base.kind.name)} {self._conditions(filters)}"
        if isinstance(base, n.Get):
            return f"whether {self.things(base.of)} has {names.article(self.step(base.step))}"
        return f"whether there is {one}"

    def _having(self, node: n.Filter) -> str:
        phrase = self._indefinite(node.property)
        return phrase.split(" ", 1)[1] if node.op == "missing" and phrase.startswith(("a ", "an ")) else phrase

    def _the(self, node: n.Set) -> str:
        """One thing or value with its article."""
        return f"the {self.things(node)}" if isinstance(node, n.Get) else self.things(node)

    # -- sets

    def things(self, node: n.Set) -> str:
        """A set as a phrase in the plural."""
        if isinstance(node, n.Both):
            return self._both(node)
        return super().things(node)

    def _both(self, node: n.Both) -> str:
        """What is in several sets; where they differ in conditions alone, those conditions together."""
        (first, filters), *others = map(_taken_apart, node.parts)
        about_one = isinstance(first, n.Get) and isinstance(first.of, (n.It, n.Entity)) and not filters
        if all(isinstance(base, n.All) and base.kind == first.kind for base, _ in others) and (
            about_one or isinstance(first, n.All)
        ):
            every = filters + [each for _, some in others for each in some]
            return f"{self.things(first)} {self._conditions(every)}".strip()
        return super().things(node)

    def _filtered(self, node: n.Filter) -> str:
        base, filters = _taken_apart(node)
        comma = "" if isinstance(base, (n.All, n.Entity)) else ","
        return f"{self.things(base)}{comma} {self._conditions(filters)}"

    def _conditions(self, filters: Sequence[n.Filter]) -> str:
        """Conditions, the short ones before those with "whose"."""
        said = list(dict.fromkeys(map(self.condition, filters)))
        return " and ".join(sorted(said, key=lambda each: each.startswith("whose")))

    def is_one(self, node: n.Set) -> bool:
        """Whether a set holds one thing or value at the most."""
        return _is_one(node)

    def reference(self, node: n.Set, about: str) -> str:
        """What something is compared with."""
        if isinstance(node, _SETS) and node.kind.things:
            return f"one of the {self.things(node)}"
        return self._the(node) if isinstance(node, n.Get) and _is_one(node) else super().reference(node, about)

    # -- conditions

    def condition(self, node: n.Filter) -> str:
        """What is asked of the things of a filter: "whose genre is Jazz", "without albums"."""
        about, op = node.property, node.op
        if not isinstance(about, n.Path):
            return super().condition(node)
        first, *rest = about.steps
        if rest and (first.back or first.many):
            inner = n.Filter(
                n.All(first.target), n.Path(tuple(rest), about.kind), _CHANGED.get(op, op), node.references, node.kind
            )
            word = "without" if op in _CHANGED else "with"
            return f"{word} {self.step(first, many=True)} {self.condition(inner)}"
        if op in ("missing", "present") or any(step.back for step in about.steps):
            return super().condition(node)
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
        phrase = "'s ".join(self.step(step, many=step.many) for step in about.steps)
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

    def _boolean(self, phrase: str, holds: bool, op: str) -> str:
        first, _, rest = phrase.partition(" ")
        if first in _DOES and rest:
            verb = "can" if first == "can" else "" if first == "does" else _they(first)
            no = "" if holds else "cannot " if first == "can" else "do not "
            return f"that {no}{'' if no == 'cannot ' else verb} {rest}".replace("  ", " ")
        return super()._boolean(phrase, holds, op)

    # -- numbers

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


def _taken_apart(node: n.Set) -> tuple[n.Set, list[n.Filter]]:
    """A set without its filters, and those in the order in which they were written."""
    filters: list[n.Filter] = []
    while isinstance(node, n.Filter):
        filters.append(node)
        node = node.of
    return node, filters[::-1]


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


def _all_of(parts: Sequence[str]) -> str:
    """
    >>> _all_of(["fox loop", "honey walk"]), _all_of(["a", "b", "c"])
    ('fox loop and honey walk', 'a, b and c')
    """
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
