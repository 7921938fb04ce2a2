"""How well a draft explains a question: a few figures, each from 0 on, and their weighted sum.

In: a question, what its words evoke, a draft. Out: `Figures`. The weights are stated here; they were chosen on the
databases of `benchmarks/databases/dev`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from dualparse.asking.drafts import (
    BEST,
    COMPARED,
    COUNTED,
    EXISTING,
    FIGURE,
    GROUPED,
    LIST,
    ORDERED,
    SELECT,
    SHARED,
    TOPPED,
    Draft,
)
from dualparse.asking.question import AVG, COUNT, EACH, EXISTS, NOT, ORDER, SHARE, SUM, Question
from dualparse.asking.terms import LEAST as SPOKEN
from dualparse.asking.terms import Evidence, strength
from dualparse.database.model import Database, Property, Relation, is_year

HEAD = 0.5  # of a word, from which on it may say what is asked for
ALIKE = 0.8  # of the strongest that the same word speaks of
OTHER = 1.2  # what it costs to give something else than a date where it is asked when
SURE = 0.75  # of a word, from which on what it says is not just near

# cue -> what a form must ask to take it up
_TAKEN_UP = {
    COUNT: (COUNTED, FIGURE, GROUPED, BEST, TOPPED),
    AVG: (FIGURE, GROUPED),
    SHARE: (SHARED,),
    ORDER: (ORDERED, TOPPED),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """What is known of a draft.

    explained  share of the question's words that its names, numbers and names of the schema explain
    missed     what the question asks for and the draft does not take up: numbers, dates, "longest", "per", "without"
    unsaid     names of the schema it uses though no word evokes them
    structure  the cost of what was guessed
    named      how surely its names are those of the question
    target     how surely the table it asks for is spoken of
    redundant  parts that explain no word that another part does not explain
    weak       share of the words that are explained by words that say something near it alone
    head       whether it gives what the question speaks of first
    behind     how much less near to the question its wording is than the nearest wording, by the pretrained encoder
    """

    explained: float
    missed: float
    unsaid: float
    structure: float
    named: float
    target: float
    redundant: float = 0.0
    weak: float = 0.0
    head: float = 0.0
    behind: float = 0.0


WEIGHTS: Mapping[str, float] = {
    "explained": 4.0,
    "missed": -1.2,
    "unsaid": -1.0,
    "structure": -1.0,
    "named": 1.5,
    "target": 0.6,
    "redundant": -0.6,
    "weak": -0.5,
    "head": 0.3,
    "behind": -1.0,
}


def total(figures: Figures, weights: Mapping[str, float] = WEIGHTS) -> float:
    """The weighted sum."""
    return float(sum(weights[field.name] * getattr(figures, field.name) for field in fields(figures)))


def explained_places(question: Question, evidence: Evidence, draft: Draft) -> dict[int, float]:
    """How far each word of the question is explained by a draft."""
    found = dict.fromkeys(draft.covers, 1.0)
    for named in draft.names:
        found |= dict.fromkeys(named.places, min(1.0, named.score))
    for element in draft.uses:
        for place, weight in evidence.get(element, {}).items():
            found[place] = max(found.get(place, 0.0), weight)
    return found


def figures_of(
    question: Question, evidence: Evidence, database: Database, draft: Draft, people: Mapping[str, float]
) -> Figures:
    """The figures of a draft; `people` are the tables of people."""
    explained = explained_places(question, evidence, draft)
    content = question.content
    share = sum(explained.get(place, 0.0) for place in content) / len(content) if content else 1.0
    return Figures(
        share,
        _missed(question, draft) + other_kind(question, database, draft, people),
        _unsaid(evidence, database, draft),
        draft.cost,
        sum(named.score - 0.6 for named in draft.names),
        max(strength(evidence, draft.target), 0.5 if any(n.type == draft.target for n in draft.names) else 0.0),
        _redundant(evidence, database, draft),
        sum(SPOKEN <= explained.get(place, 0.0) < SURE for place in content) / max(len(content), 1),
        _head(evidence, database, draft),
    )


def _head(evidence: Evidence, database: Database, draft: Draft) -> float:
    """Whether a draft gives what the first word of the question that speaks of the schema speaks of."""
    named = {place for each in draft.names for place in each.places}
    spoken = [p for places in evidence.values() for p, weight in places.items() if weight >= HEAD and p not in named]
    if not spoken:
        return 0.5
    first = min(spoken)
    given = {draft.gives or draft.target}
    if draft.op in (FIGURE, GROUPED, TOPPED, ORDERED, SHARED, EXISTING, COMPARED):
        given |= set(draft.uses)
    for element in draft.uses:
        part = _part(database, element)
        if isinstance(part, Relation) and part.target in given:
            given.add(element)
    here = {element: places[first] for element, places in evidence.items() if first in places}
    least = max(HEAD, ALIKE * max(here.values()))
    return float(any(here.get(element, 0.0) >= least for element in given))


def _redundant(evidence: Evidence, database: Database, draft: Draft) -> float:
    """How many spoken-of names explain nothing that the rest of the draft does not explain."""
    ways = {element for element in draft.uses if not isinstance(_part(database, element), Property)}
    counted = [element for element in dict.fromkeys(draft.uses) if element not in ways]
    of_names = {f"{named.type}.{named.property}" for named in draft.names if named.property}
    redundant = 0.0
    for element in counted:
        if element in of_names or strength(evidence, element) < SPOKEN:
            continue
        rest = dict.fromkeys(draft.covers, 1.0)
        for other in draft.uses:
            if other != element and not (element in ways and other.endswith(f".{element}")):
                for place, weight in evidence.get(other, {}).items():
                    rest[place] = max(rest.get(place, 0.0), weight)
        gain = sum(max(0.0, weight - rest.get(place, 0.0)) for place, weight in evidence.get(element, {}).items())
        redundant += max(0.0, 1 - gain / 0.3)
    return redundant


def _part(database: Database, element: str) -> object:
    owner, _, name = element.partition(".")
    return database.places.get((owner, name)) if name else database.by_name.get(owner)


def _missed(question: Question, draft: Draft) -> float:
    missed = 0.0
    for places in (
        *(amount.places for amount in question.amounts),
        *(dates.places for dates in question.dates),
        *(extreme.places for extreme in question.extremes),
        *((question.limit[1],) if question.limit else ()),
    ):
        missed += not places <= draft.covers
    for cue, ops in _TAKEN_UP.items():
        if question.has(cue) and draft.op not in ops:
            missed += 1.0 if cue != COUNT else 0.9
    if question.has(COUNT) and draft.op == FIGURE and not question.at(COUNT) & draft.covers:
        missed += 0.9
    if draft.op == COUNTED and _much(question) and not question.has(COUNT):
        missed += 0.6
    if question.has(SUM) and draft.op not in (FIGURE, GROUPED, COUNTED, BEST, TOPPED):
        missed += 0.3 if question.at(SUM) & _much(question) else 0.7
    if question.has(EACH) and draft.op != GROUPED:
        missed += 0.7
    if question.has(NOT) and not question.at(NOT) & draft.covers:
        missed += 1.0
    if question.has(EXISTS) and draft.op not in (EXISTING, COMPARED):
        missed += 0.35
    if any(not extreme.places <= draft.covers for extreme in question.compared):
        missed += 0.6
    return missed


def other_kind(question: Question, database: Database, draft: Draft, people: Mapping[str, float]) -> float:
    """Whether "when" asks for something else than a date, or "who" for something else than people."""
    words = [word.text for word in question.words[question.polite :][:3]]
    if not draft.gives or not words:
        return 0.0
    table, _, name = draft.gives.partition(".")
    held = database.places.get((table, name)) if name else None
    if words[:2] == ["how", "much"]:
        return OTHER * (not (isinstance(held, Property) and held.kind == "number"))
    if words[0] == "when":
        return OTHER * (not (isinstance(held, Property) and (held.kind == "date" or is_year(held))))
    if words[0] in ("who", "whom") and people:
        if isinstance(held, Property):
            return 0.1 if held.kind == "text" else OTHER  # the author of a book may be a word beside it, and no year
        return 0.5 * (name != "" or table not in people)
    return 0.0


def from_nowhere(draft: Draft, evidence: Evidence, database: Database) -> bool:
    """Whether a date is given of things that the question neither names nor speaks of."""
    table, _, name = draft.gives.partition(".")
    held = database.places.get((table, name)) if name else None
    named = any(each.type == table for each in draft.names)
    return isinstance(held, Property) and held.kind == "date" and not named and strength(evidence, table) < SPOKEN


def _much(question: Question) -> frozenset[int]:
    return frozenset(place for place, word in enumerate(question.words) if word.text == "much")


def _unsaid(evidence: Evidence, database: Database, draft: Draft) -> float:
    unsaid = 0.0
    for element in set(draft.uses):
        if strength(evidence, element) >= 0.3:
            continue
        owner, _, name = element.partition(".")
        part = database.places.get((owner, name)) if name else None
        if isinstance(part, Property):
            unsaid += 0.3 if any(n.property == name and n.type == owner for n in draft.names) else 0.5
        elif part is not None:
            unsaid += 0.06
        else:
            unsaid += 0.3 if element == draft.target else 0.1
    return unsaid


__all__ = ["LIST", "SELECT", "WEIGHTS", "Figures", "explained_places", "figures_of", "total"]
