"""Independent pieces of work side by side, each on one core.

The networks are small: splitting every operation over the cores gains less than giving each core work of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


def each_on_a_core(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """`work(item)` for all, in their order, as many at a time as torch may use threads; they start in their order."""
    threads = torch.get_num_threads()
    if min(threads, len(items)) < 2:
        return [work(item) for item in items]
    try:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(work, items))
    finally:
        torch.set_num_threads(threads)  # a thread's own number becomes that of all threads to come
