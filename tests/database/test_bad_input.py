"""Databases as they are met: what can be read is read, what cannot is told in one line that says what to do."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pytest
from shops import sqlite_file
from sqlglot import exp

from dualparse.database.candidates import candidates
from dualparse.database.connect import connect
from dualparse.database.folder import read_connected
from dualparse.database.index import index_of
from dualparse.database.location import locate
from dualparse.database.run import Runner
from dualparse.database.source import open_source
from dualparse.errors import InputError


@pytest.fixture
def refused(command, tmp_path):
    """What `dualparse connect` says about a database it cannot use: one line, exit code 2."""

    def run(database):
        code, said = command("connect", database, "--out", tmp_path / "out", "--quiet")
        assert code == 2, said
        assert len(said.strip().splitlines()) == 1 and not (tmp_path / "out").exists(), said
        return said

    return run


@pytest.fixture
def read(tmp_path):
    """The report and the model of a database that can be read, and its names."""

    def run(database):
        report = connect(locate(str(database)), tmp_path / "out")
        connected = read_connected(tmp_path / "out")
        index_of(connected).connection.close()
        return report, connected.database

    return run


def test_a_database_that_is_not_there(refused, tmp_path):
    assert "no such file or folder" in refused(tmp_path / "nowhere.sqlite")


def test_an_empty_file(refused, tmp_path):
    (tmp_path / "a.sqlite").touch()
    assert "the file is empty" in refused(tmp_path / "a.sqlite")


def test_an_encrypted_or_foreign_file(refused, tmp_path):
    (tmp_path / "a.sqlite").write_bytes(bytes(range(256)) * 20)
    assert "encrypted or damaged" in refused(tmp_path / "a.sqlite")


def test_a_database_without_tables(refused, tmp_path):
    sqlite_file(tmp_path / "a.sqlite", "CREATE TABLE t (a); DROP TABLE t")
    assert "has no tables" in refused(tmp_path / "a.sqlite")


def test_a_corrupt_sqlite_file(refused, shop):
    content = shop.read_bytes()
    shop.write_bytes(content[:100] + b"\xff" * (len(content) - 100))
    assert "damaged" in refused(shop)


def test_a_truncated_sqlite_file(refused, shop):
    shop.write_bytes(shop.read_bytes()[:5000])
    assert "damaged" in refused(shop)


def test_a_locked_sqlite_file(refused, shop):
    with contextlib.closing(sqlite3.connect(shop)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert "locked by another program" in refused(shop)


def test_a_write_ahead_log_that_nobody_took_over(refused, shop, tmp_path):
    with contextlib.closing(sqlite3.connect(shop)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO tblGenres VALUES (7, 'Noir')")
        connection.commit()
        left = {f"{shop.name}{ending}": (shop.parent / f"{shop.name}{ending}").read_bytes() for ending in ("", "-wal")}
    (tmp_path / "left").mkdir()
    for name, content in left.items():
        (tmp_path / "left" / name).write_bytes(content)
    assert "open the database once with its program" in refused(tmp_path / "left" / shop.name)
    assert {path.name for path in (tmp_path / "left").iterdir()} == set(left)


def test_a_locked_duckdb_file(refused, tmp_path):
    path = tmp_path / "a.duckdb"
    hold = f"import duckdb; c = duckdb.connect({str(path)!r}); c.execute('CREATE TABLE t (a INT)')"
    hold += "; print(1, flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        assert "locked by another program" in refused(path)
        holder.communicate(b"\n")


def test_a_corrupt_duckdb_file(refused, tmp_path):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS a FROM range(1000)")
    content = (tmp_path / "a.duckdb").read_bytes()
    (tmp_path / "a.duckdb").write_bytes(content[:64] + b"\x11" * (len(content) - 64))
    refused(tmp_path / "a.duckdb")


def test_a_file_nobody_may_read(shop):
    os.chmod(shop, 0o000)
    root = os.geteuid() == 0
    if root:  # who may read everything
        os.seteuid(65534)
    try:
        with pytest.raises(InputError, match="cannot be read: Permission denied"):
            locate(str(shop))
    finally:
        if root:
            os.seteuid(0)


def test_a_table_in_postgresql_nobody_may_read(postgres_url, tmp_path):
    with psycopg.connect(f"{postgres_url}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE closed")
        connection.execute("CREATE ROLE guest LOGIN")
    with psycopg.connect(f"{postgres_url}/closed", autocommit=True) as connection:
        connection.execute("CREATE TABLE diary (id INT PRIMARY KEY, name TEXT)")
        connection.execute("CREATE TABLE notes (id INT PRIMARY KEY, name TEXT); GRANT SELECT ON notes TO guest")
    report = connect(locate(f"{postgres_url.replace('tester', 'guest')}/closed"), tmp_path / "out")
    assert set(read_connected(tmp_path / "out").database.by_name) == {"note"}
    assert any("diary: left out, because it cannot be read" in note for note in report.notes)


def test_postgresql_with_uuids_for_keys_and_types_that_cannot_be_compared(read, postgres_url):
    with psycopg.connect(f"{postgres_url}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE types")
    with psycopg.connect(f"{postgres_url}/types") as connection:
        connection.execute(
            "CREATE TABLE shops (id uuid PRIMARY KEY, name text, place point, notes json, page xml, tags text[])"
        )
        row = """INSERT INTO shops VALUES (gen_random_uuid(), 'Nook', '(1,2)', '"new"', '<a/>', '{a}')"""
        connection.execute(row)
    report, found = read(f"{postgres_url}/types")
    assert [each.name for each in found.by_name["shop"].properties] == ["name"]
    assert [each.column for each in report.hidden] == ["place", "notes", "page", "tags"]
    with index_of(read_connected(report.folder)) as index:
        assert [each.value for each in candidates("where is the nook", index)] == ["Nook"]
    with psycopg.connect(f"{postgres_url}/types") as connection:
        connection.execute(row.replace("Nook", "Attic"))
    with index_of(read_connected(report.folder)) as index, open_source(locate(f"{postgres_url}/types")) as source:
        [attic] = candidates("where is the attic", index)
        assert Runner(source, found).answer(f"( get {attic.keys[0]} name )").values == [("Attic",)]


def test_a_server_that_does_not_answer(refused):
    assert "no server answers there" in refused("postgresql://ann@127.0.0.1:1/shop")


def test_a_database_the_server_does_not_have(refused, postgres_url):
    assert 'database "nothing" does not exist' in refused(f"{postgres_url}/nothing")


@pytest.mark.parametrize("url", ["mysql://localhost/shop", "sqlite://", "postgresql://host:port/shop"])
def test_a_url_that_is_none_of_ours(refused, url):
    assert "Traceback" not in refused(url)


def test_a_variable_that_is_not_set(refused, monkeypatch):
    monkeypatch.delenv("NO_SUCH_URL", raising=False)
    assert "environment variable NO_SUCH_URL is not set" in refused("env:NO_SUCH_URL")


def test_six_hundred_columns(read, tmp_path):
    columns = ", ".join(f"c{i} TEXT" for i in range(600))
    script = f"CREATE TABLE wide (id INTEGER PRIMARY KEY, {columns});"
    script += "".join(f"INSERT INTO wide (id, c0, c599) VALUES ({i}, 'a{i}', 'b');" for i in range(50))
    report, found = read(sqlite_file(tmp_path / "wide.sqlite", script))
    assert len(found.by_name["wide"].properties) == 600


NAMES = ["two words", 'say "hi"', "o'clock", "select", "ünï", "😀", "a;b", "x=y", "100%", "[b]", "#7", "rowid", "type"]


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "postgres"])
def test_names_with_spaces_quotes_keywords_and_emoji(read, tmp_path, postgres_url, engine):
    quoted = [exp.to_identifier(name, quoted=True).sql() for name in NAMES]
    tables = ['"order"', '"my ""table"""', '"😀"']
    script = [f"CREATE TABLE {t} (id INTEGER PRIMARY KEY, {', '.join(f'{c} TEXT' for c in quoted)})" for t in tables]
    script += [f"INSERT INTO {t} VALUES (1, {', '.join(['$$Some Name$$'] * len(quoted))})" for t in tables]
    if engine == "sqlite":
        path = sqlite_file(tmp_path / "odd.sqlite", ";".join(script).replace("$$", "'"))
    elif engine == "duckdb":
        path = tmp_path / "odd.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(";".join(script))
    else:
        path = f"{postgres_url}/odd"
        with psycopg.connect(f"{postgres_url}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE odd")
        with psycopg.connect(path, autocommit=True) as connection:
            connection.execute(";".join(script))
    _, found = read(path)
    assert {table.source[-1] for table in found.tables} == {"order", 'my "table"', "😀"}
    order = found.by_name["order"]
    assert {held.column for held in order.properties} == set(NAMES)
    with index_of(read_connected(tmp_path / "out")) as index:
        assert len(candidates("what of Some Name", index)) >= 3 * (len(NAMES) - 1)


def test_null_everywhere(read, tmp_path):
    script = "CREATE TABLE t (id INTEGER, name TEXT, n INTEGER, d DATE); INSERT INTO t VALUES (NULL, NULL, NULL, NULL)"
    script += ", (NULL, NULL, NULL, NULL)"
    report, found = read(sqlite_file(tmp_path / "null.sqlite", script))
    assert found.by_name["t"].key == ("rowid",)
    assert [held.kind for held in found.by_name["t"].properties] == ["number", "text", "number", "date"]


def test_an_empty_table(read, tmp_path):
    _, found = read(sqlite_file(tmp_path / "a.sqlite", "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)"))
    assert found.by_name["t"].label == ("name",)


def test_a_view_without_a_column_of_different_values_has_a_key_of_several(read, tmp_path):
    script = """
        CREATE TABLE games (id INTEGER PRIMARY KEY, season TEXT, club TEXT, goals INTEGER);
        INSERT INTO games (season, club, goals) VALUES ('1', 'A', 2), ('1', 'A', 1), ('1', 'B', 3), ('2', 'A', 3);
        CREATE VIEW v_standing AS SELECT season, club, SUM(goals) AS pts FROM games GROUP BY season, club;
        CREATE VIEW v_twice AS SELECT season, club FROM games"""
    report, found = read(sqlite_file(tmp_path / "league.sqlite", script))
    assert found.by_name["standing"].key == ("season", "club")
    assert "v_standing: no key declared; season, club together tell its rows apart (inferred)" in report.notes
    assert any(note.startswith("v_twice: left out, because it has no key") for note in report.notes)


def test_a_view_of_a_table_that_is_gone_is_left_out_and_told(read, shop):
    with contextlib.closing(sqlite3.connect(shop)) as connection:
        connection.execute("CREATE TABLE old (id INTEGER PRIMARY KEY)")
        connection.execute("CREATE VIEW broken AS SELECT * FROM old")
        connection.execute("DROP TABLE old")
    report, found = read(shop)
    assert "broken" not in found.by_name and "film" in found.by_name
    assert any(note.startswith("broken: left out") for note in report.notes)


def test_values_that_are_not_what_their_column_says(read, tmp_path):
    script = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, d DATE, b TEXT);"
    script += "INSERT INTO t VALUES (1, 'many', 'soon', x'ff00'), (2, 3, '2020-01-01', 'x'), (3, 4.5, 17, 'y')"
    _, found = read(sqlite_file(tmp_path / "mixed.sqlite", script))
    assert [(held.name, held.kind) for held in found.by_name["t"].properties] == [("n", "text"), ("d", "text")]


def test_text_that_is_not_utf_8_in_sqlite(read, tmp_path):
    script = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t VALUES (1, CAST(x'4672e964' AS TEXT))"
    _, found = read(sqlite_file(tmp_path / "latin.sqlite", script))
    assert found.by_name["t"].label == ("name",)


def test_tables_behind_a_full_text_index_and_partitions_are_no_tables_of_their_own(read, tmp_path, postgres_url):
    script = "CREATE TABLE notes (id INTEGER PRIMARY KEY, name TEXT); CREATE VIRTUAL TABLE found USING fts5(body)"
    _, model = read(sqlite_file(tmp_path / "notes.sqlite", script))
    assert set(model.by_name) == {"note"}
    with psycopg.connect(f"{postgres_url}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE parts")
    with psycopg.connect(f"{postgres_url}/parts", autocommit=True) as connection:
        connection.execute("CREATE TABLE visits (id INT, name TEXT, year INT) PARTITION BY RANGE (year)")
        connection.execute("CREATE TABLE visits_old PARTITION OF visits FOR VALUES FROM (0) TO (2020)")
        connection.execute("INSERT INTO visits VALUES (1, 'first', 2019)")
    report = connect(locate(f"{postgres_url}/parts"), tmp_path / "parts")
    assert set(read_connected(tmp_path / "parts").database.by_name) == {"visit"} and report.rows == 1


def test_numbers_that_are_none_are_not_recorded(tmp_path):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR, v DOUBLE)")
        connection.execute("INSERT INTO t VALUES (1, 'a', 'nan'), (2, 'b', 'inf'), (3, 'c', 2)")
    connect(locate(str(tmp_path / "a.duckdb")), tmp_path / "out")
    connected = read_connected(tmp_path / "out")
    with open_source(connected.location) as source:
        answer = Runner(source, connected.database).answer("( select ( all t ) v )")
    assert sorted(answer.values, key=str) == [("a", None), ("b", None), ("c", 2)]


def test_days_that_no_calendar_of_python_has(tmp_path, postgres_url):
    with psycopg.connect(f"{postgres_url}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE days")
    with psycopg.connect(f"{postgres_url}/days", autocommit=True) as connection:
        connection.execute("CREATE TABLE reigns (id INT PRIMARY KEY, name TEXT, ends DATE, told TIMESTAMPTZ)")
        connection.execute(
            "INSERT INTO reigns VALUES (1, 'Ann', 'infinity', '-infinity'), (2, 'Caesar', '0044-03-15 BC', NULL)"
        )
    connect(locate(f"{postgres_url}/days"), tmp_path / "out")
    connected = read_connected(tmp_path / "out")
    with open_source(connected.location) as source:
        answer = Runner(source, connected.database).answer("( select ( all reign ) ends )")
    assert sorted(answer.values, key=str) == [("Ann", "9999-12-31"), ("Caesar", None)]


# -- CSV and Parquet


def test_rows_that_are_too_long_or_too_short(read, tmp_path):
    (tmp_path / "ragged.csv").write_text("id,name\n1,Ann\n2,Bo,extra\n3\n")
    report, found = read(tmp_path / "ragged.csv")
    assert report.rows == 3
    assert any("some rows are longer than the heading" in note for note in report.notes)


@pytest.mark.parametrize("last, note", [("60001,a,b,c", "what is too long is left out"), ("late,a", "")])
def test_a_row_far_down_that_is_unlike_the_others(read, tmp_path, last, note):
    rows = "".join(f"{number},n{number % 100}\n" for number in range(60_000))
    (tmp_path / "ragged.csv").write_text(f"id,name\n{rows}{last}\n")
    report, _ = read(tmp_path / "ragged.csv")
    assert report.rows == 60_001
    assert note in "".join(report.notes)


def test_amounts_with_a_comma_and_places_without_a_value(read, tmp_path):
    (tmp_path / "offers.csv").write_text("offer_id;name;preis;count\n1;Brot;3,50;N/A\n2;Tee;12,00;4\n")
    _, found = read(tmp_path / "offers.csv")
    assert [(held.name, held.kind) for held in found.by_name["offer"].properties][1:] == [
        ("preis", "number"),
        ("count", "number"),
    ]
    with open_source(locate(str(tmp_path / "offers.csv"))) as source:
        assert source.rows(exp.select("preis", "count").from_("offers")) == [(3.5, None), (12.0, 4)]


def test_an_empty_file_among_others_is_left_out_and_told(read, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "nothing.csv").write_text("")
    (tmp_path / "data" / "people.csv").write_text("id,name\n1,Ann\n2,Bo\n")
    report, found = read(tmp_path / "data")
    assert "nothing.csv: left out, because it is empty" in report.notes
    assert list(found.by_name) == ["person"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_other_encodings_and_a_byte_order_mark(read, tmp_path, encoding):
    (tmp_path / "people.csv").write_text("person_id;name\n1;Zoë Müller\n2;Bjørn Hansen\n", encoding=encoding)
    report, found = read(tmp_path / "people.csv")
    person = found.by_name["person"]
    assert (person.key, person.label) == (("person_id",), ("name",))
    with index_of(read_connected(tmp_path / "out")) as index:
        assert candidates("what about zoe muller", index)[0].value == "Zoë Müller"
    assert encoding == "utf-8-sig" or any("not UTF-8" in note for note in report.notes)


def test_a_csv_file_with_a_heading_alone(read, tmp_path):
    (tmp_path / "people.csv").write_text("id,name\n")
    report, _ = read(tmp_path / "people.csv")
    assert report.rows == 0


def test_a_csv_file_without_a_heading_is_told(read, tmp_path):
    (tmp_path / "numbers.csv").write_text("1,2\n3,4\n")
    report, _ = read(tmp_path / "numbers.csv")
    assert any("no heading found" in note for note in report.notes)


def test_a_folder_without_tables(refused, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "holds no CSV or Parquet file" in refused(tmp_path / "empty")
    (tmp_path / "empty" / "shop.db").touch()
    assert "a database is connected by its file, such as shop.db" in refused(tmp_path / "empty")


def test_two_files_for_one_table(refused, tmp_path):
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "people.csv").write_text("id\n1\n")
    (tmp_path / "both" / "people.tsv").write_text("id\n1\n")
    assert "two files would be the table 'people'" in refused(tmp_path / "both")


def test_a_damaged_parquet_file(refused, tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + bytes(100))
    assert "a.parquet" in refused(tmp_path / "a.parquet")


def test_a_folder_of_parquet_parts_is_one_table(read, tmp_path):
    import pyarrow.parquet

    for year in (2023, 2024):
        part = tmp_path / "lake" / "sales" / f"year={year}"
        part.mkdir(parents=True)
        pyarrow.parquet.write_table(pa.table({"sale_id": [year], "name": [f"sale of {year}"]}), part / "part-0.parquet")
    report, found = read(tmp_path / "lake")
    assert set(found.by_name) == {"sale"} and report.rows == 2


def test_a_large_csv_file_is_read_in_place(read, tmp_path, monkeypatch):
    from dualparse.database import tabular

    monkeypatch.setattr(tabular, "LARGEST_KEPT", 100)
    (tmp_path / "log.csv").write_text("level,amount\n" + "warn,5\nok,7\n" * 50)
    report, found = read(tmp_path / "log.csv")
    assert found.by_name["log"].key == ("rowid",) and report.rows == 100
    assert [held.column for held in found.by_name["log"].properties] == ["level", "amount"]
    with open_source(locate(str(tmp_path / "log.csv"))) as source:
        rows = source.rows(exp.select(exp.column("rowid")).from_("log").limit(2))
    assert rows == [(1,), (2,)]


def test_csv_files_stay_as_they_are(read, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,name\n1,Ann\n")
    before = (path.read_bytes(), path.stat().st_mtime_ns, {p.name for p in tmp_path.iterdir()} | {"out"})
    read(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns, {p.name for p in tmp_path.iterdir()}) == before


# -- a schema that changed since


def test_a_column_that_is_gone_since_is_told_when_names_are_read(read, shop, tmp_path):
    read(shop)
    with contextlib.closing(sqlite3.connect(shop)) as connection:
        connection.execute("ALTER TABLE members DROP COLUMN city")
        connection.commit()
    with pytest.raises(InputError, match="connect it again"):
        index_of(read_connected(tmp_path / "out"))


def test_an_edited_folder_that_cannot_be_read_is_told_with_its_line(shop, tmp_path, command):
    connect(locate(str(shop)), tmp_path / "out")
    ontology = tmp_path / "out" / "ontology.txt"
    ontology.write_text("tipe film\n" + ontology.read_text())
    code, said = command("connect", shop, "--out", tmp_path / "out", "--quiet")
    assert code == 2 and "ontology.txt:1: unknown declaration 'tipe', did you mean 'type'?" in said


def test_an_out_folder_that_cannot_be_made(shop, tmp_path, command):
    (tmp_path / "file").write_text("")
    code, said = command("connect", shop, "--out", Path(tmp_path / "file" / "out"), "--quiet")
    assert code == 2 and "cannot write" in said
