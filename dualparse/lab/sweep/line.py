"""Jobs in line: the first whose needs are met is next.

In: jobs in the order they matter. Out: jobs to start, and those that are given up because a stage they need has failed.
A cell needs the stages and members it shares, where these are in line as well, and a member its own stages; so each
starts as soon as they are done, however many others are still to be trained. Several threads may ask.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from dualparse.lab.sweep.jobs import Job
from dualparse.lab.sweep.plan import first_line


class Line:
    """Who waits for whom."""

    def __init__(self, jobs: Sequence[Job]):
        self._waiting = list(jobs)
        self._missing = {job.folder for job in jobs if job.kind == "stage"}
        self._changed = threading.Condition()

    def __iter__(self) -> Iterator[Job]:
        """The next job, and the next, until none is left; waits while all that are left need one that has not ended."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._waiting or self._first())
                job = self._first()
                if job is None:
                    return
                self._waiting.remove(job)
            yield job

    def take(self) -> list[Job]:
        """All jobs that can start now."""
        with self._changed:
            found = [job for job in self._waiting if self._is_ready(job)]
            self._waiting = [job for job in self._waiting if job not in found]
            return found

    def end(self, job: Job, error: str) -> list[tuple[Job, str]]:
        """Note that a job has ended. Says so, and which others end with it, each with its error."""
        ended = [(job, error)]
        with self._changed:
            for failed, why in ended if error else ():  # grows while it is gone through
                reason = f"{failed.name} failed: {first_line(why)}"
                lost = [other for other in self._waiting if failed.folder in other.shared.values()]
                self._waiting = [other for other in self._waiting if other not in lost]
                ended += [(other, reason) for other in lost]
            self._missing.discard(job.folder)
            self._changed.notify_all()
        return ended

    def close(self) -> None:
        """Start nothing more."""
        with self._changed:
            self._waiting = []
            self._changed.notify_all()

    def _first(self) -> Job | None:
        return next(filter(self._is_ready, self._waiting), None)

    def _is_ready(self, job: Job) -> bool:
        return self._missing.isdisjoint(job.shared.values())
