"""What English words may speak of in any database: `lexis.txt`, read once.

In: a word of a question. Out: the words of names it may stand for, the property an adjective measures and in which
direction, the countries a demonym names. Nothing here knows a schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

import snowballstemmer

from dualparse.errors import InputError

COMPARATIVE, SUPERLATIVE = "comparative", "superlative"
_IRREGULAR = {
    "better": ("good", COMPARATIVE),
    "best": ("good", SUPERLATIVE),
    "worse": ("bad", COMPARATIVE),
    "worst": ("bad", SUPERLATIVE),
    "further": ("far", COMPARATIVE),
    "farther": ("far", COMPARATIVE),
    "furthest": ("far", SUPERLATIVE),
    "farthest": ("far", SUPERLATIVE),
    "elder": ("old", COMPARATIVE),
    "eldest": ("old", SUPERLATIVE),
    "latest": ("late", SUPERLATIVE),
    "newest": ("new", SUPERLATIVE),
}


@dataclass(frozen=True, slots=True)
class Adjective:
    """What an adjective measures: `greatest` says whether more of it is more of the property; `about` holds the stems
    of the words and units of such properties, `turned` those of properties that go the other way."""

    word: str
    greatest: bool
    about: tuple[str, ...]
    turned: tuple[str, ...] = ()

    def measures(self, stems: frozenset[str]) -> float:
        """How well it fits a property with these words: what it names first fits best.

        >>> lexis().adjectives["old"].measures(frozenset({"birth", "date"})) > 0.9
        True
        """
        return self.sense(stems)[0]

    def sense(self, stems: frozenset[str]) -> tuple[float, bool]:
        """The same, and whether the property goes the other way: who is fast has a high speed and a short time."""
        fits = [
            (max(0.6, 0.97 - 0.03 * place) - 0.1 * turned, turned)
            for turned, about in ((False, self.about), (True, self.turned))
            for place, part in enumerate(about)
            if part in stems
        ]
        return max(fits, default=(0.0, False))


@dataclass(frozen=True, slots=True)
class End:
    """One end of what goes from one thing to another: the stems it has in the names of relations, and the words and
    stems of words that are said before the thing at this end."""

    names: frozenset[str]
    words: frozenset[str]


@dataclass(frozen=True)
class Lexis:
    """The file: stems that may stand for each other, what words evoke, adjectives by word, countries by demonym, words
    that say nothing by themselves, and verbs that ask for something to be done."""

    same: Mapping[str, frozenset[str]]
    evokes: Mapping[str, frozenset[str]]
    adjectives: Mapping[str, Adjective]
    demonyms: Mapping[str, tuple[str, ...]]
    empty: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    ends: tuple[End, ...] = ()
    short: Mapping[str, str] = field(default_factory=dict)
    settings: frozenset[str] = frozenset()

    def degree(self, word: str) -> tuple[Adjective, str] | None:
        """The adjective that a word is a form of, and which form; None for other words.

        >>> [(found[0].word, found[1]) for word in ("longest", "cheaper", "best") if (found := lexis().degree(word))]
        [('long', 'superlative'), ('cheap', 'comparative'), ('good', 'superlative')]
        """
        if word in _IRREGULAR:
            base, form = _IRREGULAR[word]
            return self.adjectives[base], form
        if word in self.adjectives:
            return self.adjectives[word], ""
        for ending, form in (("est", SUPERLATIVE), ("er", COMPARATIVE)):
            if word.endswith(ending) and len(word) > len(ending) + 2:
                base = self._base(word.removesuffix(ending))
                if base:
                    return self.adjectives[base], form
        return None

    def _base(self, rest: str) -> str:
        tries = [rest, f"{rest}e", rest[:-1], f"{rest[:-1]}y" if rest.endswith("i") else ""]
        return next((word for word in tries if word in self.adjectives), "")


_STEMMER = snowballstemmer.stemmer("english")
_ENDINGS = ("ment", "eri", "er", "or", "ur", "al", "anc", "enc")  # what stems keep of a noun that is made of a verb
_SHORTEST = 4  # letters of a verb that is told from its noun


@cache
def stem(word: str) -> str:
    """What is left of a word without its ending; of a verb in the past the present is taken.

    >>> stem("countries"), stem("country"), stem("staff"), stem("flown") == stem("fly")
    ('countri', 'countri', 'staff', True)
    """
    return str(_STEMMER.stemWord(_forms().get(word, word)))


@cache
def root(stemmed: str) -> str:
    """The stem of the verb that a noun may be made of.

    >>> [root(stem(word)) for word in ("departures", "teacher", "delivery", "winner", "shipment", "art")]
    ['depart', 'teach', 'deliv', 'win', 'ship', 'art']
    """
    for ending in _ENDINGS:
        rest = stemmed.removesuffix(ending)
        if rest != stemmed and len(rest) >= _SHORTEST:
            return rest[:-1] if rest[-1] == rest[-2] and rest[-1] in "nptgmrb" else rest
    return stemmed


@cache
def _forms() -> Mapping[str, str]:
    """The verbs whose past has another stem, by each of its forms."""
    lines = (files("dualparse.asking") / "irregular.txt").read_text(encoding="utf-8").splitlines()
    found = [line.split() for line in lines if not line.startswith("#")]
    return {form: verb for verb, *forms in found for form in forms}


@cache
def verbs() -> frozenset[str]:
    """Verbs that everybody uses, in those of their forms that no rule makes."""
    return frozenset(_forms()) | frozenset(_forms().values())


@cache
def lexis() -> Lexis:
    """The file that ships."""
    text = (files("dualparse.asking") / "lexis.txt").read_text(encoding="utf-8")
    return read_lexis(text)


def read_lexis(text: str) -> Lexis:
    """Read sections of lines; `#` begins a comment."""
    same: dict[str, set[str]] = {}
    evokes: dict[str, set[str]] = {}
    adjectives: dict[str, Adjective] = {}
    demonyms: dict[str, tuple[str, ...]] = {}
    lists: dict[str, set[str]] = {"empty": set(), "changes": set(), "settings": set()}
    ends: list[End] = []
    short: dict[str, str] = {}
    section = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.partition("#")[0].strip()
        if line.startswith("["):
            section = line.strip("[]")
        elif line and section == "same":
            group = {stem(word) for word in line.split()}
            for word in group:
                same.setdefault(word, set()).update(group)
        elif line and section == "evokes":
            word, _, about = line.partition(":")
            evokes.setdefault(stem(word.strip()), set()).update(map(stem, about.split()))
        elif line and section == "adjectives":
            straight, _, turned = line.partition("~")
            word, sign, *dimensions = straight.split()
            measured, other = tuple(map(stem, dimensions)), tuple(map(stem, turned.split()))
            adjectives[word] = Adjective(word, sign == "+", measured, other)
        elif line and section == "demonyms":
            word, _, names = line.partition(":")
            demonyms[word.strip()] = tuple(name.strip() for name in names.split(","))
        elif line and section == "ends":
            names, _, words = line.partition(":")
            said = frozenset(words.split())
            ends.append(End(frozenset(map(stem, names.split())), said | frozenset(map(stem, said))))
        elif line and section == "short":
            word, _, full = line.partition(":")
            short[word.strip()] = full.strip()
        elif line and section in lists:
            lists[section].update(line.split())
        elif line:
            raise InputError(f"a line without a section: {line[:40]!r}", line=number)
    return Lexis(
        {word: frozenset(group) for word, group in same.items()},
        {word: frozenset(about) for word, about in evokes.items()},
        adjectives,
        demonyms,
        frozenset(lists["empty"]),
        frozenset(lists["changes"]),
        tuple(ends),
        short,
        frozenset(lists["settings"]),
    )
