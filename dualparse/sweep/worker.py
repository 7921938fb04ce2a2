"""The process of one job: `python -m dualparse.sweep.worker < job.json`. Bad input is one line; a bug has its trace."""

from __future__ import annotations

import sys

from dualparse.errors import InputError
from dualparse.sweep.jobs import Job, run_job


def main() -> None:
    try:
        run_job(Job.from_json(sys.stdin.read()))
    except InputError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
