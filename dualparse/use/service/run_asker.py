"""A trained run as an `Asker`: the best reading that makes sense is the answer, with the others beside it.

In: a `Parser`. Out: `Reply`s. Denotations, which runs of every kind have in common, become rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress

from dualparse.asking.reply import ANSWERED, ERROR, REFUSED, Choice, Reply
from dualparse.domains.results import NONE, ROWS, VALUE, YES_NO, Plain, plain_value
from dualparse.domains.text import Reading
from dualparse.errors import InputError
from dualparse.lf import values
from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.verdict import Verdict
from dualparse.use.api import Parse, Parser
from dualparse.use.service.apart import execute

SECONDS = 1.0  # for a form
READINGS = 3  # that are looked at for an answer, and shown
NOTHING = ("(list)", "(table)", "(ranking)")
_PRINTED = re.compile(r"\((?:name|number|date|time|boolean|string|text) [^()]*\)|\(missing\)|\(text\)")
Cells = tuple[Plain, ...]


class RunAsker:
    """Answers questions with a trained run, from any number of threads at once."""

    def __init__(self, parser: Parser):
        self.parser = parser

    def ask(self, question: str) -> Reply:
        return self.ask_all([question])[0]

    def ask_all(self, questions: Sequence[str]) -> list[Reply]:
        """The same for many questions at once, which is much quicker; one without words is refused."""
        readings = [self._read(question) for question in questions]
        good = [reading for reading in readings if isinstance(reading, Reading)]
        found = iter(self.parser.parse_readings(good, k=READINGS))
        return [
            self._reply(question, next(found))
            if isinstance(reading, Reading)
            else Reply(question, REFUSED, reason=reading.message)
            for question, reading in zip(questions, readings, strict=True)
        ]

    def run(self, form: str, question: str = "") -> Reply:
        done = execute(self.parser.domain, form, seconds=SECONDS)
        return reply_of(form, question, done.verdict, done.answer)

    def close(self) -> None:
        """Nothing is held open."""

    def _read(self, question: str) -> Reading | InputError:
        try:
            return self.parser.read(question)
        except InputError as error:
            return error

    def _reply(self, question: str, parses: Sequence[Parse]) -> Reply:
        valid = [parse for parse in parses if parse.verdict.ok]
        if not valid:
            notes = parses[0].notes if parses else ()
            return Reply(question, REFUSED, reason="no reading of the question makes sense for this data", notes=notes)
        best, *others = valid
        choices = tuple(Choice(each.form, each.form, math.exp(each.score)) for each in others)
        reply = Reply(question, ANSWERED, form=best.form, probability=math.exp(best.score), notes=best.notes)
        return _answered(reply, best.answer, choices)


def reply_of(form: str, question: str, verdict: Verdict, denotation: str | None) -> Reply:
    """The reply to a form that somebody has chosen."""
    if not verdict.ok:
        return Reply(question, ERROR, form=form, reason=verdict.reason)
    return _answered(Reply(question, ANSWERED, form=form, probability=1.0), denotation)


def _answered(reply: Reply, denotation: str | None, choices: tuple[Choice, ...] = ()) -> Reply:
    columns, units, rows, kind = ((), (), (), "") if denotation is None else rows_of(denotation)
    return Reply(
        reply.question,
        ANSWERED,
        columns=columns,
        units=units,
        rows=rows,
        kind=kind,
        form=reply.form,
        probability=reply.probability,
        notes=reply.notes,
        choices=choices,
    )


def rows_of(denotation: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Cells, ...], str]:
    """Columns, units, rows and kind of a printed denotation.

    >>> rows_of("(list (name hut.marmot_hut) (name hut.gentian_hut))")
    (('hut',), ('',), (('marmot hut',), ('gentian hut',)), 'rows')
    >>> rows_of("(list (number 7.4 km))")
    (('value',), ('km',), ((7.4,),), 'value')
    >>> rows_of("(list)")
    ((), (), (), 'none')
    """
    lines = denotation.split("(row ")[1:] if denotation.startswith("(table") else _PRINTED.findall(denotation)
    table = [[_value(text) for text in _PRINTED.findall(line)] for line in lines]
    if not table:
        known = denotation.strip() in NOTHING
        return ((), (), (), NONE) if known else (("value",), ("",), ((denotation,),), ROWS)
    width = max(map(len, table))
    cells = [(*row, *[""] * (width - len(row))) for row in table]
    columns, units = zip(*(_column([row[i] for row in cells]) for i in range(width)), strict=True)
    rows = tuple(tuple(_plain(cell) for cell in row) for row in cells)
    return tuple(columns), tuple(units), rows, _kind(cells)


def _value(text: str) -> values.Value | str:
    """A value of a denotation; what is none stays text."""
    head, *parts = text[1:-1].split()
    if head == "name" and len(parts) == 1:
        return values.name(parts[0])
    if head in values.LITERALS:
        with suppress(LFSyntaxError):
            return values.read_literal((head, *parts))
    return "" if head == "missing" else values.unquoted(parts)


def _plain(cell: values.Value | str) -> Plain:
    return plain_value(cell, {}) if isinstance(cell, values.Value) else cell


def _column(cells: Sequence[values.Value | str]) -> tuple[str, str]:
    """Name and unit: what the cells have in common."""
    types = {cell.type.rpartition(".")[2] for cell in cells if isinstance(cell, values.Value) and cell.id}
    amounts = {cell.unit for cell in cells if isinstance(cell, values.Value) and cell.unit is not None}
    name = types.pop().replace("_", " ") if len(types) == 1 and not amounts else ""
    unit = (amounts.pop() or "").rpartition(".")[2] if len(amounts) == 1 and not types else ""
    return name or "value", "" if unit == "count" else unit


def _kind(cells: Sequence[Sequence[values.Value | str]]) -> str:
    if len(cells) == len(cells[0]) == 1 and isinstance(only := cells[0][0], values.Value):
        return YES_NO if only in (values.TRUE, values.FALSE) else VALUE if only.unit is not None else ROWS
    return ROWS
