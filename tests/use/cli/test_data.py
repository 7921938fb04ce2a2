"""The commands `dualparse data ...`."""

from __future__ import annotations

import gzip

import pytest
import typer
from typer.testing import CliRunner

from dualparse.errors import InputError
from dualparse.fetch import benchmarks
from dualparse.use.cli import data


@pytest.fixture
def dualparse(tmp_path, monkeypatch):
    """Run a command with an empty data folder of its own."""
    monkeypatch.setenv("DUALPARSE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    app = typer.Typer()
    data.register(app)
    return lambda *arguments: CliRunner().invoke(app, ["data", *map(str, arguments)])


@pytest.fixture
def vectors(tmp_path):
    """A folder with word vectors."""
    folder = tmp_path / "copy"
    folder.mkdir()
    line = b"trail " + b" ".join([b"0.5"] * 100) + b"\n"
    (folder / "glove.6B.100d.subset.txt.gz").write_bytes(gzip.compress(line))
    return folder


def test_path_prints_the_folder(dualparse, tmp_path):
    assert dualparse("path").stdout == f"{tmp_path / 'data'}\n"


def test_list_names_every_dataset_and_its_address(dualparse, vectors):
    dualparse("get", "glove", "--from", vectors)
    result = dualparse("list")
    assert result.exit_code == 0
    rows = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert set(benchmarks.NAMES) < set(rows)
    assert "not here" in rows["atis"]
    assert "bd419ac" in rows["atis"]
    assert "not here" not in rows["glove"]


def test_get_takes_a_local_copy_and_verify_sees_it(dualparse, vectors):
    result = dualparse("get", "glove", "--from", vectors)
    assert (result.exit_code, result.exception) == (0, None)
    assert result.stdout.startswith("glove: 1 copied")
    assert dualparse("get", "glove", "--from", vectors).stdout.startswith("glove: 1 kept")
    result = dualparse("verify", "glove")
    assert (result.exit_code, result.stdout) == (0, "glove/glove.6B.100d.subset.txt.gz: ok\n")


def test_verify_exits_with_1_when_something_is_not_there(dualparse, vectors):
    dualparse("get", "glove", "--from", vectors)
    result = dualparse("verify")
    assert result.exit_code == 1
    assert "atis/atis_train.tsv: missing" in result.stdout
    assert "glove.6B.100d.subset.txt.gz: ok" in result.stdout


def test_a_misspelt_dataset_is_refused_before_anything_is_done(dualparse, vectors, tmp_path):
    result = dualparse("get", "glove", "atsi", "--from", vectors)
    assert isinstance(result.exception, InputError)
    assert "did you mean 'atis'" in str(result.exception)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("command", ["list", "get", "verify", "path"])
def test_every_command_has_help_with_an_example(dualparse, command):
    result = dualparse(command, "--help")
    assert result.exit_code == 0
    assert "Example:" in result.stdout
    assert "dualparse data" in result.stdout.replace("\n", " ")


def test_get_copies_the_published_files(dualparse, benchmark_data):
    result = dualparse("get", "atis", "overnight", "grammars", "--from", benchmark_data)
    assert result.exception is None
    assert [line.partition(",")[0] for line in result.stdout.splitlines()] == [
        "atis: 6 copied",
        "overnight: 32 copied",
        "grammars: 9 copied",
    ]
