"""Batches to learn from: questions about one schema, with the wordings of all forms they must be told apart from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.adapter.forms import Drawing, Form
from benchmarks.adapter.names import Slots
from benchmarks.adapter.near import near
from benchmarks.adapter.schema import Schema
from benchmarks.adapter.voices.questions import Voices
from benchmarks.adapter.wording import Wording, draw_style


@dataclass(frozen=True)
class Batch:
    """Questions, candidates, and which candidate each question means."""

    questions: tuple[str, ...]
    candidates: tuple[str, ...]
    meant: tuple[int, ...]


def draw_batch(schemas: Sequence[Schema], rng: random.Random, *, forms: int, voices: int, nearest: int) -> Batch:
    """So many forms of one schema, each asked for in so many voices, beside so many forms near to each."""
    schema = rng.choice(schemas)
    drawing = Drawing(schema, Slots(masked=rng.random() < 0.5), rng)
    word, ask = Wording(draw_style(rng)), Voices(schema, rng)
    questions: list[str] = []
    meant: list[int] = []
    places: dict[str, int] = {}
    for form in _forms(drawing, forms):
        place = places.setdefault(word(form), len(places))
        others = near(form, drawing)
        for other in rng.sample(others, min(nearest, len(others))):
            places.setdefault(word(other), len(places))
        for _ in range(voices):
            questions.append(ask(form))
            meant.append(place)
    return Batch(tuple(questions), tuple(places), tuple(meant))


def _forms(drawing: Drawing, count: int) -> list[Form]:
    """Forms drawn by chance, and beside every other one a form near to it."""
    found: list[Form] = []
    while len(found) < count:
        form = drawing.form()
        found.append(form)
        others = near(form, drawing)
        if others and drawing.rng.random() < 0.5:
            found.append(drawing.rng.choice(others))
    return found[:count]
