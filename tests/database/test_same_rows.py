"""A form has the same answer in memory and in a database: on *trails*, and for random forms over random databases."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import duckdb
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_forms import SCHEMA, copied, world
from same_rows import agree, trails_forms

from dualparse.database.location import locate
from dualparse.database.run import Runner
from dualparse.database.source import open_source
from dualparse.database.worlds import read_database, write_database
from dualparse.domains.embedded import EMBEDDED
from dualparse.domains.folder import read_folder
from dualparse.domains.plain import Plain
from dualparse.domains.world import World
from dualparse.lines import raise_error

ELSEWHERE = 100 if os.environ.get("DUALPARSE_NIGHTLY") else 4  # databases of the other engines
DATABASES = 800 if os.environ.get("DUALPARSE_NIGHTLY") else 20


def compare(seed: int, path: Path) -> Counter[str]:
    """Run random forms both ways; what kinds of answers they had."""
    rng = random.Random(seed)
    made = world(rng)
    model = write_database(made, path, SCHEMA)
    with open_source(locate(f"sqlite:///{path}")) as source:
        kinds = agree(made, Runner(source, model), rng)
    path.unlink()
    return kinds


@settings(max_examples=DATABASES, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_random_forms_have_the_same_rows_in_memory_and_in_sqlite(tmp_path_factory, seed):
    compare(seed, tmp_path_factory.mktemp("world") / "world.sqlite")


def test_the_random_forms_are_worth_running(tmp_path):
    kinds: Counter[str] = Counter()
    for seed in range(6):
        kinds += compare(seed, tmp_path / f"{seed}.sqlite")
    assert kinds["rows"] + kinds["value"] + kinds["yes_no"] > 0.5 * kinds.total()
    assert kinds["error"] + kinds["deep"] < 0.05 * kinds.total()


@pytest.mark.parametrize("seed", [1097, 1133, 1157])
def test_what_was_wrong_once_stays_right(tmp_path, seed):
    """Rankings of values that tie, and the best rows of a ranking."""
    compare(seed, tmp_path / "world.sqlite")


@pytest.mark.parametrize("seed", range(ELSEWHERE))
def test_random_forms_have_the_same_rows_in_duckdb(tmp_path, seed):
    made = world(random.Random(seed), whole_dates=True)
    path = tmp_path / "world.duckdb"
    with duckdb.connect(str(path)) as connection:
        model = copied(made, "duckdb", connection.execute)
    with open_source(locate(f"duckdb:///{path}")) as source:
        agree(made, Runner(source, model), random.Random(seed))


@pytest.mark.parametrize("seed", range(ELSEWHERE))
def test_random_forms_have_the_same_rows_in_postgresql(postgres_url, seed):
    made = world(random.Random(seed), whole_dates=True)
    with psycopg.connect(f"{postgres_url}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE world{seed}")
    with psycopg.connect(f"{postgres_url}/world{seed}", autocommit=True) as connection:
        model = copied(made, "postgres", connection.execute)
    with open_source(locate(f"{postgres_url}/world{seed}")) as source:
        agree(made, Runner(source, model), random.Random(seed))


@pytest.fixture(scope="module")
def trails(tmp_path_factory):
    """*Trails* in memory and as SQLite."""
    domain, schema, made = read_folder(EMBEDDED / "trails", report=raise_error)
    path = tmp_path_factory.mktemp("trails") / "trails.sqlite"
    model = write_database(made, path, schema)
    with open_source(locate(f"sqlite:///{path}")) as source:
        yield domain, Plain(made, schema), Runner(source, model), model


def test_every_form_of_trails_has_the_same_answer_in_a_database(trails):
    domain, memory, runner, _ = trails
    forms = trails_forms(domain)
    assert len(forms) > 250
    for form in forms:
        assert runner.execute(form) == memory.execute(form), form


def test_a_database_reads_back_as_the_world_it_was(trails):
    _, memory, runner, model = trails
    again, labels = read_database(runner.source, model)
    for world_of in (again, memory.world):
        assert all(again.instances(type) for type in world_of.types)
    assert facts(again) == facts(memory.world)
    assert labels["trail.larch_path"] == "larch path"


def facts(made: World) -> set[tuple[str, str, str]]:
    return {fact for fact in made.facts() if fact[1] != "type"}
