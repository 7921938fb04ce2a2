"""Whether forms have the answers in a database that they have in memory: random ones, and those of *trails*."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date as Day

import pytest
from random_forms import SCHEMA, Forms, world

from dualparse.database.run import Answering
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
        assert error.reason == "nested deeper than the database can follow"
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


def trails_forms(domain: Domain) -> list[str]:
    """Every form of the domain's files, and the examples of the language's functions."""
    files = [domain.files[name] for name in ("train", "dev", "test")]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line]
    return sorted({line.split("\t")[1] for line in lines} | {row.example for row in SIGNATURES if row.example})
