"""The model of a database: what contradicts itself is refused, ids keep every key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.database.model import Database, Link, Property, Relation, Table, entity_id, entity_key
from dualparse.errors import InputError
from dualparse.lf.sexpr import read

ALBUM = Table(
    "album",
    ("Album",),
    ("AlbumId",),
    label=("Title",),
    properties=(Property("price", "album", "number", "Price", unit="euro"),),
    relations=(Relation("artist", "album", "artist", ("ArtistId",)),),
)
ARTIST = Table("artist", ("Artist",), ("ArtistId",), label=("Name",))


def test_the_schema_has_kinds_units_and_targets():
    schema = Database("sqlite", (ALBUM, ARTIST)).schema
    assert list(schema.types) == ["album", "artist"]
    assert str(schema.properties["album", "price"]) == "number euro"
    assert schema.properties["album", "artist"].kind == "artist"


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        ((ALBUM,), "unknown type 'artist'"),
        ((Table("a", ("A",), ()),), "no key"),
        ((Table("a", ("A",), ("x", "y"), key_kinds=("text",)),), "2 key columns and 1 kinds"),
        ((Table("a", ("A",), ("x",), relations=(Relation("r", "a", "a", ("p", "q")),)),), "needs 1 columns, not 2"),
        (
            (Table("a", ("A",), ("x",), properties=(Property("p", "a", "text", "p", link=Link(("B",), ())),)),),
            "needs 1 owner",
        ),
        ((Table("a", ("A",), ("x",), properties=(Property("p", "a", "date", "p", storage="?"),)),), "storage"),
    ],
)
def test_a_model_that_contradicts_itself_is_refused(tables, reason):
    with pytest.raises(InputError, match=reason):
        Database("sqlite", tables)


def test_an_unknown_dialect_is_refused():
    with pytest.raises(InputError, match="did you mean 'sqlite'"):
        Database("sqlit", ())


@given(st.text(), st.integers())
def test_an_id_keeps_every_key_and_is_one_token(text, number):
    table = Table("line", ("Line",), ("a", "b"), key_kinds=("text", "number"))
    written = entity_id("line", (text, number))
    assert entity_key(written, table) == (text, number)
    assert read(f"( count {written} )") == ("count", written)
    assert written.rpartition(".")[0] == "line"


def test_a_key_of_another_shape_is_refused():
    with pytest.raises(InputError, match="1 parts, not 2"):
        entity_key("artist.1,2", ARTIST)
    with pytest.raises(InputError, match="whole number"):
        entity_key("artist.x", ARTIST)
