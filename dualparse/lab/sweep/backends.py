"""Many jobs at the same time. In: jobs in line. Out: every job as it ends, and what went wrong (empty if nothing did).

Each job has a process of its own, so that a crash, or the system killing it, ends that job alone.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any, Protocol

from dualparse.engines.shared_gpu import TOLD
from dualparse.errors import InputError
from dualparse.lab.sweep.jobs import Job, run_job
from dualparse.lab.sweep.line import Line

PASSED_ON = ("DUALPARSE_DATA", "DUALPARSE_COMMIT", "OMP_NUM_THREADS")  # variables that processes on a cluster need too

WORKER = (sys.executable, "-m", "dualparse.lab.sweep.worker")

BUSY = "CUDA-capable device(s) is/are busy or unavailable"
PAUSES = (2.0, 8.0)  # seconds before a job is tried again that found the GPU so


class Backend(Protocol):
    """Something that runs jobs; to be used in a `with` block, at the end of which nothing of it runs any more."""

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, str]]: ...  # each when it can start, see `line`

    def __enter__(self) -> Backend: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None): ...


class Local:
    """Processes on this machine, `workers` at the same time: threads of joblib that each take the next job in line.

    `command` starts the process of a job, which reads the job from its standard input.
    """

    def __init__(self, workers: int = 1, *, command: Sequence[str] = WORKER):
        self.workers, self.command = workers, list(command)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lines: list[Line] = []
        self._guard = threading.Lock()
        self._stop = threading.Event()

    def __enter__(self) -> Local:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop what still runs; checkpoints are on disk, so the next sweep goes on from there."""
        with self._guard:
            self._stop.set()
            running = list(self._running)
        for line in self._lines:
            line.close()
        for process in running:
            process.terminate()

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, str]]:
        """An interrupt finds the caller waiting here, never in the midst of joblib, which may not survive it."""
        ended: SimpleQueue[tuple[Job, str] | None] = SimpleQueue()
        driver = ThreadPoolExecutor(1)
        line = Line(jobs)
        self._lines.append(line)
        whole = driver.submit(self._run_all, line, ended.put)
        whole.add_done_callback(lambda _: ended.put(None))
        while (told := ended.get()) is not None:
            yield told
        driver.shutdown()
        whole.result()

    def _run_all(self, line: Line, tell: Callable[[tuple[Job, str]], None]) -> None:
        from joblib import Parallel, delayed

        Parallel(n_jobs=self.workers, backend="threading")(delayed(self._work)(line, tell) for _ in range(self.workers))

    def _work(self, line: Line, tell: Callable[[tuple[Job, str]], None]) -> None:
        """The life of a thread."""
        try:
            for job in line:
                for told in line.end(job, self._run(job)):
                    tell(told)
        finally:  # where a bug ends this thread, the others must not wait for what will not come
            line.close()

    def _run(self, job: Job) -> str:
        """What went wrong. A GPU that takes nobody new just now (others are leaving) is asked again in a while, and a
        process that was killed begins again once, from its last checkpoint: it may not have been at fault."""
        killed = 0
        for pause in (*PAUSES, None):
            error = self._process(job)
            if error.startswith(KILLED) and not killed and not self._stop.is_set():
                killed += 1
                error = self._process(job)
            if BUSY not in error or pause is None:
                return error
            self._stop.wait(pause)
        return error

    def _process(self, job: Job) -> str:
        """The same of one process."""
        variables = {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // self.workers))}
        variables |= TOLD if self.workers > 1 else {}
        with TemporaryFile() as output:  # nobody else's: another sweep may wait for the same job
            with self._guard:
                if self._stop.is_set():
                    return "stopped"
                process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=variables | os.environ,
                )
                self._running.add(process)
            process.communicate(job.to_json().encode())
            with self._guard:
                self._running.discard(process)
            output.seek(0)
            return _what_happened(process.returncode, output.read().decode(errors="replace"))


KILLED = "the process was killed"


def _what_happened(code: int, output: str) -> str:
    """A line that says why a process ended, then all it had to say; empty when it ended well."""
    if code == 0:
        return ""
    lines = output.strip().splitlines() or ["it said nothing"]
    reason = _raised(lines).removeprefix("error: ")
    if code < 0:
        reason = f"{KILLED} ({signal.Signals(-code).name}){', out of memory?' * (code == -signal.SIGKILL)}"
    return "\n".join([reason, "", *lines])


def _raised(lines: Sequence[str]) -> str:
    """What was raised: the first line of its message, which may have many; without a trace the last line there is.

    >>> _raised(["loading", "Traceback (most recent call last):", "  File ...", "RuntimeError: GPU is busy", "Hint"])
    'RuntimeError: GPU is busy'
    """
    traces = [i for i, line in enumerate(lines) if line.startswith("Traceback (")]
    told = lines[traces[-1] + 1 :] if traces else []
    return next((line for line in told if line[:1].strip()), lines[-1])


class OnRay:
    """A Ray cluster: the one at `address`, or one on this machine where none is named.

    Every machine of it sees the same folders and has the package. `gpu_share` is what a job takes of a GPU, 0.25 puts
    four on each; without one, a whole GPU where the cluster has any. `work` does a job there.
    """

    def __init__(
        self,
        address: str = "",
        *,
        gpu_share: float | None = None,
        device: str = "auto",
        work: Callable[[Job], None] = run_job,
    ):
        self.address, self.gpu_share, self.device, self.work = address, gpu_share, device, work

    def __enter__(self) -> OnRay:
        if not self.address:  # our own cluster listens on every interface of this machine, and takes code to run
            os.environ.setdefault("RAY_AUTH_MODE", "token")
        try:
            import ray
        except ModuleNotFoundError:
            raise InputError("Ray is not installed here: pip install 'dualparse[ray]'") from None
        variables = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        variables |= TOLD if self.gpu_share and self.gpu_share < 1 else {}
        try:
            ray.init(
                address=self.address or None,
                runtime_env={"env_vars": variables},
                include_dashboard=False if not self.address else None,
                log_to_driver=False,
                logging_level=logging.WARNING,
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputError(f"no Ray cluster at {self.address or 'this machine'}: {error}") from None
        return self

    def __exit__(self, *_: object) -> None:
        import ray

        ray.shutdown()

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, str]]:
        import ray

        # A fresh process a job (max_calls), because a GPU's memory comes back when its process ends; one that was
        # killed begins again once.
        remote = ray.remote(num_cpus=1, num_gpus=self._share(ray), max_retries=1, max_calls=1)(_remote)
        line = Line(jobs)
        waiting = {remote.remote(self.work, job, os.getcwd()): job for job in line.take()}
        while waiting:
            [first], _ = ray.wait(list(waiting), num_returns=1)
            job, error = waiting.pop(first), ""
            try:
                ray.get(first)
            except ray.exceptions.RayError as raised:
                error = _ray_error(raised)
            yield from line.end(job, error)
            waiting |= {remote.remote(self.work, job, os.getcwd()): job for job in line.take()}

    def _share(self, ray: Any) -> float:
        if self.device == "cpu":
            return 0.0
        if self.gpu_share is not None:
            return self.gpu_share
        return 1.0 if ray.cluster_resources().get("GPU") else 0.0


def _remote(work: Callable[[Job], None], job: Job, folder: str) -> None:
    os.chdir(folder)  # names of folders are the driver's
    work(job)


def _ray_error(error: Exception) -> str:
    cause = getattr(error, "cause", None)
    reason = f"{type(cause).__name__}: {cause}" if cause else f"{type(error).__name__}: {error}"
    if isinstance(cause, InputError):
        reason = str(cause)
    return f"{reason.partition(chr(10))[0]}\n\n{error}"
