"""Small databases for the tests of `dualparse.database`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from postgres import server
from shops import SHOP, sqlite_file
from typer.testing import CliRunner


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A film shop: inconsistent names, a table of pairs, secrets, bytes, a view, and keys nobody declared."""
    (tmp_path / "data").mkdir()
    return sqlite_file(tmp_path / "data" / "shop.sqlite", SHOP)


@pytest.fixture
def command() -> Callable[..., tuple[int, str]]:
    """Run `dualparse ...` here; exit code and everything it said. Bad input ends as it does for a user."""
    from dualparse.errors import InputError
    from dualparse.use.cli.main import app

    def run(*words: object, input: str | None = None) -> tuple[int, str]:
        result = CliRunner().invoke(app, [str(word) for word in words], input=input)
        if isinstance(result.exception, InputError):
            return 2, f"{result.output}error: {result.exception}"
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.output

    return run


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A running PostgreSQL."""
    with tempfile.TemporaryDirectory(prefix="pg") as folder, server(Path(folder)) as url:
        yield url
