"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def benchmark_data() -> Path:
    """Folder with the benchmark files; tests that need it are skipped without it."""
    folder = os.environ.get("DUALPARSE_DATA")
    if not folder or not (Path(folder) / "atis").is_dir():
        pytest.skip("needs the benchmark files: set DUALPARSE_DATA")
    return Path(folder)
