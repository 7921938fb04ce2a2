"""The commands `dualparse domain ...`."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from dualparse.errors import InputError
from dualparse.use.cli import domain


@pytest.fixture
def dualparse(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    app = typer.Typer()
    domain.register(app)
    return lambda *arguments: CliRunner().invoke(app, ["domain", *map(str, arguments)])


def test_a_new_domain_passes_its_check_and_can_be_shown(dualparse, tmp_path):
    folder = tmp_path / "bikes"
    result = dualparse("new", folder)
    assert result.exit_code == 0
    assert f"{folder / 'world.tsv'}\n" in result.stdout
    result = dualparse("check", folder)
    assert (result.exit_code, result.stdout) == (0, f"{folder}: 0 errors, 0 warnings\n")
    result = dualparse("show", folder)
    assert (result.exit_code, result.exception) == (0, None)
    assert "bikes: A small library" in result.stdout


def test_show_has_types_properties_counts_and_answered_questions(dualparse):
    result = dualparse("show", "trails", "--entities", 2, "--examples", 3)
    assert (result.exit_code, result.exception) == (0, None)
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["trail", "24", "larch_path,", "fox_loop"] in lines
    assert any(line[-5:] == ["trail", "length", "number", "km", "24"] for line in lines)
    assert any(line[:1] == ["examples:"] and "train," in line for line in lines)
    assert result.stdout.count("  ( ") == 3
    assert "to try on a trained parser\n  how long is the larch path\n" in result.stdout


def test_show_names_the_nearest_domain(dualparse):
    result = dualparse("show", "trials")
    assert isinstance(result.exception, InputError)
    assert "did you mean 'trails'" in str(result.exception)


def test_check_prints_every_problem_and_exits_with_1_for_errors_only(dualparse, tmp_path):
    folder = tmp_path / "bikes"
    dualparse("new", folder)
    with (folder / "queries.txt").open("a") as stream:
        stream.write("Is it open\n")
    result = dualparse("check", folder)
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"{folder}/queries.txt:11: warning: capital letters in the query",
        f"{folder}: 0 errors, 1 warning",
    ]
    with (folder / "train.tsv").open("a") as stream:
        stream.write("what\t( all bike )\nwhat else\n")
    result = dualparse("check", folder)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == f"{folder}: 2 errors, 1 warning"
    assert f"{folder}/train.tsv:49: error: the form does not run" in result.stdout
    assert f"{folder}/train.tsv:50: error: expected query<TAB>form" in result.stdout


def test_check_and_new_refuse_a_wrong_folder(dualparse, tmp_path):
    assert isinstance(dualparse("check", tmp_path / "nowhere").exception, InputError)
    (tmp_path / "mine").write_text("")
    assert isinstance(dualparse("new", tmp_path).exception, InputError)


def test_list_says_what_is_here_and_how_to_get_the_rest(dualparse, tmp_path, monkeypatch):
    monkeypatch.setenv("DUALPARSE_DATA", str(tmp_path))
    rows = dict(line.split(None, 1) for line in dualparse("list").stdout.splitlines())
    assert rows["trails"].strip() == "part of dualparse"
    assert rows["atis"].strip() == "dualparse data get atis"
    assert rows["blocks"].strip() == "dualparse data get overnight"


@pytest.mark.parametrize("command", ["list", "show", "check", "new"])
def test_every_command_has_help_with_an_example(dualparse, command):
    result = dualparse(command, "--help")
    assert result.exit_code == 0
    assert f"Example: dualparse domain {command}" in result.stdout
