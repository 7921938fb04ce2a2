"""The tutorial docs/own-domain.md: its commands run, and print what it says."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import subprocess
from pathlib import Path

from typer.testing import CliRunner

PAGE = Path(__file__).parents[1] / "docs" / "own-domain.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def steps() -> list[tuple[str, str]]:
    """(command, expected output) in the order of the page."""
    parts = [part for block in blocks("console") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [tuple(part.split("\n", 1)) for part in parts]


def run(command: str) -> str:
    """What a command prints. `dualparse` runs in this process, which saves starting it thirty times."""
    from dualparse.use.cli.main import app

    before, _, line = command.rpartition("| ")
    if not line.startswith("dualparse "):
        return subprocess.run(command, shell=True, check=True, capture_output=True, encoding="utf-8").stdout
    given = shlex.split(before)[1] + "\n" if before else None
    result = CliRunner().invoke(app, shlex.split(line)[1:], input=given)
    assert result.exit_code in (0, 1), (command, result.exception)
    return result.stdout


def test_the_page_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    assert len(steps()) > 20
    for command, expected in steps():
        shown = run(command)
        if expected != "...\n":
            assert doctest.OutputChecker().check_output(expected, shown, doctest.ELLIPSIS), (command, shown)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for block in blocks("python"):
            exec(block, {})
    answer, reason, size, problems = printed.getvalue().splitlines()
    assert (answer, size, problems) == ("(list (number 12 count))", "51", "[]")
    assert "'bok'" in reason
