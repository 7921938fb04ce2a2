"""Two cores, and how much of them others used meanwhile: what makes a timing on a shared machine believable."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_STAT = Path("/proc/stat")
_LOOK = 0.3  # seconds over which a load is looked at


def keep_to_cores(count: int) -> int:
    """Bind this process and those it starts to `count` cores, where the system can; returns how many there are."""
    if not hasattr(os, "sched_setaffinity"):
        return min(count, os.cpu_count() or count)
    cores = sorted(os.sched_getaffinity(0))[:count]
    os.sched_setaffinity(0, cores)
    return len(cores)


def processor() -> str:
    """The processor's name."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


@dataclass
class Watch:
    """Seconds a block took, seconds it kept cores busy, and the share of all cores that ran something else (0 where
    unknown)."""

    seconds: float = 0.0
    busy: float = 0.0
    others: float = 0.0


@contextmanager
def watched(process: int | None = None) -> Iterator[Watch]:
    """Time a block that works in this process, or in the process with that number."""
    watch = Watch()
    busy, own, started = _busy_seconds(), _own_seconds(process), time.perf_counter()
    yield watch
    watch.seconds = time.perf_counter() - started
    watch.busy = _own_seconds(process) - own
    used = _busy_seconds() - busy - watch.busy
    watch.others = max(used, 0.0) / watch.seconds / (os.cpu_count() or 1)


def wait_for_quiet(share: float, *, patience: float) -> None:
    """Wait until other programs have less than this share of the cores, but no longer than `patience` seconds."""
    ends = time.perf_counter() + patience
    while time.perf_counter() < ends:
        with watched() as watch:
            time.sleep(_LOOK)
        if watch.others < share:
            return


def _busy_seconds() -> float:
    """Seconds all cores together have worked since the machine started."""
    if not _STAT.is_file():
        return 0.0
    user, nice, system, _idle, _wait, interrupt, soft, stolen = map(int, _STAT.read_text().split()[1:9])
    return (user + nice + system + interrupt + soft + stolen) / os.sysconf("SC_CLK_TCK")


def _own_seconds(process: int | None) -> float:
    """Seconds a process has worked, all its threads together."""
    if not _STAT.is_file():
        return 0.0
    if process is None:
        times = os.times()
        return times.user + times.system
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
