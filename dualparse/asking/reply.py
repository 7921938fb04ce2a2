"""What a user gets for a question: an answer, two or three readings to choose from, or a refusal with its reason.

In: an executor's `Answer`, and how sure the one who asked it is. Out: a `Reply` of plain values, the same for the
library, the command line, the service and the page.

>>> reply = Reply("how many huts are there", ANSWERED, columns=("number of huts",), rows=((4,),), probability=0.97)
>>> reply.to_dicts()
[{'number of huts': 4}]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any, Protocol

from dualparse.domains.results import Answer, Column, Plain
from dualparse.errors import InputError

ANSWERED, AMBIGUOUS, REFUSED, ERROR = "answered", "ambiguous", "refused", "error"


@dataclass(frozen=True, slots=True)
class Choice:
    """One reading of a question: its form, what it says in plain words, and how likely it is meant."""

    form: str
    said: str
    probability: float


@dataclass(frozen=True)
class Reply:
    """The outcome of a question.

    status       "answered"; "ambiguous": `choices` holds the readings; "refused": `reason` says why; "error": the
                 reading is clear, but the database could not answer it
    columns      names of the columns; units: the unit of each, "" without one
    rows         plain values, labels in the place of ids
    kind         "rows", "value", "yes_no" or "none", as in `Answer`; "" without an answer
    form, sql    what ran; "" where nothing did, and where no statement did
    said         the form in plain words: what was understood
    probability  that the answer is right, of a refusal that the best reading would have been
    notes        what was guessed on the way
    choices      the readings, likeliest first; of an answer the others that were close
    truncated    whether there are more rows
    """

    question: str
    status: str
    columns: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    rows: tuple[tuple[Plain, ...], ...] = ()
    kind: str = ""
    form: str = ""
    sql: str = ""
    said: str = ""
    probability: float = 0.0
    reason: str = ""
    notes: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    truncated: bool = False

    @property
    def answered(self) -> bool:
        """Whether there is an answer, of which `rows` may be empty: "none" is one."""
        return self.status == ANSWERED

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, told: dict[str, Any]) -> Reply:
        """What `to_dict` told, also after it went through JSON."""
        rows, choices = tuple(map(tuple, told["rows"])), tuple(Choice(**choice) for choice in told["choices"])
        lists = {name: tuple(told[name]) for name in ("columns", "units", "notes")}
        return cls(**told | lists | {"rows": rows, "choices": choices})

    def to_dicts(self) -> list[dict[str, Plain]]:
        """A dictionary for every row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> Any:
        """The rows as a DataFrame of pandas."""
        return _library("pandas").DataFrame(list(self.rows), columns=list(self.columns))

    def to_arrow(self) -> Any:
        """The rows as a Table of Arrow; a column of mixed values becomes text."""
        arrow = _library("pyarrow")
        columns = [list(column) for column in zip(*self.rows, strict=True)] if self.rows else [[] for _ in self.columns]
        return arrow.table({name: arrow.array(_alike(each)) for name, each in zip(self.columns, columns, strict=True)})


class Asker(Protocol):
    """Whatever answers questions: a connected folder, a trained run, a benchmark's domain."""

    def ask(self, question: str) -> Reply: ...

    async def ask_async(self, question: str) -> Reply:
        """The same for programs that await: others go on meanwhile."""
        from asyncio import to_thread  # here: it takes longer to load than some answers

        return await to_thread(self.ask, question)

    def run(self, form: str, question: str = "") -> Reply:
        """The answer to a form, for whoever has chosen among readings."""
        ...

    def close(self) -> None: ...


def answered(reply: Reply, answer: Answer, columns: Sequence[str] = ()) -> Reply:
    """A reply with what its form came to, under names of `columns` that people read; else under those of the answer."""
    told = answer.columns
    if len(columns) == len(told):
        told = tuple(replace(column, name=name) for column, name in zip(told, columns, strict=True))
    return replace(
        reply,
        status=ANSWERED,
        columns=distinct(told),
        units=tuple(column.unit for column in answer.columns),
        rows=tuple(answer.values),
        kind=answer.kind,
        sql=answer.sql or reply.sql,
        truncated=answer.truncated,
    )


def distinct(columns: Sequence[Column]) -> tuple[str, ...]:
    """Names of columns that differ.

    >>> distinct([Column("name", "text"), Column("name", "text")])
    ('name', 'name 2')
    """
    found: list[str] = []
    for column in columns:
        name, number = column.name.replace("_", " "), 2
        while name in found:
            name, number = f"{column.name.replace('_', ' ')} {number}", number + 1
        found.append(name)
    return tuple(found)


def _alike(values: list[Plain]) -> list[Plain]:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1 or kinds <= {int, float}:
        return values
    return [None if value is None else str(value) for value in values]


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise InputError(f"{name} is not installed: pip install {name}") from None
