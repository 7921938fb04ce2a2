"""Forms of strangers, checked and executed in a process of their own: the text of a form in, what became of it out.

A form has a budget of steps, a second, and a process that is niced, may take so much memory, and is killed where all
that does not end it; another takes its place. So no form can hold up the questions that are answered here. The process
opens the domain by its name; a domain that a program made itself has none, and its forms run in a thread, with steps
and seconds alone.

The same module is the process: `python -m dualparse.use.service.apart DOMAIN`, one JSON object a line each way.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.lf.errors import LF_ERRORS
from dualparse.lf.verdict import Verdict

if TYPE_CHECKING:
    from dualparse.domains.domain import Domain

GRACE = 1.0  # seconds beyond its time that a form has to end by itself
MORE_MEMORY = 512 * 1024**2  # bytes beyond those of the opened domain
START = 60.0  # seconds in which a process must have opened its domain


@dataclass(frozen=True)
class Executed:
    """What became of a form; `answer` is None where it does not run, or the domain cannot execute."""

    verdict: Verdict
    answer: str | None


def execute(domain: Domain, form: str, *, seconds: float) -> Executed:
    """Check a form and run it, here and now. Nothing is remembered of it."""
    if domain.fresh is None:
        verdict = domain.check(form)
        try:
            return Executed(verdict, domain.execute(form) if domain.execute and verdict.ok else None)
        except LF_ERRORS:
            return Executed(verdict, None)
    return Executed(*domain.fresh(form, seconds))


class Apart:
    """One process for the forms of one domain. One thread at a time may ask."""

    def __init__(self, domain: str, *, seconds: float):
        self.domain, self.seconds = domain, seconds
        self._process: subprocess.Popen[bytes] | None = None

    def execute(self, form: str) -> Executed:
        """What became of a form; one that does not end is ended."""
        process = self._process or self._start()
        told = self._ask(process, {"form": form, "seconds": self.seconds}, self.seconds + GRACE)
        if told is None:
            self.close()
            return Executed(Verdict(surface=True, semantics=False, reason="stopped: too much time or memory"), None)
        return Executed(Verdict(**told["verdict"]), told["answer"])

    def start(self) -> None:
        """Have the process ready before somebody waits for it."""
        self._process = self._process or self._start()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", __name__, self.domain]
        process = self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self._ask(process, None, START) is None:
            self.close()
            raise InputError("the process that executes forms did not start")
        return process

    def _ask(self, process: subprocess.Popen[bytes], told: dict | None, seconds: float) -> dict | None:
        """The next line of the process, after one of ours; None where it gives none in time, and then it is dead."""
        assert process.stdin is not None and process.stdout is not None
        clock = threading.Timer(seconds, process.kill)
        clock.start()
        try:
            if told is not None:
                process.stdin.write(json.dumps(told).encode() + b"\n")
                process.stdin.flush()
            line = process.stdout.readline()
        except OSError:  # it died before it had read all
            return None
        finally:
            clock.cancel()
        return json.loads(line) if line.endswith(b"\n") else None


def main(name: str) -> None:
    """Answer line by line until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, which ends us
    domain = open_domain(name)
    _be_modest()
    out = sys.stdout.buffer
    out.write(b"{}\n")
    out.flush()
    for line in sys.stdin.buffer:
        told = json.loads(line)
        done = execute(domain, told["form"], seconds=told["seconds"])
        out.write(json.dumps(asdict(done)).encode() + b"\n")
        out.flush()


def _be_modest() -> None:
    """Less of the processor than the questions get, and no more memory than a form should need."""
    if sys.platform == "win32":
        return
    import resource

    os.nice(10)
    if os.path.exists("/proc/self/statm"):
        with open("/proc/self/statm") as stream:
            now = int(stream.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MORE_MEMORY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main(sys.argv[1])
