"""Servers to attack: `dualparse serve` as a process of its own on this machine's loopback, and what they take.

In: a folder to serve. Out: a `Server`. A server ends with the process that started it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.campaign.part import end_with_parent, promise
from benchmarks.campaign.worker import TESTS

COMMAND = (sys.executable, "-m", "dualparse.use.cli.main")
TOY = (sys.executable, str(TESTS / "use" / "service" / "slow_server.py"))  # the same command, which knows the toy
HEALTHY = 1.0  # seconds in which `/health` answers, whatever else there is to do


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    host: str
    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def healthy(self) -> float:
        """The seconds that `/health` takes on a new connection."""
        began = time.monotonic()
        connection = HTTPConnection(self.host, self.port, timeout=10 * HEALTHY)
        try:
            connection.request("GET", "/health")
            promise(connection.getresponse().status == 200, "/health is not well")
        finally:
            connection.close()
        return time.monotonic() - began

    def megabytes(self) -> float:
        """What the server and the processes it has started hold."""
        return sum(_resident(pid) for pid in (self.pid, *_children(self.pid)))


@contextmanager
def serving(folder: Path, *options: str, command: tuple[str, ...] = COMMAND) -> Iterator[Server]:
    """A server of a folder, for the block."""
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [*command, "serve", str(folder), "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
        preexec_fn=end_with_parent,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            promise(" at http://127.0.0.1:" in line, f"the server did not start: {line!r}")
            url = urlsplit(line.split(" at ")[1].split()[0])
            yield Server(url.hostname or "", url.port or 0, process.pid)
        finally:
            process.terminate()
            process.wait()


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    try:
        return int(status.read_text().partition("VmRSS:")[2].split()[0]) / 1024
    except (OSError, IndexError):  # it has ended meanwhile
        return 0.0


def _children(pid: int) -> list[int]:
    told = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in told.read_text().split()] if told.exists() else []
