"""An MCP server with three tools: `ask` a question, `explain` a form, and the `schema` of what can be asked about.

In: a connected folder, a run, or whatever else the service can serve. Out: a server of the official SDK, which speaks
with an assistant over standard input and output. Nothing is changed by any tool, and nothing is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

import dualparse
from dualparse.asking.reply import Reply
from dualparse.domains.plain import schema_of
from dualparse.domains.schema import Declaration, Schema
from dualparse.domains.world import World
from dualparse.errors import InputError
from dualparse.use.service.apart import answer
from dualparse.use.service.limits import MAX_FORM, MAX_QUESTION
from dualparse.use.service.paging import MOST_PAGE
from dualparse.use.service.paging import page as rows_of
from dualparse.use.service.schemas import ChoiceOut, ReplyOut
from dualparse.use.service.served import Target

ROWS = 50  # of an answer, unless more are asked for: an assistant reads every one
FORM_SECONDS = 5.0
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

Question = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION, description="A question in plain English.")]
Form = Annotated[str, Field(min_length=1, max_length=MAX_FORM, description="A form, as `ask` gives it.")]
Rows = Annotated[int, Field(strict=True, ge=1, le=MOST_PAGE, description="Rows at most.")]


class Told(ReplyOut):
    """An answer, readings to choose from, or a refusal."""

    choices: list[ChoiceOut] = Field(description="Other readings; `explain` with the form of one gives its answer.")
    total: int = Field(description="Rows there are; only the first are given.")


class _Part(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class Property(_Part):
    name: str
    kind: str = Field(description="number, text, date, time, boolean, or the type of things it leads to.")
    unit: str


class Type(_Part):
    name: str
    count: int = Field(description="How many things there are; 0 where nobody has counted.")
    examples: list[str]
    properties: list[Property]


class About(_Part):
    title: str
    description: str
    questions: list[str] = Field(description="Questions that can be answered, as examples.")
    types: list[Type]


def make_server(target: Target) -> MCPServer:
    """The server for one target."""
    about = target.about
    server = MCPServer(
        "dualparse",
        title=about.title,
        version=dualparse.__version__,
        instructions=f"Answers questions about: {about.title}. {about.description} Check `said`, what was understood, "
        "before using an answer; where the status is ambiguous, ask the user which of the choices is meant.",
        log_level="WARNING",
    )

    @server.tool(annotations=READS)
    def ask(question: Question, limit: Rows = ROWS) -> Told:
        """Ask a question in plain English about the data. The reply says what was understood and how likely it is
        right; it may hold readings to choose from, or the reason why there is no answer."""
        return _told(lambda: target.asker.ask(question), limit)

    @server.tool(annotations=READS)
    def explain(form: Form, question: str = "", limit: Rows = ROWS) -> Told:
        """Say what a form means in plain words, with its SQL statement where there is one, and run it. Use it to take
        one of the readings that `ask` offers."""
        return _told(lambda: _run(target, form, question), limit)

    @server.tool(annotations=READS)
    def schema() -> About:
        """The types of things in the data with their properties, and example questions: what can be asked about."""
        return About(
            title=about.title,
            description=about.description,
            questions=list(about.questions),
            types=list(_types(target)),
        )

    return server


def _told(reply_of: Callable[[], Reply], limit: int) -> Told:
    """A reply with the first of its rows; what cannot be used is the assistant's error, not ours."""
    try:
        reply = reply_of()
    except InputError as error:
        raise ToolError(error.message) from None
    return Told(total=len(reply.rows), **asdict(rows_of(reply, 0, limit)))


def _run(target: Target, form: str, question: str) -> Reply:
    """The reply to a form; one that would not end is stopped, where a database has no limits of its own."""
    if target.parser is None or target.parser.domain.answer is not None:
        return target.asker.run(form, question)
    sayer = target.parser.asker.sayer
    reply = answer(target.parser.domain, sayer, form, seconds=FORM_SECONDS)
    return replace(reply, question=question, said=sayer.say(form) if reply.answered else "")


def _types(target: Target) -> Iterable[Type]:
    declared = _schema(target)
    counted = {each.name: each for each in target.about.types}
    for name in dict.fromkeys([*counted, *(declared.types if declared else ())]):
        known = counted.get(name)
        yield Type(
            name=name,
            count=known.count if known else 0,
            examples=list(known.examples) if known else [],
            properties=[_property(each) for (owner, _), each in declared.properties.items() if owner == name]
            if declared
            else [],
        )


def _property(each: Declaration) -> Property:
    return Property(name=each.name, kind=each.kind, unit=each.unit)


def _schema(target: Target) -> Schema | None:
    """Types and properties, where the language of the forms declares them."""
    if target.parser is None:
        from dualparse.asking.asker import FolderAsker

        return target.asker.connected.database.schema if isinstance(target.asker, FolderAsker) else None
    domain = target.parser.domain
    declared = domain.ontology if isinstance(domain.ontology, Schema) else None
    return schema_of(domain.world, declared) if isinstance(domain.world, World) else declared
