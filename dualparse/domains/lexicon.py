"""Phrases of a query <-> entities of a logical form (paper Section 2: entity mapping and reverse entity mapping).

In: entries phrase -> entity, from a file of lines `phrase :- NP : entity`. Out: the mentions in a query (for the copy
mechanism of q2lf) and the phrases of an entity (for the input of lf2q). Randomness comes from the caller's generator.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dualparse.errors import InputError
from dualparse.lines import numbered_lines, raise_error

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mention:
    """Words `start` to `end` (exclusive) of a query name this entity."""

    start: int
    end: int
    entity: str


@dataclass(frozen=True, slots=True)
class Collision:
    """A phrase listed for two entities: matching takes the first, `kept`."""

    phrase: Phrase
    kept: str
    dropped: str

    def __str__(self) -> str:
        return f"'{' '.join(self.phrase)}' means {self.kept} and {self.dropped}; taken as {self.kept}"


class Lexicon:
    """Both directions of a lexicon.

    >>> lexicon = Lexicon([(("late",), "late:pd"), (("late", "night"), "late_night:pd")])
    >>> lexicon.match("a late night flight".split())
    [Mention(start=1, end=3, entity='late_night:pd')]
    """

    def __init__(self, entries: Iterable[tuple[Phrase, str]] = ()):
        self.collisions: list[Collision] = []
        self._entity: dict[Phrase, str] = {}
        self._phrases: dict[str, list[Phrase]] = {}
        self._by_first_word: dict[str, list[Phrase]] = {}
        for phrase, entity in entries:
            self._add(phrase, entity)
        for found in self._by_first_word.values():
            found.sort(key=len, reverse=True)

    def _add(self, phrase: Phrase, entity: str) -> None:
        if not phrase:
            raise ValueError(f"empty phrase for {entity}")
        phrases = self._phrases.setdefault(entity, [])
        if phrase in phrases:
            return
        phrases.append(phrase)
        kept = self._entity.setdefault(phrase, entity)
        if kept == entity:
            self._by_first_word.setdefault(phrase[0], []).append(phrase)
        else:
            self.collisions.append(Collision(phrase, kept, entity))

    @property
    def entities(self) -> frozenset[str]:
        return frozenset(self._phrases)

    def __len__(self) -> int:
        return sum(map(len, self._phrases.values()))

    def match(self, words: Sequence[str]) -> list[Mention]:
        """Mentions in the order of the query: longest phrase first, among equally long ones the leftmost."""
        words = tuple(words)
        candidates: list[tuple[int, Phrase]] = []
        for start, word in enumerate(words):
            for phrase in self._by_first_word.get(word, ()):
                if words[start : start + len(phrase)] == phrase:
                    candidates.append((start, phrase))
        if len(candidates) > 1:
            candidates.sort(key=lambda candidate: -len(candidate[1]))  # stable: stays left to right within a length
        taken = [False] * len(words)
        mentions: list[Mention] = []
        for start, phrase in candidates:
            end = start + len(phrase)
            if not any(taken[start:end]):
                taken[start:end] = [True] * len(phrase)
                mentions.append(Mention(start, end, self._entity[phrase]))
        mentions.sort(key=lambda mention: mention.start)
        return mentions

    def map_words(self, words: Sequence[str]) -> tuple[str, ...]:
        """What each position of the query stands for: its entity, or the word itself.

        >>> Lexicon([(("late", "night"), "late_night:pd")]).map_words("a late night flight".split())
        ('a', 'late_night:pd', 'late_night:pd', 'flight')
        """
        mapped = list(words)
        for mention in self.match(words):
            mapped[mention.start : mention.end] = [mention.entity] * (mention.end - mention.start)
        return tuple(mapped)

    def phrases(self, entity: str) -> tuple[Phrase, ...]:
        """All phrases of an entity in the order of the file, those that collide included; none is no error."""
        return tuple(self._phrases.get(entity, ()))

    def choose_phrase(self, entity: str, *, query: Sequence[str] | None, rng: random.Random) -> Phrase | None:
        """The words that stand for an entity in lf2q's input; None for an entity without a phrase.

        The longest phrase that occurs in the paired query, where there is one; else any phrase, drawn with `rng`.

        >>> lexicon = Lexicon([(("limo",), "limousine"), (("limousin",), "limousine")])
        >>> lexicon.choose_phrase("limousine", query="is there a limousin".split(), rng=random.Random(0))
        ('limousin',)
        """
        phrases = self._phrases.get(entity)
        if not phrases:
            return None
        if query is not None:
            text = f" {' '.join(query)} "
            present = [phrase for phrase in phrases if f" {' '.join(phrase)} " in text]
            if present:
                return max(present, key=len)
        return rng.choice(phrases)


def read_entries(
    path: Path, *, report: Callable[[InputError], None] = raise_error
) -> Iterator[tuple[int, Phrase, str]]:
    """Line number, phrase and entity of every entry of a file; a caller with a `report` gets the good lines only."""
    for number, line in numbered_lines(path, report=report):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        phrase, separator, right = line.partition(":-")
        category, colon, entity = right.partition(":")
        wanted = separator and colon and phrase.strip() and category.strip() == "NP" and len(entity.split()) == 1
        if wanted:
            yield number, tuple(phrase.split()), entity.strip()
        else:
            report(InputError(f"expected 'phrase :- NP : entity', found '{line.strip()}'", path=path, line=number))


def read_lexicon(path: Path, *, report: Callable[[InputError], None] = raise_error) -> Lexicon:
    """Lexicon from lines `phrase :- NP : entity`; blank lines and lines that begin with `#` are skipped.

    A caller that wants every problem of the file passes `report`; bad lines are then left out.
    """
    return Lexicon((phrase, entity) for _, phrase, entity in read_entries(path, report=report))
