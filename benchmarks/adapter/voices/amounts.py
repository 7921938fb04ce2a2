"""How people compare: "over 5 km", "5 km or longer", "no later than may", "as tall as the other"."""

from __future__ import annotations

import random

from benchmarks.adapter.english import plural
from benchmarks.adapter.names import Slot
from benchmarks.adapter.schema import Property
from benchmarks.adapter.voices.phrases import compared, families

AMOUNTS, DATES, TIMES = compared("number"), compared("date"), compared("time")
NUMBERS_THAN, DATES_THAN = compared("number than"), compared("date than")
RANGES = (
    "between {a} and {b}",
    "between {a} and {b}",
    "from {a} to {b}",
    "{a} to {b}",
    "{a} - {b}",
    "in the range {a} to {b}",
)
HIGH = "highest|largest|greatest|biggest|most|top|maximum"
LOW = "lowest|smallest|least|minimum"
LATE, EARLY = "latest|most recent|newest|last", "earliest|oldest|first"


def pick(text: str, rng: random.Random) -> str:
    return rng.choice(text.split("|"))


def value(slot: Slot, step: Property, rng: random.Random) -> str:
    """A number with its unit as people write it, or without."""
    if step.kind != "number" or rng.random() < (0.35 if slot.masked else 0.2):
        return slot.text
    if step.family in ("count", "score"):
        return slot.text
    written = families()["units"].get(step.unit) or (plural(step.unit) if step.unit else "",)
    unit = rng.choice(written)
    return f"${slot.text}" if unit == "$" else f"{slot.text} {unit}".strip()


def amount(op: str, step: Property, slot: Slot, rng: random.Random) -> str:
    """ "over 5 km", "after may"; for a family that has comparatives "5 km or longer" too."""
    v = value(slot, step, rng)
    if step.kind in ("date", "time"):
        table = TIMES.get(op) if step.kind == "time" else None
        return pick(table or DATES[op], rng).format(v=v)
    words = families().get(step.family, {})
    if op in (">=", "<=") and "more" in words and rng.random() < 0.2:
        return f"{v} or {rng.choice(words['more' if op == '>=' else 'less'])}"
    return pick(AMOUNTS[op], rng).format(v=v)


def than(op: str, step: Property, rng: random.Random) -> str:
    """A comparative that needs no verb but "is": "longer than", "not heavier than"; "" where there is none."""
    words = families().get(step.family, {})
    if "more" not in words or op in ("=", "!="):
        return ""
    more, less = rng.choice(words["more"]), rng.choice(words["less"])
    return {
        ">": f"{more} than",
        "<": f"{less} than",
        ">=": f"{rng.choice(('no', 'not'))} {less} than",
        "<=": f"{rng.choice(('no', 'not'))} {more} than",
    }[op]


def adjective(step: Property) -> str:
    """ "long" of a length, as in "how long is it"; "" where there is none."""
    for ask in families().get(step.family, {}).get("ask", ()):
        words = ask.split()
        if ask.startswith("how ") and ask.endswith(" is {x}") and len(words) == 4:
            return words[1]
    return ""


def as_much(op: str, step: Property, x: str, p: str, rng: random.Random) -> str:
    """Behind "is": compared with the same property of another thing."""
    long, words = adjective(step), families().get(step.family, {})
    more, less = (rng.choice(words[side]) if side in words else "" for side in ("more", "less"))
    if not long or long in ("much", "many", "well"):
        return ""
    return pick(
        {
            ">": f"{more} than {x}|{more} than {x}|even {more} than {x}|not as {long} as {x} but {more}",
            "<": f"{less} than {x}|{less} than {x}|not as {long} as {x}|less {long} than {x}",
            ">=": f"at least as {long} as {x}|as {long} as {x} or {more}|not {less} than {x}|no {less} than {x}"
            f"|as {long} as or {more} than {x}|the same {p} as {x} or {more}",
            "<=": f"at most as {long} as {x}|as {long} as {x} or {less}|not {more} than {x}|no {more} than {x}"
            f"|as {long} as or {less} than {x}|the same {p} as {x} or {less}",
            "=": f"as {long} as {x}|just as {long} as {x}|exactly as {long} as {x}|equally {long} as {x}",
            "!=": f"not exactly as {long} as {x}|{more} or {less} than {x}",
        }[op],
        rng,
    )
