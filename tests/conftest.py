"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import sys
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


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory) -> Path:
    """The folder of an encoder of two layers that have read nothing."""
    pytest.importorskip("transformers", reason="needs the extra pretrained")
    from tiny_encoder import write_tiny_encoder

    return write_tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(autouse=True)
def as_many_threads() -> Iterator[None]:
    """No test changes the number of torch's threads for those after it: sums are then rounded otherwise."""
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 1
    yield
    torch = sys.modules.get("torch")
    after = torch.get_num_threads() if torch else 1
    if after != before:
        torch.set_num_threads(before)
        pytest.fail(f"torch had {before} threads before and has {after} now")


@pytest.fixture
def toy_domain() -> Iterator[Callable[[dict[str, Path]], object]]:
    """Makes the toy known to dualparse until a test is over: `toy_domain(files of its examples)`."""
    import toy

    with ExitStack() as stack:
        yield lambda files: stack.enter_context(toy.registered(files))
