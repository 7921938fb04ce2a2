"""Things compared with a thing that is named: "longer than A", "more beds than A", "the same genre as A", "born before
A".

In: a question and a name of the data in it. Out: `Condition`s of the things of a table, the cheapest first; none where
the question does not compare.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dualparse.asking.conditions import SET, Condition, Conditions, entities
from dualparse.asking.measures import Measures
from dualparse.asking.names_in import Named
from dualparse.asking.paths import Ways
from dualparse.asking.question import Question
from dualparse.asking.terms import Evidence
from dualparse.database.model import Database, is_year

MOST = 4
SPOKEN = 0.55  # of a word, from which on it says what is the same
_AT_ONCE = 2  # words back from the name, where "before" may stand: "before the A"
_BETWEEN = 5  # words that may stand between "longer" and "than", "than" and the name


@dataclass(frozen=True)
class Compared:
    """Makes the comparisons of one question."""

    database: Database
    ways: Ways
    evidence: Evidence
    question: Question
    conditions: Conditions
    measures: Measures

    def with_thing(self, named: Named, table: str) -> list[Condition]:
        """What a question says of the things of a table by comparing them with one of them."""
        if named.type != table or named.property or len(named.keys) != 1:
            return []
        if not any(p not in named.places and w >= SPOKEN for p, w in self.evidence.get(table, {}).items()):
            return []
        found = [*self._more(named, table), *self._same(named, table), *self._when(named, table)]
        return sorted(found, key=lambda each: each.cost)[:MOST]

    def _more(self, named: Named, table: str) -> Iterator[Condition]:
        first = min(named.places)
        than = self._word("than", first)
        for extreme in self.question.compared if than is not None else ():
            assert than is not None
            if not 0 < than - max(extreme.places) <= _BETWEEN:
                continue
            for by in self.measures.rankings(table, extreme)[:MOST]:
                op = ">" if by.greatest else "<"
                thing = entities(named)
                value = _of_one(by.property, thing) if by.held is None else f"( get {thing} {by.property} )"
                covers = named.places | extreme.places | by.covers | {than}
                yield Condition(f"( filter {SET} {by.property} {op} {value} )", by.uses, covers, by.cost)

    def _same(self, named: Named, table: str) -> Iterator[Condition]:
        same, first = self._word("same", min(named.places), within=2 * _BETWEEN), min(named.places)
        if same is None or self._word("as", first) is None:
            return
        held = self.database.by_name[table]
        for name in (*(part.name for part in held.properties), *(part.name for part in held.relations)):
            element = f"{table}.{name}"
            said = max((w for p, w in self.evidence.get(element, {}).items() if same < p < first), default=0.0)
            if said >= SPOKEN:
                value = f"( get {entities(named)} {name} )"
                form = f"( filter {SET} {name} = {value} )"
                yield Condition(form, (element,), named.places | {same}, 0.3 * (1 - said))

    def _when(self, named: Named, table: str) -> Iterator[Condition]:
        first = min(named.places)
        for text, op in (("before", "<"), ("after", ">")):
            turn = self._word(text, first, within=_AT_ONCE)
            if turn is None:
                continue
            for held in self.database.by_name[table].properties:
                element = f"{table}.{held.name}"
                said = max((w for p, w in self.evidence.get(element, {}).items() if p < turn), default=0.0)
                if said >= SPOKEN and (held.kind == "date" or is_year(held)):
                    form = f"( filter {SET} {held.name} {op} ( get {entities(named)} {held.name} ) )"
                    yield Condition(form, (element,), named.places | {turn}, 0.3 * (1 - said))

    def _word(self, text: str, before: int, *, within: int = _BETWEEN) -> int | None:
        """The last place of a word not far before another place."""
        places = range(before - 1, max(before - 1 - within, -1), -1)
        return next((place for place in places if self.question.words[place].text == text), None)


def _of_one(figure: str, thing: str) -> str:
    """A figure of `it` as that of a thing.

    >>> _of_one("( count ( get it !album.artist ) )", "artist.1")
    '( count ( get artist.1 !album.artist ) )'
    """
    return " ".join(thing if token == "it" else token for token in figure.split())
