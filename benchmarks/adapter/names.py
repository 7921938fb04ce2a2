"""Names and numbers that forms speak of: a few for each type of a schema, so that candidates share them.

`masked` slots read "[author]", "[number]", "[year]", as a question does in which names were found; others are invented.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from benchmarks.adapter.schema import Property, Thing
from benchmarks.adapter.voices.phrases import parts_of_names

WORDS = parts_of_names()


@dataclass(frozen=True)
class Slot:
    """A name, number or date as it stands in a question, and what it is the name of."""

    text: str
    kind: str = ""
    masked: bool = False


@dataclass
class Slots:
    """The names of one batch: a few of each kind, made when they are first asked for."""

    masked: bool
    many: int = 2
    made: dict[str, tuple[Slot, ...]] = field(default_factory=dict)

    def _few(self, key: str, kind: str, rng: random.Random, make: object) -> tuple[Slot, ...]:
        if key not in self.made:
            if self.masked:
                self.made[key] = (Slot(f"[{kind}]", kind, True),)
            else:
                texts = [make(rng) for _ in range(self.many)]  # type: ignore[operator]
                self.made[key] = tuple(Slot(text, kind) for text in dict.fromkeys(texts))
        return self.made[key]

    def name(self, thing: Thing, rng: random.Random) -> Slot:
        return rng.choice(self._few(thing.name, thing.name, rng, lambda r: name_of(thing, r)))

    def names(self, thing: Thing, count: int, rng: random.Random) -> tuple[Slot, ...]:
        found = self._few(thing.name, thing.name, rng, lambda r: name_of(thing, r))
        return tuple(rng.sample(found, min(count, len(found)))) if not self.masked else found * count

    def categories(self, step: Property, count: int, rng: random.Random) -> tuple[Slot, ...]:
        if self.masked:
            return (Slot(f"[{step.name}]", step.name, True),) * count
        return tuple(Slot(value, step.name) for value in rng.sample(step.values, count))

    def count(self, rng: random.Random) -> Slot:
        if self.masked:
            return Slot("[number]", "number", True)
        return rng.choice(
            self._few(
                "few", "number", rng, lambda r: r.choice(["2", "3", "4", "5", "10", "two", "three", "four", "five"])
            )
        )

    def value(self, step: Property, rng: random.Random, *, again: bool = False) -> Slot:
        """A number, date or time that a property is compared with."""
        if step.kind == "number":
            return self._numbers(step, rng)[-1 if again else 0]
        key = f"{step.kind} {'again' if again else ''}"
        if step.kind == "time":
            return rng.choice(self._few(key, "time", rng, lambda r: f"{r.randint(1, 12)} {r.choice(('am', 'pm'))}"))
        kind = "year" if rng.random() < 0.6 else "date" if rng.random() < 0.5 else "month"
        return rng.choice(self._few(f"{key} {kind}", kind, rng, lambda r: date_of(kind, r)))

    def _numbers(self, step: Property, rng: random.Random) -> tuple[Slot, ...]:
        key = f"number of {step.unit or step.family}"
        if key not in self.made and not self.masked:
            low = rng.choice((2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 500, 1500))
            self.made[key] = (Slot(str(low), "number"), Slot(str(low * rng.choice((2, 3))), "number"))
        return self.made.setdefault(key, (Slot("[number]", "number", True),))


def name_of(thing: Thing, rng: random.Random) -> str:
    """An invented name, as things of this sort are named."""
    two = f"{rng.choice(WORDS['adjective'])} {rng.choice(WORDS['noun'])}"
    kinds = {
        "person": lambda: _first(rng) if rng.random() < 0.5 else f"{_first(rng)} {rng.choice(WORDS['last'])}",
        "place": lambda: f"{rng.choice(WORDS['before place'])} {rng.choice(WORDS['place'])}",
        "company": lambda: f"{rng.choice((*WORDS['last'], *WORDS['noun']))} {rng.choice(WORDS['firm'])}",
        "title": lambda: two if rng.random() < 0.6 else f"the {two}",
        "item": lambda: f"{rng.choice(WORDS['noun'])} {rng.randint(1, 9)}" if rng.random() < 0.5 else two,
        "animal": lambda: _first(rng),
        "code": lambda: f"{thing.name} {rng.randint(1, 40)}",
    }
    return kinds[thing.names]()


def _first(rng: random.Random) -> str:
    return rng.choice(WORDS["first"])


def date_of(kind: str, rng: random.Random) -> str:
    month, year = rng.choice(WORDS["month"]), str(rng.randint(1950, 2024))
    if kind == "year":
        return year
    if kind == "month":
        return f"{month} {year}" if rng.random() < 0.5 else month
    return f"{month[:3] if rng.random() < 0.5 else month} {rng.randint(1, 28)}"
