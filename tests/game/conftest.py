"""The toy domain for whole runs."""

from __future__ import annotations

import pytest
import toy


@pytest.fixture
def toy_files(tmp_path, toy_domain):
    """The toy domain under the name "toy", its examples in files."""
    files = toy.write_files(tmp_path / "toy")
    toy_domain(files)
    return files
