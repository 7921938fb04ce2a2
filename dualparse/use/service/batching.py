"""Micro-batching: the jobs of many callers in, one call of a slow function for all that wait together, results out.

The function runs in worker threads; what arrives while all are busy forms the next batch, and idle workers share what
waits. Before a batch starts, the batcher waits while more keeps arriving: callers that were answered together ask again
together. A batch that fails is run again one by one, so that one bad job harms no other.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")

PAUSE = 0.002  # seconds without a newcomer after which a batch starts
LONGEST_WAIT = 0.02  # seconds after which it starts in any case


class NoRoom(Exception):
    """Too many jobs wait, or the batcher is closing: the caller should try again later."""


@dataclass(frozen=True, eq=False)
class _Ticket(Generic[Job, Result]):
    job: Job
    result: asyncio.Future[Result]


class Batcher(Generic[Job, Result]):
    """Use as `async with Batcher(...) as batcher: await batcher.submit(job)`. Leaving it finishes what was accepted.

    work     as many results as jobs, in their order
    most     jobs in one call
    room     jobs that may wait; one more is refused with `NoRoom`
    workers  calls at the same time
    alike    only jobs for which this gives the same go into one call
    seen     is told the size of every batch
    """

    def __init__(
        self,
        work: Callable[[Sequence[Job]], Sequence[Result]],
        *,
        most: int,
        room: int,
        workers: int = 1,
        alike: Callable[[Job], Hashable] = lambda job: None,
        seen: Callable[[int], object] = lambda size: None,
    ):
        self._work, self._most, self._room, self._alike, self._seen = work, most, room, alike, seen
        self._workers = self._idle = workers
        self._tickets: deque[_Ticket[Job, Result]] = deque()
        self._changed = asyncio.Event()
        self._closing = False

    async def __aenter__(self) -> Batcher[Job, Result]:
        self._threads = ThreadPoolExecutor(self._workers)
        self._loops = [asyncio.create_task(self._serve()) for _ in range(self._workers)]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._closing = True
        self._changed.set()
        await asyncio.gather(*self._loops)
        self._threads.shutdown()

    @property
    def waiting(self) -> int:
        return len(self._tickets)

    @property
    def full(self) -> bool:
        """Whether one more job would be refused."""
        return self._closing or len(self._tickets) >= self._room

    async def submit(self, job: Job) -> Result:
        """The job's result, or the error its own run raised. A caller that is cancelled gives its place away."""
        if self.full:
            raise NoRoom
        ticket: _Ticket[Job, Result] = _Ticket(job, asyncio.get_running_loop().create_future())
        self._tickets.append(ticket)
        self._changed.set()
        try:
            return await ticket.result
        finally:
            if ticket in self._tickets:  # cancelled before its turn came
                self._tickets.remove(ticket)

    async def _serve(self) -> None:
        while not self._closing or self._tickets:
            if not self._tickets:
                self._changed.clear()
                await self._changed.wait()
                continue
            await self._linger()
            tickets = self._take()
            self._idle -= 1
            await self._run(tickets)
            self._idle += 1

    async def _linger(self) -> None:
        """Wait while the next batch still grows."""
        seen, rounds = 0, int(LONGEST_WAIT / PAUSE)
        while seen < len(self._tickets) < self._most and rounds:
            seen, rounds = len(self._tickets), rounds - 1
            await asyncio.sleep(PAUSE)

    def _take(self) -> list[_Ticket[Job, Result]]:
        """This worker's share: the job that waits longest and those like it; the others keep their places."""
        if not self._tickets:  # taken by others, or given up
            return []
        share = min(-(-len(self._tickets) // self._idle), self._most)
        kind = self._alike(self._tickets[0].job)
        taken = [ticket for ticket in self._tickets if self._alike(ticket.job) == kind][:share]
        self._tickets = deque(ticket for ticket in self._tickets if ticket not in taken)
        return taken

    async def _run(self, tickets: Sequence[_Ticket[Job, Result]]) -> None:
        tickets = [ticket for ticket in tickets if not ticket.result.done()]
        if not tickets:
            return
        self._seen(len(tickets))
        call = asyncio.get_running_loop().run_in_executor(self._threads, self._work, [t.job for t in tickets])
        await asyncio.wait([call])
        error = call.exception()
        if error is None:
            for ticket, result in zip(tickets, call.result(), strict=True):
                if not ticket.result.done():
                    ticket.result.set_result(result)
        elif len(tickets) > 1:
            for ticket in tickets:
                await self._run([ticket])
        elif not tickets[0].result.done():
            tickets[0].result.set_exception(error)
