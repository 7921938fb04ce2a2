"""Remembered answers: a bounded cache over an executor, for training, which asks about the same forms again and again.

In: form text. Out: a verdict, or the printed denotation. What strangers send is not remembered (`fresh`), so that it is
what training asks about that the cache is full of. The executor itself remembers nothing and stays available.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Protocol

from dualparse.lf.errors import LF_ERRORS, LFExecutionError, LFSyntaxError
from dualparse.lf.verdict import VALID, Verdict, refused

CACHE_SIZE = 1 << 16  # forms
CACHE_BYTES = 64 * 1024**2  # of their texts and answers, and what Python needs to keep them
_OVERHEAD = 600  # bytes of an entry besides its texts


class Executes(Protocol):
    """An executor of any kind."""

    def execute(self, text: str, *, seconds: float | None = None) -> str: ...


Outcome = tuple[str, LFSyntaxError | LFExecutionError | None, Verdict]


class Answers:
    """Checks and executes forms; the most recent `size` answers and errors are kept, in as many bytes at the most.

    Surface is ok when the text is one well-formed tree, semantics when it runs.
    """

    def __init__(self, executor: Executes, *, size: int = CACHE_SIZE, most_bytes: int = CACHE_BYTES):
        self.executor = executor
        self._size, self._most_bytes = size, most_bytes
        self._kept: OrderedDict[str, Outcome] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def _outcome(self, text: str) -> Outcome:
        with self._lock:
            if text in self._kept:
                self._kept.move_to_end(text)
                return self._kept[text]
        outcome = self._run(text)
        with self._lock:
            if text not in self._kept:
                self._kept[text] = outcome
                self._bytes += _bytes(text, outcome)
            while self._bytes > self._most_bytes or len(self._kept) > self._size:
                self._bytes -= _bytes(*self._kept.popitem(last=False))
        return outcome

    def _run(self, text: str, seconds: float | None = None) -> Outcome:
        try:
            return self.executor.execute(text, seconds=seconds), None, VALID
        except LF_ERRORS as error:
            # Its own past would keep the frames of the failed run alive for as long as the answer is kept.
            return "", error.anew(), refused(error)

    def fresh(self, text: str, seconds: float | None = None) -> tuple[Verdict, str | None]:
        """Verdict and denotation of a form, within so many seconds; nothing is remembered."""
        denotation, error, verdict = self._run(text, seconds)
        return verdict, denotation if error is None else None

    def execute(self, text: str) -> str:
        """The printed denotation; raises one of the two logical-form errors."""
        denotation, error, _ = self._outcome(text)
        if error is not None:
            raise error.anew()
        return denotation

    def check(self, text: str) -> Verdict:
        """Surface and semantics of a form, with the reason; never raises for a bad form."""
        return self._outcome(text)[2]


def _bytes(text: str, outcome: Outcome) -> int:
    """About what an entry takes; texts may have four bytes a character."""
    return _OVERHEAD + 4 * (len(text) + len(outcome[0]) + 2 * len(outcome[2].reason))
