"""Remembered answers: a bounded cache over an executor, for training, which asks about the same forms again and again.

In: form text. Out: a verdict, or the printed denotation. The executor itself remembers nothing and stays available.
"""

from __future__ import annotations

from functools import lru_cache

from dualparse.lf.errors import LFExecutionError, LFSyntaxError
from dualparse.lf.execute import Executor
from dualparse.lf.verdict import VALID, Verdict

CACHE_SIZE = 1 << 16


class Answers:
    """Checks and executes forms; the most recent `size` answers and errors are kept.

    Surface is ok when the text is one well-formed tree, semantics when it runs.
    """

    def __init__(self, executor: Executor, *, size: int = CACHE_SIZE):
        self.executor = executor
        self._outcome = lru_cache(maxsize=size)(self._run)

    def _run(self, text: str) -> tuple[str, LFSyntaxError | LFExecutionError | None, Verdict]:
        try:
            return self.executor.execute(text), None, VALID
        except LFSyntaxError as error:
            # The traceback would keep the frames of the failed run alive for as long as the answer is kept.
            return "", error.with_traceback(None), Verdict(surface=False, semantics=False, reason=str(error))
        except LFExecutionError as error:
            return "", error.with_traceback(None), Verdict(surface=True, semantics=False, reason=str(error))

    def execute(self, text: str) -> str:
        """The printed denotation; raises one of the two logical-form errors."""
        denotation, error, _ = self._outcome(text)
        if error is not None:
            raise error.with_traceback(None)
        return denotation

    def check(self, text: str) -> Verdict:
        """Surface and semantics of a form, with the reason; never raises for a bad form."""
        return self._outcome(text)[2]
