"""Data stay the user's: a connection can read the one database it was opened for, and neither change nor leave it."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import duckdb
import pytest
from shops import sqlite_file
from sqlglot import exp

from dualparse.asking.asker import open_asker
from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.database.source import Source, open_source
from dualparse.errors import InputError

SECRET = "the secret of the reader"


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    return path


def sent(source: Source, text: str) -> list[tuple]:
    """What a connection answers to a statement that our own code would never send."""
    return source.connection.execute(text).fetchall()


@pytest.mark.parametrize(
    "text",
    [
        "ATTACH DATABASE '{folder}/other.sqlite' AS other",
        "PRAGMA query_only = 0",
        "PRAGMA journal_mode = WAL",
        "SELECT load_extension('x')",
        "DELETE FROM t",
        "CREATE TEMP TABLE x (a)",
        "VACUUM INTO '{folder}/copy.sqlite'",
    ],
)
def test_sqlite_does_nothing_but_read_one_file(tmp_path, text):
    with sqlite3.connect(tmp_path / "a.sqlite") as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
    connection.close()
    before = sorted(path.name for path in tmp_path.iterdir())
    with open_source(locate(f"sqlite:///{tmp_path}/a.sqlite")) as source:
        with pytest.raises(sqlite3.DatabaseError, match="not authorized|authorization denied"):
            sent(source, text.format(folder=tmp_path))
        assert source.rows(exp.select(exp.Count(this=exp.Star())).from_("t")) == [(0,)]
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_view_in_a_database_of_a_stranger_reads_no_other_file(tmp_path, secret):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR); INSERT INTO t VALUES (1, 'x')")
        connection.execute(f"CREATE VIEW v AS SELECT content AS name, size AS id FROM read_text('{secret}')")
    with open_source(locate(f"duckdb:///{tmp_path}/a.duckdb")) as source:
        for text in ("FROM v", f"FROM read_text('{secret}')", "SET enable_external_access = true"):
            with pytest.raises(duckdb.Error):
                sent(source, text)
    report = connect(locate(f"duckdb:///{tmp_path}/a.duckdb"), tmp_path / "out")
    assert any(note.startswith("v: left out") and "connect those" in note for note in report.notes)
    assert [
        line for line in (tmp_path / "out" / "ontology.txt").read_text().splitlines() if line.startswith("type")
    ] == ["type      t              table=t key=id label=name"]
    assert not [
        path for path in (tmp_path / "out").rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ]


def test_a_view_without_end_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr("dualparse.database.infer.VIEW_SECONDS", 0.3)
    with sqlite3.connect(tmp_path / "a.sqlite") as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
        endless = "WITH RECURSIVE c (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c) SELECT id, 'x' AS name FROM c"
        connection.execute(f"CREATE VIEW v AS {endless}")
    connection.close()
    report = connect(locate(f"sqlite:///{tmp_path}/a.sqlite"), tmp_path / "out")
    assert "v: left out, because it cannot be read: not done within 0.3 seconds" in report.notes


@pytest.mark.parametrize("size", [1, 400_000], ids=["small", "read for every question"])
def test_csv_files_are_read_and_nothing_beside_them(tmp_path, secret, size, monkeypatch):
    monkeypatch.setattr("dualparse.database.tabular.LARGEST_KEPT", 1_000_000)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("id,name\n" + "".join(f"{n},x\n" for n in range(size)))
    for place in (tmp_path / "data", tmp_path / "data" / "a.csv"):
        with open_source(locate(str(place))) as source:
            assert source.rows(exp.select(exp.Count(this=exp.Star())).from_("a")) == [(size,)]
            for text in (f"FROM read_text('{secret}')", f"COPY (SELECT 1) TO '{tmp_path}/out.csv'"):
                with pytest.raises(duckdb.Error):
                    sent(source, text)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    "held", ["tok-3f9a77", "mysql://ann:tok-3f9a77@host/db", "sqlite:///tok-3f9a77", "://tok-3f9a77"]
)
def test_what_a_variable_holds_is_in_no_error(monkeypatch, held):
    monkeypatch.setenv("SHOP_URL", held)
    with pytest.raises(InputError) as told:
        locate("env:SHOP_URL")
    assert "tok-3f9a77" not in str(told.value) and "SHOP_URL" in str(told.value)


def place_of(kind: str, folder: Path) -> Path:
    """The same two tables as a file of SQLite or DuckDB, or as a folder of CSV or Parquet files."""
    tables = {"films": "1 AS film_id, 'Dust' AS title, 140 AS minutes", "genres": "1 AS genre_id, 'Drama' AS name"}
    if kind == "sqlite":
        script = ";".join(f"CREATE TABLE {name} AS SELECT {columns}" for name, columns in tables.items())
        return sqlite_file(folder / "shop.sqlite", script)
    with duckdb.connect(str(folder / "shop.duckdb") if kind == "duckdb" else ":memory:") as connection:
        for name, columns in tables.items():
            connection.execute(f"CREATE TABLE {name} AS SELECT {columns}")
            if kind != "duckdb":
                connection.execute(f"COPY {name} TO '{folder / name}.{kind}'")
    return folder / "shop.duckdb" if kind == "duckdb" else folder


def looks(folder: Path) -> dict[str, tuple[object, ...]]:
    """What would show that anything was touched: names, checksums, modes, times."""
    return {
        path.name: (
            path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mode,
            path.stat().st_mtime_ns,
        )
        for path in (folder, *folder.rglob("*"))
    }


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "csv", "parquet"])
def test_data_look_as_before_after_connecting_and_asking(tmp_path, kind):
    (tmp_path / "data").mkdir()
    data = place_of(kind, tmp_path / "data")
    for path in (tmp_path / "data").iterdir():
        path.chmod(0o640)
    before = looks(tmp_path / "data")
    for _ in range(2):
        connect(locate(str(data)), tmp_path / "out")
    with open_asker(tmp_path / "out") as asker:
        assert asker.ask("which films are longer than two hours").rows == (("Dust", 140),)
        asker.ask("delete all films")
        asker.run("( count ( all film ) )")
    assert looks(tmp_path / "data") == before
