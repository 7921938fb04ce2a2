"""Independent pieces of work side by side: each on a core, or each on a stream of a GPU.

The networks are small: splitting every operation over the cores gains less than giving each core work of its own, and
no operation fills a GPU. A piece keeps to its core, so another program that wants one costs no more than its share.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

from dualparse.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = "OMP_NUM_THREADS"  # the variable by which users say how many threads share an operation

_cores: int | None = None


def use_all_cores() -> None:
    """Let pieces run side by side on all cores this process may use. Else they are as many as torch has threads."""
    global _cores
    allowed = getattr(os, "sched_getaffinity", None)
    _cores = len(allowed(0)) if allowed else os.cpu_count()


def cores() -> int:
    """How many pieces run side by side."""
    return _cores or torch.get_num_threads()


def each_on_a_core(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """`work(item)` for all, in their order, as many at a time as there are cores; they start in their order."""
    threads = torch.get_num_threads()
    if min(cores(), len(items)) < 2:
        return [work(item) for item in items]
    try:
        with ThreadPoolExecutor(cores(), initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(work, items))
    finally:
        torch.set_num_threads(threads)  # a thread's own number becomes that of all threads to come


def settle_threads(count: int | None = None) -> None:
    """So many threads share an operation of torch from now on; without a number those that the variable says, or one.
    The matrices are small, and threads that wait for each other at every one of them crawl as soon as another program
    wants a core."""
    if count is not None and count < 1:
        raise InputError(f"{count} threads; at least 1 is needed")
    if count is not None or not os.environ.get(THREADS):
        torch.set_num_threads(count or 1)


@contextmanager
def on_one_core() -> Iterator[None]:
    """Without threads of torch's own. One that was woken for a moment's work stays on its core for a while and waits
    for more, in the way of the pieces that come next."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def each_on_a_stream(work: Sequence[Callable[[], Result]]) -> list[Result]:
    """The results of all, whose kernels run beside each other on a GPU; the stream in use waits for all of them."""
    current = torch.cuda.current_stream()
    results = []
    for piece, stream in zip(work, _streams(len(work)), strict=True):
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            results.append(piece())
    for stream in _streams(len(work)):
        current.wait_stream(stream)
    return results


_STREAMS: list[torch.cuda.Stream] = []


def _streams(count: int) -> list[torch.cuda.Stream]:
    _STREAMS.extend(torch.cuda.Stream() for _ in range(count - len(_STREAMS)))
    return _STREAMS[:count]
