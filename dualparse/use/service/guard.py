"""What every request must pass before it reaches a route: ASGI middleware.

Refused, as JSON: a foreign host name (a page elsewhere whose name points here could else read our answers), a missing
or wrong token, too many requests of one client, a body that is too large or too slow. Every answer gets headers that
keep the page to itself.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dualparse.use.service.limits import MAX_BODY, Limits
from dualparse.use.service.observing import Noted
from dualparse.use.service.rates import Rates

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
QUESTIONS = frozenset({"/ask", "/run", "/export", "/feedback", "/parse", "/verbalize", "/execute", "/explain"})
LOCKED = QUESTIONS | {"/domains", "/metrics"}


def problem(status: int, message: str, **headers: str) -> JSONResponse:
    """An error as every client can read it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return JSONResponse({"error": message}, status, headers=HEADERS | named)


class Guard:
    """hosts: names this server answers to, None for any; token: what `Authorization: Bearer` must say, if anything."""

    def __init__(self, app: ASGIApp, *, limits: Limits, token: str | None = None, hosts: Collection[str] | None = None):
        self.app, self.seconds, self.token, self.hosts = app, limits.seconds, token, hosts
        self.rates = Rates(limits.rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal, body = self._refusal(scope["path"], Headers(scope=scope)) or self._too_many(scope), b""
        if refusal is None:
            try:
                async with asyncio.timeout(self.seconds):
                    body, refusal = await _read(receive)
            except TimeoutError:
                refusal = problem(408, f"the body did not arrive within {self.seconds:g} seconds", Connection="close")
        if refusal is None:
            await self.app(scope, _replay(body, receive), _with_headers(send))
        else:
            noted: Noted | None = scope.get("state", {}).get("noted")
            if noted is not None:
                noted.refused = True
            await refusal(scope, receive, send)

    def _too_many(self, scope: Scope) -> JSONResponse | None:
        """The answer to a client that has had its share of questions for now."""
        if scope["path"] not in QUESTIONS:
            return None
        client = scope.get("client")
        wait = math.ceil(self.rates.wait(client[0] if client else "", time.monotonic()))
        if not wait:
            return None
        return problem(429, f"too many requests; try again in {wait} s", Retry_After=str(wait))

    def _refusal(self, path: str, headers: Headers) -> JSONResponse | None:
        """The answer to a request that may not pass, judged by its head alone."""
        host = _host_name(headers.get("host", ""))
        if self.hosts is not None and host not in self.hosts:
            return problem(421, "this server does not answer to that host name (see --allowed-host)")
        if self.token is not None and path in LOCKED and not self._knows_token(headers.get("authorization", "")):
            return problem(401, "a valid bearer token is needed", WWW_Authenticate="Bearer")
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:20]) > MAX_BODY:
            return _too_large()
        return None

    def _knows_token(self, authorization: str) -> bool:
        scheme, _, given = authorization.partition(" ")
        wanted = (self.token or "").encode()
        return secrets.compare_digest(given.strip().encode(), wanted) and scheme.lower() == "bearer"


def _too_large() -> JSONResponse:
    return problem(413, f"the body may have at most {MAX_BODY} bytes", Connection="close")


def _host_name(host: str) -> str:
    """Without its port: `[::1]:8000` -> `::1`."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    return name.strip("[]").lower()


async def _read(receive: Receive) -> tuple[bytes, JSONResponse | None]:
    """The whole body, or the refusal of one that is too large; a caller that hangs up sent what it sent."""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            return b"", _too_large()
        more = message.get("more_body", False)
    return b"".join(parts), None


def _replay(body: bytes, receive: Receive) -> Receive:
    """A body that was read already, as if it came just now."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _with_headers(send: Send) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return wrapped
