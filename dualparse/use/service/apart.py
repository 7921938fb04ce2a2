"""Forms of strangers, checked and executed in a process of their own: the text of a form in, what became of it out, as
a denotation or as the rows that are shown.

A form has a budget of steps, a second, and a process that is niced, may take so much memory, and is killed where all
that does not end it; another takes its place. So no form can hold up the questions that are answered here. The process
opens the domain by its name; a domain that a program made itself has none, and its forms run in a thread, with steps
and seconds alone.

The same module is the process: `python -m dualparse.use.service.apart DOMAIN`, one JSON object a line each way.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from queue import SimpleQueue
from typing import TYPE_CHECKING

from dualparse.asking.reply import ANSWERED, ERROR, Reply, answered
from dualparse.asking.saying import Sayer
from dualparse.asking.shown import answer_of
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.lf.errors import LF_ERRORS
from dualparse.lf.verdict import Verdict

if TYPE_CHECKING:
    from dualparse.domains.domain import Domain

GRACE = 1.0  # seconds beyond its time that a form has to end by itself
MORE_MEMORY = 512 * 1024**2  # bytes beyond those of the opened domain
STOPPED = "stopped: too much time or memory"
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


def answer(domain: Domain, sayer: Sayer, form: str, *, seconds: float) -> Reply:
    """The rows of a form, here and now, or why there are none."""
    reply = Reply("", ANSWERED, form=form, probability=1.0)
    if sayer.plain is None and not (verdict := execute(domain, form, seconds=seconds).verdict).ok:
        return replace(reply, status=ERROR, probability=0.0, reason=verdict.reason)
    try:
        found, notes = answer_of(form, domain, sayer.plain, seconds=seconds)
    except LF_ERRORS as error:
        return replace(reply, status=ERROR, probability=0.0, reason=str(error))
    reply = replace(reply, notes=notes)
    return reply if found is None else answered(reply, found)


class Apart:
    """One process for the forms of one domain. One thread at a time may ask."""

    def __init__(self, domain: str, *, seconds: float):
        self.domain, self.seconds = domain, seconds
        self._process: subprocess.Popen[bytes] | None = None

    def execute(self, form: str) -> Executed:
        """What became of a form; one that does not end is ended."""
        told = self._told(form, rows=False)
        if told is None:
            return Executed(Verdict(surface=True, semantics=False, reason=STOPPED), None)
        return Executed(Verdict(**told["verdict"]), told["answer"])

    def answer(self, form: str) -> Reply:
        """The rows of a form, or why there are none."""
        told = self._told(form, rows=True)
        return Reply("", ERROR, form=form, reason=STOPPED) if told is None else Reply.from_dict(told)

    def _told(self, form: str, *, rows: bool) -> dict | None:
        """What the process says; None where it did not, and then it is ended."""
        process = self._process or self._start()
        told = self._ask(process, {"form": form, "seconds": self.seconds, "rows": rows}, self.seconds + GRACE)
        if told is None:
            self.close()
        return told

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


class Pool:
    """Some processes for the forms of one domain, for as many threads at a time; none for a domain that only this
    process has, whose forms run here."""

    def __init__(self, domain: Domain, sayer: Sayer, *, count: int, seconds: float):
        self.domain, self.sayer, self.seconds = domain, sayer, seconds
        self._all = [Apart(domain.opened_as, seconds=seconds) for _ in range(count if domain.opened_as else 0)]
        self._free: SimpleQueue[Apart] = SimpleQueue()
        for process in self._all:
            self._free.put(process)

    @property
    def size(self) -> int:
        """Forms at the same time."""
        return max(len(self._all), 1)

    async def start(self) -> None:
        """Have all processes ready."""
        await asyncio.gather(*(asyncio.to_thread(process.start) for process in self._all))

    def close(self) -> None:
        """End all of them."""
        for process in self._all:
            process.close()

    def execute(self, form: str) -> Executed:
        """What became of a form."""
        if not self._all:
            return execute(self.domain, form, seconds=self.seconds)
        with self._one() as process:
            return process.execute(form)

    def answer(self, form: str) -> Reply:
        """The rows of a form, and what it says in plain words, or why there are none."""
        if self._all:
            with self._one() as process:
                reply = process.answer(form)
        else:
            reply = answer(self.domain, self.sayer, form, seconds=self.seconds)
        return replace(reply, said=self.sayer.say(form)) if reply.answered else reply

    @contextmanager
    def _one(self) -> Iterator[Apart]:
        process = self._free.get()
        try:
            yield process
        finally:
            self._free.put(process)


def main(name: str) -> None:
    """Answer line by line until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, which ends us
    domain = open_domain(name)
    sayer = Sayer(domain)
    _ = sayer.plain  # made now: it looks at all facts
    _be_modest()
    out = sys.stdout.buffer
    out.write(b"{}\n")
    out.flush()
    for line in sys.stdin.buffer:
        told = json.loads(line)
        form, seconds = told["form"], told["seconds"]
        if told["rows"]:
            done = answer(domain, sayer, form, seconds=seconds).to_dict()
        else:
            done = asdict(execute(domain, form, seconds=seconds))
        out.write(json.dumps(done).encode() + b"\n")
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
