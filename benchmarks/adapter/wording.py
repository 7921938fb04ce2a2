"""Canonical wordings of forms: the utterances that questions are matched with.

The package words forms in one way (dualparse/asking/wording.py), the grammars of benchmarks in others. An adapter that
has met many styles depends on none, so a `Style` is drawn for every batch: one of the known kinds, or a mixture.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from benchmarks.adapter.english import plural, several
from benchmarks.adapter.forms import PAIRS, Condition, Form, Things
from benchmarks.adapter.names import Slot
from benchmarks.adapter.schema import Link, Property, Thing

NUMBERS = (
    {"<": "under", ">": "over", "<=": "at most", ">=": "at least", "=": "", "!=": "not"},
    {"<": "smaller than", ">": "larger than", "<=": "at most", ">=": "at least", "=": "", "!=": "not"},
    {"<": "less than", ">": "more than", "<=": "at most", ">=": "at least", "=": "exactly", "!=": "not"},
    {"<": "below", ">": "above", "<=": "no more than", ">=": "no less than", "=": "equal to", "!=": "not equal to"},
)
DATES = (
    {"<": "before", ">": "after", "<=": "up to", ">=": "since", "=": "in", "!=": "not in"},
    {"<": "smaller than", ">": "larger than", "<=": "at most", ">=": "at least", "=": "", "!=": "not"},
    {"<": "before", ">": "after", "<=": "not after", ">=": "not before", "=": "", "!=": "not"},
    {"<": "earlier than", ">": "later than", "<=": "at the latest", ">=": "at the earliest", "=": "on", "!=": "not on"},
)
COUNTS = {"<": "fewer than", ">": "more than", "<=": "at most", ">=": "at least", "=": "exactly", "!=": "not"}
HIGHEST = (("highest", "lowest"), ("largest", "smallest"), ("greatest", "least"), ("most", "least"))
FIGURES = {"mean": "average", "total": "total", "max": "highest", "min": "lowest"}


@dataclass(frozen=True)
class Style:
    """`kind`: the package's own ("plain"), that of grammars over lambda forms ("lambda"), one of verbs ("verbs").
    The rest are numbers of choices."""

    kind: str
    number: int
    date: int
    high: int
    units: bool
    each: str = "for each"
    of: bool = False  # "albums of AC/DC" for albums whose artist is AC/DC


def draw_style(rng: random.Random) -> Style:
    kind = rng.choices(("plain", "lambda", "verbs"), (46, 37, 17))[0]
    units, each, of = rng.random() < 0.5, rng.choice(("for each", "for each", "by", "per")), rng.random() < 0.5
    if kind == "plain":
        return Style(kind, 0, 0, 0, units, "for each", of) if rng.random() < 0.7 else _any_style(kind, units, each, rng)
    if kind == "lambda":
        return Style(kind, 1, 1, 1, units, each) if rng.random() < 0.7 else _any_style(kind, units, each, rng)
    return _any_style(kind, units, each, rng)


def _any_style(kind: str, units: bool, each: str, rng: random.Random) -> Style:
    return Style(kind, rng.randrange(4), rng.randrange(4), rng.randrange(4), units, each)


@dataclass(frozen=True)
class Wording:
    """Words forms in one style."""

    style: Style

    @property
    def single(self) -> bool:
        return self.style.kind == "lambda"

    def type(self, thing: Thing) -> str:
        return thing.name if self.single else plural(thing.name)

    def __call__(self, form: Form) -> str:
        return " ".join(self._form(form).split())

    # -- things and conditions

    def things(self, of: Things) -> str:
        if of.named is not None:
            return f"{of.thing.name} {of.named.text}" if self.single and not of.named.masked else of.named.text
        if self.style.kind == "plain" and len(of.conditions) == 1 and of.conditions[0].kind in ("link", "inner"):
            (c,) = of.conditions
            assert isinstance(c.step, Link)
            if c.back or c.inner is not None or self.style.of:  # "authors of the book", "books of authors whose ..."
                other = c.values[0].text if c.inner is None else self.things(c.inner)
                return f"{plural(c.step.name if c.back else c.step.owner)} of {other}"
        parts = [self.condition(each) for each in of.conditions]
        return f"{self.type(of.thing)} {' and '.join(parts)}"

    def condition(self, c: Condition) -> str:
        return self._of_link(c, c.step) if isinstance(c.step, Link) else self._of_property(c, c.step)

    def _of_property(self, c: Condition, step: Property) -> str:
        compared = c.kind in ("compare", "between")
        name, texts = step.name, [self.value(value, step) if compared else value.text for value in c.values]
        words = (NUMBERS[self.style.number], DATES[self.style.date])[step.kind in ("date", "time")]
        if c.kind in ("flag", "no flag"):
            return self._flag(step, c.kind == "flag")
        if c.kind == "missing":
            return f"without {name}" if self.style.kind == "plain" else f"whose {name} is not known"
        if c.kind == "between":
            return f"whose {name} is between {texts[0]} and {texts[1]}"
        if c.kind == "than":
            of = f"{step.owner} {texts[0]}" if self.single and not c.values[0].masked else texts[0]
            return f"whose {name} is {words[c.op]} {(c.other or step).name} of {of}"
        if c.kind == "same":
            return f"whose {name} is {name} of {texts[0]}"
        if c.kind == "compare":
            if self.style.kind == "verbs" and step.kind == "number":
                return f"with a {name} of {NUMBERS[self.style.number][c.op]} {texts[0]}"
            if self.style.kind == "verbs" and step.verbs:
                return f"that {several(step.verbs[0])} {DATES[self.style.date][c.op]} {texts[0]}"
            return f"whose {name} is {words[c.op]} {texts[0]}"
        return f"whose {name} is {'not ' * (c.kind == 'not')}{' or '.join(texts)}"

    def value(self, slot: Slot, step: Property) -> str:
        unit = step.unit if step.kind == "number" and (self.style.units or not slot.masked) else ""
        return f"{slot.text} {plural(unit) if len(unit) > 2 else unit}".strip()

    def _flag(self, step: Property, holds: bool) -> str:
        verb = step.verbs[0]
        if self.style.kind == "plain":
            first, _, rest = verb.partition(" ")
            if first in ("is", "was") and rest:
                return f"that are {'' if holds else 'not '}{rest}"
            return f"{'with' if holds else 'without'} {step.name}"
        verb = verb if self.single else several(verb)
        if holds:
            return f"that {verb}"
        first, _, rest = verb.partition(" ")
        auxiliary = first in ("is", "are", "was", "were", "can", "must", "has", "have")
        return f"that {first} not {rest}" if auxiliary else f"that not {verb}"

    def _of_link(self, c: Condition, step: Link) -> str:
        others = c.inner
        texts = self.things(others) if others is not None else " or ".join(value.text for value in c.values)
        verb = (step.backwards if c.back else step.forwards)[0]
        verb = verb if self.single else several(verb)
        other = step.owner if c.back else step.target
        other = other if self.single else plural(other)
        if c.kind in ("tally", "none", "some"):
            return self._counted(c, step, verb, other)
        no = "not " if c.kind == "no link" else ""
        if c.kind == "same":
            return f"whose {step.name} is {step.name} of {texts}"
        if self.style.kind == "verbs":
            return f"that {no}{verb} {texts}"
        if not c.back:
            return f"that {no}{verb} {texts}" if self.single and step.many else f"whose {step.name} is {no}{texts}"
        if self.style.kind == "plain":
            return f"with{'out' * bool(no)} {other} {texts}"
        if step.many:
            return f"that {texts} {no}{step.forwards[0]}"
        return f"that is {no}{step.name} of {texts}"

    def _counted(self, c: Condition, step: Link, verb: str, other: str) -> str:
        if c.kind == "tally":
            amount = f"{COUNTS[c.op]} {c.values[0].text} {other}"
        else:
            amount = f"{'no' if c.kind == 'none' else 'some'} {other}"
        if self.style.kind == "plain":
            if c.kind == "tally":
                return f"with {amount}"
            return f"with{'out' if c.kind == 'none' else ''} {plural(step.owner if c.back else step.name)}"
        if self.style.kind == "verbs":
            return f"that {verb} {amount}"
        return f"that is {step.name} of {amount}" if c.back and not step.many else f"that has {amount}"

    # -- what is asked

    def _form(self, form: Form) -> str:
        of, by = self.things(form.of), form.by
        if form.ask == "list":
            return of
        if form.ask in ("count", "exists"):
            return f"{'number of' if form.ask == 'count' else 'whether there are'} {of}"
        if form.ask == "share":
            return f"share in percent of {of} among {self.type(form.of.thing)}"
        if form.ask in PAIRS:
            return self._pair(form)
        if form.key is not None:
            return self._table(form, of)
        if form.link is not None:
            return self._linked(form, of)
        assert by is not None
        name = by.name if self.single or form.of.named is not None else plural(by.name)
        if form.ask == "get":
            if form.of.named is None and not form.of.conditions and self.style.kind == "plain":
                return f"different {name} of {of}"
            if by.kind == "category" and self.single and self.style.of:
                return f"{name} that is {name} of {of}"
            return f"{name} of {of}"
        if form.ask == "distinct":
            return f"number of different {plural(by.name)} of {of}"
        if form.ask in FIGURES:
            return f"{FIGURES[form.ask]} {by.name} of {of}"
        if form.ask == "order":
            high, low = ("latest", "earliest") if by.kind != "number" else HIGHEST[self.style.high]
            return f"{of} ordered by {by.name}, {low if form.up else high} first"
        return self._extreme(form, of, by)

    def _pair(self, form: Form) -> str:
        assert form.of.named is not None and form.number is not None and form.by is not None
        first, second, by = form.of.named.text, form.number.text, form.by
        high, low = HIGHEST[self.style.high] if by.kind == "number" else ("latest", "earliest")
        if form.ask in ("two most", "two least"):
            word = high if form.ask == "two most" else low
            return f"{first} or {second} {'that has' if self.single else 'with'} the {word} {by.name}"
        words = NUMBERS[self.style.number] if by.kind == "number" else DATES[self.style.date]
        op = words[">" if form.ask == "two over" else "<"]
        return f"whether {by.name} of {first} is {op} {by.name} of {second}"

    def _extreme(self, form: Form, of: str, by: Property) -> str:
        high, low = HIGHEST[self.style.high]
        if by.kind != "number" and self.style.kind != "lambda":
            high, low = "latest", "earliest"
        word = high if form.ask in ("most", "top") else low
        number = f"the {form.number.text} " if form.number is not None else ""
        if self.single:
            return f"{number}{of} that has the {word} {by.name}"
        return f"{number}{of} with the {word} {by.name}"

    def _linked(self, form: Form, of: str) -> str:
        assert form.link is not None
        step, number = form.link, f"the {form.number.text} " if form.number is not None else ""
        other = plural(step.owner if form.back else step.name if self.style.kind == "plain" else step.target)
        if form.by is not None:
            total = f"total {form.by.name} of {other}"
            if form.ask == "sum":
                return f"{total} of {of}"
            high, low = HIGHEST[self.style.high]
            return f"{of} with the {high if form.ask == 'most sum' else low} {total}"
        few = form.ask == "least linked"
        if self.style.kind == "plain":
            return f"{number}{of} with the {'fewest' if few else 'most'} {other}"
        other = other if not self.single else (step.owner if form.back else step.target)
        amount = f"the {'least' if few else 'most'} number of {other}"
        verb = (step.backwards if form.back else step.forwards)[0]
        if self.single:
            return f"{number}{of} that {f'is {step.name} of' if form.back else 'has'} {amount}"
        return f"{number}{of} that {several(verb)} {amount}"

    def _table(self, form: Form, of: str) -> str:
        assert form.key is not None
        figure = f"number of {of}" if form.by is None else f"{FIGURES[form.figure]} {form.by.name} of {of}"
        key = (
            f"year of the {form.key.name}"
            if isinstance(form.key, Property) and form.key.kind == "date"
            else form.key.name
        )
        if form.ask == "group having":
            assert form.number is not None
            if self.style.kind == "plain":
                return f"{figure} {self.style.each} {key}, where that is {NUMBERS[0][form.op]} {form.number.text}"
            single = self.single and not isinstance(form.key, Link)
            verb = f"is {key} of" if single else "have"
            return f"{key if self.single else plural(key)} that {verb} {COUNTS[form.op]} {form.number.text} {of}"
        if form.ask in ("group most", "group least"):
            high, low = HIGHEST[self.style.high]
            return f"the {key} with the {high if form.ask == 'group most' else low} {figure}"
        return f"{figure} {self.style.each} {key}"
