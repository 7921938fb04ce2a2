"""`dualparse` with the toy domain and a search that takes its time, for tests that need a process."""

from __future__ import annotations

import os
import time

import toy

import dualparse.use.api
from dualparse.domains.registry import register
from dualparse.use.cli.main import main

SECONDS = float(os.environ.get("SLOW_SECONDS", "0"))


class SlowParser(dualparse.use.api.Parser):
    def parse_readings(self, readings, **options):
        time.sleep(SECONDS)
        return super().parse_readings(readings, **options)


if __name__ == "__main__":
    register(toy.family({}, questions=("list all lakes",)))
    dualparse.use.api.Parser = SlowParser  # type: ignore[misc]
    main()
