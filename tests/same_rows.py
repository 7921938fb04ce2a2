"""Whether forms have the answers in a database that they have in memory: random ones, of *trails*, of Chinook."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import date as Day
from pathlib import Path

import pytest
from random_forms import SCHEMA, Forms, world

from dualparse.database.connect import connect
from dualparse.database.folder import read_connected
from dualparse.database.location import locate
from dualparse.database.run import Answering, Runner
from dualparse.database.source import open_source
from dualparse.database.worlds import read_database
from dualparse.domains.domain import Domain
from dualparse.domains.embedded import EMBEDDED
from dualparse.domains.folder import read_folder
from dualparse.domains.plain import Plain
from dualparse.domains.results import Answer
from dualparse.domains.schema import Schema
from dualparse.domains.signatures import SIGNATURES
from dualparse.domains.world import World
from dualparse.lf.errors import LF_ERRORS, LFExecutionError
from dualparse.lines import raise_error

TODAY = Day(2005, 5, 20)
FORMS = 25  # of one database
CHINOOK = Path(__file__).parents[1] / "examples" / "chinook_forms.tsv"


def compare(
    seed: int, into: Callable[[World, Schema], AbstractContextManager[Answering]], *, whole_dates: bool
) -> Counter[str]:
    """Run random forms over a random small world in memory and in a database; what kinds of answers they had."""
    rng = random.Random(seed)
    made = world(rng, whole_dates=whole_dates)
    with into(made, SCHEMA) as runner:
        return agree(made, runner, rng)


def agree(made: World, runner: Answering, rng: random.Random) -> Counter[str]:
    """Random forms have the answers in a database that they have in memory; what kinds of answers they had."""
    forms = Forms(made, rng)
    reference = Plain(made, SCHEMA, max_steps=10_000_000)
    return Counter(agreed(forms.any(), reference, runner) for _ in range(FORMS))


TOO_MUCH = ("nested deeper than the database can follow", "the database has too little memory for that")


def agreed(form: str, reference: Plain, runner: Answering) -> str:
    """A form has the answer in a database that it has in memory; what kind of answer that is."""
    try:
        expected = reference.answer(form, today=TODAY)
    except LF_ERRORS as error:
        with pytest.raises(type(error)):
            runner.answer(form, today=TODAY)
        return "error"
    try:
        found = runner.answer(form, today=TODAY)
    except LFExecutionError as error:
        assert error.reason in TOO_MUCH
        return "deep"
    assert (found.kind, found.denotation) == (expected.kind, expected.denotation), f"{form}\n{found.sql}"
    assert found.columns == expected.columns
    assert readable(found) == readable(expected)
    return found.kind


def readable(answer: Answer) -> list[str]:
    """The rows as plain values, numbers to four decimals, in any order."""
    rounded = [[round(cell, 4) if isinstance(cell, float) else cell for cell in row] for row in answer.values]
    return sorted(map(str, rounded))


def agree_on_trails(into: Callable[[World, Schema], AbstractContextManager[Answering]], every: int = 1) -> int:
    """Forms of *trails* have the denotations in a database that they have in memory; how many there were."""
    domain, schema, made = read_folder(EMBEDDED / "trails", report=raise_error)
    memory, forms = Plain(made, schema), trails_forms(domain)[::every]
    with into(made, schema) as runner:
        for form in forms:
            assert runner.execute(form) == memory.execute(form), form
    return len(forms)


def agree_on_chinook(file: Path, url: str, folder: Path) -> int:
    """The forms of Chinook have the answers in a copy of it that they have in memory; how many there were."""
    with _connected(f"sqlite:///{file}", folder / "original") as original:
        world, labels = read_database(original.source, original.database)
        memory = Plain(world, original.database.schema, labels, max_steps=10_000_000)
    with _connected(url, folder / "copy") as runner:
        forms = chinook_forms().values()
        for form in forms:
            expected, found = memory.answer(form, today=TODAY), runner.answer(form, today=TODAY)
            assert (found.kind, found.denotation) == (expected.kind, expected.denotation), f"{form}\n{found.sql}"
            assert readable(found) == readable(expected), form
    return len(forms)


@contextmanager
def _connected(url: str, folder: Path) -> Iterator[Runner]:
    """What runs forms in a database that is connected to a folder."""
    connect(locate(url), folder)
    connected = read_connected(folder)
    with open_source(connected.location) as source:
        yield Runner(source, connected.database)


def chinook_forms() -> dict[int, str]:
    """The number of a question of Chinook -> its form."""
    lines = [line.split("\t") for line in CHINOOK.read_text(encoding="utf-8").splitlines()]
    return {int(number): form for number, form in lines}


def trails_forms(domain: Domain) -> list[str]:
    """Every form of the domain's files, and the examples of the language's functions."""
    files = [domain.files[name] for name in ("train", "dev", "test")]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line]
    return sorted({line.split("\t")[1] for line in lines} | {row.example for row in SIGNATURES if row.example})
