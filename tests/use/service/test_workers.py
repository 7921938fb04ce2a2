"""Several processes end together, whenever the signal comes."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

SIGNAL_AMID_SPLITTING = """
    import os, signal, time
    from dualparse.use.service.workers import run_workers

    fork = os.fork

    def slow_fork():
        process = fork()
        if process == 0:
            os.kill(os.getppid(), signal.SIGTERM)
            time.sleep(0.5)
        return process

    os.fork = slow_fork
    raise SystemExit(run_workers(2, lambda: time.sleep(60)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can split processes")
def test_a_signal_that_comes_while_a_process_is_split_off_ends_it_too():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(SIGNAL_AMID_SPLITTING)], timeout=30)
    assert done.returncode == 0
