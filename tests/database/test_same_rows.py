"""A form has the same answer in memory and in a database: on *trails*, and for random forms over random databases."""

from __future__ import annotations

import os
import random
from collections import Counter
from functools import partial

import pytest
from copies import in_database
from hypothesis import given, settings
from hypothesis import strategies as st
from random_forms import Forms, world
from same_rows import FORMS, agree_on_trails, compare

from dualparse.database.location import locate
from dualparse.database.model import ISO
from dualparse.database.run import Runner
from dualparse.database.source import open_source
from dualparse.database.worlds import read_database, write_database
from dualparse.domains.embedded import EMBEDDED
from dualparse.domains.folder import read_folder
from dualparse.domains.plain import Plain
from dualparse.domains.signatures import DIRECTIONS, SIGNATURES
from dualparse.domains.world import World
from dualparse.lines import raise_error

NIGHTLY = int(os.environ.get("DUALPARSE_NIGHTLY") or 0)  # databases of FORMS random forms each, in every engine
DATABASES, ELSEWHERE = NIGHTLY or 20, NIGHTLY or 4  # in SQLite, and in the others


@settings(max_examples=DATABASES, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_random_forms_have_the_same_rows_in_memory_and_in_sqlite(tmp_path_factory, seed):
    into = partial(in_database, engine="sqlite", folder=tmp_path_factory.getbasetemp())
    compare(seed, into, whole_dates=False)


@pytest.mark.parametrize("seed", range(ELSEWHERE))
def test_random_forms_have_the_same_rows_in_duckdb(tmp_path, seed):
    compare(seed, partial(in_database, engine="duckdb", folder=tmp_path), whole_dates=True)


@pytest.mark.parametrize("seed", range(ELSEWHERE))
def test_random_forms_have_the_same_rows_in_postgresql(postgres_url, tmp_path, seed):
    compare(seed, partial(in_database, engine="postgresql", folder=tmp_path, server=postgres_url), whole_dates=True)


def test_the_random_forms_are_worth_running(tmp_path):
    kinds: Counter[str] = Counter()
    for seed in range(6):
        kinds += compare(seed, partial(in_database, engine="sqlite", folder=tmp_path), whole_dates=False)
    assert kinds["rows"] + kinds["value"] + kinds["yes_no"] > 0.5 * kinds.total()
    assert kinds["error"] + kinds["deep"] < 0.05 * kinds.total()


def test_the_random_forms_hold_every_function_of_the_language():
    said: Counter[str] = Counter()
    for seed in range(60):
        rng = random.Random(seed)
        forms = Forms(world(rng), rng)
        said.update(word for _ in range(FORMS) for word in forms.any().split())
    words = {part.strip("'") for row in SIGNATURES for part in row.arguments if part.startswith("'")}
    words |= {"today", "yesterday", "tomorrow", "last", "this", "next", "past", "quarter", "it", *DIRECTIONS}
    assert not [word for word in (*words, *{row.name for row in SIGNATURES}) if not said[word]]


@pytest.fixture(scope="module")
def trails(tmp_path_factory):
    """*Trails* in memory and as SQLite."""
    domain, schema, made = read_folder(EMBEDDED / "trails", report=raise_error)
    path = tmp_path_factory.mktemp("trails") / "trails.sqlite"
    model = write_database(made, path, schema)
    with open_source(locate(f"sqlite:///{path}")) as source:
        yield domain, Plain(made, schema), Runner(source, model), model


def test_every_form_of_trails_has_the_same_answer_in_sqlite(tmp_path):
    assert agree_on_trails(partial(in_database, engine="sqlite", folder=tmp_path)) > 250


def test_forms_of_trails_have_the_same_answers_in_duckdb(tmp_path):
    into = partial(in_database, engine="duckdb", folder=tmp_path, storage=ISO)
    agree_on_trails(into, every=1 if NIGHTLY else 10)


def test_forms_of_trails_have_the_same_answers_in_postgresql(postgres_url, tmp_path):
    into = partial(in_database, engine="postgresql", folder=tmp_path, server=postgres_url, storage=ISO)
    agree_on_trails(into, every=1 if NIGHTLY else 10)


def test_a_database_reads_back_as_the_world_it_was(trails):
    _, memory, runner, model = trails
    again, labels = read_database(runner.source, model)
    for world_of in (again, memory.world):
        assert all(again.instances(type) for type in world_of.types)
    assert facts(again) == facts(memory.world)
    assert labels["trail.larch_path"] == "larch path"


def facts(made: World) -> set[tuple[str, str, str]]:
    return {fact for fact in made.facts() if fact[1] != "type"}
