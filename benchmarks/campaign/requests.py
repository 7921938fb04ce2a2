"""Requests of strangers to a real server: `python -m benchmarks.campaign --only requests`.

Most are made from the server's own OpenAPI document, well-formed ones and others; the rest are no HTTP, or nearly.
"""

from __future__ import annotations

import random
import socket
from collections import Counter
from contextlib import ExitStack, suppress

import schemathesis
import toy_run
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from benchmarks.campaign.part import Part, promise
from benchmarks.campaign.serving import HEALTHY, TOY, serving
from dualparse.use.service.app import REFUSALS

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
TOGETHER = 20  # requests of a case
HEADS = (
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /health HTTP/1.1\r\n\r\n",
    b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: example.org\r\n\r\n",
    b"POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /parse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /parse HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /parse HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
    b"GET /web/../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /web/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://example.org/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"TRACE / HTTP/1.1\r\nHost: localhost\r\nMax-Forwards: 1\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET /health HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
)
BODIES = (
    b"{}",
    b"[]",
    b'{"question": null}',
    b'{"question": "\\ud800"}',
    b'{"question": "a", "question": "b"}',
    b'{"question": ' + b"[" * 20_000,
    b'{"form": "' + b"( " * 4_000 + b'"}',
    b'{"form": "( count ( all lake ) )", "k": 1e999}',
    b'{"question": "' + "\u202e\u0000ä".encode() + b'"}',
    b"\xff\xfe",
    b"",
    b'{"question": "' + b"a " * 900 + b'"}',
)
KNOWN = {200, 204, 307, 400, 404, 405, *REFUSALS}  # what a server may say to what is no request of ours


class Requests(Part):
    about = (
        "Requests made from the OpenAPI document, well-formed and not, and bytes that are hardly HTTP, to a real "
        "server. Every answer is one of those that the document describes, none is an error of the server, and "
        "`/health` answers within a second."
    )
    unit = "requests"
    cases = 10_000
    share = 0.08
    patience = 120.0

    def prepare(self) -> None:
        self.stack = ExitStack()
        run = toy_run.make_run(self.place)
        self.server = self.stack.enter_context(serving(run, "--journal", "--timeout", "60", command=TOY))
        self.document = schemathesis.openapi.from_url(f"{self.server.url}/openapi.json")
        self.paths = sorted(self.document)

    def close(self) -> None:
        self.stack.close()

    def case(self, number: int) -> Counter[str]:
        rng = self.drawn(number)
        kinds = self._raw(rng) if number % 8 == 0 else self._described(rng)
        seconds = self.server.healthy()
        self.most("/health, s", round(seconds, 3))
        promise(seconds < HEALTHY, f"/health took {seconds:.1f} s")
        return kinds

    def _described(self, rng: random.Random) -> Counter[str]:
        """Requests as the document describes them, or just not."""
        path, mode = rng.choice(self.paths), rng.choice(list(GenerationMode))
        (operation,) = self.document[path].values()
        if not operation.body:
            mode = GenerationMode.POSITIVE
        kinds: Counter[str] = Counter()

        @seed(rng.randrange(1 << 32))
        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=TOGETHER,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def ask(case: schemathesis.Case) -> None:
            self.input = (case.method, case.path, case.body)
            response = case.call(timeout=60)
            kinds[str(response.status_code)] += 1
            case.validate_response(response, checks=CHECKS)

        ask()
        return kinds

    def _raw(self, rng: random.Random) -> Counter[str]:
        """Bytes as they come."""
        kinds: Counter[str] = Counter()
        for _ in range(TOGETHER):
            self.input = sent = _bytes(rng, self.paths)
            status = self._answer(sent)
            promise(status is None or status in KNOWN, f"the answer is {status}")
            kinds[str(status or "no answer")] += 1
        return kinds

    def _answer(self, sent: bytes) -> int | None:
        with socket.create_connection((self.server.host, self.server.port), timeout=10) as connection:
            told = b""
            with suppress(ConnectionError):
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
            with suppress(ConnectionError):
                while some := connection.recv(65536):
                    told += some
        if not told:
            return None
        promise(told.startswith(b"HTTP/1.1 "), f"this is no HTTP: {told[:100]!r}")
        promise(b"root:" not in told, "a file of the machine")
        return int(told[9:12])


def _bytes(rng: random.Random, paths: list[str]) -> bytes:
    """What somebody might send."""
    way = rng.randrange(4)
    if way == 0:
        return rng.choice(HEADS)
    if way == 1:
        return rng.randbytes(rng.choice((1, 20, 500)))
    body = rng.choice(BODIES)
    kind = rng.choice((b"application/json", b"text/plain", b"application/x-www-form-urlencoded", b"\xff"))
    head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
    whole = head % (rng.choice(paths).encode(), kind, len(body)) + body
    if way == 2:
        return whole
    content = bytearray(whole)
    for _ in range(rng.randint(1, 5)):
        at = rng.randrange(len(content))
        content[at : at + 1] = rng.choice((b"", b"\r\n", b"\x00", b" ", rng.randbytes(1)))
    return bytes(content)
