"""Statements and what runs them: parameters, dialects, limits, and nothing that writes."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from contextlib import closing
from datetime import date as Day
from time import perf_counter, sleep

import duckdb
import psycopg
import pytest
import sqlglot

from dualparse.database.compile import compile_form
from dualparse.database.location import locate
from dualparse.database.model import DIALECTS, Database, Property, Relation, Table
from dualparse.database.run import Runner
from dualparse.database.source import open_source
from dualparse.database.worlds import model_of
from dualparse.domains.plain import schema_of
from dualparse.domains.registry import open_domain
from dualparse.domains.signatures import SIGNATURES
from dualparse.lf.errors import LFExecutionError, LFSyntaxError

ROWS = 1_000_000
LINE = Table(
    "line",
    ("order lines",),
    ("order", "no"),
    label=(),
    properties=(Property("price", "line", "number", "price"), Property("note", "line", "text", 'the "note"')),
    relations=(Relation("order", "line", "order", ("order",)),),
)
ORDER = Table(
    "order",
    ("order",),
    ("id",),
    label=("first", "last"),
    properties=(
        Property("city", "order", "text", "city"),
        Property("day", "order", "date", "day", storage="epoch"),
        Property("paid", "order", "boolean", "paid"),
        Property("at", "order", "time", "at"),
        Property("year", "order", "date", "yr", storage="year"),
    ),
)
MODEL = Database("sqlite", (ORDER, LINE))
TODAY = Day(2024, 5, 5)


@pytest.fixture
def orders(tmp_path):
    """Keys of two columns, names that are words of SQL, seconds since 1970, labels with gaps."""
    path = tmp_path / "orders.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            CREATE TABLE "order" (id INTEGER PRIMARY KEY, first TEXT, last TEXT, city TEXT, day INTEGER, paid, at, yr);
            CREATE TABLE "order lines" ("order" INTEGER, no INTEGER, price REAL, [the "note"] TEXT,
              PRIMARY KEY ("order", no));
            INSERT INTO "order" VALUES (1, 'Ann', 'Lee', 'Paris', 1704067200, 1, '10:30:00', 2024),
              (2, NULL, 'Dahl', 'paris', 1709251200, 0, '09:00', 2023), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
            INSERT INTO "order lines" VALUES (1, 1, 2.5, 'a'), (1, 2, 3, 'b'), (2, 1, 4, NULL), (9, 1, 50, 'lost');
            """
        )
    with open_source(locate(f"sqlite:///{path}")) as source:
        yield Runner(source, MODEL)


@pytest.mark.parametrize(
    ("form", "found"),
    [
        ("( all order )", [("Ann Lee",), ("Dahl",), ("3",)]),
        ("( get order.1 !order )", [("1, 1",), ("1, 2",)]),
        ("( get ( all line ) order )", [("Ann Lee",), ("Dahl",)]),
        ("( filter ( all line ) order missing )", [("9, 1",)]),
        ("( not ( get order.1 !order ) )", [("2, 1",), ("9, 1",)]),
        ("( count ( get ( all order ) !order ) )", [(3,)]),
        ("( and ( get ( all order ) !order ) ( filter ( all line ) note present ) )", [("1, 1",), ("1, 2",)]),
        ("( not ( top 2 ( all line ) price ) )", [("1, 1",), ("1, 2",)]),
        ("( get ( top 1 ( get order.1 !order ) price ) order )", [("Ann Lee",)]),
        ("( filter ( all order ) day = ( date 2024 3 1 ) )", [("Dahl",)]),
        ("( filter ( all order ) day < ( date 2024 3 -1 ) )", [("Ann Lee",)]),
        ("( filter ( all order ) day = ( last quarter ) )", [("Ann Lee",), ("Dahl",)]),
        ("( get order.2 day )", [("2024-03-01",)]),
        ("( group ( all order ) ( month day ) ( count it ) )", [("2024-01", 1), ("2024-03", 1)]),
        ("( filter ( all order ) year >= ( date 2024 2 -1 ) )", []),
        ("( filter ( all order ) year > ( date 2023 2 -1 ) )", [("Ann Lee",)]),
        ("( filter ( all order ) paid )", [("Ann Lee",)]),
        ("( filter ( all order ) paid = false )", [("Dahl",)]),
        ("( filter ( all order ) paid != true )", [("Dahl",), ("3",)]),
        ("( filter ( all order ) at = ( time 10 30 ) )", [("Ann Lee",)]),
        ("( filter ( all order ) city contains ( text PAR ) )", [("Ann Lee",), ("Dahl",)]),
        ("( filter ( all order ) city = ( text Paris ) )", [("Ann Lee",)]),
        ("( select order.3 city day )", [("3", None, None)]),
        ("order.7", []),
    ],
)
def test_what_real_tables_give(orders, form, found):
    assert sorted(map(str, orders.answer(form, today=TODAY).values)) == sorted(map(str, found))


@pytest.mark.parametrize("form", ["order.x", "order.1,2", "( get line.1 price )"])
def test_a_key_of_another_shape_is_no_entity(orders, form):
    with pytest.raises(LFExecutionError, match="unknown entity"):
        orders.execute(form)


def test_what_a_form_says_is_never_part_of_the_statement(orders):
    evil = "x' OR 1=1 --"
    answer = orders.answer(f"( filter ( all order ) city = ( text {evil} ) )")
    assert answer.kind == "none"
    assert evil not in answer.sql


def test_the_types_are_checked_without_the_database(orders):
    assert orders.check("( filter ( all order ) paid )").semantics
    assert not orders.check("( filter ( all order ) price )").semantics
    assert not orders.check("( filter ( all order )").surface


def test_more_rows_than_the_limit_are_cut_and_told(orders):
    answer = orders.answer("( all order )", most_rows=2)
    assert (len(answer.rows), answer.truncated) == (2, True)
    assert not orders.answer("( all order )", most_rows=3).truncated
    assert not orders.answer("( top 1 ( all line ) price )", most_rows=1).truncated


def test_nothing_can_be_written(orders):
    path = orders.source.location.path
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        orders.source.connection.execute('DELETE FROM "order"')
    orders.execute("( all order )")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A million rows with an index."""
    path = tmp_path_factory.mktemp("many") / "many.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE [order] (id INTEGER PRIMARY KEY, first, last, city TEXT, day, paid, at, yr)")
        rows = ((number, f"city {number % 50_000}") for number in range(ROWS))
        connection.executemany("INSERT INTO [order] (id, city) VALUES (?, ?)", rows)
        connection.execute("CREATE INDEX by_city ON [order] (city)")
        connection.commit()
    with open_source(locate(f"sqlite:///{path}")) as source:
        yield Runner(source, Database("sqlite", (ORDER,)))


def test_a_filter_on_an_indexed_column_of_a_million_rows_is_quick(many):
    seconds = []
    for number in range(5):
        start = perf_counter()
        assert len(many.answer(f"( filter ( all order ) city = ( text city {number} ) )").rows) == 20
        seconds.append(perf_counter() - start)
    assert min(seconds) < 0.05


def test_a_form_that_takes_too_long_is_stopped(many):
    start = perf_counter()
    with pytest.raises(LFExecutionError, match=r"not done within 0.05 seconds"):
        many.answer("( count ( filter ( all order ) city contains ( text x ) ) )", seconds=0.05)
    assert perf_counter() - start < 2
    assert many.answer("( count ( all order ) )").values == [(ROWS,)]


def test_a_form_can_be_cancelled_from_another_thread(many):
    def cancel() -> None:
        sleep(0.1)
        many.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(LFExecutionError, match="cancelled"):
        many.answer("( count ( filter ( all order ) city contains ( text x ) ) )")
    thread.join()


def test_postgresql_stops_and_writes_nothing(postgres_url):
    model = Database("postgres", (Table("n", ("pg_class",), ("oid",)),))
    with open_source(locate(f"{postgres_url}/postgres")) as source:
        runner = Runner(source, model)
        assert runner.answer("( count ( all n ) )").values[0][0] > 100
        with pytest.raises(LFExecutionError, match="not done within"), runner._limited(0.2):
            source.connection.execute("SELECT pg_sleep(5)")
        assert runner.answer("( exists ( all n ) )").values == [(True,)]


def test_postgresql_knows_the_capitals_of_other_languages(postgres_url):
    with psycopg.connect(f"{postgres_url}/postgres") as writing:
        writing.execute("CREATE TABLE song (id int PRIMARY KEY, title text)")
        writing.execute("INSERT INTO song VALUES (1, 'ÄRGER'), (2, 'Arger'), (3, 'Zoë')")
    title = Property("title", "song", "text", "title")
    model = Database("postgres", (Table("song", ("song",), ("id",), label=("title",), properties=(title,)),))
    with open_source(locate(f"{postgres_url}/postgres")) as source:
        runner = Runner(source, model)
        found = runner.answer("( filter ( all song ) title contains ( text ärg ) )")
        assert found.denotation == "(list (name song.1))" and "und-x-icu" in found.sql
        assert runner.answer("( filter ( all song ) title contains ( text ZOË ) )").denotation == "(list (name song.3))"


def test_a_form_that_takes_more_memory_than_there_is_has_an_error(tmp_path):
    model = Database("duckdb", (Table("line", ("line",), ("n",)),))
    with duckdb.connect(str(tmp_path / "lines.duckdb")) as connection:
        connection.execute("CREATE TABLE line AS SELECT range AS n FROM range(10)")
    with open_source(locate(str(tmp_path / "lines.duckdb"))) as source:
        runner = Runner(source, model)
        with pytest.raises(LFExecutionError, match="too little memory"), runner._limited(20):
            source.connection.execute("SELECT list(a.range) FROM range(20000) a, range(20000) b").fetchall()
        assert runner.answer("( count ( all line ) )").values == [(10,)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_example_reads_as_one_select_in_every_dialect(dialect):
    trails = open_domain("trails")
    model = model_of(schema_of(trails.world, trails.ontology))
    for signature in SIGNATURES:
        if signature.example:
            statement = compile_form(signature.example, model, dialect=dialect, today=TODAY)
            (read,) = sqlglot.parse(statement.sql(), read=dialect)
            assert isinstance(read, sqlglot.exp.Query), signature.example


def test_a_statement_is_printed_for_any_engine(command):
    code, text = command("sql", "trails", "( filter ( all hut ) price < ( number 30 euro ) )", "--dialect", "duckdb")
    assert code == 0
    assert text.splitlines()[-2:] == ['  "hut"."price" < $p1;', "-- p1 = 30"]


def test_engines_without_names_for_parameters_have_marks_in_order(command):
    form = (
        "( filter ( filter ( all hut ) price < ( number 30 euro ) ) elevation between ( number 5 m ) ( number 30 m ) )"
    )
    code, text = command("sql", "trails", form, "--dialect", "trino")
    statement, _, told = text.partition(";\n")
    assert code == 0 and statement.count("?") == 3 and ":" not in statement
    assert told.splitlines() == ["-- 1 = 30", "-- 2 = 5", "-- 3 = 30"]
    code, text = command("sql", "trails", form, "--dialect", "bigquery")
    assert "< @p1" in text and text.splitlines()[-2:] == ["-- p1 = 30", "-- p2 = 5"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("trails", "( all hat )"), "unknown type 'hat'"),
        (("trails", "( all hut )", "--dialect", "duckbd"), "did you mean 'duckdb'"),
        (("nowhere", "( all hut )"), "nowhere"),
    ],
)
def test_sql_says_what_is_wrong(command, words, reason):
    code, text = command("sql", *words)
    assert code == 2
    assert reason in text


def test_sql_is_told_what_day_it_is(command):
    form = "( filter ( all trail ) opened = ( last year ) )"
    code, text = command("sql", "trails", form, "--today", "2014-05-20")
    assert code == 0 and "p1 = '2013-" in text
    assert command("sql", "trails", form, "--today", "soon") == (
        2,
        "error: --today 'soon': expected a day such as 2024-03-31",
    )


def test_an_impossible_date_never_reaches_the_database(orders):
    with pytest.raises(LFSyntaxError, match="no such date"):
        orders.execute("( filter ( all order ) day = ( date 2024 2 30 ) )")


@pytest.mark.parametrize("name", ["shop.duckdb", "shop.csv"])
def test_duckdb_runs_without_the_optimizer_that_gives_wrong_rows(tmp_path, name):
    (tmp_path / "shop.csv").write_text("id,name\n1,Ann\n")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE shop (id INTEGER, name VARCHAR)")
        there = connection.execute("SELECT * FROM duckdb_optimizers() WHERE name = 'common_subplan'").fetchall()
    with open_source(locate(str(tmp_path / name))) as source:
        told = source.connection.execute("SELECT current_setting('disabled_optimizers')").fetchone()
        assert told == (("common_subplan",) if there else ("",))
        with pytest.raises(duckdb.Error, match="locked"):
            source.connection.execute("SET disabled_optimizers = ''")
