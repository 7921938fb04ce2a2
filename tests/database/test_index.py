"""The names in the data, found in questions; an index that follows the data, and is made again when it is damaged."""

from __future__ import annotations

import contextlib
import random
import sqlite3

import psycopg
import pytest
import shops
from hypothesis import given
from hypothesis import strategies as st

from dualparse.database import index as index_module
from dualparse.database.candidates import candidates
from dualparse.database.connect import connect
from dualparse.database.fold import fold, squash, tokens
from dualparse.database.folder import read_connected
from dualparse.database.index import _told, index_of, verify_index
from dualparse.database.location import locate
from dualparse.errors import InputError

KNOWN = {"film", "films", "actor", "actors", "member"}


@pytest.fixture
def connected(shop, tmp_path):
    connect(locate(str(shop)), tmp_path / "out")
    return read_connected(tmp_path / "out")


def change(connected, *statements):
    with contextlib.closing(sqlite3.connect(connected.location.path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def found(connected, question):
    """(phrase, type, property, value, how) of every candidate, the likeliest first."""
    with index_of(connected) as index:
        return [(c.phrase, c.type, c.property, c.value, c.how) for c in candidates(question, index, known=KNOWN)]


def test_progress_tells_how_many_names_were_read(connected, monkeypatch):
    monkeypatch.setattr(index_module, "BATCH", 3)
    told = []
    index_of(connected, progress=lambda *step: told.append(step)).connection.close()
    labels = [what for what, _, _ in told if what.startswith("names of film,") or what == "names of film"]
    assert labels == ["names of film", "names of film, 3", "names of film, 4"]
    assert [what for what, done, total in told if done == total] == ["words of the names", ""]


def test_a_name_is_found_with_its_type_and_key(connected):
    with index_of(connected) as index:
        first, *others = candidates("when was Mira Holt born", index, known=KNOWN)
    assert (first.type, first.value, first.keys, first.score) == ("actor", "Mira Holt", ("actor.1",), 1.0)
    assert not others


@pytest.mark.parametrize(
    ("question", "phrase", "value", "how"),
    [
        ("films with mira holt", "mira holt", "Mira Holt", "folded"),
        ("Zoe Varga's films", "Zoe Varga", "Zoë Varga", "folded"),
        ("the films of Tomas ONeil", "Tomas ONeil", "Tomas O'Neil", "folded"),
        ("who plays in the long fery", "the long fery", "The Long Ferry", "slip"),
        ("films with Mria Holt", "Mria Holt", "Mira Holt", "slip"),
        ("films with Zoe Barga", "Zoe Barga", "Zoë Varga", "slip"),
        ("films of Varga", "Varga", "Zoë Varga", "part"),
        ("winter ledgers", "winter ledgers", "Winter Ledger", "folded"),
    ],
)
def test_names_are_found_in_spite_of(connected, question, phrase, value, how):
    assert [(f[0], f[3], f[4]) for f in found(connected, question)][:1] == [(phrase, value, how)]


def test_values_of_columns_are_found_with_their_column(connected):
    assert ("Bergen", "member", "city", "Bergen", "exact") in found(connected, "members from Bergen")
    assert ("Chile", "actor", "country", "Chile", "exact") in found(connected, "actors from Chile")


def test_the_same_name_in_several_tables_is_found_in_each(connected):
    change(
        connected,
        "INSERT INTO tblGenres VALUES (9, 'Salt')",
        "INSERT INTO members VALUES (9, 'Salt', '', '', 'Rome', 1)",
    )
    types = [f[1] for f in found(connected, "what about Salt") if f[3] == "Salt"]
    assert sorted(types) == ["cheap_film", "film", "genre", "member"] or sorted(types) == ["film", "genre", "member"]


def test_things_of_one_name_are_one_candidate_with_several_keys(connected):
    change(connected, "INSERT INTO Films (FilmId, Title) VALUES (8, 'Dust')")
    with index_of(connected) as index:
        dust = next(c for c in candidates("who is in Dust", index, known=KNOWN) if c.type == "film")
    assert set(dust.keys) == {"film.4", "film.8"}


def test_a_longer_name_explains_the_shorter_ones_in_it(connected):
    change(connected, "INSERT INTO Films (FilmId, Title) VALUES (8, 'Ferry'), (9, 'Long')")
    assert {f[3] for f in found(connected, "is The Long Ferry a drama")} >= {"The Long Ferry", "Drama"}
    assert not {f[3] for f in found(connected, "is The Long Ferry a drama")} & {"Ferry", "Long"}


def test_common_words_are_names_only_when_they_are_marked_as_such(connected):
    change(connected, "INSERT INTO Films (FilmId, Title) VALUES (8, 'Home'), (9, 'The Best')")
    with index_of(connected) as index:
        plain, quoted, capital, first = (
            max((c.score for c in candidates(q, index) if c.value == "Home"), default=0)
            for q in ("who came home", 'who is in "home"', "who is in Home", "Home of the actors")
        )
    assert plain < 0.5 > first and quoted > 0.9 < capital


def test_a_row_inserted_now_is_found_now(connected):
    assert not found(connected, "who is in Glass Harbour")
    change(connected, "INSERT INTO Films (FilmId, Title) VALUES (50, 'Glass Harbour')")
    assert found(connected, "who is in Glass Harbour")[0][3] == "Glass Harbour"
    assert found(connected, "who is in glas harbour")[0][4] == "slip"


def test_a_row_deleted_or_renamed_now_is_gone_now(connected):
    assert found(connected, "who is in Dust")
    change(
        connected, "DELETE FROM FilmActor WHERE FilmId = 4", "DELETE FROM rentals", "DELETE FROM Films WHERE FilmId = 4"
    )
    change(connected, "UPDATE Films SET Title = 'Pepper' WHERE FilmId = 2")
    assert not [f for f in found(connected, "who is in Dust") if f[3] == "Dust"]
    assert not [f for f in found(connected, "who is in Salt") if f[1] == "film"]
    assert found(connected, "who is in Pepper")[0][3] == "Pepper"


def test_the_last_row_renamed_is_found_by_its_new_words(connected):
    found(connected, "Dust")
    change(connected, "UPDATE Films SET Title = 'Quicksilver Morning' WHERE FilmId = 4")
    assert found(connected, "films like Quicksilver")[0][3] == "Quicksilver Morning"


def test_of_a_large_table_new_rows_are_read_and_nothing_else(connected, monkeypatch):
    found(connected, "Dust")
    monkeypatch.setattr(index_module, "REREAD", 0)
    change(connected, "INSERT INTO Films (FilmId, Title) VALUES (50, 'Glass Harbour')")
    assert found(connected, "who is in Glass Harbour")[0][3] == "Glass Harbour"
    change(connected, "DELETE FROM Films WHERE FilmId = 50")
    with index_of(connected) as index:
        assert "names of film are those of the last `dualparse connect`" in index.notes


def test_a_row_inserted_into_postgresql_now_is_found_now(postgres_url, tmp_path):
    with psycopg.connect(f"{postgres_url}/postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE names")
    with psycopg.connect(f"{postgres_url}/names", autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE boats (id INT PRIMARY KEY, name TEXT); INSERT INTO boats VALUES (1, 'Albatross')"
        )
        connect(locate(f"{postgres_url}/names"), tmp_path / "out")
        connected = read_connected(tmp_path / "out")
        assert found(connected, "where is the albatros")[0][3] == "Albatross"
        connection.execute("INSERT INTO boats VALUES (2, 'Cormorant')")
        assert found(connected, "where is the Cormorant")[0][3] == "Cormorant"


def test_no_bit_of_a_large_index_changes_unnoticed(tmp_path):
    shops.sqlite_file(
        tmp_path / "boats.sqlite",
        "CREATE TABLE boats (id INTEGER PRIMARY KEY, name TEXT);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        "INSERT INTO boats SELECT i, 'albatross ' || hex(i * 7919) FROM n;",
    )
    connect(locate(f"sqlite:///{tmp_path / 'boats.sqlite'}"), tmp_path / "out")
    connected = read_connected(tmp_path / "out")
    index_of(connected).connection.close()
    assert verify_index(connected) == 20_000
    path = connected.folder / "values.sqlite"
    whole = path.read_bytes()
    draw = random.Random(1)
    for place in [draw.randrange(len(whole)) for _ in range(20)]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(InputError, match=r"values\.sqlite: is damaged"):
            verify_index(connected)
    with index_of(connected) as index:
        assert index.notes == ["values.sqlite is damaged: made again"]
    assert verify_index(connected) == 20_000


def test_a_damaged_index_is_made_again_and_this_is_told(connected):
    found(connected, "Dust")
    path = connected.folder / "values.sqlite"
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 4000] = bytes(4000)
    path.write_bytes(content)
    with index_of(connected) as index:
        assert index.notes == ["values.sqlite is damaged: made again"]
        assert candidates("Dust", index)
    with index_of(connected) as index:
        assert index.notes == []


def test_an_index_older_than_the_edited_folder_is_made_again(connected):
    assert found(connected, "members from Bergen")
    ontology = connected.folder / "ontology.txt"
    lines = [line for line in ontology.read_text().splitlines() if "column=city" not in line]
    ontology.write_text("\n".join([*lines, "hidden member city"]) + "\n")
    again = read_connected(connected.folder)
    assert not [f for f in found(again, "members from Bergen") if f[3] == "Bergen"]
    assert b"Bergen" not in (connected.folder / "values.sqlite").read_bytes()


def test_secrets_are_in_no_index(connected):
    found(connected, "Dust")
    assert b"SECRET" not in (connected.folder / "values.sqlite").read_bytes()


def test_a_lexicon_gives_things_other_names(connected):
    (connected.folder / "lexicon.txt").write_text("the boss :- NP : member.1\n")
    with index_of(connected) as index:
        assert candidates("what did The Boss rent", index)[0].keys == ("member.1",)


@given(st.text(max_size=40), st.text(max_size=10))
def test_any_text_is_read_without_an_error(text, more):
    question = f"{text} 's {more}"
    assert all(question[token.start : token.end] and token.text for token in tokens(question))
    assert squash(text) == fold(text).replace(" ", "")


@given(name=st.sampled_from(["Mira Holt", "The Long Ferry", "Tomas O'Neil", "Winter Ledger"]), place=st.integers(0, 30))
def test_one_swapped_pair_of_letters_is_forgiven(connected_once, name, place):
    place %= len(name) - 1
    slip = name[:place] + name[place + 1] + name[place] + name[place + 2 :]
    if " " in (name[place], name[place + 1]) or "'" in (name[place], name[place + 1]):
        return
    word = next(part for part in slip.split() if part not in name.split() or slip == name)
    assert slip == name or len(word) < 4 or name in [c.value for c in candidates(slip, connected_once)]


@pytest.fixture(scope="module")
def connected_once(tmp_path_factory):
    from shops import SHOP, sqlite_file

    folder = tmp_path_factory.mktemp("once")
    connect(locate(str(sqlite_file(folder / "shop.sqlite", SHOP))), folder / "out")
    with index_of(read_connected(folder / "out")) as index:
        yield index


def test_a_disk_that_is_full_is_told_in_one_line(tmp_path):
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA max_page_count = 1")
        with (
            pytest.raises(InputError, match=r"values\.sqlite: cannot write: database or disk is full"),
            _told(tmp_path / "values.sqlite"),
        ):
            connection.execute("CREATE TABLE t (a)")
        with pytest.raises(sqlite3.OperationalError), _told(tmp_path):
            connection.execute("SELECT nonsense")
