"""A connected folder as a domain to train on: names as placeholders, pairs from the schema, a run that travels."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import torch
from shops import SHOP, sqlite_file

from dualparse import __version__
from dualparse.asking.schema_forms import SchemaForms
from dualparse.choosing.search import Hypothesis
from dualparse.config import make_recipe
from dualparse.data.examples import load_examples
from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.database.model import Database, Property, Relation, Table
from dualparse.domains.registry import open_domain
from dualparse.domains.typed import Checker
from dualparse.errors import InputError
from dualparse.training.material import load_material
from dualparse.training.run import train
from dualparse.use.api import load
from dualparse.use.asking import open_any

TINY = {
    "stages": ["query_lm", "q2lf", "lf2q", "dual"],
    "data": {"canonical": 60, "labeled": 1.0},
    "model": {"embedding": 8, "hidden": 8},
    "train": {"epochs": 1},
    "language_model": {"epochs": 1},
    "game": {"epochs": 1, "beams": 2, "max_length": 12, "batch_size": 64},
    "search": {"beams": 1, "max_length": 12},
}
ACTORS = ["Ann Ek", "Bo Rasmussen", "Cleo Abara", "Dag Holm", "Eva Lindqvist", "Finn Madsen", "Gro Nygaard"]
MORE = "".join(
    f"INSERT INTO Films VALUES ({10 + i}, '{name} Story', 1, 1990, 100, 3, 1, '2024-03-01', NULL);"
    for i, name in enumerate(ACTORS)
)  # so that films and actors are many
MORE += "".join(
    f"INSERT INTO Actors VALUES ({10 + i}, '{name.split()[0]}', '{name.split()[1]}', '1970-01-01', 'Peru');"
    for i, name in enumerate(ACTORS)
)


def connected(place: Path) -> Path:
    sqlite_file(place / "shop.sqlite", SHOP + MORE)
    connect(locate(str(place / "shop.sqlite")), place / "folder")
    return place / "folder"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = connected(tmp_path_factory.mktemp("shop"))
    (made / "train.tsv").write_text(
        "who plays in Salt\t( get film.2 actor )\n"
        "is there a film with Mira Holt and Zoe Varga\t"
        "( exists ( filter ( filter ( all film ) actor = actor.1 ) actor = actor.2 ) )\n"
        "which dramas are shorter than 100 minutes\t"
        "( filter ( filter ( all film ) genre = genre.1 ) running_minutes < ( number 100 minute ) )\n"
        "how many comedies are there\t( count ( filter ( all film ) genre = genre.2 ) )\n"
        "films with Ann Ek\t( get actor.10 !actor )\n"
        "none\t( get film.3 actor )\n"
    )
    (made / "queries.txt").write_text("what else is Tomas O'Neil in\n")
    return made


def test_names_are_placeholders_and_few_names_are_words(folder):
    splits = load_examples(open_domain(str(folder)), dev_seed=1)
    pairs = {" ".join(e.query): " ".join(e.lf) for e in (*splits.train, *splits.dev)}
    assert pairs["who plays in film.@0"] == "( get film.@0 actor )"
    both = "( exists ( filter ( filter ( all film ) actor = actor.@0 ) actor = actor.@1 ) )"
    assert pairs["is there a film with actor.@0 and actor.@1"] == both
    assert pairs["how many comedies are there"].endswith("genre = genre.2 ) )")  # there are three genres
    assert pairs["films with actor.@0"] == "( get actor.@0 !film.actor )"  # the table it belongs to is written
    assert [" ".join(e.query) for e in splits.extra_queries] == ["what else is actor.@0 in"]
    assert [" ".join(e.lf) for e in splits.extra_forms] == ["( get film.@0 actor )"]


def test_pairs_of_the_schema_are_well_typed_and_differ(folder):
    domain = open_domain(str(folder))
    made = domain.canonical(300, 1)
    assert len(made) == len({form for _, form in made}) == 300
    assert all(domain.check(form).ok for _, form in made)
    assert made == domain.canonical(300, 1) and made != domain.canonical(300, 2)
    for utterance, form in made:
        assert {word for word in utterance.split() if ".@" in word} == {t for t in form.split() if ".@" in t}, form


def test_a_schema_of_60_tables_and_600_columns_is_drawn_from_within_bounds():
    numbers = tuple(f"figure{i}" for i in range(5))
    tables = tuple(
        Table(f"thing{i}", (f"t{i}",), ("id",), label=("name",),
              properties=tuple(Property(n, f"thing{i}", "number", n) for n in numbers)
              + tuple(Property(f"text{j}", f"thing{i}", "text", f"c{j}", category=True) for j in range(5)),
              relations=(Relation("next", f"thing{i}", f"thing{(i + 1) % 60}", ("next",)),))
        for i in range(60)
    )  # fmt: skip
    database = Database("sqlite", tables)
    drawn = SchemaForms(database, random.Random(1)).forms()
    forms = [next(drawn) for _ in range(3000)]
    checker = Checker(database.schema)
    for form in forms:
        checker.typed_text(form)
    assert len({token for form in forms for token in form.split() if token.startswith("thing")}) > 60
    assert max(len(form.split()) for form in forms) < 80


def test_models_do_not_grow_with_the_number_of_names(folder, tmp_path):
    many = connected(tmp_path)
    (many / "train.tsv").write_text((folder / "train.tsv").read_text())
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:
        rows = [(number, f"Name{number}", f"Last{number}") for number in range(100, 3100)]
        connection.executemany("INSERT INTO Actors (actor_id, first_name, last_name) VALUES (?, ?, ?)", rows)
        connection.commit()
    sizes = []
    for place in (folder, many):
        material = load_material(make_recipe({**TINY, "domain": str(place)}))
        sizes.append((len(material.query_vocab), len(material.lf_vocab)))
    assert sizes[0][1] == sizes[1][1] and abs(sizes[0][0] - sizes[1][0]) < 20


def test_a_run_on_a_folder_travels_and_names_its_version(folder, tmp_path):
    for _ in train(make_recipe({**TINY, "domain": str(folder)}), tmp_path / "run", device=torch.device("cpu")):
        pass
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["dualparse"] == __version__
    kept = {name for name in manifest["files"] if name.startswith("domain/")}
    assert kept == {f"domain/{p.relative_to(folder)}" for p in folder.rglob("*.t*") if not p.name.startswith("values")}
    shutil.copyfile(folder.parent / "shop.sqlite", tmp_path / "moved.sqlite")
    with closing(sqlite3.connect(tmp_path / "moved.sqlite")) as connection:
        connection.execute("UPDATE Films SET Title = 'Pepper' WHERE FilmId = 2")
        connection.commit()
    shutil.copytree(tmp_path / "run", tmp_path / "elsewhere")
    asker = open_any(tmp_path / "elsewhere", database=str(tmp_path / "moved.sqlite"))
    assert set(asker.run("( get actor.1 !actor )").rows) == {("Pepper",), ("The Long Ferry",)}
    assert asker.ask("who plays in Pepper").status in ("answered", "ambiguous", "refused")
    with pytest.raises(InputError, match="its own data|no such file"):
        open_any(tmp_path / "elsewhere", database=str(tmp_path / "nowhere.sqlite"))
    changed = tmp_path / "elsewhere" / "domain" / "synonyms.txt"
    changed.write_text(changed.read_text().replace("film", "fill"))
    with pytest.raises(InputError, match=r"synonyms\.txt: damaged"):
        open_any(tmp_path / "elsewhere", database=str(tmp_path / "moved.sqlite"))


def test_a_placeholder_that_the_question_does_not_name_is_no_valid_reading(folder, tmp_path):
    recipe = make_recipe({**TINY, "domain": str(folder), "stages": ["q2lf"]})
    for _ in train(recipe, tmp_path / "run", device=torch.device("cpu")):
        pass
    parser = load(tmp_path / "run")
    reading = parser.read("who plays in The Long Ferry")
    assert reading.words == ("who", "plays", "in", "film.@0") and reading.names == {"film.@0": "film.1"}
    named, unnamed = (f"( get film.@{number} actor )".split() for number in (0, 1))
    verdicts = [parser._verdict(reading, Hypothesis(tuple(form), 0.0, 0.0, True)) for form in (named, unnamed)]
    assert verdicts[0].ok and verdicts[1].reason == "the question names no film.@1"
