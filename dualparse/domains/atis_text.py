"""Questions about flights as people ask them -> as the ATIS files have them, and back.

The files came prepared: every word is a stem, every name a number of its kind (`ci0` is a city of this question, `ti0`
a time), and the names themselves are gone. What was done can be read off the files, and is done here to a question:

- Stems are those of the Snowball stemmer for English (all words of the files are among them), as it was before it made
  exceptions of a few words: see `STEMS`.
- A name that is mentioned twice has one number. Cities and airports are numbered by the words in their names, longest
  first, and others from left to right (so `new york city` is nearly always `ci0`, wherever it stands).
- `6 pm` is `ti0`, but `6 o'clock pm` is `ti0 o'clock pm`; `200 dollars` is `do0`; a state behind a city stays a word.

Which names there were cannot be recovered, so `atis_names.txt` is a list of our own. Stems cannot be undone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import snowballstemmer

from dualparse.domains import numerals
from dualparse.domains.lexicon import Lexicon, read_lexicon
from dualparse.domains.text import Preparation, Word

NAMES = Path(__file__).with_name("atis_names.txt")

KINDS = ("ac", "al", "ap", "ci", "da", "dn", "do", "fb", "fn", "mn", "rc", "st", "ti", "yr")
NUMBERED = re.compile(rf"(?:{'|'.join(KINDS)})\d+")  # ci0
NAMED = re.compile(rf"\S+:({'|'.join(KINDS)})")  # boston:ci

LONGEST_WORD = 40  # letters; what is longer is no word, and is neither stemmed nor remembered
STEMS = {"evening": "even", "evenings": "even", "international": "intern"}

HALVES = {"am": 0, "a.m": 0, "pm": 12, "p.m": 12}
LATER_HALF = {"pm", "p.m", "afternoon", "evening", "night"}
BEFORE_TIMES = {"before", "after", "around", "at", "by", "about", "between", "until", "till", "approximately", "past"}
DOLLARS = {"dollar", "dollars", "bucks"}
COMPARED = {"less", "more", "cheaper", "lower", "higher"}  # than so many dollars
MAYBE_MONTHS = {"may", "march"}  # months only before a day, or behind one of these:
BEFORE_MONTHS = {"in", "of", "on", "for", "early", "late", "next"}
NO_CODES = {"a", "an", "and", "are", "do", "for", "i", "in", "is", "me", "of", "on", "or", "the", "to"}

_CLOCK = re.compile(r"([0-9]{1,2}?):?([0-5][0-9])?")
_MINUTES = re.compile(r"[0-5][0-9]")
_ORDINAL = re.compile(r"\d+(st|nd|rd|th)")
_RESTRICTION = re.compile(r"[a-z]{1,2}/?\d{1,3}")
_PLANE = re.compile(r"7\d7|3[0-4]0")


@dataclass(frozen=True, slots=True)
class Name:
    """Words `start` to `end` (exclusive) name something: `new york` is `new_york:ci`."""

    start: int
    end: int
    entity: str

    @property
    def kind(self) -> str:
        return self.entity.rpartition(":")[2]


@cache
def names() -> Lexicon:
    """Phrases of the names we know."""
    return read_lexicon(NAMES)


@cache
def _states() -> frozenset[tuple[str, ...]]:
    lexicon = names()
    return frozenset(p for entity in lexicon.entities if entity.endswith(":st") for p in lexicon.phrases(entity))


def preparation() -> Preparation:
    """All that is done to a question about flights."""
    phrases = [phrase for entity in sorted(names().entities) for phrase in names().phrases(entity)]
    others = {*HALVES, *DOLLARS, *BEFORE_TIMES, *(numerals.Numeral(0, 1, day, True).digits for day in range(1, 32))}
    return Preparation((*phrases, *((word,) for word in sorted(others))), stem, number_query, number_form)


def stem(word: str) -> str:
    """
    >>> [stem(word) for word in "early evening flights leaving any city".split()]
    ['earli', 'even', 'flight', 'leav', 'ani', 'citi']
    """
    return _stem(word) if len(word) <= LONGEST_WORD else word


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    # A stemmer of its own for every word: it keeps state while it works, which threads must not share.
    return STEMS.get(word) or snowballstemmer.stemmer("english").stemWord(word)


def number_query(words: Sequence[Word]) -> tuple[list[Word], dict[str, str]]:
    """Put numbers in the place of names; a question that has numbers already stays as it is.

    >>> words, named = number_query([Word(word, word) for word in "from boston to new york after 6 pm".split()])
    >>> " ".join(word.text for word in words)
    'from ci1 to ci0 after ti0'
    >>> named
    {'ci0': 'new_york:ci', 'ci1': 'boston:ci', 'ti0': '1800:ti'}
    """
    texts = [word.text for word in words]
    if any(NUMBERED.fullmatch(text) for text in texts):
        return list(words), {}
    found = find_names(texts, [word.said for word in words])
    first = sorted(found, key=lambda name: (name.start - name.end if name.kind in ("ci", "ap") else 0, name.start))
    numbers = _numbers(name.entity for name in first)
    result: list[Word] = []
    position = 0
    for name in found:
        result.extend(words[position : name.start])
        said = " ".join(word.said for word in words[name.start : name.end])
        result.append(Word(numbers[name.entity], said))
        position = name.end
    result.extend(words[position:])
    return result, {number: entity for entity, number in numbers.items()}


def number_form(tokens: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The same for a form in which names stand.

    >>> number_form("( from $0 boston:ci )".split())
    (['(', 'from', '$0', 'ci0', ')'], {'ci0': 'boston:ci'})
    """
    if any(NUMBERED.fullmatch(token) for token in tokens):
        return list(tokens), {}
    numbers = _numbers(token for token in tokens if NAMED.fullmatch(token))
    return [numbers.get(token, token) for token in tokens], {number: entity for entity, number in numbers.items()}


def _numbers(entities: Iterable[str]) -> dict[str, str]:
    """boston:ci, denver:ci, monday:da -> ci0, ci1, da0."""
    numbers: dict[str, str] = {}
    counts: dict[str, int] = {}
    for entity in entities:
        if entity not in numbers:
            kind = entity.rpartition(":")[2]
            numbers[entity] = f"{kind}{counts.setdefault(kind, 0)}"
            counts[kind] += 1
    return numbers


@dataclass(frozen=True, slots=True)
class _Place:
    """A word with what is known around it; `behind` is the name that ends right before it."""

    texts: Sequence[str]
    said: Sequence[str]
    i: int
    behind: Name | None

    def at(self, offset: int) -> str:
        """The word so many places on; nothing outside the question."""
        j = self.i + offset
        return self.texts[j] if 0 <= j < len(self.texts) else ""

    def name(self, entity: str, words: int = 1) -> Name:
        return Name(self.i, self.i + words, entity)


def find_names(texts: Sequence[str], said: Sequence[str]) -> list[Name]:
    """All names of a question from left to right: those of the list, and numbers that their surroundings explain."""
    listed = {mention.start: Name(mention.start, mention.end, mention.entity) for mention in names().match(texts)}
    found: list[Name] = []
    i = 0
    while i < len(texts):
        behind = found[-1] if found and found[-1].end == i else None
        place = _Place(texts, said, i, behind)
        name = _listed(place, listed) if i in listed else next(filter(None, (rule(place) for rule in RULES)), None)
        if name:
            found.append(name)
        i = name.end if name else i + 1
    return found


def _listed(place: _Place, listed: Mapping[int, Name]) -> Name | None:
    """A name of the list, unless something speaks against it."""
    name = listed[place.i]
    if place.behind and place.behind.kind == "ci" and tuple(place.texts[name.start : name.end]) in _states():
        return None
    word = place.at(0)
    if word in MAYBE_MONTHS and place.at(-1) not in BEFORE_MONTHS and not 1 <= (numerals.value(place.at(1)) or 0) <= 31:
        return None
    return name


def _date(place: _Place) -> Name | None:
    """`5` in `june 5`, `june the 5th`, `the 5th of june`, `on the 5th`; a year behind such a day."""
    value = numerals.value(place.at(0))
    if value is None:
        return None
    behind = place.behind.kind if place.behind else ""
    if 1900 <= value <= 2100 and behind in ("dn", "mn"):
        return place.name(f"{value}:yr")
    after_month = behind == "mn" or (place.at(-1) == "the" and _is_month(place.at(-2)))
    before_month = place.at(1) == "of" and _is_month(place.at(2))
    alone = _ORDINAL.fullmatch(place.at(0)) and place.at(-1) in ("the", "on")
    return place.name(f"{value}:dn") if 1 <= value <= 31 and (after_month or before_month or alone) else None


def _is_month(text: str) -> bool:
    return any(mention.entity.endswith(":mn") for mention in names().match([text]))


def _dollars(place: _Place) -> Name | None:
    """`200` in `$200`, `200 dollars`, `under 200`, `less than 200`."""
    text = place.at(0)
    if not numerals.is_number(text):
        return None
    if place.at(1) in DOLLARS:
        return place.name(f"{text}:do", 2)
    compared = place.at(-1) in ("under", "below") or (place.at(-1) == "than" and place.at(-2) in COMPARED)
    return place.name(f"{text}:do") if compared or place.said[place.i].startswith("$") else None


def _flight_number(place: _Place) -> Name | None:
    """`417` in `delta 417`, `flight 417`, `flight number 417`."""
    text = place.at(0)
    behind = place.behind is not None and place.behind.kind == "al"
    return place.name(f"{text}:fn") if text.isdecimal() and (behind or place.at(-1) in ("flight", "number")) else None


def _plane(place: _Place) -> Name | None:
    """`737`, `boeing 73s`."""
    text = place.at(0)
    code = text.isalnum() and any(character.isdecimal() for character in text)
    after_maker = place.at(-1) in ("boeing", "airbus") and code
    return place.name(f"{text}:ac") if after_maker or (_PLANE.fullmatch(text) and not _expects_time(place)) else None


def _time(place: _Place) -> Name | None:
    """`6` in `6 pm`, `6:30`, `6 30 pm`, `6 o'clock`, `after 6`, `between 5 and 6`, `later than 6`."""
    text = place.at(0)
    clock = _CLOCK.fullmatch(text if text not in numerals.SMALL else str(numerals.SMALL[text]))
    hour, minute = (int(clock[1]), int(clock[2] or 0)) if clock else (99, 0)
    if hour > 24:
        return None
    words = 1
    if _MINUTES.fullmatch(place.at(1)) and place.at(2) in HALVES:
        minute, words = int(place.at(1)), 2
    if place.at(words) in HALVES:
        return place.name(_clock(hour % 12 + HALVES[place.at(words)], minute), words + 1)
    if ":" not in text and place.at(1) not in ("o'clock", "hours") and not _expects_time(place):
        return None
    later = 0 < hour < 12 and any(place.at(offset) in LATER_HALF for offset in range(1, 5))
    return place.name(_clock(hour + 12 * later, minute))


def _clock(hour: int, minute: int) -> str:
    return f"{100 * hour + minute}:ti"


def _expects_time(place: _Place) -> bool:
    """Whether what stands before a number says that it is a time."""
    before, word = place.at(-1), place.at(-2)
    if place.at(0) == "one" and place.at(1) == "way":
        return False
    return (
        before in BEFORE_TIMES
        or (before == "than" and word in ("earlier", "later"))
        or (before in ("and", "or", "to") and word != "" and _ends_time(place))
    )


def _ends_time(place: _Place) -> bool:
    """Whether a time stands before the word before this one."""
    if place.i < 2:
        return False
    earlier = _Place(place.texts, place.said, place.i - 2, None)
    return earlier.at(0) in HALVES or _time(earlier) is not None


def _code(place: _Place) -> Name | None:
    """`q` in `fare code q` and `class q`, `ap/57` in `restriction ap/57`."""
    text, before = place.at(0), place.at(-1)
    if before in ("restriction", "restrictions"):
        return place.name(f"{text}:rc") if _RESTRICTION.fullmatch(text) else None
    longest = {"code": 3, "codes": 3, "class": 1}.get(before, 0)
    return place.name(f"{text}:fb") if len(text) <= longest and text.isalnum() and text not in NO_CODES else None


RULES: tuple[Callable[[_Place], Name | None], ...] = (_date, _dollars, _flight_number, _plane, _time, _code)
