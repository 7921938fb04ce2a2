"""A compiled form. In: a SELECT and its parameters. Out: its text in any dialect, and what its columns hold."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from dualparse.domains import nodes as n
from dualparse.domains.results import Column

POSITIONAL = ("trino",)  # engines that know no names of parameters
_MARK = "dualparse_parameter_"


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

    @property
    def positions(self) -> tuple[str, ...]:
        """Of an engine whose parameters are all `?`: their names, in the order in which the marks stand."""
        if self.dialect not in POSITIONAL:
            return ()
        return tuple(re.findall(rf"{_MARK}(\w+)", self._marked().sql(dialect=self.dialect)))

    def sql(self, *, pretty: bool = False, limit: int | None = None, letters: str = "") -> str:
        """The text; `limit` is put around what has no smaller one, `letters` is the collation by which LOWER goes."""
        positional = self.dialect in POSITIONAL
        select = self._marked() if positional else self.select.copy()
        if limit is not None and select.args.get("limit") is None:
            select = select.limit(limit, copy=False)
        for lower in list(select.find_all(exp.Lower)) if letters else ():
            lower.set("this", exp.Collate(this=lower.this, expression=exp.to_identifier(letters, quoted=True)))
        text = select.sql(dialect=self.dialect, pretty=pretty, copy=False)
        return re.sub(rf":{_MARK}\w+", "?", text) if positional else text

    def _marked(self) -> exp.Query:
        """The SELECT with parameters that can be told from anything else in its text."""
        select = self.select.copy()
        for placeholder in list(select.find_all(exp.Placeholder)):
            placeholder.replace(exp.Placeholder(this=f"{_MARK}{placeholder.name}"))
        return select
