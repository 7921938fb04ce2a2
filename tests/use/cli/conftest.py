"""The command, called as a shell would."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest
from shell import Result

from dualparse.use.cli.main import main


@pytest.fixture
def dualparse(capfd, monkeypatch) -> Callable[..., Result]:
    """Call the command in this process, on a screen of 200 columns."""

    def call(*arguments: object, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "argv", ["dualparse", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        monkeypatch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capfd.readouterr()
        return Result(ended.value.code or 0, captured.out, captured.err)

    return call
