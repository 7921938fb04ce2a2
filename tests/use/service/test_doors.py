"""Connections of strangers to a real server process: none of them costs memory, or keeps others out."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from dualparse.use.service.limits import MAX_HEAD, MAX_PIPELINED, Limits
from dualparse.use.service.server import names_answered_to, with_files_for

SCRIPT = Path(__file__).with_name("bare_server.py")


@contextmanager
def server(**limits: object) -> Iterator[tuple[subprocess.Popen, str]]:
    """A process of its own and its address."""
    with subprocess.Popen(
        [sys.executable, str(SCRIPT), *(f"{name}={value}" for name, value in limits.items())],
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        try:
            assert started.stdout is not None
            yield started, started.stdout.readline().strip()
        finally:
            started.kill()


@pytest.fixture(scope="module")
def strict() -> Iterator[tuple[subprocess.Popen, str]]:
    with server(head_seconds=1.0, connections=40, per_client=30, seconds=1.0) as started:
        yield started


def connect(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def everything_from(connection: socket.socket) -> bytes:
    """What still comes until the other side hangs up."""
    told = b""
    try:
        while some := connection.recv(65536):
            told += some
    except ConnectionResetError:
        pass
    return told


def is_well(url: str) -> None:
    """Somebody new is answered, and soon."""
    started = time.monotonic()
    with closing(HTTPConnection(url.removeprefix("http://"), timeout=10)) as connection:
        connection.request("GET", "/health")
        assert connection.getresponse().read() == b'"ok"'
    assert time.monotonic() - started < 1


def megabytes(process: subprocess.Popen) -> float:
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to look at memory")
def test_a_header_without_end_is_not_kept(strict):
    process, url = strict
    is_well(url)
    before = megabytes(process)
    with connect(url) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ")
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            for _ in range(2_000):  # 128 MB
                connection.sendall(b"a" * 65536)
    assert megabytes(process) - before < 10
    is_well(url)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"a" * 2 * MAX_HEAD,
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"a: b\r\n" * 5_000 + b"\r\n",
        b"GET /" + b"a" * 2 * MAX_HEAD + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\r\n" * MAX_HEAD,
    ],
    ids=["one header", "many headers", "the address", "empty lines"],
)
def test_a_large_head_is_refused(strict, head):
    _, url = strict
    with connect(url) as connection:
        connection.sendall(head)
        told = everything_from(connection)
    assert told.startswith(b"HTTP/1.1 431 ") and b'{"error": "the head of a request' in told, told
    is_well(url)


def test_a_slow_head_is_refused_in_time(strict):
    _, url = strict
    with connect(url) as slow, connect(url) as silent:
        slow.sendall(b"GET /health HTTP/1.1\r\n")
        started = time.monotonic()
        while time.monotonic() - started < 0.7:  # every byte in time, the head not
            slow.sendall(b"X: y\r\n")
            time.sleep(0.1)
        assert everything_from(slow).startswith(b"HTTP/1.1 408 ")
        assert everything_from(silent) == b""
        assert time.monotonic() - started < 3


def test_the_head_of_a_second_request_has_its_time_too(strict):
    _, url = strict
    with connect(url) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        told = b""
        while not told.endswith(b'"ok"'):
            told += connection.recv(65536)
        connection.sendall(b"GET /health HTTP/1.1\r\n")
        started = time.monotonic()
        assert everything_from(connection).startswith(b"HTTP/1.1 408 ")
        assert time.monotonic() - started < 3


def test_chunks_without_end_are_refused(strict):
    _, url = strict
    with connect(url) as connection:
        connection.sendall(b"POST /parse HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(2_000):
                connection.sendall(b"1;" + b"x" * 65000 + b"\r\na\r\n")
        except (ConnectionResetError, BrokenPipeError):
            pass
        else:
            pytest.fail("130 MB of framing were taken")
    is_well(url)


def test_requests_in_a_row_are_answered_and_a_heap_of_them_is_not(strict):
    _, url = strict
    one = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connect(url) as connection:
        connection.sendall(one * 5 + one.replace(b"Host", b"Connection: close\r\nHost"))
        assert everything_from(connection).count(b"HTTP/1.1 200 ") == 6
    with connect(url) as connection:
        connection.sendall(one * 1_000)
        told = everything_from(connection)
    assert told.count(b"HTTP/1.1 200 ") <= MAX_PIPELINED + 1
    is_well(url)


def test_an_answer_that_nobody_takes_is_thrown_away(strict):
    process, url = strict
    with connect(url) as connection:
        connection.sendall(b"GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(2)
        assert len(everything_from(connection)) < 50_000_000
    is_well(url)


def test_silent_connections_keep_nobody_out():
    with server(head_seconds=60.0) as (_, url), ExitStack() as stack:
        for _ in range(1_010):
            stack.enter_context(connect(url))
        is_well(url)


def test_where_it_is_full_who_says_nothing_makes_room(strict):
    _, url = strict
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(connect(url))
        for _ in range(3):
            is_well(url)


def test_no_more_connections_than_there_may_be_files():
    limits = Limits(connections=10**9, per_client=10**9)
    allowed = with_files_for(limits)
    assert 8 <= allowed.connections < 10**9
    assert allowed.per_client <= allowed.connections
    assert with_files_for(Limits(connections=16)) == Limits(connections=16)


def test_named_hosts_are_the_only_ones_whatever_the_address_is():
    assert names_answered_to("0.0.0.0", ["parser.example.org"]) == names_answered_to("::1", ["Parser.example.org"])
    assert "example.org" not in (names_answered_to("0.0.0.0", ["parser.example.org"]) or ())
    assert names_answered_to("0.0.0.0", []) is None
    assert names_answered_to("127.0.0.1", []) == {"localhost", "127.0.0.1", "::1"}
