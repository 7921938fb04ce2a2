"""Names as typed placeholders, so that no model has to know them: "albums by artist.@0".

In: questions and forms with the names of a database. Out: the same with a placeholder for each name, what stands behind
it, and back. Training and models are then the same whether a table has a thousand rows or a million. A kind of which
there are few names, such as the seasons, is left as it is: these are words to be understood, not names to be found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dualparse.asking.conditions import entities, text_form
from dualparse.asking.names_in import Assignment, Named, assignments, explained, names_in
from dualparse.asking.question import take_apart
from dualparse.asking.schema_forms import PLACE
from dualparse.asking.terms import Terms
from dualparse.database.folder import Connected
from dualparse.database.index import Index
from dualparse.domains.text import Word
from dualparse.lf.values import unquoted

FEW = 5  # names of a kind that is left as it is
LEAST = 0.3  # score of a name that is taken for one


class FindsNames(Protocol):
    """What knows the names of a folder and the words of its schema."""

    connected: Connected
    index: Index
    terms: Terms


@dataclass(frozen=True)
class Mask:
    """A question with placeholders.

    words  of the question; `stood`  by placeholder what a form writes for it
    known  id of a thing, or a text in small letters -> its placeholder
    """

    words: tuple[Word, ...]
    stood: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)


class Masks:
    """Puts placeholders into the questions and forms of one folder."""

    def __init__(self, asker: FindsNames, *, all_kinds: bool = False):
        """`all_kinds`: a kind with few names has placeholders, too."""
        self.asker = asker
        database = asker.connected.database
        self._types = frozenset(database.by_name)
        self.few = {} if all_kinds else dict(self._few())
        self._categories = frozenset(
            (held.owner, held.name) for table in database.tables for held in table.properties if held.category
        )

    def _few(self) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
        """Kinds of which there are few names: the name, and what a form writes for it."""
        connection = self.asker.index.connection
        for number, type, property in connection.execute("SELECT id, type, property FROM part").fetchall():
            query = "SELECT text, key FROM name WHERE part = ? ORDER BY text LIMIT ?"
            found = connection.execute(query, (number, FEW + 1)).fetchall()
            if 0 < len(found) <= FEW:
                yield f"{type}.{property}".rstrip("."), tuple((text, key or inner_text(text)) for text, key in found)

    def of_question(self, words: Sequence[Word], wanted: Collection[str] = ()) -> Mask:
        """A question with placeholders; of several ways to take its names the one that has most of those `wanted`,
        which are ids, and texts in small letters."""
        return max(self.all_of_question(words), key=lambda mask: sum(name in mask.known for name in wanted))

    def all_of_question(self, words: Sequence[Word]) -> list[Mask]:
        """A question with placeholders, in every way that its names can be taken; there is one at least."""
        return [self._mask(words, way) for way in self._ways(words)] or [Mask(tuple(words))]

    def _ways(self, words: Sequence[Word]) -> list[Assignment]:
        asker = self.asker
        question = take_apart(" ".join(word.said for word in words))
        evidence = asker.terms.evidence(question)
        said = explained(question, evidence)
        found = names_in(question, asker.index, schema=asker.terms.known, known=said, categories=self._categories)
        places = {place: (word.start, word.end) for place, word in enumerate(question.words)}
        return [
            tuple(_at(named, places) for named in way)
            for way in assignments([named for named in found if named.score >= LEAST])
        ]

    def _mask(self, words: Sequence[Word], way: Assignment) -> Mask:
        spans: dict[int, tuple[int, Named]] = {}
        starts, start = [], 0
        for word in words:
            starts.append((start, start + len(word.said)))
            start += len(word.said) + 1
        for named in way:
            first, last = min(named.places), max(named.places)
            inside = [i for i, (low, high) in enumerate(starts) if low < last and first < high]
            if inside and _kind(named) not in self.few:
                spans[inside[0]] = (inside[-1] + 1, named)
        return _with_placeholders(words, spans)

    def of_form(self, tokens: Sequence[str], known: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """A form with placeholders: those that its question has for the names, or, without a question, new ones."""
        made: dict[str, str] = {}
        found: list[str] = []
        place = 0
        for token, end in _parts(tokens):
            name, kind = self._named(tokens, place, end, token)
            if kind and known is not None:
                found += _as_text(token, known[name]) if name in known else tokens[place:end]
            elif kind and kind not in self.few and PLACE not in name:
                found += _as_text(token, made.setdefault(name, f"{kind}.{PLACE}{_count(made, kind)}"))
            else:
                found += tokens[place:end]
            place = end
        return tuple(found)

    def names_of(self, tokens: Sequence[str]) -> set[str]:
        """The names in a form: ids, and texts in small letters."""
        found, place = set(), 0
        for token, end in _parts(tokens):
            name, kind = self._named(tokens, place, end, token)
            found |= {name} if kind else set()
            place = end
        return found

    def _named(self, tokens: Sequence[str], place: int, end: int, token: str) -> tuple[str, str]:
        """The name at a place of a form and its kind, both "" where none is."""
        if end - place > 1:
            return unquoted(tokens[place + 2 : end - 1]).lower(), "text"
        kind = token.rpartition(".")[0]
        return (token, kind) if kind in self._types else ("", "")


def _parts(tokens: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The tokens of a form, each with where it ends; a text is one part."""
    place = 0
    while place < len(tokens):
        end = place + 1
        if tokens[place] == "(" and tokens[end : end + 1] == ["text"] and ")" in tokens[end:]:
            end = list(tokens).index(")", end) + 1
        yield tokens[place], end
        place = end


def _as_text(token: str, placeholder: str) -> tuple[str, ...]:
    return ("(", "text", placeholder, ")") if token == "(" else (placeholder,)


def _count(made: Mapping[str, str], kind: str) -> int:
    return sum(each.rpartition(".")[0] == kind for each in made.values())


def _at(named: Named, places: Mapping[int, tuple[int, int]]) -> Named:
    """A name with its place in letters."""
    return Named(
        frozenset(edge for place in named.places for edge in places[place]),
        *(getattr(named, name) for name in Named.__slots__ if name != "places"),
    )


def _kind(named: Named) -> str:
    return f"{named.type}.{named.property}".rstrip(".")


def _with_placeholders(words: Sequence[Word], spans: Mapping[int, tuple[int, Named]]) -> Mask:
    """Words with a placeholder in the place of each name: start -> (end, name)."""
    found: list[Word] = []
    stood: dict[str, str] = {}
    known: dict[str, str] = {}
    place = 0
    while place < len(words):
        if place not in spans:
            found.append(words[place])
            place += 1
            continue
        end, named = spans[place]
        kind = _kind(named)
        written = entities(named) if named.keys else inner_text(named.value)
        token = next((each for each, other in stood.items() if other == written), "")
        token = token or f"{kind}.{PLACE}{sum(each.rpartition('.')[0] == kind for each in stood)}"
        stood[token] = written
        known |= dict.fromkeys(named.keys or (named.value.lower(),), token)
        found.append(Word(token, " ".join(word.said for word in words[place:end])))
        place = end
    return Mask(tuple(found), stood, known)


def inner_text(value: str) -> str:
    """A text as it stands in a form.

    >>> inner_text("Back (live)")
    'Back %28live%29'
    """
    return text_form(value)[len("( text ") : -len(" )")]


def numbered_as_said(words: Sequence[str], form: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """An utterance and its form, with the placeholders numbered as they come in the utterance.

    >>> numbered_as_said(["from", "village.@1", "to", "village.@0"], ["village.@0", "village.@1"])
    (('from', 'village.@0', 'to', 'village.@1'), ('village.@1', 'village.@0'))
    """
    new: dict[str, str] = {}
    for word in words:
        kind, dot, number = word.rpartition(".")
        if dot and number.startswith(PLACE) and word not in new:
            new[word] = f"{kind}.{PLACE}{_count(new, kind)}"
    return tuple(new.get(word, word) for word in words), tuple(new.get(token, token) for token in form)
