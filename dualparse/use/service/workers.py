"""Several processes that take connections from one socket: for machines with cores that one process leaves idle.

In: a listening socket's server as a function, and how many. Each process opens everything itself, after it was split
off: nothing that holds threads or connections is carried over. One that is killed is started again, unless that happens
too often; one that ends with an error of the user's ends all. SIGTERM and Ctrl-C end all of them as they end one. They
do not outlive the process that split them off, however that ends: nobody would know whom to stop.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dualparse.errors import InputError

SHARED_FIGURES = "PROMETHEUS_MULTIPROC_DIR"  # read by prometheus_client when it is imported
MOST_DEATHS, WITHIN = 10, 60.0  # of processes, in so many seconds: then starting them again makes nothing better
USERS_ERROR = 2  # exit code
ENDINGS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def shared_figures() -> Iterator[None]:
    """A folder in which the figures of all processes come together, for as long as they run."""
    with tempfile.TemporaryDirectory(prefix="dualparse-figures-") as folder:
        os.environ[SHARED_FIGURES] = folder
        try:
            yield
        finally:
            del os.environ[SHARED_FIGURES]


def run_workers(count: int, serve: Callable[[], None]) -> int:
    """Keep so many processes serving until a signal; the exit code is that of the first that failed, or 0."""
    if not hasattr(os, "fork"):
        raise InputError("--workers needs a system that can split processes (Linux, macOS)")
    running: set[int] = set()
    deaths: list[float] = []
    ending = False
    life = os.pipe()  # nothing is ever written: its end is the end of this process

    def end(*_: object) -> None:
        nonlocal ending
        ending = True
        for process in running:
            os.kill(process, signal.SIGTERM)

    for each in ENDINGS:
        signal.signal(each, end)
    for _ in range(count):
        running.add(_split_off(serve, life))
    if ending:  # the signal came meanwhile
        end()
    failed = 0
    while running:
        process, status = os.wait()
        running.discard(process)
        if ending:
            continue
        code, now = os.waitstatus_to_exitcode(status), time.monotonic()
        deaths = [*(death for death in deaths if death > now - WITHIN), now]
        if code == USERS_ERROR or len(deaths) > MOST_DEATHS:
            failed = abs(code) or 1
            end()
        else:
            running.add(_split_off(serve, life))
            if ending:  # the signal came meanwhile
                end()
    for end_of_pipe in life:
        os.close(end_of_pipe)
    return failed


def _split_off(serve: Callable[[], None], life: tuple[int, int]) -> int:
    """A new process that serves and ends, at the latest when the one at the other end of this pipe does; its number."""
    sys.stdout.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)  # the new process would take one for its parent's
    process = os.fork()
    if process:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
        return process
    code = 1
    try:
        for ending in ENDINGS:
            signal.signal(ending, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)
        watched, held = life
        os.close(held)
        threading.Thread(target=_end_with, args=(watched,), daemon=True).start()
        serve()
        code = 0
    except InputError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        code = USERS_ERROR
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout.flush()
        os._exit(code)


def _end_with(watched: int) -> None:
    """Wait until nobody holds the other end of a pipe any more, then end this process as a signal does."""
    os.read(watched, 1)
    os.kill(os.getpid(), signal.SIGTERM)
