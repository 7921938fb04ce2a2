"""The models of a run as the service holds them: the parser, and a queue for each thing it can be asked.

In: requests' texts. Out: the plain results of `dualparse.use.api`. Questions are searched together; what has no batched
form (wordings, whose phrases are drawn anew for each form, explanations) runs one by one in its own thread. Forms that
callers send are executed apart from all that: see `dualparse.use.service.apart`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from dualparse.asking.reply import Reply
from dualparse.domains.text import Reading
from dualparse.errors import InputError
from dualparse.use.api import Parser
from dualparse.use.parses import Explanation, Parse, Wording
from dualparse.use.service.apart import Executed, Pool
from dualparse.use.service.batching import Batcher, Job, Result
from dualparse.use.service.limits import Limits
from dualparse.use.service.observing import Figures


@dataclass(frozen=True)
class Asked:
    """A question, and how many readings of it are wanted."""

    question: str
    k: int


@dataclass(frozen=True)
class Models:
    """The models of the run of this name, with their queues open."""

    name: str
    parser: Parser
    parsing: Batcher[Asked, list[Parse] | InputError]
    wording: Batcher[tuple[str, int], list[Wording]]
    explaining: Batcher[tuple[str, str | None], Explanation]
    executing: Batcher[str, Executed]
    answering: Batcher[str, Reply]

    @property
    def queues(self) -> tuple[Batcher, ...]:
        return self.parsing, self.wording, self.explaining, self.executing, self.answering

    async def parse(self, question: str, k: int) -> list[Parse]:
        found = await self.parsing.submit(Asked(question, k))
        if isinstance(found, InputError):
            raise found
        return found

    async def verbalize(self, form: str, k: int) -> list[Wording]:
        if not verbalizes(self.parser):
            raise InputError(f"the run {self.name} cannot say forms in words: its recipe trains no lf2q model")
        return await self.wording.submit((form, k))

    async def explain(self, question: str, form: str | None) -> Explanation:
        return await self.explaining.submit((question, form))

    async def execute(self, form: str) -> Executed:
        return await self.executing.submit(form)

    async def answer(self, form: str) -> Reply:
        """The rows of a form, by the same processes."""
        return await self.answering.submit(form)


@asynccontextmanager
async def open_models(name: str, parser: Parser, limits: Limits, figures: Figures) -> AsyncIterator[Models]:
    """A run's models with their queues open; leaving finishes what they accepted."""
    beams = parser.recipe.search.beams

    def width(asked: Asked) -> int:
        """Questions that are searched equally wide are searched together: neighbours never change an answer."""
        return max(asked.k, beams)

    def parse(batch: Sequence[Asked]) -> list[list[Parse] | InputError]:
        readings = [_read(parser, asked.question) for asked in batch]
        good = [reading for reading in readings if isinstance(reading, Reading)]
        found = iter(parser.parse_readings(good, k=max(asked.k for asked in batch)))
        return [
            next(found)[: asked.k] if isinstance(reading, Reading) else reading
            for asked, reading in zip(batch, readings, strict=True)
        ]

    async with AsyncExitStack() as stack:
        pool = Pool(parser.domain, parser.asker.sayer, count=limits.form_processes, seconds=limits.form_seconds)
        stack.callback(pool.close)  # when the queues are empty
        await pool.start()

        async def queue(work: Callable[[Sequence[Job]], Sequence[Result]], workers: int = 1) -> Batcher[Job, Result]:
            return await stack.enter_async_context(Batcher(work, most=1, room=limits.room, workers=workers))

        parsing = Batcher(
            parse,
            most=limits.batch,
            room=limits.room,
            workers=limits.searches,
            alike=width,
            seen=figures.batches.labels(name, "parse").observe,
        )
        yield Models(
            name,
            parser,
            await stack.enter_async_context(parsing),
            await queue(lambda jobs: [parser.verbalize(form, k=k) for form, k in jobs]),
            await queue(lambda jobs: [parser.explain(question, form) for question, form in jobs]),
            await queue(lambda forms: [pool.execute(form) for form in forms], workers=pool.size),
            await queue(lambda forms: [pool.answer(form) for form in forms], workers=pool.size),
        )


def _read(parser: Parser, question: str) -> Reading | InputError:
    """A question's words, or why it has none; it must not stop those it waits with."""
    try:
        return parser.read(question)
    except InputError as error:
        return error


def verbalizes(parser: Parser) -> bool:
    return "lf2q" in parser.recipe.stages or parser.run.weights("lf2q").exists()


def make_ready(parser: Parser) -> None:
    """Load the models and use them once: the first caller should not wait for that."""
    question = next(iter(parser.domain.questions), "hello")
    best = parser.parse(question, k=1)[0]
    if verbalizes(parser) and best.verdict.surface:
        parser.verbalize(best.form)
