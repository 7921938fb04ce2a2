"""A domain in a folder of text files: the format of the domain that ships with the package, and of a user's own.

In: a folder with

    domain.toml      name, title, description, questions (a few examples), metric
    ontology.txt     types and properties, see `dualparse.domains.schema`
    world.tsv        the facts, see `dualparse.domains.world`
    lexicon.txt      lines `phrase :- NP : entity`
    domain.grammar   a grammar to make new forms from (optional)
    synonyms.txt     what people call types and properties, see `dualparse.domains.phrases` (optional)
    train.tsv dev.tsv test.tsv   lines `query<TAB>form`, forms in the plain dialect (all optional here)
    extra.tsv        forms without a query, lines `none<TAB>form` (optional)
    queries.txt      queries without a form (optional)

Out: a `Domain`. `load` is strict about everything a form needs to run; what stands in the example files is read when
examples are asked for, so that a domain can be tried out while its examples are being written.
`dualparse.data.folder_check` reports every problem of a folder at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dualparse.domains.answers import Answers
from dualparse.domains.domain import Domain
from dualparse.domains.lexicon import Lexicon, read_entries
from dualparse.domains.metrics import Metric, denotation, find_metric
from dualparse.domains.phrases import NAME as PHRASES
from dualparse.domains.phrases import read_phrases
from dualparse.domains.plain import plain
from dualparse.domains.schema import Report, Schema, read_schema
from dualparse.domains.world import World, parse_fact
from dualparse.domains.world_rules import plain_rules
from dualparse.errors import InputError
from dualparse.lf.canonical import normalize_text
from dualparse.lf.values import read_number
from dualparse.lines import numbered_lines, raise_error, read_regular
from dualparse.suggest import nearest
from dualparse.toml import MOST_BYTES, parse_toml

DESCRIPTION, ONTOLOGY, WORLD, LEXICON = "domain.toml", "ontology.txt", "world.tsv", "lexicon.txt"
GRAMMAR = "domain.grammar"
EXAMPLES = {
    "train": "train.tsv",
    "dev": "dev.tsv",
    "test": "test.tsv",
    "extra": "extra.tsv",
    "queries": "queries.txt",
}
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Description:
    """What `domain.toml` says."""

    name: str = ""
    title: str = ""
    description: str = ""
    questions: tuple[str, ...] = ()
    database: str = ""  # where the data is, of a folder that `dualparse connect` wrote
    metric: Metric = denotation


def load(folder: Path) -> Domain:
    """The domain of a folder; the first problem raises `InputError` with file and line."""
    domain, _, _ = read_folder(folder, report=raise_error)
    return domain


def read_folder(folder: Path, *, report: Report) -> tuple[Domain, Schema, World]:
    """The domain of a folder, its ontology and its world, as far as they can be read; problems go to `report`."""
    if not folder.is_dir():
        raise InputError("no such folder", path=folder)
    _stays_inside(folder)
    described = read_description(folder / DESCRIPTION, report=report)
    if described.database:
        raise InputError("this folder is connected to a database; it holds no facts of its own", path=folder)
    schema = read_schema(folder / ONTOLOGY, report=report)
    world = _read_facts(folder / WORLD, schema, report=report)
    answers = Answers(plain(world, schema))
    domain = Domain(
        name=described.name or folder.resolve().name,
        title=described.title or described.name,
        description=described.description,
        lexicon=_read_lexicon(folder / LEXICON, world, report=report),
        check=answers.check,
        execute=answers.execute,
        fresh=answers.fresh,
        normalize=normalize_text,
        files={split: folder / file for split, file in EXAMPLES.items() if (folder / file).is_file()},
        metric=described.metric,
        grammar=folder / GRAMMAR if (folder / GRAMMAR).is_file() else None,
        ontology=schema,
        world=world,
        questions=described.questions,
        guide=partial(plain_rules, world),
        phrases=read_phrases(folder / PHRASES, schema, report=report),
    )
    return domain, schema, world


def _stays_inside(folder: Path) -> None:
    """A folder from somebody else may hold links: none of its files is a file from elsewhere."""
    root = folder.resolve()
    for name in (DESCRIPTION, ONTOLOGY, WORLD, LEXICON, GRAMMAR, PHRASES, *EXAMPLES.values()):
        try:
            outside = not (folder / name).resolve().is_relative_to(root)
        except (OSError, RuntimeError):  # links in a circle
            outside = True
        if outside:
            raise InputError("is a link that leads out of the folder", path=folder / name)


def read_description(path: Path, *, report: Report = raise_error) -> Description:
    """Read `domain.toml`; an unknown key is a problem, too, because it is most likely a misspelt one."""
    try:
        text = read_regular(path, most=MOST_BYTES).removeprefix(b"\xef\xbb\xbf").decode("utf-8")
        told = parse_toml(text.replace("\r\n", "\n"), path=path)
    except UnicodeDecodeError:
        report(InputError("not UTF-8", path=path))
        return Description()
    except InputError as error:
        report(error)
        return Description()
    lines = dict(enumerate(text.splitlines(), start=1))
    if "name" not in told:
        report(InputError("no 'name'", path=path))
    for key in list(told):
        problem = _key_problem(key, told[key])
        if problem:
            del told[key]
            line_of_key = next((number for number, line in lines.items() if line.split("=")[0].strip() == key), None)
            report(InputError(problem, path=path, line=line_of_key))
    read: dict[str, Callable[[Any], object]] = {"questions": tuple, "metric": find_metric}
    values: dict[str, Any] = {key: read.get(key, str)(value) for key, value in told.items()}
    return Description(**values)


def _key_problem(key: str, value: object) -> str:
    keys = Description.__dataclass_fields__
    if key not in keys:
        return f"unknown key {key!r}{nearest(key, keys)}"
    if key == "questions":
        fits = isinstance(value, list) and all(isinstance(question, str) for question in value)
        return "" if fits else "'questions' must be a list of texts"
    if not isinstance(value, str):
        return f"{key!r} must be a text"
    if key == "name" and not _NAME.fullmatch(value):
        return f"{value!r} is not a name: small letters, digits, - and _ only"
    return _metric_problem(value) if key == "metric" else ""


def _metric_problem(name: str) -> str:
    try:
        find_metric(name)
    except InputError as error:
        return error.message
    return ""


def _read_facts(path: Path, schema: Schema, *, report: Report) -> World:
    """The world; facts that do not fit the ontology are reported and left out."""
    world = World()
    told: dict[tuple[str, str, str], int] = {}
    for number, line in numbered_lines(path, report=report):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            subject, property, value = parse_fact(line, path=path, line=number)
        except InputError as error:
            report(error)
            continue
        first = told.setdefault((subject, property, value), number)
        problem = schema.fact_problem(subject, property, value) if schema.types else ""
        if not problem and first != number:
            problem = f"the same fact as in line {first}: it would be counted twice"
        if problem:
            report(InputError(problem, path=path, line=number))
        else:
            world.add(subject, property, value)
    return world


def _read_lexicon(path: Path, world: World, *, report: Report) -> Lexicon:
    """The lexicon; a phrase for something the world does not know is reported, unless it is for a number."""
    entries = []
    for number, phrase, entity in read_entries(path, report=report):
        if world.names and entity not in world.names and read_number(entity) is None:
            known = nearest(entity, world.names)
            report(InputError(f"the world knows no {entity!r}{known}", path=path, line=number))
        entries.append((phrase, entity))
    return Lexicon(entries)
