"""A form in plain words: what was understood, so that a person can check it at a glance.

In: a typed form, and what people call the types and properties of its schema. Out: an English phrase, always the same
for the same form: "tracks whose genre is Jazz and whose length is over 7 minutes". Nothing is guessed here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dualparse.asking.amounts import amount_of, dates_of, relative_of
from dualparse.asking.verbs import as_date, bare, ends_open, is_done, of_many, of_one
from dualparse.database import names
from dualparse.database.synonyms import Words
from dualparse.domains import nodes as n
from dualparse.domains.intervals import Interval, Relative
from dualparse.lf.values import FALSE, TRUE, words_of

NUMBER_OPS = {"=": "", "!=": "not ", "<": "under ", "<=": "at most ", ">": "over ", ">=": "at least "}
_COUNT_OPS = NUMBER_OPS | {"=": "exactly ", "<": "fewer than ", ">": "more than "}
_DATE_OPS = {"=": "in ", "!=": "not in ", "<": "before ", "<=": "up to ", ">": "after ", ">=": "since "}
_ARTICLE = re.compile(r"^an? ")
_SAID_OF = re.compile(  # ends of words that are said of things, and some words that are
    r"(ed|ive|able|ible|ous|ful|less)$|^(new|old|open|free|public|private|vegan|valid|visible|paid|sold|hidden|digital)$"
)


@dataclass(frozen=True)
class Wording:
    """Words forms over one schema.

    words   what people call types and properties, by `type` and `type.property`
    labels  id of a thing -> its name
    """

    words: Words
    labels: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, node: n.Node) -> str:
        """The phrase of a form."""
        if isinstance(node, n.Exists):
            return f"whether there are {self.things(node.of)}"
        if isinstance(node, n.Comparison):
            return self._comparison(node)
        if isinstance(node, (n.Select, n.Row, n.Group, n.Having, n.BestRows, n.RankedRows)):
            return self.rows(node)
        if isinstance(node, (n.Total, n.Arithmetic)):
            return self.number(node)
        return self.things(node)

    # -- names

    def type(self, name: str) -> str:
        """A type in the singular."""
        return self.words.of(name)[0]

    def types(self, name: str) -> str:
        """A type in the plural."""
        return _plural(self.type(name))

    def step(self, step: n.Step, *, many: bool = False) -> str:
        """A property or relation; backwards it is called by the things it leads to."""
        if step.back:
            back = self.words.phrases.get(f"!{step.owner}.{step.name}")
            found = back[0] if back else self.type(step.owner)
        else:
            found = self.words.of(f"{step.owner}.{step.name}")[0]
        return _plural(found) if many else found

    def _entity(self, id: str) -> str:
        return self.labels.get(id) or id.rpartition(".")[2].replace("_", " ")

    def _value(self, node: n.Literal) -> str:
        value = node.value
        if isinstance(value, Interval):
            return dates_of(value)
        if isinstance(value, Relative):
            return relative_of(value)
        if value.unit is not None and value.degree is not None:
            return amount_of(value.degree, value.unit)
        if value.startswith("(text"):
            return words_of(value)
        if value in (TRUE, FALSE):
            return "yes" if value == TRUE else "no"
        return ":".join(f"{int(part):02}" for part in value[1:-1].split()[1:])

    def reference(self, node: n.Set, about: str) -> str:
        """What something is compared with."""
        if isinstance(node, n.Literal):
            return self._value(node)
        if isinstance(node, n.Either):
            parts = list(dict.fromkeys(self.reference(part, about) for part in node.parts))
            return " or ".join(parts)
        if isinstance(node, (n.Total, n.Arithmetic)):
            return f"the {self.number(node)}"
        return self.things(node)

    # -- sets

    def things(self, node: n.Set) -> str:
        """A set as a phrase in the plural."""
        if isinstance(node, n.Entity):
            return self._entity(node.id)
        if isinstance(node, n.All):
            return self.types(node.kind.name)
        if isinstance(node, n.It):
            return self.types(node.kind.name) if node.kind.things else "it"
        if isinstance(node, n.Literal):
            return self._value(node)
        if isinstance(node, n.Filter):
            return self._filtered(node)
        if isinstance(node, n.Get):
            return self._got(node)
        if isinstance(node, n.Both):
            return " that are also ".join(map(self.things, node.parts))
        if isinstance(node, n.Either):
            return " or ".join(map(self.things, node.parts))
        if isinstance(node, n.Others):
            return f"{self.types(node.kind.name)} other than {self.things(node.of)}"
        if isinstance(node, n.Best):
            return f"{self.things(node.of)} with {self._extreme(node.property, node.greatest)}"
        if isinstance(node, n.Ranked):
            return self._ranked(node)
        if isinstance(node, n.Keys):
            return self._keys(node)
        return self.number(node)

    def _filtered(self, node: n.Filter) -> str:
        conditions: list[str] = []
        of: n.Set = node
        while isinstance(of, n.Filter):
            conditions.append(self.condition(of))
            of = of.of
        conditions.reverse()
        base = self.things(of)
        if not isinstance(of, (n.All, n.Entity)) and not (isinstance(of, n.Get) and isinstance(of.of, n.It)):
            base = f"{base},"
        return f"{base} {' and '.join(conditions)}"

    def _got(self, node: n.Get) -> str:
        """What a step leads to: "albums of AC/DC", "email of Helena Holy"."""
        single = self.is_one(node.of) and not node.step.many
        found = self.step(node.step, many=not single)
        if node.step.back and not node.step.source.things:
            return f"{self.types(node.step.owner)} whose {node.step.name} is {self.things(node.of)}"
        if node.step.back and self._to_itself(node.step):
            return self._back(node.step, "they" if isinstance(node.of, n.It) else self.things(node.of))
        if isinstance(node.of, n.It):
            return found
        if isinstance(node.of, n.All) and not node.kind.things and not single:
            return f"different {found} of {self.things(node.of)}"
        if not node.step.back and ends_open(self.step(node.step)) and node.kind.things:
            phrase = self.step(node.step)
            verb = of_one(phrase) if self.is_one(node.of) else of_many(phrase)
            return f"{self.types(node.kind.name)} that {self.things(node.of)} {verb}"
        return f"{found} of {self.owner(node.of)}"

    def owner(self, node: n.Set) -> str:
        """What has a property, after "of"."""
        return self.things(node)

    def is_one(self, node: n.Set) -> bool:
        """Whether a set is said in the singular."""
        return isinstance(node, n.Entity)

    def _back(self, step: n.Step, whom: str, *, one: bool = False) -> str:
        """The things of a kind that lead to others of it: "employees that report to Ann"."""
        forward, things = self.step(replace(step, back=False)), step.target.name
        found = self.type(things) if one else self.types(things)
        if ends_open(forward):
            verb = forward if one else of_many(forward)
            return f"{found} that {verb} {'them' if whom == 'they' else whom}"
        return f"{found} whose {forward} {'they are' if whom == 'they' else f'is {whom}'}"

    def _ranked(self, node: n.Ranked) -> str:
        if node.limit is None:
            return f"{self.things(node.of)} ordered by {self.property(node.property)}, {_order(node)}"
        return f"the {node.limit} {self.things(node.of)} with {self._extreme(node.property, node.descending)}"

    def _keys(self, node: n.Keys) -> str:
        if isinstance(node.of, n.BestRows):
            group = n.group_of(node.of)
            assert group is not None
            key, figure = self.property(group.key), self._of_group(group.totals[0], group)
            return f"the {key} with the {'highest' if node.of.greatest else 'lowest'} {figure}"
        return f"what is in: {self.rows(node.of)}"

    # -- conditions

    def condition(self, node: n.Filter) -> str:
        """What is asked of the things of a filter: "whose genre is Jazz", "without albums"."""
        about, op = node.property, node.op
        if op in ("missing", "present"):
            alone = isinstance(about, n.Path) and len(about.steps) == 1
            if about.kind.name == "date" and alone and is_done(self.property(about)):
                return f"{'not' if op == 'missing' else 'already'} {bare(self.property(about))}"
            return f"{'without' if op == 'missing' else 'with'} {self._indefinite(about)}"
        if isinstance(about, n.Total) and about.name == "count":
            return f"with {self._count_condition(about, op, node.references[0])}"
        phrase = self.property(about)
        if about.kind.name == "boolean" and isinstance(node.references[0], n.Literal):
            return self._boolean(phrase, (op == "=") == (node.references[0].value == TRUE))
        if op == "contains":
            return f"whose {phrase} contains {self.reference(node.references[0], phrase)}"
        if op == "between":
            low, high = (self.reference(each, phrase) for each in node.references)
            return f"whose {phrase} is between {low} and {high}"
        value = self.reference(node.references[0], self._about(about))
        if isinstance(about, n.Path) and (said := self._verbal(about, op, node.references[0], value)):
            return said
        if isinstance(about, n.Path) and about.many and about.steps[-1].back:
            return f"with{'out' if op == '!=' else ''} {self.linked(about.steps[-1])} {value}"
        verb = "are" if isinstance(about, n.Path) and about.many else "is"
        words = _DATE_OPS if about.kind.name in ("date", "time") else NUMBER_OPS
        word = words[op]
        if word == "in " and _is_day(node.references[0]):
            word = "on "
        if about.kind.name not in ("date", "time", "number"):
            word = "not " if op == "!=" else ""
        return f"whose {phrase} {verb} {word}{value}"

    def linked(self, step: n.Step) -> str:
        """What stands before the name of a thing that leads here: "tracks with playlist Music"."""
        return self.step(step)

    def _verbal(self, about: n.Path, op: str, reference: n.Set, value: str) -> str:
        """A condition on what is called by a verb: "that report to Ann", "hired before 2020"; "" for the others."""
        last, step = self.step(about.steps[-1]), about.steps[-1]
        if step.back:
            if len(about.steps) > 1 or not self._to_itself(step):
                return ""
            forward = self.step(replace(step, back=False))
            denied = "not " * (op == "!=")
            if ends_open(forward):
                return f"that {value} {'does not ' + of_many(forward) if denied else forward}"
            return f"that are {denied}the {forward} of {value}"
        if about.kind.name == "date" and len(about.steps) == 1 and is_done(last):
            return f"{bare(last)} {self.dated(op, reference, last)}"
        if not about.kind.things or not ends_open(last):
            return ""
        if len(about.steps) > 1:
            whose = self.property(n.Path(about.steps[:-1], about.kind))
            return f"whose {whose} {'is ' * is_done(last)}{'not ' * (op == '!=')}{last} {value}"
        many = of_many(last)
        denied = many.replace("are ", "are not ", 1) if many.startswith("are ") else f"do not {many}"
        return f"that {denied if op == '!=' else many} {value}"

    def dated(self, op: str, reference: n.Set, about: str) -> str:
        """When: "before 2020", "on 3 May 2011"."""
        word = _DATE_OPS[op]
        return f"{'on ' if word == 'in ' and _is_day(reference) else word}{self.reference(reference, about)}"

    def _to_itself(self, step: n.Step) -> bool:
        """Whether a relation leads from things of one kind to others of it."""
        return step.source.things and step.source.name == step.target.name

    def _about(self, about: n.Property) -> str:
        """What a condition compares."""
        if isinstance(about, n.Path):
            return self.step(about.steps[-1])
        return "text"

    def _boolean(self, phrase: str, holds: bool) -> str:
        first, _, rest = phrase.partition(" ")
        if first in ("is", "was", "are") and rest:
            return f"that are {'' if holds else 'not '}{rest}"
        if first in ("has", "have") and rest:
            return f"that have {rest}" if holds else f"that have no {_ARTICLE.sub('', rest)}"
        if first in ("can", "serves", "allows", "accepts", "offers", "needs", "includes", "does", "takes") and rest:
            return f"where {'' if holds else 'it is not so: '}{phrase}"
        if not rest and _SAID_OF.search(first):
            return f"that are {'' if holds else 'not '}{first}"
        return f"{'with' if holds else 'without'} {phrase}"

    def _indefinite(self, about: n.Property) -> str:
        if isinstance(about, n.Path):
            if about.steps[-1].back and len(about.steps) == 1 and self._to_itself(about.steps[-1]):
                return self._back(about.steps[-1], "they")
            if about.steps[-1].back or about.steps[-1].many:
                return self.step(about.steps[-1], many=True) + self._from(about.steps[:-1])
            phrase = self.property(about)
            return phrase if names.plural(names.singular(phrase)) == phrase else names.article(phrase)
        return self.property(about)

    def _count_condition(self, about: n.Total, op: str, reference: n.Set) -> str:
        amount = self.reference(reference, "number")
        things = self.things(about.of)
        of = about.of.parts[0] if isinstance(about.of, n.Both) else about.of
        if amount == "1" and isinstance(of, n.Get):
            if of.step.back and self._to_itself(of.step) and isinstance(of.of, n.It):
                things = self._back(of.step, "they", one=True)
            else:
                things = things.replace(self.things(of), self.step(of.step), 1)
        return f"{_COUNT_OPS[op]}{amount} {things}"

    # -- properties of one thing

    def property(self, about: n.Property) -> str:
        """A property: "length", "artist of the album", "total amount of the invoices"."""
        if isinstance(about, n.Path):
            return self.step(about.steps[-1], many=about.many) + self._from(about.steps[:-1])
        if isinstance(about, n.Part):
            return f"{about.name} of the {as_date(self.property(about.of))}"
        return self.number(about)

    def _from(self, steps: tuple[n.Step, ...]) -> str:
        return "".join(f" of the {self._noun(step)}" for step in reversed(steps))

    def _noun(self, step: n.Step) -> str:
        """What a step leads to: "album", "employee that they report to"."""
        phrase = self.step(step, many=step.many)
        if step.back or not ends_open(phrase) or not step.target.things:
            return phrase
        return (
            f"{self.types(step.target.name) if step.many else self.type(step.target.name)} that they {of_many(phrase)}"
        )

    def _extreme(self, about: n.Property, greatest: bool) -> str:
        if isinstance(about, n.Total) and about.name == "count":
            return f"the {'most' if greatest else 'fewest'} {self.things(about.of)}"
        if about.kind.name == "date":
            return f"the {'latest' if greatest else 'earliest'} {as_date(self.property(about))}"
        return f"the {self.most(about, greatest)} {self.property(about)}"

    def most(self, about: n.Property, greatest: bool) -> str:
        """The word for the greatest or smallest number."""
        return "highest" if greatest else "lowest"

    def number(self, node: Any) -> str:
        """A number: "number of tracks", "average price of huts"."""
        if isinstance(node, n.Literal):
            return self._value(node)
        if isinstance(node, n.Total):
            return self._total(node, self.things(node.of))
        if isinstance(node, n.Arithmetic):
            return self._arithmetic(node)
        return self.property(node)

    def _total(self, node: n.Total, of: str) -> str:
        if node.name == "count":
            return f"number of {of}"
        word = {"sum": "total", "avg": "average", "min": "lowest", "max": "highest"}[node.name]
        if node.property is None:
            return of
        if node.kind.name == "date":
            word = {"min": "earliest", "max": "latest"}[node.name]
        phrase = self.property(node.property)
        phrase = phrase.removeprefix(f"{word} ").removesuffix(f" {word}") if phrase != word else ""
        return f"{word} {phrase} of {of}".replace("  ", " ")

    def _arithmetic(self, node: n.Arithmetic) -> str:
        share = _share_of(node)
        if share is not None:
            some, every = share
            return f"share in percent of {self.things(some)} among {self.things(every)}"
        if node.name in ("times", "divide") and isinstance(node.second, n.Literal) and node.kind.unit:
            first = self.number(node.first)
            return first if node.first.kind.unit != node.kind.unit else f"{first} in {node.kind.unit}"
        first, second = self.number(node.first), self.number(node.second)
        word = {"plus": "plus", "minus": "minus", "times": "times", "divide": "per"}[node.name]
        return f"{first} {word} {second}"

    # -- tables

    def rows(self, node: Any) -> str:
        """A table: "number of tracks for each genre"."""
        if isinstance(node, n.Select):
            beside = [
                as_date(self.property(each)) if each.kind.name == "date" else self.property(each)
                for each in node.properties
            ]
            return f"{self.things(node.of)} and their {listed(beside)}"
        if isinstance(node, n.Row):
            return self._row(node)
        if isinstance(node, n.Group):
            figures = listed([self._of_group(total, node) for total in node.totals])
            return f"{figures} for each {self._each(node.key)}"
        if isinstance(node, n.Having):
            value = self.reference(node.reference, "number")
            return f"{self.rows(node.of)}, where that is {NUMBER_OPS[node.op]}{value}"
        group = n.group_of(node)
        key = self.property(group.key) if group is not None else "row"
        figure = self._of_group(group.totals[0], group) if group is not None else "figure"
        if isinstance(node, n.BestRows):
            return f"the {key} with the {'highest' if node.greatest else 'lowest'} {figure}"
        if node.limit is None:
            return f"{self.rows(node.of)}, {'highest' if node.descending else 'lowest'} first"
        if group is not None and isinstance(group.key, n.Path):
            key = self.step(group.key.steps[-1], many=True) + self._from(group.key.steps[:-1])
        elif group is not None and isinstance(group.key, n.Part):
            key = f"{group.key.name}s of the {as_date(self.property(group.key.of))}"
        return f"the {node.limit} {key} with the {'highest' if node.descending else 'lowest'} {figure}"

    def _each(self, key: n.Property) -> str:
        """What there is a row for: "genre", "employee that they are handled by"."""
        phrase = self.property(key)
        called = isinstance(key, n.Path) and key.kind.things and len(key.steps) == 1 and ends_open(phrase)
        return f"{self.type(key.kind.name)} that they {of_many(phrase)}" if called else phrase

    def _row(self, node: n.Row) -> str:
        first = node.scalars[0]
        alike = isinstance(first, n.Total) and all(
            isinstance(each, n.Total) and each.of == first.of and each.name != "count" for each in node.scalars
        )
        if not alike:
            return listed([self.number(each) for each in node.scalars])
        assert isinstance(first, n.Total)
        of = self.things(first.of)
        figures = [self._total(each, "").removesuffix(" of ").strip() for each in node.scalars]  # type: ignore[arg-type]
        return f"{listed(figures)} of {of}"

    def _of_group(self, total: n.Property, group: n.Group) -> str:
        """A figure of a group, whose `it` is the things that are grouped."""
        if isinstance(total, n.Total) and isinstance(total.of, n.It):
            return self._total(total, self.things(group.of))
        return self.number(total)

    def _comparison(self, node: n.Comparison) -> str:
        first, second = self.things(node.first), self.reference(node.second, node.first.kind.name)
        if node.first.kind.name == "date":
            word = _DATE_OPS | {"<=": "not after", ">=": "not before", "=": "the same as"}
        else:
            word = NUMBER_OPS | {"<": "lower than", ">": "higher than"}
        return " ".join(f"whether {first} is {word[node.op]} {second}".split())


def _share_of(node: n.Arithmetic) -> tuple[n.Set, n.Set] | None:
    """The two sets of a share: it is a hundred times a count, divided by another."""
    first, every = node.first, node.second
    if node.kind == n.PERCENT and isinstance(first, n.Arithmetic) and isinstance(every, n.Total):
        some = first.second
        if isinstance(some, n.Total) and isinstance(some.of, n.Both):
            parts = [part for part in some.of.parts if part != every.of]
            return (parts[0] if parts else some.of.parts[0]), every.of
    return None


def _plural(phrase: str) -> str:
    """
    >>> _plural("milliseconds"), _plural("reports to"), _plural("hire date")
    ('milliseconds', 'reports to', 'hire dates')
    """
    return phrase if ends_open(phrase) else names.plural(names.singular(phrase))


def _order(node: n.Ranked) -> str:
    kind = node.property.kind.name
    if kind == "text":
        return "from Z to A" if node.descending else "alphabetically"
    if kind in ("date", "time"):
        return "latest first" if node.descending else "earliest first"
    return "highest first" if node.descending else "lowest first"


def _is_day(node: n.Set) -> bool:
    if not isinstance(node, n.Literal):
        return False
    value = node.value
    if isinstance(value, Relative):
        return value.unit == "day"
    return isinstance(value, Interval) and value.high - value.low == 1


def listed(parts: list[str]) -> str:
    """
    >>> listed(["fox loop", "honey walk"]), listed(["a", "b", "c"])
    ('fox loop and honey walk', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def sentence(phrase: str) -> str:
    """A phrase as a sentence: a capital at its beginning.

    >>> sentence("tracks whose genre is Jazz")
    'Tracks whose genre is Jazz'
    """
    return phrase[:1].upper() + phrase[1:]
