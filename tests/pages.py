"""Pages whose commands are run as they stand, and print what the page says."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
from pathlib import Path

from typer.testing import CliRunner

from dualparse.errors import InputError

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of one language."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def steps(page: str) -> list[tuple[str, str]]:
    """(command, expected output) in the order of the page."""
    parts = [part for block in blocks(page, "console") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [tuple(part.split("\n", 1)) for part in parts]


def run(command: str) -> str:
    """What a command prints. `dualparse` runs in this process, which saves starting it thirty times."""
    from dualparse.use.cli.main import app

    before, _, line = command.rpartition("| ")
    if not line.startswith("dualparse "):
        return subprocess.run(command, shell=True, check=True, capture_output=True, encoding="utf-8").stdout
    given = shlex.split(before)[1] + "\n" if before else None
    result = CliRunner().invoke(app, shlex.split(line)[1:], input=given)
    if isinstance(result.exception, InputError):
        return f"error: {result.exception}\n"
    assert result.exit_code in (0, 1), (command, result.exception)
    return result.stdout


def follow(page: str) -> None:
    """Run every command of a page and compare what it prints; `...` stands for anything."""
    for command, expected in steps(page):
        shown = run(command)
        if expected != "...\n":
            assert doctest.OutputChecker().check_output(expected, shown, doctest.ELLIPSIS), (command, shown)
