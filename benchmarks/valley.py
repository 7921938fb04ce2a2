"""The embedded domain as a database, so that its questions can be asked of a connected folder as well.

    python -m benchmarks.valley valley.sqlite

In: the domain. Out: a SQLite file; its labeled questions with the rows that the domain's own executor gives.
"""

from __future__ import annotations

from pathlib import Path

import typer

from dualparse.database.worlds import write_database
from dualparse.domains.domain import Domain
from dualparse.domains.plain import plain
from dualparse.domains.registry import open_domain
from dualparse.domains.schema import Schema
from dualparse.domains.world import World
from dualparse.grading.questions import Question
from dualparse.grading.wanted import Answers, Wanted


def write(path: Path, domain: Domain) -> None:
    """The world of a domain as a SQLite file, in the place of one that is there."""
    world, schema = _told(domain)
    path.unlink(missing_ok=True)
    write_database(world, path, schema)


def asked(domain: Domain, split: str) -> tuple[list[Question], Answers]:
    """The labeled questions of a split, and what says which rows they should give."""
    lines = domain.files[split].read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if line]
    executor = plain(*_told(domain))

    def wanted(question: Question) -> Wanted:
        return Wanted([tuple(row) for row in executor.answer(question.form).values])

    return [Question(text, line, form=form) for line, (text, form) in enumerate(pairs, start=1)], wanted


def _told(domain: Domain) -> tuple[World, Schema]:
    assert isinstance(domain.world, World) and isinstance(domain.ontology, Schema)
    return domain.world, domain.ontology


def main(path: Path) -> None:
    """Write the database."""
    write(path, open_domain("trails"))


if __name__ == "__main__":
    typer.run(main)
