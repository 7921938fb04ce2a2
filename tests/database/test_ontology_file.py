"""The editable text of a model: what is written is read, and what cannot be read is told with its line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.database.model import Database, Link, Property, Relation, Table
from dualparse.database.ontology_file import lines_of, read_ontology
from dualparse.errors import InputError

NAMES = st.text(min_size=1).filter(lambda text: "\n" not in text and "\r" not in text and "\x00" not in text)
COLUMNS = st.lists(NAMES, min_size=1, max_size=3).map(tuple)


@st.composite
def databases(draw):
    tables = []
    for name in draw(st.lists(st.sampled_from(["film", "actor", "shop"]), min_size=1, unique=True)):
        key = draw(COLUMNS)
        kinds = tuple(sorted(draw(st.sampled_from(["number", "text"])) for _ in key))
        kind = draw(st.sampled_from(["number", "text", "date", "time", "boolean"]))
        unit = draw(st.sampled_from(["", "km"])) if kind == "number" else ""
        storage = draw(st.sampled_from(["native", "iso", "year"])) if kind == "date" else "native"
        link = Link(draw(st.lists(NAMES, min_size=1, max_size=2).map(tuple)), key) if draw(st.booleans()) else None
        held = Property("held", name, kind, draw(NAMES), unit, storage, draw(st.booleans()), link=link)
        relation = Relation("next", name, name, draw(st.just(key)), (), link, draw(st.booleans()))
        source = draw(st.lists(NAMES, min_size=1, max_size=2).map(tuple))
        label = draw(st.lists(NAMES, max_size=2).map(tuple))
        tables.append(Table(name, source, key, kinds, label, (held,), (relation,), view=draw(st.booleans())))
    return Database("sqlite", tuple(tables))


@given(databases())
def test_what_is_written_is_read(tmp_path_factory, database):
    path = tmp_path_factory.mktemp("ontology") / "ontology.txt"
    path.write_bytes("".join(f"{line}\n" for line in lines_of(database)).encode())
    assert read_ontology(path, "sqlite") == database


FILM = "type film table=Films key=Id"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("typ film table=Films key=Id", "1: unknown declaration 'typ', did you mean 'type'?"),
        ("type film key=Id", "1: table= is missing"),
        ("type film table=Films", "1: key= is missing"),
        ("type film table=Films key=Id colour=red", "1: unknown option 'colour'"),
        (FILM + "\nproperty title filn text column=T", "2: unknown type 'filn', did you mean 'film'"),
        (FILM + "\nproperty title film txt column=T", "2: 'txt' is no kind of value, did you mean 'text'"),
        (FILM + "\nproperty title film text", "2: column= is missing"),
        (FILM + "\nrelation maker film studio column=S", "2: unknown type 'studio'"),
        (FILM + "\nproperty when film date column=D storage=roman", "2: unknown storage 'roman'"),
        ("type film 'table=Films key=Id", "1: quotes do not match"),
        ("# nothing", "declares no type"),
        ("\n" * 1_000_000 + "type film " + "x" * 1_000_000, "1000001: a line of 1,000,010 letters"),
    ],
    ids=lambda text: text[:60].strip(),
)  # fmt: skip
def test_a_problem_is_told_with_its_line(tmp_path, text, told):
    path = tmp_path / "ontology.txt"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_ontology(path, "sqlite")
    assert told in str(error.value)


def test_a_hidden_type_is_left_out_with_what_belongs_to_it(tmp_path):
    path = tmp_path / "ontology.txt"
    path.write_text(FILM + "\ntype log table=Log key=Id\nproperty at log date column=T\nhidden log\n")
    assert set(read_ontology(path, "sqlite").by_name) == {"film"}


def test_what_is_hidden_is_out_whatever_else_speaks_of_it(tmp_path):
    path = tmp_path / "ontology.txt"
    lines = [
        *("type film table=Films key=Id label=Title label=Pin", "property pin film text column=Pin"),
        *("type log table=Log key=Id", "relation log film log column=LogId", "relation twin film film column=TwinId"),
        *("hidden film Pin", "hidden log", "hidden film TwinId"),
    ]
    path.write_text("\n".join(lines))
    film = read_ontology(path, "sqlite").by_name["film"]
    assert (film.label, film.properties, film.relations) == (("Title",), (), ())
