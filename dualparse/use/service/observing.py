"""What operators see of the service: figures for Prometheus, a line of JSON for each request, an id on every answer.

ASGI middleware around everything else. Neither figures nor lines hold a word of what was asked, unless the log is asked
to have the questions.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SHARED = "PROMETHEUS_MULTIPROC_DIR"  # where the figures of several worker processes come together
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
OTHER = "other"  # the path of requests to no endpoint: a stranger must not make up names of figures
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Figures:
    """The figures of one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        told: dict[str, Any] = {"registry": self.registry, "namespace": "dualparse"}
        self.requests = Counter("requests", "Requests by endpoint and status.", ["path", "status"], **told)
        self.seconds = Histogram("request_seconds", "Time of requests.", ["path"], buckets=SECONDS, **told)
        self.batches = Histogram("batch_size", "Jobs done together.", ["run", "queue"], buckets=SIZES, **told)
        self.replies = Counter("replies", "Outcomes of questions.", ["run", "outcome"], **told)
        self.refusals = Counter("refusals", "Requests that were not let in.", ["status"], **told)
        self.feedback = Counter("feedback", "Judgements of users.", ["run", "judgement"], **told)

    def text(self) -> bytes:
        """All figures as Prometheus reads them, those of the other worker processes too."""
        registry = self.registry
        if os.environ.get(SHARED):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)
        return generate_latest(registry)


CONTENT_TYPE = CONTENT_TYPE_LATEST


@dataclass(frozen=True)
class Log:
    """Where lines go; `questions` puts what was asked into them. Without a stream nothing is written."""

    stream: TextIO | None = None
    questions: bool = False

    def write(self, line: dict[str, Any]) -> None:
        if self.stream is not None:
            self.stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            self.stream.flush()


@dataclass
class Noted:
    """What endpoints tell of a request while they answer it."""

    run: str = ""
    outcome: str = ""
    question: str = ""
    refused: bool = False  # not let in


class Observer:
    """Middleware: counts, times, logs and names every request. `paths`: those that have figures of their own."""

    def __init__(self, app: ASGIApp, *, figures: Figures, log: Log, paths: Sequence[str]):
        self.app, self.figures, self.log, self.paths = app, figures, log, frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, noted, status = time.perf_counter(), Noted(), 500
        given = Headers(scope=scope).get("x-request-id", "")
        name = given if _ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {}).update(noted=noted, request_id=name)

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = name
            await send(message)

        try:
            await self.app(scope, receive, named)
        finally:
            self._tell(scope, name, noted, status, time.perf_counter() - started)

    def _tell(self, scope: Scope, name: str, noted: Noted, status: int, seconds: float) -> None:
        path = scope["path"] if scope["path"] in self.paths else OTHER
        self.figures.requests.labels(path, status).inc()
        self.figures.seconds.labels(path).observe(seconds)
        if noted.outcome:
            self.figures.replies.labels(noted.run, noted.outcome).inc()
        if noted.refused:
            self.figures.refusals.labels(status).inc()
        line: dict[str, Any] = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "request": name}
        line |= {"method": scope["method"], "path": path, "status": status, "ms": round(1000 * seconds, 1)}
        line |= {key: value for key, value in (("run", noted.run), ("outcome", noted.outcome)) if value}
        if self.log.questions and noted.question:
            line["question"] = noted.question
        self.log.write(line)


def log_to_stderr(*, questions: bool) -> Log:
    return Log(sys.stderr, questions)
