"""Processes that work on command: one JSON object a line goes in, one comes out.

Two sides of a comparison live in processes of their own and take turns, so that whatever else the machine does meets
both. The other end of the line is `answer` here, or the loop of `joeynmt_worker.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


class Worker:
    """A running process. `about` is what it said when it was ready."""

    def __init__(self, process: subprocess.Popen[str], answers: IO[str], commands: IO[str]):
        self.process, self._answers, self._commands = process, answers, commands
        self.about = self._answer()

    def ask(self, command: Mapping[str, Any]) -> dict[str, Any]:
        """Send a command and wait for what comes of it."""
        self._commands.write(json.dumps(command) + "\n")
        self._commands.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        line = self._answers.readline()
        if not line:
            raise RuntimeError(f"a process of the benchmark ended with status {self.process.wait()}")
        return json.loads(line)


@contextmanager
def started(command: Sequence[str | Path], log: Path, variables: Mapping[str, str] | None = None) -> Iterator[Worker]:
    """A process at work; it ends with the block. What it says besides its answers goes to `log`, and `variables` are
    in its environment unless ours says otherwise."""
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
            env={**(variables or {}), **os.environ},
        ) as process,
    ):
        assert process.stdin is not None and process.stdout is not None
        try:
            yield Worker(process, process.stdout, process.stdin)
        except RuntimeError as error:
            raise RuntimeError(f"{error}\n{log.read_text(encoding='utf-8')[-2000:]}") from error
        finally:
            process.stdin.close()


def answer(about: Mapping[str, Any], work: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
    """The worker's own loop: say what it is, then do what comes in until nothing more does."""
    answers, sys.stdout = sys.stdout, sys.stderr  # nothing else may get between the answers
    print(json.dumps(about), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(work(json.loads(line))), file=answers, flush=True)
