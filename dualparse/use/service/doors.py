"""What a connection may do before and between requests: the HTTP parser with limits, and a register of who is in.

In: bytes of strangers. Out: requests for the application (whose own limits stand in `guard`), or a short refusal. A
head has a size and a time, a message a size with all that frames it, an answer a time in which it must be taken. There
is room for so many connections, and for so many of one address; where it is full, the one that has kept us waiting
longest makes room for a newcomer, and only requests that have arrived whole are never put out.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from dualparse.use.service.limits import MAX_BODY, MAX_HEAD, MAX_PIPELINED, Limits

# A body in chunks of one byte has six bytes for each of its own.
MAX_MESSAGE = MAX_HEAD + 8 * MAX_BODY
SLICE = 8 * 1024  # bytes that are parsed at once: what is counted can be wrong by so many
LAST_WORDS = 0.5  # seconds in which somebody who is refused can read why, while nothing more is read


class Doors:
    """The connections that are open, in the order they came."""

    def __init__(self, limits: Limits):
        self.limits = limits
        self._inside: dict[Connection, str] = {}

    def __len__(self) -> int:
        return len(self._inside)

    def enter(self, newcomer: Connection, address: str) -> None:
        """Let somebody in, and somebody else out where that is one too many."""
        self._inside[newcomer] = address
        neighbours = [each for each, place in self._inside.items() if place == address]
        if len(neighbours) > self.limits.per_client:
            self._make_room(neighbours, newcomer)
        elif len(self._inside) > self.limits.connections:
            self._make_room(self._inside, newcomer)

    def leave(self, connection: Connection) -> None:
        self._inside.pop(connection, None)

    def _make_room(self, among: Iterable[Connection], newcomer: Connection) -> None:
        waited_for = (each for each in among if each is not newcomer and each.keeps_us_waiting)
        leaving = next(waited_for, newcomer)
        self.leave(leaving)
        if leaving is newcomer:
            leaving.refuse(503, "too many connections; try again in a second", at_once=True)
        else:
            leaving.transport.abort()


class Connection(HttpToolsProtocol):
    """One connection, with limits on all it can make us keep."""

    def __init__(self, *, doors: Doors, **given: Any):
        super().__init__(**given)
        self.doors, self.limits = doors, doors.limits
        self._size = self._slice = 0  # bytes of the message under way, and of what is being parsed
        self._in_head = True
        self._refused = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    def keeps_us_waiting(self) -> bool:
        """Whether no whole request of this connection is waiting for its answer."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._within(self.limits.head_seconds, self._too_slow)
        self.doors.enter(self, self.client[0] if self.client else "")

    def connection_lost(self, exc: Exception | None) -> None:
        self.doors.leave(self)
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            self._size += len(data)
            if self._size > 2 * MAX_MESSAGE:
                self.transport.abort()
        for start in range(0, len(data), SLICE):
            if self._refused or self.transport.is_closing():
                return
            self._slice = min(SLICE, len(data) - start)
            self._size += self._slice
            super().data_received(data[start : start + SLICE])
            if self._refused or self.transport.is_closing():
                return
            if self._in_head and self._size > MAX_HEAD + SLICE:
                self._too_long()
            elif self._size > MAX_MESSAGE:
                self.refuse(413, "the message is too large")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._size = self._slice
        if self._timer is None:
            self._within(self.limits.head_seconds, self._too_slow)

    def on_headers_complete(self) -> None:
        self._stop_timer()
        self._in_head = False
        if len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers) > MAX_HEAD:
            self._too_long()
        elif len(self.pipeline) >= MAX_PIPELINED:
            self.refuse(503, f"more than {MAX_PIPELINED} requests on one connection at once")
        if not self._refused:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._size, self._in_head = 0, True
        if not self._refused:
            super().on_message_complete()

    def pause_writing(self) -> None:
        """An answer that nobody takes is thrown away in the end."""
        super().pause_writing()
        self._within(self.limits.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_timer()
        super().resume_writing()

    def refuse(self, status: int, reason: str, *, at_once: bool = False) -> None:
        """Say why and hang up. Closing at once would, where more is on its way, take back what was said."""
        self._refused = True
        self._stop_timer()
        body = json.dumps({"error": reason}).encode()
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[status] + head.encode() + body)
        if at_once:
            self.transport.close()
        else:
            self.transport.write_eof()
            self._within(LAST_WORDS, self.transport.abort)

    def _too_long(self) -> None:
        self.refuse(431, f"the head of a request may have at most {MAX_HEAD} bytes")

    def _too_slow(self) -> None:
        self._timer = None
        if self._size:
            self.refuse(408, f"the head of the request did not arrive within {self.limits.head_seconds:g} seconds")
        else:
            self.transport.abort()  # nothing was said, so nothing is answered

    def _within(self, seconds: float, otherwise: Callable[[], None]) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, otherwise)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def protocol(limits: Limits) -> Callable[..., Connection]:
    """What makes the connections of one server."""
    return partial(Connection, doors=Doors(limits))
