"""Forms that are easily taken for another one: what its question has to be told apart from.

Each differs in one respect: the comparison, the property, the direction of a link, the end of an order, what is asked,
one condition less or more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.adapter.forms import PLAIN, Condition, Drawing, Form, Things, end_of
from benchmarks.adapter.schema import Link, Property

OPPOSITE = {"<": (">", "<=", ">="), ">": ("<", ">=", "<="), "<=": (">=", "<", "="), ">=": ("<=", ">", "=")}
OPPOSITE |= {"=": ("!=", "<", ">="), "!=": ("=",)}
TURNED = {
    "most": ("least", "top"), "least": ("most", "bottom"), "top": ("bottom", "most"), "bottom": ("top", "least"),
    "most linked": ("least linked", "top linked"), "least linked": ("most linked",), "top linked": ("most linked",),
    "most sum": ("least sum", "most linked"), "least sum": ("most sum",), "sum": ("most sum",),
    "mean": ("total", "max"), "total": ("mean", "max"), "max": ("min", "most"), "min": ("max", "least"),
    "list": ("count", "exists"), "count": ("list",), "exists": ("list", "count"),
    "group count": ("count", "group most"), "group most": ("group least", "group count"),
    "group least": ("group most",), "group figure": ("mean", "group most"),
    "distinct": ("count", "group count"),
}  # fmt: skip
OTHER_KIND = {
    "is": ("not",), "not": ("is",), "either": ("is",), "flag": ("no flag",), "no flag": ("flag",),
    "link": ("no link",), "no link": ("link",), "either link": ("link",), "none": ("some", "tally"),
    "some": ("none",), "tally": ("none",), "between": ("compare", "either"),
}  # fmt: skip


def near(form: Form, drawing: Drawing) -> list[Form]:
    """Forms near to one, in no order of their nearness; each once, the form itself is not among them."""
    found = dict.fromkeys(_near(form, drawing))
    found.pop(form, None)
    return list(found)


def _near(form: Form, drawing: Drawing) -> Iterator[Form]:
    schema, rng = drawing.schema, drawing.rng
    for ask in TURNED.get(form.ask, ()):
        counted = drawing.slots.count(rng) if ask in ("top", "bottom", "top linked") else None
        if ask in ("count", "list", "exists"):
            yield Form(ask, form.of)
        elif ask == "mean":
            yield Form(ask if form.figure != "mean" else "total", form.of, form.by)
        elif form.ask == "distinct":
            yield Form(ask, form.of, key=form.by)
        elif ask == "most sum":
            yield replace(form, ask=ask, of=Things(form.of.thing))
        elif not (ask == "group most" and form.figure):
            yield replace(form, ask=ask, number=counted, by=None if ask == "most linked" else form.by)
    if form.by is not None:
        owner = form.by.owner
        alike = [p for p in schema.of(owner, form.by.kind) if p != form.by]
        if form.ask == "get":
            alike = [p for p in schema.properties if p.owner == owner and p != form.by and p.kind != "flag"]
        yield from (replace(form, by=other) for other in rng.sample(alike, min(2, len(alike))))
    if form.ask == "order":
        yield replace(form, up=not form.up)
    if form.key is not None:
        keys = [key for key in drawing._keys(form.of.thing) if key != form.key]
        yield from (replace(form, key=key) for key in rng.sample(keys, min(2, len(keys))))
    if form.ask == "group having":
        yield from (replace(form, op=op) for op in OPPOSITE[form.op][:2])
        yield Form("group count", form.of, key=form.key)
    if form.figure:
        yield replace(form, figure={"mean": "total", "total": "mean", "max": "min", "min": "max"}[form.figure])
    if form.link is not None:
        steps = [
            (x, b) for x, b in schema.steps(form.of.thing.name) if (x.many or b) and (x, b) != (form.link, form.back)
        ]
        if form.by is None:
            yield from (replace(form, link=x, back=b) for x, b in steps[:2])
            yield from _other_side(form, drawing)
    for number, condition in enumerate(form.of.conditions):
        rest = form.of.conditions[:number] + form.of.conditions[number + 1 :]
        for other in _conditions(condition, drawing):
            yield replace(form, of=replace(form.of, conditions=(*form.of.conditions[:number], other, *rest[number:])))
        if rest or form.ask != "list":
            yield replace(form, of=replace(form.of, conditions=rest))
    if len(form.of.conditions) == 1:
        yield from _turned_around(form, form.of.conditions[0], drawing)
    if len(form.of.conditions) < 2 and form.of.named is None:
        more = drawing.condition(form.of.thing, deep=False)
        if more is not None and all(more.step != each.step for each in form.of.conditions):
            yield replace(form, of=replace(form.of, conditions=(*form.of.conditions, more)))


def _other_side(form: Form, drawing: Drawing) -> Iterator[Form]:
    """ "the author with the most books" and "the book with the most authors"."""
    assert form.link is not None
    if form.link.many:
        other = end_of(drawing.schema, form.link, form.back)
        yield replace(form, of=Things(other), back=not form.back)


def _turned_around(form: Form, condition: Condition, drawing: Drawing) -> Iterator[Form]:
    """Forms of the same words with another head: "books by the author", "prices of the books of the author"."""
    schema, rng, thing = drawing.schema, drawing.rng, form.of.thing
    found = schema.of(thing.name, "number", "category", "date", "text")
    if found and form.ask == "list":
        yield Form("get", form.of, rng.choice(found))
    if condition.kind == "inner" and condition.inner is not None:
        if form.ask in PLAIN:
            yield Form(form.ask, condition.inner)
        step = condition.step
        assert isinstance(step, Link)
        if step.owner == step.target:
            yield replace(form, of=Things(thing, (replace(condition, back=not condition.back),)))
    if condition.kind in ("than", "same") and isinstance(condition.step, Property):
        yield Form("get", Things(thing, named=condition.values[0]), condition.step)
    if condition.kind == "link" and isinstance(condition.step, Link):
        step, other = condition.step, end_of(schema, condition.step, condition.back)
        if step.owner == step.target:
            yield replace(form, of=Things(thing, (replace(condition, back=not condition.back),)))
        own = schema.of(other.name, "number", "category", "date")
        if own:
            yield Form("get", Things(other, named=condition.values[0]), rng.choice(own))
        onward = [(link, back) for link, back in schema.steps(other.name) if link != step]
        if onward:
            link, back = rng.choice(onward)
            yield Form(
                "list", Things(end_of(schema, link, back), (Condition("link", link, not back, "", condition.values),))
            )


def _conditions(condition: Condition, drawing: Drawing) -> Iterator[Condition]:
    schema, rng, step = drawing.schema, drawing.rng, condition.step
    yield from (replace(condition, op=op) for op in OPPOSITE.get(condition.op, ()))
    for kind in OTHER_KIND.get(condition.kind, ()):
        if kind == "is" and isinstance(step, Property) and step.kind != "category":
            kind = "compare"
        op = ">=" if kind == "tally" else rng.choice(("<", ">")) if kind == "compare" else ""
        values = (drawing.slots.count(rng),) if kind == "tally" else condition.values
        values = () if kind in ("none", "some") else values[:1] if kind in ("is", "link", "compare") else values
        if kind != "tally" or (isinstance(step, Link) and (step.many or condition.back)):
            yield replace(condition, kind=kind, op=op, values=values)
    if isinstance(step, Property):
        alike = [p for p in schema.of(step.owner, step.kind) if p != step]
        if step.kind != "category" and alike:
            other = rng.choice(alike)
            fits = step.unit == other.unit or condition.kind == "than" or not condition.values
            values = condition.values if fits else (drawing.slots.value(other, rng),) * len(condition.values)
            yield replace(condition, step=other, values=values, other=condition.other and step)
        if condition.kind == "than":
            units = [p for p in alike if p.unit == step.unit]
            if units and condition.other is None:
                yield replace(condition, other=rng.choice(units))
            elif condition.other is not None:
                yield replace(condition, other=None)
                yield replace(condition, step=condition.other, other=None)
        if condition.kind == "compare" and rng.random() < 0.5:
            yield replace(condition, kind="than", values=(drawing.slots.name(schema.things[step.owner], rng),))
        return
    here = schema.things[step.target if condition.back else step.owner]
    there = end_of(schema, step, condition.back)
    for link, back in schema.steps(here.name):
        if (link, back) != (step, condition.back) and end_of(schema, link, back) == there:
            yield replace(condition, step=link, back=back)
    if condition.inner is not None:
        for inner in list(_conditions(condition.inner.conditions[0], drawing))[:3]:
            yield replace(condition, inner=Things(condition.inner.thing, (inner,)))
