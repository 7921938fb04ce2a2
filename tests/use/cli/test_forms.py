"""`dualparse execute` and `dualparse check`: one answer a line, in order, as the lines come."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
import typer
from typer.testing import CliRunner

from dualparse.domains.answers import Answers
from dualparse.domains.domain import Domain
from dualparse.domains.lexicon import Lexicon
from dualparse.domains.plain import plain
from dualparse.domains.registry import Family, registered
from dualparse.domains.world import World
from dualparse.errors import InputError
from dualparse.lf.values import number
from dualparse.use.cli import forms

app = typer.Typer()
forms.register(app)
runner = CliRunner()


def _domain(*, runs: bool = True) -> Domain:
    world = World()
    world.add("hut.marmot_hut", "price", number(48, "euro"))
    answers = Answers(plain(world))
    return Domain(
        name="huts",
        title="Huts",
        lexicon=Lexicon(),
        check=answers.check,
        execute=answers.execute if runs else None,
        normalize=str,
    )


HUTS = Family("alps", "Huts", ("huts", "peaks"), lambda name: _domain(runs=name == "huts"))


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    with registered(HUTS):
        yield


LINES = "( get hut.marmot_hut price )\n( get hut.marmot_hut\n\n( count ( all hut ) )\n( all lake )"


def test_execute_from_standard_input():
    result = runner.invoke(app, ["execute", "--domain", "huts"], input=LINES)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "(list (number 48 euro))",
        "error: missing closing parenthesis for the one opened at token 1 (at token 4)",
        "error: empty form",
        "(list (number 1 count))",
        "error: unknown type 'lake'",
    ]


def test_check_from_a_file(tmp_path):
    path = tmp_path / "forms.txt"
    path.write_bytes(b"\xef\xbb\xbf" + LINES.replace("\n", "\r\n").encode())
    result = runner.invoke(app, ["check", "-d", "huts", str(path)])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["ok", "error", "error", "ok", "error"]
    assert lines[4] == "error: unknown type 'lake'"


@pytest.mark.parametrize("command", ["execute", "check"])
def test_a_line_of_an_example_file_is_told_from_a_form(command):
    lines = "how many huts\t( count ( all hut ) )\n( count\t( all hut ) )\n"
    answers = runner.invoke(app, [command, "-d", "huts"], input=lines).stdout.splitlines()
    assert answers[0].endswith("; expected a form alone, without its query and tab")
    assert not answers[1].startswith("error")


def test_a_dash_is_standard_input():
    result = runner.invoke(app, ["check", "-d", "huts", "-"], input="( all hut )\n")
    assert result.stdout == "ok\n"


def test_no_lines_give_no_answers():
    result = runner.invoke(app, ["execute", "-d", "huts"], input="")
    assert (result.exit_code, result.stdout) == (0, "")


def test_a_missing_file_is_an_input_error(tmp_path):
    for path in (tmp_path / "nowhere.txt", tmp_path):
        result = runner.invoke(app, ["execute", "-d", "huts", str(path)])
        assert isinstance(result.exception, InputError)
        assert str(path) in str(result.exception)


def test_bytes_that_are_no_text_have_their_answer_too():
    result = runner.invoke(app, ["execute", "-d", "huts"], input=b"( all hut )\n( all \xff )\n( all hut )\n")
    first, second, third = result.output.splitlines()
    assert second == "error: not UTF-8" and first == third


def test_a_domain_without_an_executor_can_be_checked_only():
    assert runner.invoke(app, ["check", "-d", "peaks"], input="( all hut )\n").stdout == "ok\n"
    result = runner.invoke(app, ["execute", "-d", "peaks"], input="( all hut )\n")
    assert isinstance(result.exception, InputError)
    assert "dualparse check" in str(result.exception)


@pytest.mark.parametrize("line", ["( " * 1_000_000, "( " * 150_000 + ") " * 150_000, "a" * 600_000])
def test_huge_lines_are_errors_and_the_next_line_is_answered(line):
    result = runner.invoke(app, ["execute", "-d", "huts"], input=f"{line}\n( all hut )\n{line}")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "error: longer than 100000 characters",
        "(list (name hut.marmot_hut))",
        "error: longer than 100000 characters",
    ]


def test_characters_that_a_terminal_would_obey_are_spelt_out():
    result = runner.invoke(app, ["execute", "-d", "huts"], input="( number 3 \x1b[2J x )\n( ünbekannt hut )\n")
    assert "\x1b" not in result.stdout
    assert "\\u001b" in result.stdout.splitlines()[0]
    assert "ünbekannt" in result.stdout.splitlines()[1]


@pytest.mark.parametrize("command", ["execute", "check"])
def test_help_has_an_example(command):
    result = runner.invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.stdout


PROGRAM = """
import typer
from dualparse.domains.registry import register
from dualparse.use.cli import forms
from tests_cli_forms import HUTS
register(HUTS)
app = typer.Typer()
forms.register(app)
app()
"""


def test_an_answer_comes_before_the_next_question(tmp_path):
    """A program at the other end of two pipes gets each answer before it writes the next line."""
    (tmp_path / "tests_cli_forms.py").symlink_to(__file__)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    env.pop("PYTHONUNBUFFERED", None)  # which would hide that an answer was kept back
    command = [sys.executable, str(program), "execute", "-d", "huts"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        watchdog = threading.Timer(30, process.kill)  # an answer that does not come must not hang the tests
        watchdog.start()
        for _ in range(3):
            process.stdin.write(b"( all hut )\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"(list (name hut.marmot_hut))\n"
        process.stdin.close()
        assert process.wait(timeout=30) == 0
        watchdog.cancel()
