"""Whole questions: a form in, what somebody may ask out. Every call is another voice."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from benchmarks.adapter.english import an, asked, plural, several
from benchmarks.adapter.forms import FIGURES, PAIRS, Condition, Form, Things, end_of
from benchmarks.adapter.schema import Link, Property, Schema, Thing
from benchmarks.adapter.voices.amounts import AMOUNTS, EARLY, HIGH, LATE, LOW, pick
from benchmarks.adapter.voices.conditions import Conditions, Part, question_of_link
from benchmarks.adapter.voices.phrases import families, frames
from benchmarks.adapter.voices.slips import spoilt

MEANS = {
    "mean": ("average", "mean"),
    "total": ("total", "overall", "sum of"),
    "max": ("highest", "maximum"),
    "min": ("lowest", "minimum"),
}
NEW = ("newest", "latest", "most recent", "youngest")
OLD = ("oldest", "earliest", "first")


@dataclass
class Voices:
    """Asks for forms over one schema."""

    schema: Schema
    rng: random.Random
    conditions: Conditions = field(init=False)

    def __post_init__(self) -> None:
        self.conditions = Conditions(self.schema, self.rng, self.noun_phrase)

    def __call__(self, form: Form) -> str:
        if form.ask in PAIRS:
            text = self._pair(form)
        elif form.ask == "share":
            of = self.noun_phrase(form.of)
            every = plural(self.type(form.of.thing))
            text = self._frame("share", np=of, t=every)
        elif form.key is not None:
            text = self._table(form)
        elif form.link is not None:
            text = self._linked(form)
        elif form.ask in ("list", "count", "exists"):
            text = self._listed(form)
        elif form.ask == "get":
            text = self._got(form)
        elif form.ask in FIGURES:
            text = self._figure(form)
        elif form.ask in ("order", "distinct"):
            text = self._ordered(form)
        else:
            text = self._extreme(form)
        return spoilt(" ".join(text.split()), self.rng)

    def _frame(self, name: str, **words: str) -> str:
        return self.rng.choice(frames()[name]).format(**words)

    # -- noun phrases

    def type(self, thing: Thing) -> str:
        """What things are called here; the first name most often."""
        if thing.person and self.rng.random() < 0.06:
            return "person"
        return thing.name if self.rng.random() < 0.7 else self.rng.choice(thing.words)

    def noun_phrase(self, of: Things, *, single: bool = False) -> str:
        """Things with their conditions."""
        if of.named is not None:
            return self.conditions.called(of.named, of.thing)
        noun = self.type(of.thing)
        return _joined(noun if single else plural(noun), [self._part(c) for c in of.conditions], of.thing, single)

    def _part(self, c: Condition) -> Part:
        return self.conditions.say(c)

    # -- things, how many, whether there are any

    def _listed(self, form: Form) -> str:
        of, thing, rng = form.of, form.of.thing, self.rng
        noun = self.type(thing)
        if form.ask == "exists":
            single = self.noun_phrase(of, single=True)
            return self._frame("exists", np=self.noun_phrase(of), sp=single, asp=an(single))
        one = of.conditions[0] if len(of.conditions) == 1 else None
        if one is not None and one.kind in ("link", "inner") and isinstance(one.step, Link) and rng.random() < 0.3:
            return self._by_link(form, one, one.step, noun)
        parts = [self._part(c) for c in of.conditions]
        last = parts[-1] if parts else ("", "")
        if last[0] == "vp" and rng.random() < 0.85:
            rest = _joined(noun, parts[:-1], thing, True)
            many = _joined(plural(noun), parts[:-1], thing, False)
            clause = {"vp": several(last[1]), "v1": last[1], "t": many, "s": rest}
            if form.ask == "count":
                return self._frame("count which", t=many, vp=several(last[1]))
            if thing.person and len(parts) == 1 and rng.random() < 0.6:
                return self._frame("who", **clause)
            return self._frame("which", **clause)
        phrase = _joined(plural(noun), parts, thing, False)
        if form.ask == "list" and rng.random() < 0.1:
            phrase = _joined(noun, parts, thing, True)
        return self._frame(form.ask, np=phrase)

    def _by_link(self, form: Form, c: Condition, step: Link, noun: str) -> str:
        """Questions about what a named thing leads to: "who wrote it", "what did ada write", "where is it"."""
        rng, thing = self.rng, form.of.thing
        there = self.schema.things[step.owner if c.back else step.target]
        x = " or ".join(self.conditions.called(value, there) for value in c.values)
        verb = rng.choice(step.backwards if c.back else step.forwards)
        if c.inner is not None:
            return self._by_inner(c, step, self.conditions.inner(c.inner), noun, thing)
        if form.ask == "count":
            return question_of_link(c, step, x, plural(noun), rng, asking="how many")
        options = [question_of_link(c, step, x, noun, rng), question_of_link(c, step, x, plural(noun), rng)]
        if thing.person:
            options += [
                f"who {verb} {x}",
                f"who {verb} {x}",
                f"who {asked(rng.choice(step.forwards if c.back else step.backwards), x)}",
            ]
        if thing.names == "place" and c.back and not step.many:
            options += [f"where is {x}", f"where can {x} be found", f"where {asked(rng.choice(step.forwards), x)}"]
        if c.back:
            name = rng.choice(step.words)
            many = plural(name) if step.many else name
            options += [self._frame("get", p=many, x=x), f"{name} of {x}", f"{x}'s {many}"]
        else:
            options += [f"{plural(noun)} of {x}", f"{x}'s {plural(noun)}", f"all {plural(noun)} of {x}"]
        if not thing.person:
            options.append(f"what {asked(rng.choice(step.forwards if c.back else step.backwards), x)}")
        return rng.choice(options)

    def _by_inner(self, c: Condition, step: Link, x: str, noun: str, thing: Thing) -> str:
        """The same of several things: "where are the meetings that ...", "whose books ..."."""
        rng = self.rng
        name = rng.choice(step.words) if c.back else noun
        turned = rng.choice(step.forwards if c.back else step.backwards)
        options = [
            f"{plural(name)} of {x}",
            f"{name} of {x}",
            f"what {name} {asked(turned, x, many=True)}",
            f"which {plural(name)} do {x} have",
        ]
        if thing.person:
            options += [f"who {rng.choice(step.backwards if c.back else step.forwards)} {x}"]
        if thing.names == "place" and c.back:
            options += [f"where are {x}", f"where {asked(rng.choice(step.forwards), x, many=True)}"]
        return rng.choice(options)

    # -- a property

    def _got(self, form: Form) -> str:
        by, rng = form.by, self.rng
        assert by is not None
        x = self.noun_phrase(form.of) if form.of.named is None else self.conditions.called(form.of.named, form.of.thing)
        p, many = rng.choice(by.words), form.of.named is None
        options = [self._frame("get", p=plural(p) if many and rng.random() < 0.6 else p, x=x)]
        asks = families().get(by.family, {}).get("ask", ())
        if asks and not many and by.kind == "number":
            asked_for = rng.choice(asks).format(x=x, p=p, ps=plural(p), us=plural(by.unit or p))
            options += [asked_for, asked_for, asked_for]
        if by.kind in ("date", "time") and by.verbs:
            verb = rng.choice(by.verbs)
            asking = ("when", "when", "in what year", "on what day") if by.kind == "date" else ("when", "at what time")
            when = rng.choice(asking)
            options += [f"{when} {asked(verb, x, many=many)}"] * 3
            if "birth" in by.name and not many:
                options += [f"how old is {x}", f"what age is {x}", f"{x}'s birthday"]
        if by.kind == "category":
            options += self._where(form.of.thing, by, x, many)
        if by.kind == "text" and not many:
            options += [f"how can i reach {x}", f"how do i contact {x}", f"{x}'s {p}"]
        return rng.choice(options)

    def _where(self, thing: Thing, by: Property, x: str, many: bool) -> list[str]:
        p, be, do = self.rng.choice(by.words), "are" if many else "is", "do" if many else "does"
        if by.family == "in":
            return [
                f"where {be} {x}",
                f"where {do} {x} live" if thing.person else f"where {be} {x} located",
                f"in which {p} {be} {x}",
            ]
        if by.family == "from":
            return [f"where {be} {x} from", f"where {do} {x} come from", f"from which {p} {be} {x}"]
        if by.family == "adj":
            return [f"what {p} {be} {x}", f"which {p} {be} {x}"]
        if by.family == "as":
            return [f"what {be} {x}", f"what does {x} do" if thing.person else f"what {p} {be} {x}"]
        return [f"{by.family} which {p} {be} {x}", f"what {p} {be} {x}"]

    # -- ends of an order, figures

    def _extreme(self, form: Form) -> str:
        by, rng, thing = form.by, self.rng, form.of.thing
        assert by is not None
        p, noun = rng.choice(by.words), self.type(thing)
        parts = [self._part(c) for c in form.of.conditions]
        many, one = _joined(plural(noun), parts, thing, False), _joined(noun, parts, thing, True)
        up = form.ask in ("most", "top")
        superlatives = families().get(by.family, {}).get("most" if up else "least", ())
        if by.kind in ("date", "time"):
            superlatives = NEW if up else OLD
            superlatives = superlatives if by.kind == "date" else ("latest", "last") if up else ("earliest", "first")
            if "birth" in by.name:
                superlatives = ("youngest",) if up else ("oldest", "eldest")
        high = pick((HIGH if up else LOW) if by.kind == "number" else LATE if up else EARLY, rng)
        words = {"t": many, "s": one, "p": p, "hi": high}
        if form.number is not None:
            return self._frame("top", n=form.number.text, sup=rng.choice(superlatives or (high,)), **words)
        if by.kind in ("date", "time") and by.verbs and rng.random() < 0.35:
            last = rng.choice(("last", "most recently", "latest") if up else ("first", "earliest", "before all others"))
            who = "who" if thing.person and not parts else f"which {one}"
            return f"{who} {rng.choice(by.verbs)} {last}"
        if by.family in ("count", "score"):
            verb = rng.choice(families()[by.family]["verbs"])
            most = rng.choice(("the most", "most") if up else ("the fewest", "the least", "fewest"))
            who = (
                "who"
                if thing.person and not parts and rng.random() < 0.7
                else rng.choice((f"which {one}", f"{one} that", f"what {one}"))
            )
            counted = rng.choice((f"{who} {verb} {most} {p}", f"{one} with {most} {p}", f"{who} has {most} {p}"))
            return rng.choice((counted, counted, self._frame("most of", **words)))
        verbs = families().get(by.family, {}).get("verbs", ())
        if verbs and by.family not in ("rating", "percent") and rng.random() < 0.2:
            verb = rng.choice(verbs).removesuffix(":")
            who = "who" if thing.person and not parts else rng.choice((f"which {one}", f"what {one}", f"{one} that"))
            return f"{who} {verb} {'the most' if up else 'the least'}"
        if superlatives and rng.random() < 0.6:
            sup = rng.choice(superlatives)
            who = f"who is the {sup} {one}" if thing.person and rng.random() < 0.2 else ""
            return who or self._frame("most", sup=sup, **words)
        return self._frame("most of", **words)

    def _pair(self, form: Form) -> str:
        """ "which is heavier, this or that", "is this heavier than that"."""
        rng, by, thing = self.rng, form.by, form.of.thing
        assert by is not None and form.of.named is not None and form.number is not None
        a, b, p = form.of.named.text, form.number.text, rng.choice(by.words)
        up = form.ask in ("two most", "two over")
        if by.kind == "number":
            more = rng.choice(
                families().get(by.family, {}).get("more" if up else "less", (f"{'higher' if up else 'lower'} in {p}",))
            )
        else:
            more = "later" if up else "earlier"
            if by.verbs and rng.random() < 0.6:
                verb = rng.choice(by.verbs)
                if form.ask in ("two over", "two under"):
                    return f"{asked(verb, a)} {'after' if up else 'before'} {b}"
                who = rng.choice(("who" if thing.person else "which", "which of the two"))
                return f"{who} {verb} {rng.choice((more, 'last' if up else 'first'))}, {a} or {b}"
        if form.ask in ("two over", "two under"):
            higher = "higher" if up else "lower"
            return rng.choice(
                (
                    f"is {a} {more} than {b}",
                    f"is {a} {more} than {b}",
                    f"does {a} have a {higher} {p} than {b}",
                    f"is the {p} of {a} {higher} than that of {b}",
                )
            )
        higher = rng.choice(("higher", "larger") if up else ("lower", "smaller"))
        return rng.choice((
            f"which is {more}, {a} or {b}", f"{a} or {b}, which is {more}",
            f"which one has the {higher} {p}, {a} or {b}", f"is {a} or {b} {more}",
            f"{'who' if thing.person else 'which ' + thing.name} has the {higher} {p}, {a} or {b}",
            f"what is {more}: {a} or {b}", f"the {more} of {a} and {b}",
        ))  # fmt: skip

    def _figure(self, form: Form) -> str:
        by, rng = form.by, self.rng
        assert by is not None
        phrase, p = self.noun_phrase(form.of), rng.choice(by.words)
        if form.ask == "mean" and rng.random() < 0.35:
            asks = [
                ask for ask in families().get(by.family, {}).get("ask", ()) if " does {x}" in ask or " is {x}" in ask
            ]
            if asks:
                ask = rng.choice(asks).replace("does {x}", "do {x}").replace("is {x}", "are {x}")
                return f"{ask.format(x=phrase, p=p, ps=plural(p), us=plural(by.unit or p))} on average"
        return self._frame(form.ask, np=phrase, p=p)

    def _ordered(self, form: Form) -> str:
        by, rng = form.by, self.rng
        assert by is not None
        p = rng.choice(by.words)
        if form.ask == "distinct":
            return self._frame("distinct", ps=plural(p), t=plural(self.type(form.of.thing)))
        words = families().get(by.family, {})
        least, most = rng.choice(words.get("least", ("lowest",))), rng.choice(words.get("most", ("highest",)))
        if by.kind != "number":
            least, most = rng.choice(OLD), rng.choice(NEW)
        first, last = (least, most) if form.up else (most, least)
        way = rng.choice(
            (
                f"{first} first",
                f"starting with the {first}",
                f"from {first} to {last}",
                "ascending" if form.up else "descending",
            )
        )
        return f"{self._frame('order', np=self.noun_phrase(form.of), p=p)} {way}"

    # -- what links lead to

    def _linked(self, form: Form) -> str:
        rng, link, thing = self.rng, form.link, form.of.thing
        assert link is not None
        there = end_of(self.schema, link, form.back)
        verb = rng.choice(link.backwards if form.back else link.forwards)
        others = plural(rng.choice(there.words if form.back else link.words))
        noun, parts = self.type(thing), [self._part(c) for c in form.of.conditions]
        one, many = _joined(noun, parts, thing, True), _joined(plural(noun), parts, thing, False)
        who = (
            "who"
            if thing.person and not parts and rng.random() < 0.6
            else rng.choice((f"which {one}", f"what {one}", f"{one} that"))
        )
        if form.by is not None:
            return self._summed(form, link, verb, others, one, who)
        few = form.ask == "least linked"
        most = rng.choice(
            ("the fewest", "the least", "the smallest number of")
            if few
            else ("the most", "most", "the largest number of", "the highest number of")
        )
        if form.number is not None:
            n = form.number.text
            return rng.choice((
                f"top {n} {many} by number of {others}", f"the {n} {many} with the most {others}",
                f"{n} {many} with most {others}", f"which {n} {many} have the most {others}",
                f"which {n} {many} {several(verb)} the most {others}",
            ))  # fmt: skip
        return rng.choice((
            f"{who} {verb} {most} {others}", f"{who} {verb} {most} {others}", f"{one} with {most} {others}",
            f"the {one} with {most} {others}", f"{who} has {most} {others}", f"which {one} has {most} {others}",
            f"{most} {others} by {noun}", f"show me the {one} with {most} {others}",
            f"find the {one} that {verb} {most} {others}",
            f"{who} {verb} {'less' if few else 'more'} {others} than any other",
        ))  # fmt: skip

    def _summed(self, form: Form, link: Link, verb: str, others: str, one: str, who: str) -> str:
        rng, by = self.rng, form.by
        assert by is not None
        p, up = rng.choice(by.words), form.ask == "most sum"
        if form.ask == "sum":
            assert form.of.named is not None
            x = self.conditions.called(form.of.named, form.of.thing)
            turned = rng.choice(link.forwards if form.back else link.backwards)
            return rng.choice((
                f"total {p} of {x}'s {others}", f"total {p} of the {others} of {x}", f"{p} of all {others} of {x}",
                f"{p} of {x}'s {others} in total",
                f"what is the total {p} of the {others} that {several(turned)} {x}",
                f"sum of {p} over {x}'s {others}", f"how much {p} do {x}'s {others} have in total",
                f"what do {x}'s {others} add up to in {p}", f"overall {p} for {x}", f"{x} total {p}",
            ))  # fmt: skip
        high = pick(HIGH if up else LOW, rng)
        return rng.choice((
            f"{one} with the {high} total {p} of {others}", f"{who} has the {high} total {p} of {others}",
            f"{one} whose {others} have the {high} total {p}",
            f"{who} {verb} the {'most' if up else 'least'} {p} of {others}",
            f"which {one} has the {high} {p} over all {others}", f"{one} with the {high} overall {p}",
            f"{'most' if up else 'least'} {p} of {others} by {one}", f"{who} has the {high} total {p}",
        ))  # fmt: skip

    def _table(self, form: Form) -> str:
        rng, key = self.rng, form.key
        assert key is not None
        k = rng.choice(key.words)
        if isinstance(key, Property) and key.kind == "date":
            k = rng.choice(("year", "year", f"year of {k}", f"{k} year"))
        phrase = self.noun_phrase(form.of)
        words = {"np": phrase, "k": k, "ks": plural(k)}
        up = form.ask == "group most"
        if form.ask == "group having":
            assert form.number is not None
            amount = pick(AMOUNTS[form.op], rng).format(v=form.number.text)
            return self._frame("group having", a=amount, **words)
        if form.by is None:
            if form.ask == "group count":
                return self._frame("group count", **words)
            return self._frame(
                "group most",
                m=rng.choice(
                    ("most", "largest number of", "highest number of")
                    if up
                    else ("fewest", "least", "lowest number of")
                ),
                **words,
            )
        figure = f"{rng.choice(MEANS[form.figure])} {rng.choice(form.by.words)}"
        if form.ask == "group figure":
            return self._frame("group figure", f=figure, **words)
        return self._frame("group most figure", f=figure, hi=pick(HIGH if up else LOW, rng), **words)


def _joined(noun: str, parts: list[Part], thing: Thing, single: bool) -> str:
    """A noun with its parts: what stands before it, behind it, and clauses last."""
    before = [text for place, text in parts if place == "pre"]
    behind = [text for place, text in parts if place == "post"]
    clauses = [text if single else several(text) for place, text in parts if place == "vp"]
    clauses += [text for place, text in parts if place == "gap"]
    that = "who" if thing.person else "that"
    said = f"{' '.join(before)} {noun} {' and '.join(behind)}"
    return f"{said} {'and ' * bool(behind and clauses)}{' and '.join(f'{that} {clause}' for clause in clauses)}".strip()
