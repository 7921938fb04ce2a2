"""Whether random forms have the answers in a database that they have in memory; the forms of *trails*."""

from __future__ import annotations

import random
from collections import Counter
from datetime import date as Day

import pytest
from random_forms import SCHEMA, Forms

from dualparse.database.run import Answering
from dualparse.domains.domain import Domain
from dualparse.domains.plain import Plain
from dualparse.domains.results import Answer
from dualparse.domains.signatures import SIGNATURES
from dualparse.domains.world import World
from dualparse.lf.errors import LF_ERRORS, LFExecutionError

TODAY = Day(2005, 5, 20)
FORMS = 25  # of one database


def agree(made: World, runner: Answering, rng: random.Random) -> Counter[str]:
    """Random forms have the answers in a database that they have in memory; what kinds of answers they had."""
    forms = Forms(made, rng)
    reference = Plain(made, SCHEMA, max_steps=10_000_000)
    kinds: Counter[str] = Counter()
    for _ in range(FORMS):
        form = forms.any()
        try:
            expected = reference.answer(form, today=TODAY)
        except LF_ERRORS as error:
            with pytest.raises(type(error)):
                runner.answer(form, today=TODAY)
            kinds["error"] += 1
            continue
        try:
            found = runner.answer(form, today=TODAY)
        except LFExecutionError as error:
            assert error.reason == "nested deeper than the database can follow"
            kinds["deep"] += 1
            continue
        assert (found.kind, found.denotation) == (expected.kind, expected.denotation), f"{form}\n{found.sql}"
        assert found.columns == expected.columns
        assert readable(found) == readable(expected)
        kinds[found.kind] += 1
    return kinds


def readable(answer: Answer) -> list[str]:
    """The rows as plain values, numbers to four decimals, in any order."""
    rounded = [[round(cell, 4) if isinstance(cell, float) else cell for cell in row] for row in answer.values]
    return sorted(map(str, rounded))


def trails_forms(domain: Domain) -> list[str]:
    """Every form of the domain's files, and the examples of the language's functions."""
    files = [domain.files[name] for name in ("train", "dev", "test")]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line]
    return sorted({line.split("\t")[1] for line in lines} | {row.example for row in SIGNATURES if row.example})
