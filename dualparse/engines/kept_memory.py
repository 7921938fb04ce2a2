"""Memory that was freed stays with the process: a step of training asks for the same large blocks again and again.

The C library of Linux takes every large block from the system and gives it back when it is freed. The system clears
its pages anew each time, and each page costs a fault when it is first touched; with the tensors of the game that is a
good part of the whole time (`benchmarks/README.md`).
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of malloc.h
_NEVER = 2**31 - 1
_LARGEST = (1 << 30, 1 << 25)  # blocks below this come from the heap; older versions allow no more than the second


@cache
def keep_freed_memory() -> bool:
    """Ask the C library to keep what is freed, once a process; says whether it could be asked (glibc alone can). Large
    blocks shall come in large pages; torch looks at that variable before its first block, and not again."""
    if sys.platform != "linux":
        return False
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
    try:
        setting = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return any(setting(_MMAP_THRESHOLD, size) for size in _LARGEST) and bool(setting(_TRIM_THRESHOLD, _NEVER))
