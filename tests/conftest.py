"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings

# Before torch is loaded, here or in a process of a test: on matrices this small, threads cost more than they bring.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A slow machine is no failure.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.fixture(scope="session")
def benchmark_data() -> Path:
    """Folder with the benchmark files; tests that need it are skipped without it."""
    folder = os.environ.get("DUALPARSE_DATA")
    if not folder or not (Path(folder) / "atis").is_dir():
        pytest.skip("needs the benchmark files: set DUALPARSE_DATA")
    return Path(folder)


@pytest.fixture
def toy_domain() -> Iterator[Callable[[dict[str, Path]], object]]:
    """Makes the toy known to dualparse until a test is over: `toy_domain(files of its examples)`."""
    import toy

    with ExitStack() as stack:
        yield lambda files: stack.enter_context(toy.registered(files))
