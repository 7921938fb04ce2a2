"""An asker that needs no data: what it replies stands in the question."""

from __future__ import annotations

import threading

from dualparse.asking.reply import AMBIGUOUS, ANSWERED, ERROR, REFUSED, Choice, Reply
from dualparse.errors import InputError
from dualparse.use.service.served import About, Target, Type

NAMES = ("Ferry", "Salt", "Winter Ledger", "=Dust", "O'Hara & <Sons>")
CHOICES = (
    Choice("( all film )", "all films", 0.48),
    Choice("( all genre )", "all genres", 0.41),
)


class FakeAsker:
    """Counts what it is asked; never asked by two threads at once."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.ran: list[str] = []
        self.closed = False
        self._busy = threading.Lock()

    def ask(self, question: str) -> Reply:
        assert self._busy.acquire(blocking=False), "two threads at once"
        try:
            self.asked.append(question)
            return self._reply(question)
        finally:
            self._busy.release()

    def _reply(self, question: str) -> Reply:
        if "capital" in question:
            return Reply(
                question,
                REFUSED,
                said="films whose title is France",
                probability=0.07,
                reason="nobody here knows the word 'capital'",
            )
        if "one kind" in question:
            return Reply(question, AMBIGUOUS, choices=CHOICES[:1], probability=0.3)
        if "kinds" in question:
            return Reply(question, AMBIGUOUS, choices=CHOICES, probability=0.48)
        if "broken" in question:
            return Reply(question, ERROR, form="( all film )", said="all films", reason="the database does not answer")
        if "unusable" in question:
            raise InputError("the question cannot be used")
        if "many" in question:
            return self.rows(question, 1_000)
        if "dozen" in question:
            return self.rows(question, 12)
        if "none" in question:
            return Reply(question, ANSWERED, form="( none )", said="films of 1850", kind="none", probability=0.9)
        if "how many" in question or "count" in question:
            return self._value(question)
        return self.rows(question, len(NAMES))

    def _value(self, question: str) -> Reply:
        return Reply(
            question,
            ANSWERED,
            columns=("running minutes",),
            units=("minute",),
            rows=((5,),),
            kind="value",
            form="( count ( all film ) )",
            said="the number of films",
            probability=0.97,
        )

    def rows(self, question: str, count: int) -> Reply:
        rows = tuple((NAMES[i % len(NAMES)], 80 + i, f"19{i % 100:02}-03-01", i % 2 == 0) for i in range(count))
        return Reply(
            question,
            ANSWERED,
            columns=("film", "running", "released", "seen"),
            units=("", "minute", "", ""),
            rows=rows,
            kind="rows",
            form="( select ( all film ) running )" if count < 100 else "( all film )",
            sql='SELECT "title", "running" FROM "films"',
            said="all films with their running time",
            probability=0.93,
            notes=("read 'flims' as 'films'",) if "flims" in question else (),
            choices=CHOICES[1:],
        )

    def run(self, form: str, question: str = "") -> Reply:
        self.ran.append(form)
        if form == "( broken":
            return Reply(question, ERROR, form=form, reason="a parenthesis is missing")
        return self.rows(question, 1_000 if form == "( all film )" else 3)

    def close(self) -> None:
        self.closed = True


ABOUT = About(
    "films",
    "Films of a shop",
    "A database of films.",
    ("which films are there", "how many films are there", "which kinds are there"),
    (Type("film", len(NAMES), NAMES[:3]), Type("genre", 2, ("Drama", "Comedy"))),
)


def target(asker: FakeAsker | None = None) -> Target:
    return Target(ABOUT, asker or FakeAsker())
