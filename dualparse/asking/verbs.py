"""Names of properties that are no nouns: "reports to", "managed by", "hired on", "opened".

In: what a property is called. Out: how it stands in a phrase, so that utterances read as English does.
"""

from __future__ import annotations

_ENDS = frozenset(["to", "by", "in", "of", "at", "on", "from", "with", "for"])
_MADE = frozenset(
    ["born", "built", "made", "bought", "sold", "sent", "paid", "held", "shot", "left", "begun", "known", "given"]
    + ["written", "taken", "lent", "due", "valid", "out", "back"]
)


def ends_open(phrase: str) -> bool:
    """Whether something has to follow.

    >>> ends_open("reports to"), ends_open("hire date"), ends_open("opened")
    (True, False, False)
    """
    return phrase.split()[-1] in _ENDS


def is_done(phrase: str) -> bool:
    """Whether it says what was done, alone or before a preposition.

    >>> is_done("hired on"), is_done("opened"), is_done("start date"), is_done("reports to")
    (True, True, False, False)
    """
    first = (bare(phrase).split() or [""])[-1]
    return first in _MADE or (first.endswith("ed") and len(first) > 4)


def bare(phrase: str) -> str:
    """Without the preposition at its end.

    >>> bare("hired on"), bare("opened")
    ('hired', 'opened')
    """
    return phrase.rpartition(" ")[0] if ends_open(phrase) and " " in phrase else phrase


def of_one(phrase: str) -> str:
    """After the name of one thing.

    >>> of_one("reports to"), of_one("handled by")
    ('reports to', 'is handled by')
    """
    return f"is {phrase}" if is_done(phrase) else phrase


def of_many(phrase: str) -> str:
    """After "that", of many things.

    >>> of_many("reports to"), of_many("managed by"), of_many("is based in")
    ('report to', 'are managed by', 'are based in')
    """
    first, _, rest = phrase.partition(" ")
    if first in ("is", "was"):
        return f"are {rest}"
    if is_done(phrase):
        return f"are {phrase}"
    plural = first[:-1] if first.endswith("s") and not first.endswith("ss") else first
    return f"{plural} {rest}"


def as_date(phrase: str) -> str:
    """As a noun, where it is a date.

    >>> as_date("hired on"), as_date("opened"), as_date("birth date"), as_date("customer since")
    ('hired date', 'opened date', 'birth date', 'customer since date')
    """
    if phrase.endswith((" since", " until")):
        return f"{phrase} date"
    return f"{bare(phrase)} date" if ends_open(phrase) or is_done(phrase) else phrase
