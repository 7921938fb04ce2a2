"""A schema of sixty tables and six hundred columns: proposals are bounded, whatever its size."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from dualparse.asking.asker import FolderAsker, open_asker
from dualparse.asking.drafts import Given
from dualparse.asking.names_in import names_in
from dualparse.asking.paths import Ways
from dualparse.asking.propose import MOST_DRAFTS, Proposer
from dualparse.asking.question import take_apart
from dualparse.database.connect import connect
from dualparse.database.location import locate

TABLES, COLUMNS = 60, 10
KINDS = ("status TEXT", "made DATE", "amount NUMERIC(8,2)", "weight_kg REAL", "is_active BOOLEAN", "places INTEGER")
QUESTIONS = (
    "how many bolik are there",
    "bolik made in 2024 with more than 2 terun",
    "average amount of bolik per terun",
    "which terun has the heaviest bolik",
    "bolik that are active and made before May 2024 without a terun",
)


def _write(path: Path) -> list[str]:
    """Tables that lead to two others each, with names nobody knows."""
    rng = random.Random(1)
    names = ["bolik", "terun"]
    while len(names) < TABLES:
        name = "".join(rng.choice("bdfklmnrt") + rng.choice("aeiou") for _ in range(3)) + rng.choice("kln")
        names += [name] * (name not in names)
    with sqlite3.connect(path) as connection:
        for place, name in enumerate(names):
            to = sorted({names[rng.randrange(place)] for _ in range(2)}) if place else []
            columns = [f"{name}_id INTEGER PRIMARY KEY", "name TEXT", *KINDS]
            columns += [f"{each}_id INTEGER REFERENCES {each} ({each}_id)" for each in to]
            columns += [f"extra_{number} INTEGER" for number in range(COLUMNS - len(columns))]
            connection.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            row = [1, f"{name} one", "open", "2024-03-01", 5, 2.5, 1, 3, *[1] * (len(columns) - 2 - len(KINDS))]
            connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
    connection.close()
    return names


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("large")
    _write(place / "large.sqlite")
    connect(locate(str(place / "large.sqlite")), place / "folder")
    return place / "folder"


def test_questions_have_as_many_proposals_as_elsewhere(folder):
    asker = open_asker(folder)
    assert isinstance(asker, FolderAsker) and len(asker.connected.database.tables) == TABLES
    for text in QUESTIONS:
        question = take_apart(text)
        evidence = asker.terms.evidence(question)
        given = Given(asker.connected.database, asker.ways, asker.terms, question, evidence)
        drafts = Proposer(given, names_in(question, asker.index)).drafts()
        assert 0 < len(drafts) <= MOST_DRAFTS, text
        assert len(given.conditions._known) <= TABLES * 4, "what a date says of a table is worked out once"
        assert asker.ask(text).form or asker.ask(text).choices or asker.ask(text).reason, text
    asker.close()


def test_ways_are_looked_for_where_they_lead(folder):
    asker = open_asker(folder)
    ways = Ways(asker.connected.database)
    tables = list(asker.connected.database.by_name)
    looked = [0]
    hops = ways.hops

    class Counted(dict):
        def __getitem__(self, key):
            looked[0] += 1
            return hops[key]

    ways.__dict__["hops"] = Counted(hops)
    assert all(ways.between("bolik", other) or True for other in tables)
    assert looked[0] < 40 * TABLES, "only steps that bring nearer are taken"
    asker.close()
