"""The names of the data in a question, as the readings use them: which words they take, and what they may stand for.

In: a question and the index of names. Out: `Assignment`s: for every place where names stand one of them, the likeliest
choice first. Countries are found by what their people are called.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

from dualparse.asking.familiar import common_words
from dualparse.asking.lexis import lexis
from dualparse.asking.question import STOP, Question
from dualparse.asking.short import coded
from dualparse.asking.terms import Evidence
from dualparse.database.candidates import Candidate, candidates
from dualparse.database.fold import squash
from dualparse.database.index import LABEL, Index

MOST_HERE = 6  # readings of one place
MOST_TOGETHER = 12
SURE = 0.8  # of a name that is not ignored in any reading
NOTHING_ELSE = 0.62  # of a name that is a common word, which says nothing else here
CODED, LETTER = 0.8, 0.66  # of a word that a code stands for, and of one that a single letter stands for
WHOLE = 0.85  # of a name of several words, whatever each of them says
SAME = 20  # things of one name


@dataclass(frozen=True, slots=True)
class Named:
    """A name in the question: the places of its words, and what it stands for.

    keys      ids of the things that have this label; () for the value of a property
    contains  the value holds the phrase among other things
    """

    places: frozenset[int]
    type: str
    property: str
    value: str
    keys: tuple[str, ...]
    score: float
    how: str
    contains: bool = False
    phrase: str = ""


Assignment = tuple[Named, ...]


def names_in(
    question: Question,
    index: Index,
    *,
    schema: Collection[str] = (),
    known: frozenset[str] = frozenset(),
    categories: Collection[tuple[str, str]] = (),
    codes: Mapping[tuple[str, str], list[str]] | None = None,
) -> list[Named]:
    """All names that may stand in a question. `schema` are the words of the schema, `known` those that explain
    themselves, `categories` the properties with few values, by table and name, `codes` the values of those that hold
    codes."""
    found: list[Named] = []
    for candidate in candidates(question.text, index, known=common_words().union(known, schema)):
        words = question.text[candidate.start : candidate.end].lower().split()
        said = [word for word in words if word not in STOP and word not in schema]
        several = len(words) > 1 or not words[0].isalnum()
        if several and len(said) == len(words) and candidate.how in ("exact", "folded"):
            candidate = replace(candidate, score=max(candidate.score, WHOLE))  # "autumn 2024" of a term
        elif candidate.score < NOTHING_ELSE and len(said) == len(words) and known.isdisjoint(words):
            candidate = replace(candidate, score=NOTHING_ELSE)
        places = frozenset(
            place
            for place, word in enumerate(question.words)
            if word.start < candidate.end and candidate.start < word.end
        )
        letter = candidate.how == "exact" and len(candidate.phrase) == 1 and candidate.phrase.isupper()
        marked = letter and candidate.score > SURE  # "who got an A"
        if places and (marked or not all(question.words[place].text in STOP for place in places)):
            found += _readings(candidate, places, index, categories)
    taken = {place for named in found if named.score >= SURE for place in named.places}
    for place, type_, property_, code in coded(question, index, codes or {}, known.union(schema)):
        if place not in taken:
            score = CODED if len(code) > 1 else LETTER
            word = question.words[place].text
            found.append(Named(frozenset({place}), type_, property_, code, (), score, "people", phrase=word))
    return found + list(_peoples(question, index))


def without_names(question: Question, names: Sequence[Named]) -> Question:
    """A number, a year, a "longest" within a name ("Swift 3", "Autumn 2024") is none of the question's.

    >>> from dualparse.asking.question import take_apart
    >>> named = Named(frozenset({2, 3}), "term", "", "Autumn 2024", ("term.1",), 1.0, "exact", phrase="autumn 2024")
    >>> without_names(take_apart("courses in autumn 2024"), [named]).dates
    ()
    """
    taken = [named.places for named in names if named.score >= SURE and not named.phrase.isdigit()]

    def free(places: frozenset[int]) -> bool:
        return not any(places & each and len(each) > 1 for each in taken)

    return replace(
        question,
        amounts=tuple(each for each in question.amounts if free(each.places)),
        dates=tuple(each for each in question.dates if free(each.places)),
        extremes=tuple(each for each in question.extremes if free(each.places)),
        compared=tuple(each for each in question.compared if free(each.places)),
        limit=question.limit if question.limit and free(question.limit[1]) else None,
    )


def explained(question: Question, evidence: Evidence) -> frozenset[str]:
    """Words that say something by themselves: they are names only where they are written as names."""
    spoken = {place for places in evidence.values() for place, weight in places.items() if weight >= 0.6}
    spoken |= {place for amount in question.amounts for place in amount.places}
    spoken |= {place for dates in question.dates for place in dates.places}
    spoken |= {place for each in (*question.extremes, *question.compared) for place in each.places}
    spoken |= {place for cue in question.cues.values() for places in cue for place in places}
    return frozenset(question.words[place].text for place in spoken)


def _readings(
    candidate: Candidate, places: frozenset[int], index: Index, categories: Collection[tuple[str, str]]
) -> list[Named]:
    one = Named(
        places,
        candidate.type,
        candidate.property,
        candidate.value,
        candidate.keys[:SAME],
        candidate.score,
        candidate.how,
        phrase=candidate.phrase,
    )
    if not candidate.property:
        return [one]
    if candidate.how in ("exact", "folded") and (candidate.type, candidate.property) in categories:
        one = Named(**_fields(one) | {"score": max(one.score, 0.75)})  # "open orders": a common word may be a category
    if candidate.how == "part":
        return [Named(**_fields(one) | {"contains": True, "value": candidate.phrase, "score": candidate.score + 0.1})]
    words = candidate.value.lower().split()
    among = index.containing([squash(word) for word in words if squash(word)], 12) if len(words) > 1 else []
    other = {s.text for s in among if s.type == one.type and s.property == one.property} - {one.value}
    if any("," in text or "/" in text or "&" in text or ";" in text for text in other):
        return [
            Named(**_fields(one) | {"contains": True, "score": one.score}),
            Named(**_fields(one) | {"score": one.score - 0.01}),
        ]
    return [one]


def _fields(named: Named) -> dict[str, Any]:
    return {name: getattr(named, name) for name in Named.__slots__}


def _peoples(question: Question, index: Index) -> list[Named]:
    """Countries by the name of their people, or by another name of the country."""
    found: list[Named] = []
    for place, word in enumerate(question.words):
        if word.text in ("us", "states", "america") and not _is_country(question, place):
            continue
        for country in lexis().demonyms.get(word.text, ()):
            for stored in index.exact(squash(country), SAME):
                key = (stored.key,) if stored.key else ()
                of = "" if stored.kind == LABEL else stored.property
                found.append(
                    Named(frozenset({place}), stored.type, of, stored.text, key, 0.9, "people", phrase=word.text)
                )
    return found


def _is_country(question: Question, place: int) -> bool:
    """Whether "us" is written as the country is."""
    word = question.words[place]
    typed = question.text[word.start : word.end]
    return word.text != "us" or typed == "US" and question.text.upper() != question.text


def assignments(found: Sequence[Named]) -> list[Assignment]:
    """Ways to take the names: one of each cluster of overlapping ones, or none where all of them are weak."""
    clusters: list[list[Named]] = []
    for named in sorted(found, key=lambda each: (min(each.places), -len(each.places))):
        if clusters and any(named.places & other.places for other in clusters[-1]):
            clusters[-1].append(named)
        else:
            clusters.append([named])
    choices: list[list[Assignment]] = []
    for cluster in clusters:
        widest = max(len(named.places) for named in cluster)
        best = sorted(cluster, key=lambda each: -each.score - 0.25 * (len(each.places) - widest))
        options: list[Assignment] = [(named,) for named in best[:MOST_HERE]]
        options += _pairs(best)
        if all(named.score < SURE for named in best):
            options.append(())
        choices.append(options)
    ways = sorted(islice(product(*choices), 4000), key=lambda way: -sum(_worth(part) for part in way))
    return [tuple(named for part in way for named in part) for way in ways[:MOST_TOGETHER]]


def _pairs(best: Sequence[Named]) -> list[Assignment]:
    """Two names of one cluster that do not overlap, where no single name covers both."""
    pairs = [
        (one, other)
        for place, one in enumerate(best[:8])
        for other in best[place + 1 : 8]
        if not one.places & other.places and not any(one.places | other.places <= each.places for each in best)
    ]
    return [pair for pair in pairs[:4]]


def _worth(part: Assignment) -> float:
    return sum(named.score * (1 + 0.2 * len(named.places)) for named in part) if part else 0.4
