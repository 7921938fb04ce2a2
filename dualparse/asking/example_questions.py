"""Questions for somebody who sees a connected folder for the first time. In: what answers its questions. Out: a few
that are answered, of different kinds and about different tables.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain, zip_longest

from dualparse.asking.asker import FolderAsker
from dualparse.database.model import Table
from dualparse.database.names import plural

MOST = 6
PATIENCE = 1.5  # seconds for all of them: a server is waiting to start


def example_questions(asker: FolderAsker, *, most: int = MOST, patience: float = PATIENCE) -> tuple[str, ...]:
    """Questions that the folder is sure to answer; the plainest ones where the data are slow."""
    tables = sorted(asker.connected.database.tables, key=lambda table: -len(table.relations) - len(table.properties))
    kinds = zip_longest(*(list(_about(asker, table)) for table in tables))
    ends = time.monotonic() + patience
    found: list[str] = []
    for number, text in enumerate(filter(None, chain.from_iterable(_turned(kinds)))):
        if len(found) == most or time.monotonic() > ends:
            break
        reply = asker.ask(text)
        if reply.answered and reply.rows and (not reply.notes or number == 0):
            found.append(text)
    return tuple(found) or tuple(f"how many {_many(asker, table)} are there" for table in tables[:1])


def _turned(kinds: Iterator[tuple[str | None, ...]]) -> Iterator[tuple[str | None, ...]]:
    """Each kind begins with another table, so that not all of them are about the same one."""
    for number, row in enumerate(kinds):
        shift = number % len(row)
        yield (row[shift:] + row[:shift])[: 2 if number else 1]  # a single one of the plainest kind


def _about(asker: FolderAsker, table: Table) -> Iterator[str]:
    """A question of each kind about a table; "" where it has nothing to ask for."""
    words, many = asker.connected.words, _many(asker, table)

    def said(name: str) -> str:
        return words.of(f"{table.name}.{name}")[0]

    yield f"how many {many} are there"
    groups = [relation.name for relation in table.relations if relation.target != table.name and relation.link is None]
    groups += [held.name for held in table.properties if held.category and held.column not in table.label]
    yield f"how many {many} are there for each {said(groups[0])}" if groups else ""
    amounts = [held.name for held in table.properties if held.kind == "number"]
    yield f"the 5 {many} with the highest {said(amounts[-1])}" if amounts else ""
    yield f"average {said(amounts[0])} of {many}" if amounts else ""
    dates = [held.name for held in table.properties if held.kind == "date"]
    yield f"{many} with the latest {said(dates[0])}" if dates else ""


def _many(asker: FolderAsker, table: Table) -> str:
    return plural(asker.connected.words.of(table.name)[0])
