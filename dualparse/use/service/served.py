"""What is served under one name: a connected folder, a run, or a domain; its `Asker`, and for a run its models.

In: requests' texts. Out: `Reply`s, and of models the plain results of `dualparse.use.api`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

from dualparse.asking.journal import Journal
from dualparse.asking.reply import Asker, Reply
from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.use.api import Parser
from dualparse.use.service.batching import Batcher
from dualparse.use.service.limits import Limits
from dualparse.use.service.models import Models, open_models, verbalizes
from dualparse.use.service.observing import Figures
from dualparse.use.service.paging import Remembered, page

EXAMPLES = 3  # entities shown of a type


@runtime_checkable
class AsksMany(Protocol):
    """An asker to whom many questions at once are less work than one by one."""

    def ask_all(self, questions: Sequence[str]) -> list[Reply]: ...


@dataclass(frozen=True)
class Type:
    """A type of entities: how many there are, 0 where nobody has counted, and some of their names."""

    name: str
    count: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class About:
    """What a newcomer is told: a title, a sentence, example questions, types of entities with their names."""

    domain: str
    title: str
    description: str = ""
    questions: tuple[str, ...] = ()
    types: tuple[Type, ...] = ()
    executes: bool = True


@dataclass(frozen=True)
class Target:
    """Something to serve; `parser` is None where there are no models."""

    about: About
    asker: Asker
    parser: Parser | None = None


def target_of(parser: Parser) -> Target:
    """A run as something to serve."""
    return Target(about(parser.domain), parser.asker, parser)


@dataclass(frozen=True)
class Served:
    """A target under its name, with its queues open."""

    name: str
    target: Target
    asking: Batcher[str, Reply]
    running: Batcher[tuple[str, str], Reply]
    opened: Models | None
    remembered: Remembered
    journal: Journal | None = None

    @property
    def queues(self) -> tuple[Batcher, ...]:
        return self.asking, self.running, *(self.opened.queues if self.opened else ())

    @property
    def models(self) -> Models:
        """The models of a run; `InputError` for a target that has none."""
        if self.opened is None:
            raise InputError(f"{self.name} has no trained models: POST /ask answers its questions")
        return self.opened

    @property
    def verbalizes(self) -> bool:
        return self.opened is not None and verbalizes(self.opened.parser)

    async def ask(self, question: str, limit: int) -> tuple[Reply, int]:
        """The reply with the first rows of its answer, and how many rows there are."""
        reply = await self.asking.submit(question)
        self.remembered.keep(reply)
        return page(reply, 0, limit), len(reply.rows)

    async def run(self, form: str, question: str, offset: int, limit: int) -> tuple[Reply, int]:
        """The same for a form, from any row on."""
        reply = await self.whole(form, question)
        return page(reply, offset, limit), len(reply.rows)

    async def whole(self, form: str, question: str) -> Reply:
        """The reply to a form with all rows."""
        if reply := self.remembered.get((form, question)):
            return reply
        if self.opened is not None and self.opened.parser.domain.answer is None:
            reply = await self.opened.answer(form)  # apart: what does not end must not run here
        else:  # in a database, which has limits of its own
            reply = await self.running.submit((form, question))
        reply = replace(reply, question=question, form=reply.form or form)
        self.remembered.keep(reply)
        return reply


@asynccontextmanager
async def open_target(
    name: str, target: Target, limits: Limits, figures: Figures, journal: Journal | None = None
) -> AsyncIterator[Served]:
    """A target with its queues open; leaving finishes what they accepted."""
    asker = target.asker
    many = isinstance(asker, AsksMany)

    def ask(questions: Sequence[str]) -> list[Reply]:
        if target.parser is not None:
            target.parser.keep_up()
        return asker.ask_all(questions) if isinstance(asker, AsksMany) else [asker.ask(each) for each in questions]

    def run(jobs: Sequence[tuple[str, str]]) -> list[Reply]:
        return [asker.run(form, question) for form, question in jobs]

    async with AsyncExitStack() as stack:
        asking = Batcher(
            ask,
            most=limits.batch if many else 1,
            room=limits.room,
            workers=limits.searches,
            seen=figures.batches.labels(name, "ask").observe,
        )
        running = Batcher(run, most=1, room=limits.room)
        models = None
        if target.parser is not None:
            models = await stack.enter_async_context(open_models(name, target.parser, limits, figures))
        await stack.enter_async_context(asking)
        await stack.enter_async_context(running)
        yield Served(name, target, asking, running, models, Remembered(), journal)


def about(domain: Domain) -> About:
    """What a domain tells of itself."""
    types = tuple(
        Type(name, len(entities), tuple(entities[:EXAMPLES])) for name, entities in entity_types(domain).items()
    )
    executes = domain.execute is not None
    return About(domain.name, domain.title, domain.description, tuple(domain.questions), types, executes)


def connected_target(folder: Path) -> Target:
    """A connected folder as something to serve. Without example questions of its own it has some that it can answer."""
    from dualparse.asking.asker import open_asker
    from dualparse.asking.example_questions import example_questions

    asker = open_asker(folder)
    described, tables = asker.connected.description, asker.connected.database.tables
    questions = described.questions or example_questions(asker)
    types = tuple(Type(table.name, table.rows or 0) for table in tables)
    title = described.title or described.name
    return Target(About(described.name, title, described.description, tuple(questions), types), asker)


def entity_types(domain: Domain) -> dict[str, list[str]]:
    """Types of the entities that questions can name, with the entities.

    A type stands before the last dot (`hut.marmot_hut`) or behind a colon (`boston:ci`).
    """
    found: dict[str, list[str]] = defaultdict(list)
    for entity in sorted(domain.lexicon.entities):
        front, colon, back = entity.rpartition(":")
        kind = back if colon else entity.rpartition(".")[0]
        found[kind or "other"].append(front or entity)
    return dict(found)
