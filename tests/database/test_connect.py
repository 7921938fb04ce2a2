"""From a database to an editable folder: what is found, what is guessed, what stays when it is done again."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from pathlib import Path

import duckdb
import psycopg
import pytest
from shops import SHOP, sqlite_file
from sqlglot import exp

from dualparse.database.connect import connect
from dualparse.database.folder import read_connected
from dualparse.database.index import index_of
from dualparse.database.location import locate
from dualparse.database.model import Link
from dualparse.database.source import open_source
from dualparse.database.worlds import write_database
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError


@pytest.fixture
def found(shop, tmp_path):
    connect(locate(str(shop)), tmp_path / "out")
    return read_connected(tmp_path / "out").database


def part(table, name):
    return next(part for part in (*table.properties, *table.relations) if part.name == name)


def test_tables_get_names_for_people_and_labels(found):
    assert set(found.by_name) == {"genre", "film", "actor", "member", "rental", "cheap_film"}
    assert found.by_name["actor"].label == ("first_name", "last_name")
    assert found.by_name["film"].label == ("Title",)
    assert found.by_name["cheap_film"].view


def test_columns_get_kinds_units_and_storage(found):
    film = found.by_name["film"]
    assert part(film, "running_minutes").unit == "minute"
    assert part(film, "rental_price").unit == "money"
    assert (part(film, "rel_year").kind, part(film, "rel_year").storage) == ("date", "year")
    assert (part(film, "added").kind, part(film, "added").storage) == ("date", "iso")
    assert part(film, "in_print").kind == "boolean"
    assert part(found.by_name["rental"], "rented_at").storage == "epoch"
    assert part(found.by_name["rental"], "days").unit == "day"
    assert part(found.by_name["actor"], "country").category
    assert not [p for p in film.properties if p.column in ("poster", "FilmId", "GenreId")]


def test_a_table_of_pairs_becomes_a_relation(found):
    actor = part(found.by_name["film"], "actor")
    assert (actor.target, actor.columns, actor.link) == ("actor", ("actor_id",), Link(("FilmActor",), ("FilmId",)))
    assert "film_actor" not in found.by_name


def test_a_pair_leads_from_its_first_column_to_its_second_in_whatever_order_keys_are_declared(tmp_path):
    script = """
        CREATE TABLE lists (list_id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE songs (song_id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE list_song (list_id INTEGER, song_id INTEGER, PRIMARY KEY (list_id, song_id),
          FOREIGN KEY (song_id) REFERENCES songs, FOREIGN KEY (list_id) REFERENCES lists)"""
    with duckdb.connect(str(tmp_path / "songs.duckdb")) as connection:
        connection.execute(script)
    connect(locate(str(tmp_path / "songs.duckdb")), tmp_path / "out")
    model = read_connected(tmp_path / "out").database
    assert part(model.by_name["list"], "song").target == "song" and not model.by_name["song"].relations


def test_foreign_keys_are_inferred_from_names_and_values_and_this_is_told(shop, tmp_path):
    report = connect(locate(str(shop)), tmp_path / "out")
    found = read_connected(tmp_path / "out").database
    film, member = part(found.by_name["rental"], "film"), part(found.by_name["rental"], "member")
    assert (film.target, film.inferred, member.target) == ("film", True, "member")
    assert part(found.by_name["member"], "manager").target == "member"
    assert not part(found.by_name["film"], "genre").inferred
    assert "rentals: film_id leads to Films (inferred from names and values)" in report.notes


def test_the_short_word_of_a_key_is_written_out_and_a_role_leads_to_the_people_who_have_it(tmp_path):
    script = """
        CREATE TABLE player (plr_id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE referee (ref_id INTEGER PRIMARY KEY, name TEXT, mgr_id INTEGER);
        CREATE TABLE staff (staff_id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE goal (goal_id INTEGER PRIMARY KEY, plr_id INTEGER, assist_plr_id INTEGER, ref_id INTEGER);
        INSERT INTO player VALUES (11, 'Ann'), (12, 'Bo'); INSERT INTO staff VALUES (31, 'Di');
        INSERT INTO referee VALUES (21, 'Cy', 31); INSERT INTO goal VALUES (1, 11, 12, 21), (2, 12, NULL, 21)"""
    connect(locate(str(sqlite_file(tmp_path / "goals.sqlite", script))), tmp_path / "out")
    tables = read_connected(tmp_path / "out").database.by_name
    goal = [(each.name, each.target) for each in tables["goal"].relations]
    assert goal == [("player", "player"), ("assist_player", "player"), ("referee", "referee")]
    assert [(each.name, each.target) for each in tables["referee"].relations] == [("manager", "staff")]


def test_a_column_called_like_the_number_that_is_a_key_elsewhere_leads_there(tmp_path):
    script = (
        "CREATE TABLE member (memberNo INTEGER PRIMARY KEY, name TEXT); INSERT INTO member VALUES (1, 'A'), (2, 'B');"
    )
    script += "CREATE TABLE season (season_id INTEGER PRIMARY KEY); INSERT INTO season VALUES (1), (2);"
    script += (
        "CREATE TABLE visit (visit_id INTEGER PRIMARY KEY, memberNo INTEGER, season_number INTEGER, days INTEGER);"
    )
    script += "INSERT INTO visit VALUES (1, 2, 1, 3), (2, 1, 2, 3)"
    connect(locate(str(sqlite_file(tmp_path / "club.sqlite", script))), tmp_path / "out")
    visit = read_connected(tmp_path / "out").database.by_name["visit"]
    assert [(found.name, found.target) for found in visit.relations] == [("member", "member")]
    assert [held.name for held in visit.properties] == ["season_number", "days"]


def test_a_column_with_values_that_lead_nowhere_is_no_foreign_key(shop, tmp_path):
    with contextlib.closing(sqlite3.connect(shop)) as connection:
        connection.execute("UPDATE rentals SET film_id = 77 WHERE id > 1")
        connection.commit()
    connect(locate(str(shop)), tmp_path / "out")
    rental = read_connected(tmp_path / "out").database.by_name["rental"]
    assert part(rental, "film_id").kind == "number"


def test_secrets_and_bytes_are_left_out_and_named(shop, tmp_path):
    report = connect(locate(str(shop)), tmp_path / "out")
    assert {(h.table, h.column) for h in report.hidden} == {
        *{("member", "password_hash"), ("member", "api_key"), ("film", "poster")},
    }
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or b"SECRET" not in path.read_bytes()
    assert "password_hash  # looks like a secret" in (tmp_path / "out" / "ontology.txt").read_text()


def test_nothing_is_written_to_the_data(shop, tmp_path):
    os.chmod(shop, 0o444)
    before = (shop.read_bytes(), shop.stat().st_mtime_ns, stat.S_IMODE(shop.stat().st_mode))
    connect(locate(str(shop)), tmp_path / "out")
    assert (shop.read_bytes(), shop.stat().st_mtime_ns, stat.S_IMODE(shop.stat().st_mode)) == before
    assert [path.name for path in shop.parent.iterdir()] == ["shop.sqlite"]


def test_a_database_with_a_write_ahead_log_gets_no_file_beside_it(shop, tmp_path):
    with contextlib.closing(sqlite3.connect(shop)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    connect(locate(str(shop)), tmp_path / "out")
    assert [path.name for path in shop.parent.iterdir()] == ["shop.sqlite"]


def test_a_row_still_in_the_write_ahead_log_is_seen(shop, tmp_path):
    with contextlib.closing(sqlite3.connect(shop)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO tblGenres VALUES (4, 'Noir')")
        connection.commit()
        assert connect(locate(str(shop)), tmp_path / "out").rows == 19


def test_an_edited_folder_keeps_the_edits_and_tells_what_changed(shop, tmp_path):
    out = tmp_path / "out"
    connect(locate(str(shop)), out)
    ontology, synonyms = out / "ontology.txt", out / "synonyms.txt"
    lines = ontology.read_text().splitlines()
    lines = [line.replace("number minute", "number hour") for line in lines if "rel_year" not in line]
    ontology.write_text("\n".join(["# ours", *lines]) + "\n")
    synonyms.write_text(synonyms.read_text().replace("film: film\n", "film: film, movie\n"))
    with contextlib.closing(sqlite3.connect(shop)) as connection:
        connection.execute("ALTER TABLE Films ADD COLUMN studio TEXT")
        connection.execute("ALTER TABLE Films DROP COLUMN in_print")
        connection.execute("ALTER TABLE Films DROP COLUMN RunningMinutes")
        connection.commit()
    changes = connect(locate(str(shop)), out).changes
    text = ontology.read_text()
    assert "new: property studio film text column=studio" in changes
    assert "gone: property in_print film boolean column=in_print" in changes
    assert text.startswith("# ours") and "rel_year" not in text and "in_print" not in text
    assert "# no longer in the database: property  running_minutes" in text
    assert text.index("studio") < text.index("type      genre") or text.index("type      genre") < text.index(
        "type      film"
    )
    assert "film: film, movie\n" in synonyms.read_text() and "film.studio: studio\n" in synonyms.read_text()
    assert "in_print" not in synonyms.read_text()
    assert connect(locate(str(shop)), out).changes == []


def test_a_renamed_type_keeps_its_name_and_gets_new_columns(shop, tmp_path):
    out = tmp_path / "out"
    connect(locate(str(shop)), out)
    ontology = out / "ontology.txt"
    ontology.write_text(ontology.read_text().replace(" member ", " guest  "))
    (out / "synonyms.txt").unlink()
    with contextlib.closing(sqlite3.connect(shop)) as connection:
        connection.execute("ALTER TABLE members ADD COLUMN joined DATE")
        connection.commit()
    assert connect(locate(str(shop)), out).changes == ["new: property joined guest date column=joined"]
    assert "guest: member\n" in (out / "synonyms.txt").read_text()


def test_what_was_taken_out_of_a_renamed_type_stays_out_and_its_words_go_with_it(shop, tmp_path):
    out = tmp_path / "out"
    connect(locate(str(shop)), out)
    ontology, synonyms = out / "ontology.txt", out / "synonyms.txt"
    text = ontology.read_text().replace(" film ", " movie ")
    lines = [line for line in text.splitlines() if "column=rel_yr" not in line and "column=in_print" not in line]
    ontology.write_text("\n".join([*lines, "hidden movie in_print"]) + "\n")
    synonyms.write_text(synonyms.read_text().replace("film: film\n", "film: film, flick\n"))
    for _ in range(2):
        assert connect(locate(str(shop)), out).changes == []
        assert "rel_yr" not in ontology.read_text() and ontology.read_text().count("in_print") == 1
        words = read_connected(out).words
        assert words.of("movie") == ("film", "flick")


def test_a_renamed_property_keeps_its_words_and_becomes_a_comment_when_its_column_is_gone(shop, tmp_path):
    out = tmp_path / "out"
    connect(locate(str(shop)), out)
    ontology, synonyms = out / "ontology.txt", out / "synonyms.txt"
    ontology.write_text(ontology.read_text().replace("running_minutes", "length         "))
    synonyms.write_text(synonyms.read_text().replace(": running minutes", ": running time, length"))
    assert connect(locate(str(shop)), out).changes == []
    assert read_connected(out).words.of("film.length") == ("running time", "length")
    with contextlib.closing(sqlite3.connect(shop)) as connection:
        connection.execute("ALTER TABLE Films DROP COLUMN RunningMinutes")
    changes = connect(locate(str(shop)), out).changes
    assert changes == ["gone: property length film number minute column=RunningMinutes"]
    assert "# no longer in the database: property  length" in ontology.read_text()
    assert not {held.name for held in read_connected(out).database.by_name["film"].properties} & {"length"}


def test_what_a_person_wrote_about_a_column_that_is_not_there_becomes_a_comment(shop, tmp_path):
    out = tmp_path / "out"
    connect(locate(str(shop)), out)
    ontology = out / "ontology.txt"
    mine = "property hours film number hour column=RunningMinutes\n"
    other = "relation seen film rental column=FilmId\n"
    ontology.write_text(ontology.read_text() + mine + other + "property stars film number column=Stars\n")
    assert connect(locate(str(shop)), out).changes == ["gone: property stars film number column=Stars"]
    assert (
        "\n" + mine + other in ontology.read_text()
        and "\n# no longer in the database: property stars" in ontology.read_text()
    )
    with contextlib.closing(sqlite3.connect(shop)) as connection:
        connection.execute("ALTER TABLE Films DROP COLUMN RunningMinutes")
        connection.execute("DROP TABLE rentals")
        connection.commit()
    assert {f"gone: {line.strip()}" for line in (mine, other)} < set(connect(locate(str(shop)), out).changes)
    index_of(read_connected(out)).connection.close()


def test_a_second_connection_changes_nothing(shop, tmp_path):
    out = tmp_path / "out"
    connect(locate(str(shop)), out)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert connect(locate(str(shop)), out).changes == []
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_folder_with_something_else_in_it_is_left_alone(shop, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="something else in this folder"):
        connect(locate(str(shop)), tmp_path / "out")


def test_a_connected_folder_taken_for_one_of_facts_says_what_it_is(shop, tmp_path, command):
    connect(locate(str(shop)), tmp_path / "out")
    for words in (("domain", "show"), ("domain", "check")):
        code, said = command(*words, tmp_path / "out")
        assert code == 2 and "connected to a database" in said


def test_forms_run_in_the_database_of_a_folder(shop, tmp_path, command):
    connect(locate(str(shop)), tmp_path / "out")
    told = command("execute", "--domain", tmp_path / "out", input="( count ( all film ) )\n( all fim )\n")[1]
    assert told.splitlines()[0] == "(list (number 4 count))" and told.splitlines()[1].startswith("error: ")


def test_duckdb_gives_what_sqlite_gives(shop, tmp_path, found):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        script = SHOP.replace("REFERENCES Films,", "REFERENCES Films (FilmId),").replace(
            "REFERENCES Actors,", "REFERENCES Actors (actor_id),"
        )
        connection.execute(script.replace("x'00'", "'\\x00'::BLOB"))
    before = path.read_bytes()
    connect(locate(f"duckdb:///{path}"), tmp_path / "duck")
    other = read_connected(tmp_path / "duck").database
    assert shape(other) == shape(found)
    assert path.read_bytes() == before and not list(tmp_path.glob("*.wal"))


def shape(database):
    """Types, labels, properties and relations without how values are stored."""
    return {
        (t.name, t.key, t.label): (
            {(p.name, p.kind, p.unit, p.category) for p in t.properties},
            {(r.name, r.target, r.columns, r.link, r.inferred) for r in t.relations},
        )
        for t in database.tables
    }


def test_a_folder_of_csv_and_parquet_gives_what_sqlite_gives_but_for_what_is_declared(shop, tmp_path, found):
    folder = tmp_path / "files"
    folder.mkdir()
    with duckdb.connect() as connection, contextlib.closing(sqlite3.connect(shop)) as source:
        for table in ("tblGenres", "Films", "Actors", "FilmActor", "members", "rentals"):
            cursor = source.execute(f"SELECT * FROM {table}")
            names = [column[0] for column in cursor.description if column[0] != "poster"]
            rows = source.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
            connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} VARCHAR' for name in names)})")
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows)
            if table == "rentals":
                connection.execute("CREATE TABLE typed AS SELECT COLUMNS(*)::INT FROM rentals")
                connection.table("typed").write_parquet(str(folder / "rentals.parquet"))
            else:
                connection.table(table).write_csv(str(folder / f"{table}.csv"))
    report = connect(locate(str(folder)), tmp_path / "csv")
    other = read_connected(tmp_path / "csv").database
    assert set(other.by_name) == set(found.by_name) - {"cheap_film"}
    assert part(other.by_name["film"], "actor").inferred
    assert part(other.by_name["rental"], "film").target == "film"
    assert "Films: no key declared; every value of FilmId is different (inferred)" in report.notes
    assert report.rows == 16


def test_postgresql_gives_what_sqlite_gives(postgres_url, tmp_path, found):
    with psycopg.connect(f"{postgres_url}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE films")
    with psycopg.connect(f"{postgres_url}/films", autocommit=True) as connection:
        connection.execute(SHOP.replace("BLOB", "BYTEA").replace("x'00'", "'\\x00'"))
        connection.execute("CREATE SCHEMA extra CREATE TABLE notes (id INT PRIMARY KEY, subject TEXT)")
    connect(locate(f"{postgres_url}/films"), tmp_path / "pg")
    other = read_connected(tmp_path / "pg").database
    assert other.by_name["note"].source == ("extra", "notes")
    lower = {(name.lower(), tuple(c.lower() for c in key)) for name, key, _ in shape(found)}
    assert {(name, key) for name, key, _ in shape(other)} >= lower - {("cheap_film", ("filmid",))}


def test_reading_through_a_source_cannot_write(shop, postgres_url):
    with open_source(locate(str(shop))) as source, pytest.raises(InputError):
        source.rows(exp.delete("tblgenres"))
    with (
        open_source(locate(f"{postgres_url}/postgres")) as source,
        pytest.raises(psycopg.errors.ReadOnlySqlTransaction),
    ):
        source.connection.execute("CREATE TABLE t (a int)")


def test_the_command_says_what_it_did(shop, tmp_path, command):
    code, said = command("connect", shop, "--out", tmp_path / "out", "--quiet")
    assert code == 0
    assert "6 tables, 16 properties, 5 relations, 18 rows" in said
    assert "left out: member.password_hash (looks like a secret)" in said
    assert "note: FilmActor: a table of pairs, a relation between film and actor" in said


def test_a_password_is_never_written_logged_or_shown(postgres_url, tmp_path, monkeypatch, command):
    url = postgres_url.replace("tester@", "tester:hunter2secret@")
    monkeypatch.setenv("SHOP_URL", f"{url}/template1")
    code, said = command("connect", "env:SHOP_URL", "--out", tmp_path / "empty", "--quiet")
    assert code == 2 and "no tables" in said and "hunter2secret" not in said
    with psycopg.connect(f"{postgres_url}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE secrets")
    with psycopg.connect(f"{postgres_url}/secrets", autocommit=True) as connection:
        connection.execute("CREATE TABLE people (id INT PRIMARY KEY, name TEXT)")
    monkeypatch.setenv("SHOP_URL", f"{url}/secrets")
    code, said = command("connect", "env:SHOP_URL", "--out", tmp_path / "out", "--quiet")
    assert code == 0 and "hunter2secret" not in said
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert written and not [path for path in written if b"hunter2secret" in path.read_bytes()]
    assert 'database = "env:SHOP_URL"' in (tmp_path / "out" / "domain.toml").read_text()
    monkeypatch.setenv("SHOP_URL", "postgresql://ann:hunter2secret@127.0.0.1:1/shop")
    code, said = command("connect", "env:SHOP_URL", "--out", tmp_path / "third", "--quiet")
    assert code == 2 and "no server answers there" in said and "hunter2secret" not in said
    assert "hunter2secret" not in repr(locate("env:SHOP_URL"))


@pytest.mark.parametrize("url", ["postgresql://ann:pw1@host/shop", "postgresql://host/shop?password=pw1"])
def test_a_password_that_was_typed_is_refused_without_repeating_it(url, tmp_path, command):
    code, said = command("connect", url, "--out", tmp_path / "out")
    assert code == 2 and "environment variable" in said and "pw1" not in said


def test_the_database_may_move(shop, tmp_path):
    connect(locate(str(shop)), tmp_path / "out")
    moved = shop.rename(tmp_path / "moved.sqlite")
    with pytest.raises(InputError, match="no such file"):
        read_connected(tmp_path / "out")
    assert read_connected(tmp_path / "out", database=str(moved)).location.path == moved
    assert connect(locate(str(moved)), tmp_path / "out").changes == [f"the data is now at sqlite:///{moved}"]
    assert read_connected(tmp_path / "out").location.path == moved


def test_a_table_without_a_key_can_still_be_counted(tmp_path):
    path = sqlite_file(tmp_path / "log.sqlite", "CREATE TABLE log (level TEXT); INSERT INTO log VALUES ('a'), ('a')")
    report = connect(locate(str(path)), tmp_path / "out")
    assert "log: no key: its rows can be counted and listed, but not named" in report.notes
    assert read_connected(tmp_path / "out").database.by_name["log"].key == ("rowid",)


def test_chinook_is_read_as_people_see_it(benchmark_data: Path, tmp_path):
    path = benchmark_data / "chinook" / "chinook.sqlite"
    if not path.is_file():
        pytest.skip("needs the Chinook database")
    connect(locate(str(path)), tmp_path / "out")
    found = read_connected(tmp_path / "out").database
    assert found.by_name["customer"].label == ("FirstName", "LastName")
    assert part(found.by_name["playlist"], "track").link == Link(("PlaylistTrack",), ("PlaylistId",))
    assert part(found.by_name["track"], "milliseconds").unit == "millisecond"
    assert part(found.by_name["invoice"], "invoice_date").kind == "date"


def test_a_world_as_a_database_says_how_its_things_hang_together(tmp_path):
    """What `dualparse demo` connects to: keys, names, types and foreign keys are declared."""
    domain = open_domain("trails")
    model = write_database(domain.world, tmp_path / "trails.sqlite", domain.ontology)
    report = connect(locate(str(tmp_path / "trails.sqlite")), tmp_path / "trails")
    found = read_connected(tmp_path / "trails").database
    for table in model.tables:
        same = found.by_name[table.name]
        assert (same.key, same.label) == (("id",), ("name",))
        assert {each.name: each.target for each in table.relations} == {r.name: r.target for r in same.relations}
        kinds = {each.name: each.kind for each in same.properties}
        assert {each.name: each.kind for each in table.properties}.items() <= kinds.items()
    assert not [note for note in report.notes if "no key" in note]


def test_a_connect_that_a_full_disk_cut_off_is_gone_on_with(shop, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise InputError("cannot write: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("dualparse.database.connect.write_text", full)
        with pytest.raises(InputError, match="No space left"):
            connect(locate(str(shop)), tmp_path / "folder")
    connect(locate(str(shop)), tmp_path / "folder")
    assert read_connected(tmp_path / "folder").database.by_name
