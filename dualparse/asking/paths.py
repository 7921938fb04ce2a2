"""How the tables of a database hang together: the shortest ways from one to another along its relations.

In: a `Database`. Out: `Way`s: steps forward along a foreign key and backward, as forms write them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property

from dualparse.database.model import Database

LONGEST = 5  # steps of a way
MOST = 4  # ways between two tables that are told apart
ROOM = 1  # steps that a way may be longer than the shortest
MOST_LOOKED_AT = 20_000


@dataclass(frozen=True, slots=True)
class Hop:
    """A step along a relation: `name` of the owner, forward or `back`; `many` if it may lead to several things."""

    owner: str
    name: str
    back: bool
    source: str
    target: str
    many: bool

    @property
    def word(self) -> str:
        """As a form writes it."""
        return f"!{self.owner}.{self.name}" if self.back else self.name

    @property
    def element(self) -> str:
        """The relation in the names of `synonyms.txt`."""
        return f"{self.owner}.{self.name}"


Way = tuple[Hop, ...]


@dataclass(frozen=True)
class Ways:
    """The ways between the tables of a database."""

    database: Database

    @cached_property
    def hops(self) -> dict[str, list[Hop]]:
        """The steps that lead from each table."""
        found: dict[str, list[Hop]] = {table.name: [] for table in self.database.tables}
        for table in self.database.tables:
            for relation in table.relations:
                linked = relation.link is not None
                found[table.name].append(Hop(table.name, relation.name, False, table.name, relation.target, linked))
                found[relation.target].append(Hop(table.name, relation.name, True, relation.target, table.name, True))
        return found

    @cached_property
    def _between(self) -> dict[tuple[str, str], tuple[Way, ...]]:
        return {}

    def between(self, source: str, target: str) -> tuple[Way, ...]:
        """The shortest ways, of at least one step, and those a step longer; a way meets no table twice, unless it
        begins and ends at the same one."""
        key = source, target
        if key not in self._between:
            self._between[key] = tuple(self._search(source, target))
        return self._between[key]

    @cached_property
    def _distance(self) -> dict[str, dict[str, int]]:
        """For every table how many steps it takes to it from the others, at the least."""
        back: dict[str, set[str]] = {table: set() for table in self.hops}
        for hops in self.hops.values():
            for hop in hops:
                back[hop.target].add(hop.source)
        found: dict[str, dict[str, int]] = {}
        for target in self.hops:
            far, edge = {target: 0}, {target}
            for steps in range(1, LONGEST + 1):
                edge = {table for each in edge for table in back[each]} - far.keys()
                far |= dict.fromkeys(edge, steps)
            found[target] = far
        return found

    def _search(self, source: str, target: str) -> list[Way]:
        if source == target:
            back: list[Way] = [(hop,) for hop in self.hops[source] if hop.target == target]
            return back[:MOST]
        far = self._distance[target]
        if source not in far:
            return []
        found: list[Way] = []
        waiting: deque[Way] = deque((hop,) for hop in self.hops[source])
        looked = 0
        while waiting and looked < MOST_LOOKED_AT and len(found) < MOST:
            way = waiting.popleft()
            looked += 1
            if found and len(way) > len(found[0]) + ROOM:
                break
            if way[-1].target == target:
                found.append(way)
                continue
            left = min(LONGEST, far[source] + ROOM) - len(way) - 1  # steps after the next one
            met = {source, *(hop.target for hop in way)}
            waiting.extend(
                (*way, hop)
                for hop in self.hops[way[-1].target]
                if hop.target not in met and far.get(hop.target, LONGEST) <= left
            )
        return found


def path(way: Way, name: str = "") -> str:
    """A way, and a property at its end, as the property of a form.

    >>> hop = Hop("track", "album", False, "track", "album", False)
    >>> path((hop,)), path((hop,), "title"), path((), "title")
    ('album', '( path album title )', 'title')
    """
    words = [hop.word for hop in way] + ([name] if name else [])
    return words[0] if len(words) == 1 else f"( path {' '.join(words)} )"


def got(base: str, way: Way) -> str:
    """What a way leads to from a set.

    >>> got("it", (Hop("track", "album", True, "album", "track", True),))
    '( get it !track.album )'
    """
    for hop in way:
        base = f"( get {base} {hop.word} )"
    return base


def backwards(way: Way) -> Way:
    """The same way from its end.

    >>> backwards((Hop("track", "album", False, "track", "album", False),))[0].word
    '!track.album'
    """
    return tuple(
        Hop(hop.owner, hop.name, not hop.back, hop.target, hop.source, True if not hop.back else hop.many)
        for hop in reversed(way)
    )
