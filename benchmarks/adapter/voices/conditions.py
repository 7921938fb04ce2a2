"""How people say a condition. Out: where it stands and its words.

"pre"   before the noun: "red bikes", "ada's books"
"post"  behind it: "books by ada", "bikes under 800 euros"
"vp"    a verb phrase of one thing: "was written by ada" (which books ..., books that ..., who ...)
"gap"   a clause of others: "ada wrote" (books that ada wrote)
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Protocol

from benchmarks.adapter.english import an, asked, negated, past, plural, several
from benchmarks.adapter.forms import Condition, Things
from benchmarks.adapter.names import Slot
from benchmarks.adapter.schema import Link, Property, Schema, Thing
from benchmarks.adapter.voices.amounts import (
    AMOUNTS,
    DATES,
    DATES_THAN,
    NUMBERS_THAN,
    RANGES,
    amount,
    as_much,
    pick,
    than,
    value,
)
from benchmarks.adapter.voices.phrases import families

Part = tuple[str, str]
PERSONS = {"in": ("lives in", "is based in", "is in"), "from": ("comes from", "is from", "was born in")}


class NounPhrase(Protocol):
    def __call__(self, of: Things, *, single: bool = False) -> str: ...


@dataclass(frozen=True)
class Conditions:
    """Says conditions over one schema; `noun_phrase` says things inside of a condition."""

    schema: Schema
    rng: random.Random
    noun_phrase: NounPhrase

    def say(self, c: Condition) -> Part:
        if isinstance(c.step, Link):
            return self._link(c, c.step)
        if c.step.kind in ("category", "flag"):
            return self._flag(c, c.step) if c.step.kind == "flag" else self._category(c, c.step)
        return self._number(c, c.step) if c.step.kind == "number" else self._date(c, c.step)

    def _one(self, *options: Part) -> Part:
        return self.rng.choice([option for option in options if option[1]])

    def called(self, slot: Slot, thing: Thing) -> str:
        """A name, now and then with what it is the name of."""
        if self.rng.random() < (0.15 if slot.masked else 0.22):
            return f"{self.rng.choice(('', '', 'the '))}{self.rng.choice(thing.words)} {slot.text}"
        return slot.text

    def inner(self, of: Things) -> str:
        """Things inside of a condition: several, one of them, or "someone who ..."."""
        roll = self.rng.random()
        said = self.noun_phrase(of, single=roll < 0.4)
        if roll >= 0.4:
            return said
        if of.thing.person and roll < 0.1 and said.startswith(f"{of.thing.name} "):
            return f"someone {said[len(of.thing.name) + 1 :]}"
        return an(said) if self.rng.random() < 0.8 else f"the {said}"

    def _missing(self, p: str) -> Part:
        return self._one(
            ("post", f"without {an(p)}"), ("post", f"without {p}"), ("vp", f"has no {p}"),
            ("post", f"with no {p} recorded"), ("post", f"where the {p} is missing"),
            ("post", f"whose {p} is not known"), ("post", f"that lack {an(p)}"), ("post", f"with unknown {p}"),
            ("vp", f"does not have {an(p)}"),
        )  # fmt: skip

    # -- numbers

    def _number(self, c: Condition, step: Property) -> Part:
        rng = self.rng
        p = rng.choice(step.words)
        if c.kind == "missing":
            return self._missing(p)
        if c.kind == "than":
            return self._number_than(c, step, p)
        if c.kind in ("between", "either"):
            low, high = value(c.values[0], step, rng), value(c.values[1], step, rng)
            ways = RANGES if c.kind == "between" else ("{a} or {b}", "either {a} or {b}")
            return self._amounts(step, p, rng.choice(ways).format(a=low, b=high))
        compared = than(c.op, step, rng)
        if compared and rng.random() < 0.28:
            text = f"{compared} {value(c.values[0], step, rng)}"
            return self._one(("post", text), ("vp", f"is {text}"))
        return self._amounts(step, p, amount(c.op, step, c.values[0], rng))

    def _amounts(self, step: Property, p: str, a: str) -> Part:
        if step.family in ("count", "score"):
            counted = self.rng.choice((p, plural(step.unit) if step.unit and self.rng.random() < 0.5 else p))
            verb = self.rng.choice(families()[step.family]["verbs"])
            return self._one(
                ("vp", f"has {a} {counted}"), ("vp", f"{verb} {a} {counted}"), ("post", f"with {a} {counted}"),
                ("post", f"whose number of {p} is {a}"), ("post", f"having {a} {counted}"),
                ("vp", f"{verb} {a} {counted}"),
            )  # fmt: skip
        verb = self.rng.choice(families().get(step.family, {}).get("verbs", ("has",)))
        said = f"{verb.split()[0]} {a} {verb.split()[1][:-1]}" if verb.endswith(":") else f"{verb} {a}"
        if verb == "has":
            said = f"has {a} {p}"
        return self._one(
            ("vp", said), ("vp", said), ("vp", f"has {an(p)} of {a}"), ("post", f"with {an(p)} of {a}"),
            ("post", f"with {p} {a}"), ("post", f"whose {p} is {a}"), ("post", f"having {an(p)} of {a}"),
            ("post", f"{p} {a}"), ("post", f"of {a}"), ("post", a), ("post", f"where the {p} is {a}"),
            ("post", f"with {an(p)} {a}"),
        )  # fmt: skip

    def _number_than(self, c: Condition, step: Property, p: str) -> Part:
        rng, x = self.rng, self.called(c.values[0], self.schema.things[step.owner])
        if c.other is not None:
            theirs = rng.choice(c.other.words)
            x = rng.choice((f"the {theirs} of {x}", f"{x}'s {theirs}", f"{theirs} of {x}"))
            return ("post", f"{rng.choice(('with a', 'whose'))} {p} {pick(AMOUNTS[c.op], rng).format(v=x)}")
        compared = as_much(c.op, step, x, p, rng)
        if compared and rng.random() < 0.5:
            return self._one(("vp", f"is {compared}"), ("post", compared))
        many = step.family in ("count", "score")
        high, low = rng.choice(
            (("higher", "lower"), ("larger", "smaller"), ("greater", "lesser"), ("bigger", "smaller"))
        )
        words = {"p": p, "x": x, "high": high, "low": low, "many": "many" if many else "much"}
        said = pick(NUMBERS_THAN[c.op], rng).format(a_high=an(high), a_low=an(low), a_p=an(p), **words)
        return ("vp", "has " + said[5:]) if said.startswith("with ") and rng.random() < 0.5 else ("post", said)

    # -- dates

    def _date(self, c: Condition, step: Property) -> Part:
        rng, p = self.rng, self.rng.choice(step.words)
        if c.kind == "missing":
            return self._missing(p)
        verb = rng.choice(step.verbs or ("has",))
        if c.kind == "between":
            when = rng.choice(RANGES[:3]).format(a=c.values[0].text, b=c.values[1].text)
        elif c.kind == "either":
            when = f"{rng.choice(('in', 'on', 'either in'))} {c.values[0].text} or {c.values[1].text}"
        elif c.kind == "than" and c.other is not None:
            when = self._when_other(c, c.other)
        elif c.kind == "than":
            x = self.called(c.values[0], self.schema.things[step.owner])
            when = self._when_than(c.op, x, p)
            if "birth" in step.name and c.op in "<>" and rng.random() < 0.4:
                older = f"{'younger' if c.op == '>' else 'older'} than {x}"
                return self._one(("post", older), ("vp", f"is {older}"))
        else:
            when = amount(c.op, step, c.values[0], rng)
        first, _, rest = verb.partition(" ")
        participle = f"{rest} {when}" if first == "was" and rest else ""
        bare = pick({**AMOUNTS, **DATES}[c.op], rng).format(v=c.values[0].text) if c.kind == "compare" else when
        return self._one(
            ("vp", f"{verb} {when}"), ("vp", f"{verb} {when}"), ("vp", f"{verb} {when}"), ("post", participle),
            ("post", participle), ("post", f"whose {p} is {bare}"), ("post", f"with {an(p)} {bare}"),
            ("post", f"with {p} {when}"), ("post", f"{p} {when}"),
            ("post", f"from {c.values[0].text}" if c.kind == "compare" and c.op == "=" else ""),
            ("post", when if c.kind == "compare" else ""),
        )  # fmt: skip

    def _when_other(self, c: Condition, other: Property) -> str:
        """ "before the end of the other", "after ada left"."""
        rng, x = self.rng, self.called(c.values[0], self.schema.things[other.owner])
        theirs = rng.choice(other.words)
        said = rng.choice((f"the {theirs} of {x}", f"{x}'s {theirs}", f"{x} {rng.choice(other.verbs or ('began',))}"))
        if said.startswith(("the ", f"{x}'s")) or c.op in "<>":
            return pick(DATES[c.op] if c.op in "<>" else "at {v}" if c.op == "=" else DATES[c.op], rng).format(v=said)
        return {
            ">=": f"when {said} or later",
            "<=": f"when {said} or earlier",
            "=": f"when {said}",
            "!=": f"not when {said}",
        }[c.op]

    def _when_than(self, op: str, x: str, p: str) -> str:
        return pick(DATES_THAN[op], self.rng).format(x=x, p=p)

    # -- categories and flags

    def _category(self, c: Condition, step: Property) -> Part:
        rng, p = self.rng, self.rng.choice(step.words)
        texts, mode = [value.text for value in c.values], step.family
        thing = self.schema.things[step.owner]
        if c.kind == "missing":
            return self._missing(p)
        if c.kind == "same":
            x = self.called(c.values[0], thing)
            return self._one(
                ("post", f"with the same {p} as {x}"), ("vp", f"has the same {p} as {x}"),
                ("post", f"whose {p} is that of {x}"), ("post", f"of the same {p} as {x}"),
                ("vp", f"shares {x}'s {p}"), ("post", f"with the {p} of {x}"),
                ("post", f"in the same {p} as {x}" if mode == "in" else ""), ("vp", f"is of the same {p} as {x}"),
            )  # fmt: skip
        either = rng.choice(("", "either "))
        v = f"{either}{texts[0]} or {texts[-1]}" if c.kind == "either" else texts[0]
        if c.kind == "not":
            return self._one(
                ("post", f"whose {p} is not {v}"), ("vp", f"is not {'' if mode == 'adj' else mode + ' '}{v}"),
                ("post", f"with {an(p)} other than {v}"), ("post", f"other than {v}"), ("post", f"except {v} ones"),
                ("pre", f"non {v}" if mode == "adj" else ""),
                ("post", f"outside of {v}" if mode == "in" else f"not {mode} {v}" if mode != "adj" else ""),
                ("vp", f"has another {p} than {v}"), ("post", f"that are anything but {v}"),
                ("post", f"whose {p} isnt {v}"),
            )  # fmt: skip
        if mode == "adj":
            return self._one(
                ("pre", v), ("pre", v), ("pre", v), ("vp", f"is {v}"), ("post", f"with {p} {v}"),
                ("post", f"whose {p} is {v}"), ("post", f"that are {v}"), ("vp", f"has {v} as {p}"),
                ("vp", f"has a {v} {p}"),
            )  # fmt: skip
        verb = rng.choice(PERSONS.get(mode, (f"is {mode}",))) if thing.person else f"is {mode}"
        return self._one(
            ("post", f"{mode} {v}"), ("post", f"{mode} {v}"), ("vp", f"{verb} {v}"), ("vp", f"{verb} {v}"),
            ("post", f"whose {p} is {v}"), ("post", f"with {p} {v}"), ("pre", texts[0] if c.kind == "is" else ""),
            ("vp", f"has {v} as {p}"), ("post", f"{mode} the {p} {v}"),
        )  # fmt: skip

    def _flag(self, c: Condition, step: Property) -> Part:
        verb, name = self.rng.choice(step.verbs), step.name
        first, _, rest = verb.partition(" ")
        auxiliary = first in ("is", "was", "can", "must") and bool(rest)
        noun = rest.removeprefix("a ").removeprefix("an ") if first == "has" and rest.startswith(("a ", "an ")) else ""
        if c.kind == "flag":
            return self._one(
                ("vp", verb), ("vp", verb), ("pre", rest if auxiliary and " " not in rest else ""),
                ("post", f"with {an(noun)}" if noun else ""), ("pre", name if auxiliary and " " not in name else ""),
                ("post", rest if auxiliary and " " in rest and first == "was" else ""),
            )  # fmt: skip
        return self._one(
            ("vp", negated(verb) if first not in ("can", "must") else f"{first} not {rest}"),
            ("vp", negated(verb) if first not in ("can", "must") else f"{first} not {rest}"),
            ("pre", f"non {rest}" if auxiliary and " " not in rest else ""), ("vp", f"has no {noun}" if noun else ""),
            ("post", f"without {an(noun)}" if noun else ""), ("post", f"with no {noun}" if noun else ""),
            ("post", f"that arent {rest}" if first == "is" and rest else ""),
            ("pre", f"not {rest}" if first == "is" and " " not in rest else ""),
        )  # fmt: skip

    # -- links

    def _link(self, c: Condition, step: Link) -> Part:
        rng = self.rng
        verb = rng.choice(step.backwards if c.back else step.forwards)
        turned = rng.choice(step.forwards if c.back else step.backwards)
        here = self.schema.things[step.target if c.back else step.owner]
        there = self.schema.things[step.owner if c.back else step.target]
        name = rng.choice(there.words if c.back else step.words)
        if c.kind in ("tally", "none", "some"):
            return self._counted(c, verb, turned, name, there)
        first, _, rest = verb.partition(" ")
        participle = rest if first in ("is", "was") and rest else ""
        if c.kind == "same":
            x = self.called(c.values[0], here)
            return self._one(
                ("post", f"with the same {name} as {x}"), ("vp", f"{verb} the same {name} as {x}"),
                ("vp", f"has the same {name} as {x}"), ("post", f"whose {name} is that of {x}"),
                ("post", f"of the same {name} as {x}"), ("vp", f"shares {x}'s {name}"),
                ("post", f"{participle} the same {name} as {x}" if participle else ""),
            )  # fmt: skip
        if c.kind == "inner" and c.inner is not None:
            x = self.inner(c.inner)
            return self._one(
                ("vp", f"{verb} {x}"), ("vp", f"{verb} {x}"), ("post", f"of {x}"), ("gap", f"{x} {several(turned)}"),
                ("post", f"{participle} {x}" if participle else ""), ("post", f"with {x}"),
            )  # fmt: skip
        x = " or ".join(self.called(value, there) for value in c.values)
        if c.kind == "no link":
            return self._one(
                ("vp", f"{negated(verb)} {x}"), ("vp", f"{negated(verb)} {x}"), ("gap", f"{x} {negated(turned)}"),
                ("post", f"not {participle} {x}" if participle else f"without {x}"), ("post", f"except those of {x}"),
                ("post", f"whose {name} is not {x}" if not c.back else ""),
                ("post", f"with another {name} than {x}" if not c.back else ""),
                ("vp", f"never {verb} {x}" if past(verb) and first != "was" else ""),
            )  # fmt: skip
        return self._one(
            ("vp", f"{verb} {x}"), ("vp", f"{verb} {x}"), ("vp", f"{verb} {x}"), ("gap", f"{x} {turned}"),
            ("gap", f"{x} {turned}"), ("post", f"{participle} {x}" if participle else f"of {x}"), ("post", f"of {x}"),
            ("post", f"by {x}" if there.person and past(turned) else ""),
            ("post", f"whose {name} is {x}" if not c.back else f"with the {name} {x}"),
            ("post", f"with {name} {x}" if not c.back else ""),
            ("pre", f"{c.values[0].text}'s" if len(c.values) == 1 and (there.person or c.back) else ""),
        )  # fmt: skip

    def _counted(self, c: Condition, verb: str, turned: str, name: str, there: Thing) -> Part:
        rng, others = self.rng, plural(name)
        if c.kind == "tally":
            a = pick(AMOUNTS[c.op], rng).format(v=c.values[0].text)
            if c.op in (">=", "<=") and a.startswith(c.values[0].text) and rng.random() < 0.5:
                counted = f"{c.values[0].text} {others} or {'more' if c.op == '>=' else 'fewer'}"
            else:
                counted = f"{a} {others}"
            return self._one(
                ("vp", f"{verb} {counted}"), ("vp", f"{verb} {counted}"), ("vp", f"has {counted}"),
                ("post", f"with {counted}"), ("post", f"having {counted}"), ("gap", f"{counted} {several(turned)}"),
                ("post", f"of {counted}"),
            )  # fmt: skip
        if c.kind == "none":
            first = verb.split()[0]
            return self._one(
                ("post", f"without {others}"), ("post", f"without any {others}"), ("post", f"with no {others}"),
                ("vp", f"has no {others}"), ("vp", f"{negated(verb)} any {name}"),
                ("vp", f"{negated(verb)} any {others}"), ("vp", f"{verb} no {name}"),
                ("vp", f"never {verb} {an(name)}" if past(verb) and first != "was" else ""),
                ("post", f"with zero {others}"), ("vp", f"does not have any {others}"),
                ("gap", f"no {name} {turned}"),
                ("post", f"with nothing {verb.split(' ', 1)[-1]}" if not there.person and first == "was" else ""),
            )  # fmt: skip
        return self._one(
            ("post", f"with {others}"), ("vp", f"has {others}"), ("vp", f"{verb} any {name}"),
            ("vp", f"{verb} at least one {name}"), ("post", f"with at least one {name}"),
            ("vp", f"{verb} {an(name)}"), ("vp", f"has any {others}"),
        )  # fmt: skip


def question_of_link(c: Condition, step: Link, x: str, noun: str, rng: random.Random, *, asking: str = "") -> str:
    """ "which books did ada write", "by which author was the book written"."""
    middle = asked(rng.choice(step.forwards if c.back else step.backwards), x)
    asking = asking or rng.choice(("which", "what"))
    *rest, last = middle.split()
    if rest[:1] in (["is"], ["was"]) and last in ("by", "with", "from", "in", "at", "to", "on") and rng.random() < 0.5:
        return f"{last} {asking} {noun} {' '.join(rest)}"
    return f"{asking} {noun} {middle}"
