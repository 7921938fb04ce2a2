"""A question taken apart: its words, the numbers and dates in it with what is said of them, and words that ask for
something ("how many", "per", "longest"). No schema is known here.

In: the text of a question. Out: a `Question`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from dualparse.asking.lexis import COMPARATIVE, SUPERLATIVE, Adjective, lexis, stem
from dualparse.asking.times import Dates, find_dates
from dualparse.domains.numerals import find_numerals

MOST_WORDS = 60  # of a question that are looked at

COUNT, SUM, AVG, SHARE, EACH, ORDER, NOT, EXISTS, TOP, DISTINCT, OR, REVERSE = (
    *("count", "sum", "avg", "share", "each", "order", "not", "exists", "top", "distinct", "or", "reverse"),
)
_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['’](?!s\b)[^\W_]+)?|[%€$£]")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
UNITS = {
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "minute"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "hour"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "second"),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), "millisecond"),
    **dict.fromkeys(("day", "days"), "day"),
    **dict.fromkeys(("week", "weeks"), "week"),
    **dict.fromkeys(("km", "kms", "kilometer", "kilometers", "kilometre", "kilometres"), "km"),
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), "m"),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), "cm"),
    **dict.fromkeys(("kg", "kilo", "kilos", "kilogram", "kilograms"), "kg"),
    **dict.fromkeys(("g", "gram", "grams"), "g"),
    **dict.fromkeys(("kb", "kilobyte", "kilobytes"), "kb"),
    **dict.fromkeys(("mb", "megabyte", "megabytes"), "mb"),
    **dict.fromkeys(("gb", "gigabyte", "gigabytes"), "gb"),
    **dict.fromkeys(("byte", "bytes"), "byte"),
}
_SUFFIX = {
    "k": 1_000,
    "thousand": 1_000,
    "grand": 1_000,
    "m": 1_000_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
}
STOP = lexis().empty
_BEFORE: tuple[tuple[tuple[str, ...], str], ...] = tuple(
    (tuple(words.split()), op)
    for op, phrases in (
        (">=", "at least|minimum of|a minimum of|no less than|no fewer than|not less than|starting at|as many as"),
        ("<=", "at most|no more than|not more than|maximum of|a maximum of|up to|within|not over|not above|max"),
        (">", "more than|greater than|higher than|larger than|over|above|exceeding|beyond|exceeds|exceed|past"),
        ("<", "less than|fewer than|lower than|smaller than|under|below|beneath"),
        ("=", "exactly|equal to|precisely"),
    )
    for words in phrases.split("|")
)
_AFTER = (
    ((("or", "more"), ("or", "over"), ("or", "above"), ("or", "higher"), ("or", "longer"), ("and", "up")), ">="),
    ((("or", "better"), ("and", "above"), ("and", "over"), ("plus",), ("or", "greater"), ("or", "older")), ">="),
    ((("or", "less"), ("or", "fewer"), ("or", "below"), ("or", "under"), ("or", "lower"), ("or", "shorter")), "<="),
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word in small plain letters, its stem, and from where to where it stands in the text."""

    text: str
    stem: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Amount:
    """A number: its value, the word after it that may be a unit, what is said of it (`op`, "" for nothing), the words
    it takes, and the adjective of a comparison ("longer than 5")."""

    value: float
    unit: str
    op: str
    places: frozenset[int]
    adjective: Adjective | None = None
    second: float | None = None  # of "between 3 and 5"


@dataclass(frozen=True, slots=True)
class Extreme:
    """Such as "longest", "most": in which direction, what the adjective measures (None for "most"), and its places."""

    greatest: bool
    adjective: Adjective | None
    places: frozenset[int]


@dataclass(frozen=True)
class Question:
    """A question taken apart. `cues` hold the places of words that ask for something; `limit` is the number of "top 3"
    with its places."""

    text: str
    words: tuple[Word, ...]
    amounts: tuple[Amount, ...] = ()
    dates: tuple[Dates, ...] = ()
    extremes: tuple[Extreme, ...] = ()
    compared: tuple[Extreme, ...] = ()  # comparatives that no number follows: "is A older than B"
    cues: dict[str, tuple[frozenset[int], ...]] = field(default_factory=dict)
    limit: tuple[int, frozenset[int]] | None = None
    polite: int = 0  # words at the beginning that only ask for an answer: "could you tell me"
    setting: frozenset[int] = frozenset()  # words that say what all of the data is about: "in the league"

    def has(self, cue: str) -> bool:
        """Whether the question has a word for this."""
        return cue in self.cues

    def at(self, cue: str) -> frozenset[int]:
        """The places of all words for this."""
        return frozenset(place for places in self.cues.get(cue, ()) for place in places)

    @property
    def from_to(self) -> bool:
        """Such as "from oldest to youngest"."""
        return len(self.extremes) == 2 and any(word.text == "to" for word in self.words)

    @property
    def content(self) -> list[int]:
        """Places of the words that a reading should explain."""
        texts = [word.text for word in self.words]
        return [
            place
            for place, text in enumerate(texts)
            if place >= self.polite
            and text not in STOP
            and place not in self.setting
            and texts[max(place - 1, 0) : place + 1] != ["so", "far"]
        ]


def without_setting(question: Question, spoken: Collection[int]) -> Question:
    """The question, where words that nothing in the data is called only say what the data is about.

    >>> question = without_setting(take_apart("the biggest ground in the league"), {1, 2})
    >>> [question.words[place].text for place in question.content]
    ['biggest', 'ground']
    """
    found: set[int] = set()
    for place, word in enumerate(question.words):
        if word.text in lexis().settings and place not in spoken:
            first = place - 1 if question.words[place - 1].text in ("the", "our", "this", "your", "whole") else place
            if first and question.words[first - 1].text in ("in", "on", "at", "of", "for", "from", "does"):
                found.add(place)
    return replace(question, setting=frozenset(found))


def plain(text: str) -> str:
    """Text in small letters without accents, as long as it was.

    >>> plain("Où est Zoë’s Café")
    "ou est zoe's cafe"
    """
    return "".join(_letter(c) for c in text)


def _letter(c: str) -> str:
    if c in "’‘`´":
        return "'"
    spread = [part for part in unicodedata.normalize("NFKD", c.lower()) if not unicodedata.combining(part)]
    return spread[0] if spread and len(spread[0]) == 1 else c


def words_of(text: str) -> tuple[Word, ...]:
    """The words of a text; a possessive ending is none."""
    small = plain(text)
    found = [Word(m[0], stem(m[0]), m.start(), m.end()) for m in _WORD.finditer(small)]
    kept = [word for word in found if not (word.text == "s" and small[word.start - 1 : word.start] == "'")]
    return tuple(kept[:MOST_WORDS])


def take_apart(text: str) -> Question:
    """Read a question.

    >>> question = take_apart("Which 3 songs longer than seven minutes were sold since March 2024?")
    >>> [(amount.value, amount.unit, amount.op) for amount in question.amounts]
    [(3.0, 'songs', ''), (7.0, 'minutes', '>')]
    >>> [(dates.form, dates.op) for dates in question.dates]
    [('( date 2024 3 -1 )', '>=')]
    """
    words = words_of(text)
    texts = [word.text for word in words]
    dates = tuple(each for each in find_dates(texts, plain(text), words) if not _is_amount(texts, each))
    dated = frozenset(place for each in dates for place in each.places)
    amounts = tuple(_amounts(words, dated))
    counted = frozenset(place for each in amounts for place in each.places)
    dates = tuple(each for each in dates if not each.places & counted)
    extremes, compared = _degrees(words, counted)
    polite = _polite(texts)
    cues = _cues(words, counted, polite)
    limit = _limit(words, amounts, extremes, cues)
    if limit is not None:
        amounts = tuple(amount for amount in amounts if not amount.places & limit[1])
    return Question(text, words, amounts, dates, extremes, compared, cues, limit, polite)


# -- numbers


def _is_amount(texts: Sequence[str], dates: Dates) -> bool:
    """Whether what may be a year is an amount: "above 2000 m", "more than 1900 people".

    >>> [bool(take_apart(text).dates) for text in ("huts above 2000 m", "over 1900 people", "opened after 2000")]
    [False, False, True]
    """
    if not dates.year:
        return False
    first, last = min(dates.places), max(dates.places)
    if last + 1 < len(texts) and (texts[last + 1] in UNITS or texts[last + 1] in "%€$£"):
        return True
    return not dates.op and first > 0 and (texts[first - 1] in "€$£" or bool(_said_before(texts, first)[0]))


def _amounts(words: Sequence[Word], dated: frozenset[int]) -> Iterator[Amount]:
    texts = [word.text for word in words]
    taken: set[int] = set()
    for start, end, value in _numbers(texts):
        places = frozenset(range(start, end))
        if places & dated or places & taken:
            continue
        unit = texts[end] if end < len(texts) else ""
        if start and texts[start - 1] in "€$£":
            unit, places = "money", places | {start - 1}
        op, before, adjective = _said_before(texts, start)
        after_op, after = _said_after(texts, end, unit)
        second = None
        if end + 1 < len(texts) and texts[end] == "and" and _is_between(texts, start):
            following = next((each for each in _numbers(texts) if each[0] == end + 1), None)
            if following is not None:
                second, op = following[2], "between"
                places |= frozenset(range(end, following[1])) | {_place_between(texts, start)}
                unit = texts[following[1]] if following[1] < len(texts) else ""
        taken |= places
        yield Amount(value, unit, after_op or op, places | before | after, adjective, second)


def _numbers(texts: Sequence[str]) -> Iterator[tuple[int, int, float]]:
    """Numbers in digits and in words: first and last place, value. "one" alone is a pronoun as often as a number."""
    in_words = {numeral.start: numeral for numeral in find_numerals(list(texts))}
    place = 0
    while place < len(texts):
        end, value = place + 1, None
        if _NUMBER.fullmatch(texts[place]):
            value = float(texts[place].replace(",", ""))
        elif m := re.fullmatch(r"(\d+)(k|m|km|kg|min|mins|h|hrs|ms|cm|mm|g|gb|mb|kb|s)", texts[place]):
            value = float(m[1]) * (_SUFFIX.get(m[2], 1) if m[2] in ("k",) else 1)
        elif place in in_words and not in_words[place].ordinal:
            numeral = in_words[place]
            if numeral.value != 1 or (
                place and texts[place - 1] in ("than", "least", "most", "exactly", "over", "only")
            ):
                value, end = float(numeral.value), numeral.end
        elif texts[place] == "dozen":
            value = 12.0
        if value is not None:
            while end < len(texts) and texts[end] in _SUFFIX and texts[end] != "m":
                value, end = value * _SUFFIX[texts[end]], end + 1
            if texts[end : end + 3] == ["and", "a", "half"]:
                value, end = value + 0.5, end + 3
            yield place, end, value
        place = end


def _said_before(texts: Sequence[str], start: int) -> tuple[str, frozenset[int], Adjective | None]:
    """What stands before a number: an operator, the places of its words, an adjective ("longer than")."""
    at = start
    while at and texts[at - 1] in ("a", "the", "about", "around", "just", "of", "$", "€", "£"):
        at -= 1
    for phrase, op in _BEFORE:
        size = len(phrase)
        if tuple(texts[max(0, at - size) : at]) == phrase:
            places = frozenset(range(at - size, at))
            if at - size and texts[at - size - 1] in ("not", "no"):
                op = {">": "<=", "<": ">="}.get(op, op)
                places |= {at - size - 1}
            return op, places, None
    if at >= 2 and texts[at - 1] == "than":
        found = lexis().degree(texts[at - 2])
        if found and found[1] == COMPARATIVE:
            op = ">" if found[0].greatest else "<"
            than = {at - 1, at - 2}
            if at >= 3 and texts[at - 3] in ("no", "not"):
                op, than = {">": "<=", "<": ">="}[op], than | {at - 3}
            return op, frozenset(than), found[0]
        if at >= 3 and texts[at - 3] in ("more", "less"):
            found = lexis().degree(texts[at - 2])
            if found:
                more = (texts[at - 3] == "more") == found[0].greatest
                return (">" if more else "<"), frozenset({at - 1, at - 2, at - 3}), found[0]
    return "", frozenset(), None


def _said_after(texts: Sequence[str], end: int, unit: str) -> tuple[str, frozenset[int]]:
    for at in (end, end + 1):
        for phrases, op in _AFTER:
            for phrase in phrases:
                if tuple(texts[at : at + len(phrase)]) == phrase:
                    return op, frozenset(range(at, at + len(phrase)))
    return "", frozenset()


def _is_between(texts: Sequence[str], start: int) -> bool:
    return _place_between(texts, start) >= 0


def _place_between(texts: Sequence[str], start: int) -> int:
    return next((at for at in range(start - 1, max(-1, start - 4), -1) if texts[at] == "between"), -1)


# -- degrees


_PARTICIPLES = frozenset(["paid", "rated", "priced", "earning", "scoring"])  # "best paid"
_UTMOST = {"best": True, "highest": True, "top": True, "worst": False, "lowest": False}


def _degrees(words: Sequence[Word], counted: frozenset[int]) -> tuple[tuple[Extreme, ...], tuple[Extreme, ...]]:
    """Superlatives, and comparatives that no number follows."""
    extremes: list[Extreme] = []
    compared: list[Extreme] = []
    texts = [word.text for word in words]
    skip: set[int] = set(counted)
    for place, text in enumerate(texts):
        if place in skip:
            continue
        after = texts[place + 1] if place + 1 < len(texts) else ""
        found = lexis().degree(text)
        if text in ("most", "least", "fewest", "more", "fewer", "less"):
            if texts[max(0, place - 1) : place] == ["at"]:
                continue
            following = lexis().degree(after)
            adjective = following[0] if following and not following[1] else None
            places = frozenset({place, place + 1} if adjective else {place})
            more = text in ("most", "more")
            greatest = more if adjective is None else more == adjective.greatest
            (extremes if text in ("most", "least", "fewest") else compared).append(Extreme(greatest, adjective, places))
            skip |= places
        elif text in _UTMOST and after in _PARTICIPLES and lexis().degree(after):
            extremes.append(Extreme(_UTMOST[text], lexis().adjectives[after], frozenset({place, place + 1})))
            skip.add(place + 1)
        elif text in ("highest", "maximum", "biggest", "largest", "greatest", "lowest", "minimum", "smallest"):
            greatest = text in ("highest", "maximum", "biggest", "largest", "greatest")
            extremes.append(Extreme(greatest, found[0] if found else None, frozenset({place})))
        elif found and found[1] == SUPERLATIVE:
            extremes.append(Extreme(found[0].greatest, found[0], frozenset({place})))
        elif found and found[1] == COMPARATIVE:
            compared.append(Extreme(found[0].greatest, found[0], frozenset({place})))
    return tuple(extremes), tuple(compared)


# -- words that ask for something

_CUES: tuple[tuple[str, str], ...] = (
    (COUNT, "how many times|how many|number of|count of|count|how often|the number|headcount|tally|no of"),
    (SUM, "total|sum|overall|altogether|combined|together|in all|how much|summed"),
    (AVG, "average|mean|on average|typical|typically|avg|averages"),
    (SHARE, "percentage|percent|share|proportion|fraction|what part|%"),
    (EACH, "for each|in each|per|each|for every|in every|by each|respective"),
    (EACH, "broken down by|break down|breakdown of|grouped by|split by"),
    (
        ORDER,
        "ordered by|sorted by|sort by|order by|ranked by|rank|ranked|alphabetical|alphabetically|in order of|sorted",
    ),
    (REVERSE, "descending|reverse|highest first|largest first|newest first|latest first|most expensive first"),
    (NOT, "without|no|not|never|none|neither|lack|lacking|lacks|missing|free of|except|excluding|other than|isn't"),
    (NOT, "aren't|don't|doesn't|didn't|hasn't|haven't|wasn't|weren't|cannot|can't|yet to|nobody|unpaid|won't|minus"),
    (TOP, "top|first|bottom"),
    (DISTINCT, "different|distinct|unique"),
    (OR, "or"),
)
_ASKING = frozenset(["is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will"])


def _polite(texts: Sequence[str]) -> int:
    """How many words at the beginning only ask for an answer.

    >>> [_polite(text.split()) for text in ("could you please tell me who", "can i see the huts", "can dogs swim")]
    [5, 3, 0]
    """
    at = 0
    while at < len(texts):
        for size in range(min(5, len(texts) - at - 1), 0, -1):
            if _POLITE.fullmatch(" ".join(texts[at : at + size])):
                at += size
                break
        else:
            return at
    return at


_POLITE = re.compile(
    r"please|kindly|(send|bring|give) (me|us)|hi|hey|hello|ok|okay|so|well|"
    r"(can|could|would|will) (you|i|we)( please| maybe| perhaps| just)?|"
    r"(tell|show|give|list|get|find|fetch|send|bring)( me| us)?( again)?|see|have a look at|look at|look up|"
    r"do you (know|happen to know|have any idea)|(i|we) (want|need|wish|would like|wanted) to (know|see|find out)|"
    r"i'd (like|love) to (know|see)|i'm (looking for|curious|wondering)|i wonder|(any|no) idea|remind me( again)?|"
    r"let me (know|see)|let us (know|see)|let's see"
)


def _cues(words: Sequence[Word], counted: frozenset[int], start: int) -> dict[str, tuple[frozenset[int], ...]]:
    """What words ask for; those that belong to a number ("no more than 3") ask for nothing."""
    texts = [word.text for word in words]
    found: dict[str, list[frozenset[int]]] = {}
    for cue, phrases in _CUES:
        for phrase in phrases.split("|"):
            parts = phrase.split()
            for at in range(len(texts) - len(parts) + 1):
                places = frozenset(range(at, at + len(parts)))
                here = texts[at : at + len(parts)] == parts and not places & counted
                if here and not (parts[-1] in ("no", "mean") and _says_else(texts, at)):
                    found.setdefault(cue, []).append(places)
    for at in range(1, len(texts)):  # "cheapest first", "longest serving first"
        if texts[at] == "first" and any(_is_superlative(each) for each in texts[max(0, at - 2) : at]):
            found.setdefault(ORDER, []).append(frozenset({at}))
            found[TOP] = [places for places in found.get(TOP, []) if places != frozenset({at})]
            found = {cue: places for cue, places in found.items() if places}
    if texts[start:] and texts[start] in (*_ASKING, "any", "if", "whether"):
        found.setdefault(EXISTS, []).append(frozenset({start}))
    for at in range(start, len(texts) - 1):
        if (texts[at], texts[at + 1]) in (("is", "there"), ("are", "there"), ("there", "any")) and at < start + 2:
            found.setdefault(EXISTS, []).append(frozenset({at, at + 1}))
    return {cue: tuple(places) for cue, places in found.items()}


def _says_else(texts: Sequence[str], at: int) -> bool:
    """Whether a word says something else than it does by itself: "no. of", "I mean"."""
    if texts[at] == "no":
        return texts[at + 1 : at + 2] == ["of"]
    return texts[max(at - 1, 0) : at] in (["i"], ["we"], ["you"], ["they"])


def _is_superlative(text: str) -> bool:
    found = lexis().degree(text)
    return text in _UTMOST or found is not None and found[1] == SUPERLATIVE


def _limit(
    words: Sequence[Word],
    amounts: Sequence[Amount],
    extremes: Sequence[Extreme],
    cues: dict[str, tuple[frozenset[int], ...]],
) -> tuple[int, frozenset[int]] | None:
    """The number of "top 3", "three longest", "the 5 most expensive", "2 biggest"."""
    starts = {min(extreme.places) for extreme in extremes}
    tops = {max(places) for places in cues.get(TOP, ())}
    for amount in amounts:
        if amount.op or amount.value != int(amount.value) or amount.value < 1:
            continue
        first, last = min(amount.places), max(amount.places)
        beside = last + 1 in starts or first - 1 in tops or first - 1 in starts or last + 2 in starts
        if beside or (extremes and amount.value < 1000 and amount.unit not in UNITS):
            return int(amount.value), amount.places
    return None
