"""The process of one job: `python -m dualparse.lab.sweep.worker < job.json`. Bad input is a line; a bug has its trace.

It ends with the sweep that started it, however that ends: nobody would wait for its result. Its checkpoint stays.
"""

from __future__ import annotations

import os
import sys
import threading
import time

from dualparse.errors import InputError
from dualparse.lab.sweep.jobs import Job, run_job

LOOK_SECONDS = 1.0  # from one look at the parent to the next


def main() -> None:
    end_with_parent()
    try:
        run_job(Job.from_json(sys.stdin.read()))
    except InputError as error:
        sys.exit(f"error: {error}")


def end_with_parent() -> None:
    """From now on this process ends soon after the one that started it, even if that is killed."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main()
