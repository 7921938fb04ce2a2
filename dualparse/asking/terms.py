"""Which words of a question speak of which tables, properties and relations.

In: a question, and what people call the names of a schema. Out: `Evidence`: for every name the places of the words that
evoke it, each with a weight from 0 to 1. A word may evoke several names; which is meant the whole reading decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dualparse.asking.lexis import lexis, root, stem
from dualparse.asking.question import STOP, Question, Word
from dualparse.asking.short import LONGEST, stands_for
from dualparse.database.model import Database, Property
from dualparse.database.names import plural, singular
from dualparse.database.synonyms import Words
from dualparse.domains.ordinary import common_words, is_ordinary

LEAST = 0.3  # weight of a word that speaks of a name at all
_HEAD, _PART, _ALIKE, _DERIVED, _SHORTENED, _EVOKED = 0.8, 0.55, 0.8, 0.7, 0.75, 0.6
_EMPTY = frozenset(
    map(stem, ["of", "the", "a", "an", "in", "on", "at", "id", "name", "number", "code", "no", "is", "has"])
)

_WHO = frozenset(
    ("who", "whom", "whose", "everyone", "everybody", "anyone", "anybody", "somebody", "someone")
    + ("people", "person", "persons", "nobody")
)
_PERSONS = "employee customer member person student teacher doctor author player guest patient owner manager artist"
_SITES = "office warehouse store city country room building hut"


def _alike(words: str) -> frozenset[str]:
    """The stems of words and of all that may stand for them."""
    return frozenset(
        other for word in words.split() for other in (stem(word), *lexis().same.get(stem(word), frozenset()))
    )


_BE = frozenset(map(stem, ["is", "has", "was", "are", "have", "can"]))
# What a number of this unit is called, whatever its column is called.
_MEASURED = {
    **dict.fromkeys(("millisecond", "second", "minute", "hour"), "length, duration, runtime"),
    **dict.fromkeys(("byte", "kb", "mb", "gb"), "size"),
    **dict.fromkeys(("kg", "g"), "weight"),
    "km": "distance",
}

Evidence = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class Phrase:
    """One way to call a name: the stems of its words."""

    element: str
    stems: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True)
class Terms:
    """What the names of a schema are called."""

    database: Database
    words: Words

    @cached_property
    def phrases(self) -> tuple[Phrase, ...]:
        """All phrases of all names."""
        found: dict[tuple[str, tuple[str, ...]], Phrase] = {}
        for element in self.elements:
            for place, phrase in enumerate(self.words.of(element)):
                stems = tuple(stem(word) for word in phrase.replace("-", " ").split())
                own = {stem(word) for word in self.words.of(element.partition(".")[0])[0].split()}
                if element in self.booleans and len(stems) > 1 and stems[0] in _BE:
                    stems = stems[1:]  # "key accounts" of "is key account"
                if "." in element and len(stems) > 1 and set(stems) - own:
                    stems = tuple(part for part in stems if part not in own)  # "invoice date" of an invoice is its date
                if stems:
                    found.setdefault((element, stems), Phrase(element, stems, 1.0 if place < 6 else 0.9))
            held = self.database.places.get((element.partition(".")[0], element.partition(".")[2]))
            for said in _MEASURED.get(held.unit, "").split(", ") if isinstance(held, Property) else ():
                stems = tuple(map(stem, said.split()))
                if stems:
                    found.setdefault((element, stems), Phrase(element, stems, 0.85))
        for table in self.database.tables:
            for relation in table.relations:  # an order line leads to its "order": so the sales order is called, too
                stems = tuple(stem(word) for word in self.words.of(f"{table.name}.{relation.name}")[0].split())
                whole = [stem(word) for word in self.words.of(relation.target)[0].split()]
                if len(stems) < len(whole) and set(stems) <= set(whole):
                    found.setdefault((relation.target, stems), Phrase(relation.target, stems))
        return tuple(found.values())

    @cached_property
    def heads(self) -> frozenset[str]:
        """The words that name tables: their last ones."""
        return frozenset(
            stem(phrase.split()[-1]) for table in self.database.tables for phrase in self.words.of(table.name)
        )

    @cached_property
    def elements(self) -> tuple[str, ...]:
        """Tables as `table`, properties and relations as `table.name`."""
        tables = [table.name for table in self.database.tables]
        return (*tables, *(f"{owner}.{name}" for owner, name in self.database.places))

    @cached_property
    def people(self) -> Mapping[str, float]:
        """Tables whose things are people."""
        found: dict[str, float] = {}
        for table in self.database.tables:
            if not table.label and len(table.relations) > 1:
                continue  # who is in something else, as "members" are
            names = {part for held in table.properties for part in held.name.split("_")}
            whole = len(table.label) > 1 or {"first", "surname", "birth", "dob", "gender"} & names
            if whole or self._says(table.name) & _alike(_PERSONS):
                found[table.name] = 0.7
            elif {"phone", "email", "mobile"} & names and table.label:
                found[table.name] = 0.45
        return found

    def _says(self, table: str) -> set[str]:
        """The stems of the words of a table's name without those that are other tables: a customer order is an order,
        where there are customers as well."""
        *parts, last = map(stem, table.split("_"))
        others = {stem(each.name) for each in self.database.tables if each.name != table}
        return {last, *(part for part in parts if part not in others)}

    @cached_property
    def places(self) -> frozenset[str]:
        """Tables whose things are places."""
        return frozenset(
            table.name for table in self.database.tables if {stem(p) for p in table.name.split("_")} & _alike(_SITES)
        )

    @cached_property
    def known(self) -> frozenset[str]:
        """Words that the schema explains itself, so that they are no names of things."""
        return frozenset(
            word for element in self.elements for phrase in self.words.of(element) for word in phrase.split()
        )

    @cached_property
    def spelt(self) -> frozenset[str]:
        """The words of the schema, each in the singular and the plural."""
        words = {word for word in self.known if len(word) > 2 and word.isalpha()}
        return frozenset(words | {plural(word) for word in words} | {singular(word) for word in words})

    @cached_property
    def booleans(self) -> frozenset[str]:
        held = [each for table in self.database.tables for each in table.properties if each.kind == "boolean"]
        return frozenset(f"{each.owner}.{each.name}" for each in held)

    @cached_property
    def _by_stem(self) -> Mapping[str, tuple[Phrase, ...]]:
        found: dict[str, list[Phrase]] = {}
        for phrase in self.phrases:
            for part in set(phrase.stems) - _EMPTY or set(phrase.stems):
                found.setdefault(part, []).append(phrase)
        return {part: tuple(phrases) for part, phrases in found.items()}

    @cached_property
    def _of_root(self) -> Mapping[str, frozenset[str]]:
        """The stems that are made of the same verb."""
        found: dict[str, set[str]] = {}
        for part in self._by_stem:
            found.setdefault(root(part), set()).add(part)
        return {verb: frozenset(parts) for verb, parts in found.items()}

    def _short_for(self, word: Word) -> list[str]:
        """The parts of names that may be this word, written short."""
        if word.text in self.known or singular(word.text) in self.known or word.text in common_words():
            return []
        return [part for part in self._short if stands_for(part, singular(word.text))]

    @cached_property
    def _short(self) -> tuple[str, ...]:
        """The parts of names that are written short: too short to be a word, and none that everybody knows."""
        return tuple(part for part in self._by_stem if 1 < len(part) <= LONGEST and not is_ordinary(part))

    def evidence(self, question: Question) -> Evidence:
        """What every name is evoked by."""
        found: dict[str, dict[int, float]] = {}

        def tell(element: str, place: int, weight: float) -> None:
            if weight >= LEAST:
                places = found.setdefault(element, {})
                places[place] = max(places.get(place, 0.0), weight)

        said = [word.stem for word in question.words]
        for place, word in enumerate(question.words):
            if word.text in _WHO:
                for element, weight in self.people.items():
                    tell(element, place, weight)
            if word.text == "where":
                for element in self.places:
                    tell(element, place, 0.5)
        for place, word in enumerate(question.words):
            for phrase in self._by_stem.get(word.stem, ()):
                whole = _whole(phrase.stems, said, place)
                weight = 1.0 if whole else self._partly(phrase, word.stem)
                weight *= 0.6 if not whole and phrase.element in self.booleans and len(phrase.stems) > 1 else 1.0
                if not whole and phrase.element in self.booleans and set(phrase.stems) <= set(said):
                    weight = 1.0  # "which trails allow dogs" of "dogs allowed"
                empty = word.text in STOP and not whole
                tell(phrase.element, place, weight * phrase.weight * (0.5 if empty else 1.0))
            if word.text in STOP and word.stem not in lexis().evokes:
                continue
            for other in self._short_for(word):
                for phrase in self._by_stem[other]:
                    tell(phrase.element, place, _SHORTENED * self._partly(phrase, other))
            for other in self._of_root.get(root(word.stem), frozenset()) - {word.stem}:
                for phrase in self._by_stem[other]:
                    tell(phrase.element, place, _DERIVED * self._partly(phrase, other))
            for other in lexis().same.get(word.stem, frozenset()) - {word.stem}:
                for phrase in self._by_stem.get(other, ()):
                    tell(phrase.element, place, _ALIKE * self._partly(phrase, other))
            for other in lexis().evokes.get(word.stem, ()):
                for phrase in self._by_stem.get(other, ()):
                    tell(phrase.element, place, _EVOKED * self._partly(phrase, other))
        for element, places in found.items():  # the address of an "email address" says nothing else
            after = [place + 1 for place, weight in places.items() if weight >= 0.8]
            for place in after:
                if "." in element and place < len(said) and said[place] in _BESIDE:
                    places.setdefault(place, 0.8)
                    for other, elsewhere in found.items():
                        if other != element and place in elsewhere and place - 1 not in elsewhere:
                            elsewhere[place] *= 0.5
        return found

    def _partly(self, phrase: Phrase, part: str) -> float:
        weight = _partly(phrase.stems, part)
        if weight == _PART and "." not in phrase.element and part in self.heads:
            return 0.35  # "orders" are hardly order lines where there are orders
        return weight


_BESIDE = frozenset(map(stem, ["address", "number", "name", "code", "date", "details", "id", "info"]))


def _whole(stems: Sequence[str], said: Sequence[str], place: int) -> bool:
    """Whether the whole phrase stands around a place."""
    for offset in range(len(stems)):
        start = place - offset
        if start >= 0 and tuple(said[start : start + len(stems)]) == tuple(stems):
            return True
    return False


def _partly(stems: Sequence[str], part: str) -> float:
    """How much one word of a phrase says of it: the last one most."""
    if len(stems) == 1:
        return 1.0
    left = [each for each in stems if each not in _EMPTY]
    if left == [part]:
        return 0.95
    return _HEAD if stems[-1] == part else _PART


def strength(evidence: Evidence, element: str) -> float:
    """The strongest word that speaks of a name."""
    return max(evidence.get(element, {}).values(), default=0.0)
