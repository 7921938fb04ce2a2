"""A compiled form. In: a SELECT and its parameters. Out: its text in any dialect, and what its columns hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dualparse.domains import nodes as n
from dualparse.domains.results import Column


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the answer, and the columns of the SELECT that make it: a thing's key and label, or one value."""

    column: Column
    storage: str = ""
    key: int = 0
    label: int = 0

    @property
    def width(self) -> int:
        """How many columns of the SELECT it takes."""
        return self.key + self.label or 1


@dataclass(frozen=True)
class Statement:
    """One SELECT with bound parameters."""

    select: exp.Query
    parameters: Mapping[str, object]
    outputs: tuple[Output, ...]
    node: n.Node
    dialect: str

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the answer."""
        return tuple(output.column for output in self.outputs)

    def sql(self, *, pretty: bool = False, limit: int | None = None) -> str:
        """The text; `limit` is put around what has no smaller one."""
        select = self.select
        if limit is not None and select.args.get("limit") is None:
            select = select.limit(limit)
        return select.sql(dialect=self.dialect, pretty=pretty)
