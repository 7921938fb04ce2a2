"""One trained toy run for all tests of the service."""

from __future__ import annotations

from pathlib import Path

import pytest
import toy_run

from dualparse.use.api import Parser


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory) -> Path:
    return toy_run.make_run(tmp_path_factory.mktemp("service"))


@pytest.fixture(scope="session")
def parser(run_folder) -> Parser:
    return toy_run.open_parser(run_folder)
