"""Questions as people type them -> words as the models know them, with a note about every guess.

In: any text, the words a model knows and the phrases of a lexicon. Out: a `Reading`, or `InputError` for a text without
words or with too many. Case, punctuation, accents, number spelling and simple misspellings give way to what is known;
a known word is never touched, so that a training query reads as itself (but for a number in words where training mostly
has digits); a word that stays unknown is left to the model, and so is an ordinary word that training has not seen:
'month' is no slip of 'moth'.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rapidfuzz import process
from rapidfuzz.distance import OSA

from dualparse.domains import numerals
from dualparse.domains.ordinary import is_ordinary
from dualparse.errors import InputError

MAX_WORDS = 200  # no question is longer; a text that is would only burn time
MAX_PARTS = 10 * MAX_WORDS  # of a longer text only the length is looked at
NEW_WORDS = "never seen in training"  # how a note begins that lists words nobody has used
SHORTEST, LONGEST, TWO_EDITS = 4, 40, 9  # letters of a word that may be a misspelling, and of one with two slips

Phrase = tuple[str, ...]

_APOSTROPHES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u00b4": "'", "`": "'"})
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SIGNED = re.compile(r"-\d")
_JOINTS = re.compile(r"[-_/\u2010-\u2015]+")
_NUMBER_AND_UNIT = re.compile(r"(\d+(?:\.\d+)?)([^\W\d]+)")


@dataclass(frozen=True, slots=True)
class Word:
    """A word as the model reads it, and what was typed in its place."""

    text: str
    said: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A question, read.

    words   what the model is given
    said    what was typed in the place of each word
    notes   what was guessed, in words for the user
    names   token of a form -> what it stands for in this question; empty in most domains
    """

    words: tuple[str, ...]
    said: tuple[str, ...]
    notes: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Preparation:
    """What the queries and forms of a domain went through before they became its data.

    phrases   words it makes something of, though no query has them
    stem      word -> what is left of it in the data
    query     words -> words as in the data but for their stems, and what the tokens it put in stand for
    form      the same for the tokens of a form in which names stand
    """

    phrases: Sequence[Phrase]
    stem: Callable[[str], str]
    query: Callable[[Sequence[Word]], tuple[list[Word], dict[str, str]]]
    form: Callable[[Sequence[str]], tuple[list[str], dict[str, str]]]


_PLACEHOLDER = re.compile(r"[^\s()]+\.@\d+")


def unknown_names(tokens: Iterable[str], names: Mapping[str, str]) -> list[str]:
    """Placeholders of a form that stand for nothing in its question.

    >>> unknown_names(["(", "get", "hut.@1", "beds", ")"], {"hut.@0": "hut.marmot_hut"})
    ['hut.@1']
    """
    return [token for token in tokens if token not in names and _PLACEHOLDER.fullmatch(token)]


class Reader:
    """Reads questions for one model. It never changes, so any number of threads may use one.

    >>> reader = Reader(["which", "huts", "have", "5", "beds"], [("marmot", "hut")])
    >>> reader.read("Which HUTS have five beds?").words
    ('which', 'huts', 'have', '5', 'beds')
    >>> reader.read("which marmott hut beds creak").notes
    ("read 'marmott hut' as 'marmot hut'", "never seen in training: 'creak'")
    """

    def __init__(
        self, vocabulary: Sequence[str], phrases: Iterable[Phrase] = (), preparation: Preparation | None = None
    ):
        """`vocabulary`: the words of the model's queries, the most frequent first."""
        self._preparation = preparation
        self._phrases: dict[str, list[Phrase]] = {}
        for phrase in (*phrases, *(preparation.phrases if preparation else ())):
            for word in set(phrase):
                self._phrases.setdefault(word, []).append(phrase)
        self._vocabulary = frozenset(vocabulary)
        self._rank = {word: place for place, word in enumerate(vocabulary)}
        self._words = self._vocabulary | self._phrases.keys()
        self._names = sorted(filter(_may_be_meant, self._phrases))
        self._others: dict[str, list[str]] = {}  # by first letter, the more frequent and so the likelier first
        for word in filter(_may_be_meant, vocabulary):
            self._others.setdefault(word[0], []).append(word)

    def read(self, text: str) -> Reading:
        """The words of a question as the model knows them."""
        if not isinstance(text, str):  # whoever calls from a program without types
            raise InputError(f"a question is text, not {type(text).__name__}")
        words = self._split(text)
        notes: list[str] = []
        words = self._spell(words, notes)
        words = self._respell_numbers(words, notes)
        words, names = self._prepare(words, notes)
        self._tell_unknown([word for word in words if word.text not in names], notes)
        return Reading(tuple(word.text for word in words), tuple(word.said for word in words), tuple(notes), names)

    def _split(self, text: str) -> list[Word]:
        parts = text.split()
        words: list[Word] = []
        for part in parts[:MAX_PARTS]:
            words.extend(self._resolve(part, words[-1].text if words else ""))
        if not words:
            raise InputError("the question has no words" if parts else "the question is empty")
        if len(words) > MAX_WORDS or len(parts) > MAX_PARTS:
            raise InputError(f"the question has {max(len(words), len(parts))} words; {MAX_WORDS} are the most")
        return words

    def _tell_unknown(self, words: Sequence[Word], notes: list[str]) -> None:
        """Words the model reads as one and the same unknown word; numbers can be copied all the same."""
        unknown = [w.said for w in words if w.text not in self._words and not any(c.isdigit() for c in w.text)]
        if unknown:
            told = ", ".join(f"'{said}'" for said in dict.fromkeys(unknown))
            notes.append(f"{NEW_WORDS}: {told}")

    def _prepare(self, words: list[Word], notes: list[str]) -> tuple[list[Word], dict[str, str]]:
        """What the domain's own data went through."""
        if self._preparation is None:
            return words, {}
        words, names = self._preparation.query(words)
        said = {word.text: word.said for word in reversed(words)}
        notes.extend(f"{token} stands for '{said[token]}'" for token in sorted(names))
        known = self._vocabulary
        stemmed = [w if w.text in known or w.text in names else Word(self._stem(w.text), w.said) for w in words]
        return stemmed, names

    def _knows(self, word: str) -> bool:
        return word in self._words or (self._preparation is not None and self._stem(word) in self._vocabulary)

    def _stem(self, word: str) -> str:
        return self._preparation.stem(word) if self._preparation else word

    def _resolve(self, part: str, before: str) -> list[Word]:
        """What stands between two spaces, after the word `before`, as one word or several; none where it is
        punctuation."""
        if part in self._words:
            return [Word(part, part)]
        words: list[Word] = []
        for cleaned in _cleaned(part).split():
            owner = _core(cleaned.lower()).removesuffix("'s")
            if owner != _core(cleaned.lower()) and self._ends_name(before, owner):
                words.append(Word(owner, cleaned.strip('?!.,;:"()[]')))
                continue
            pieces = next(filter(self._knows_all, _spellings(cleaned)), None)
            pieces = pieces or _apart(owner)
            typed = cleaned.strip('?!.,;:"()[]')
            words.extend(Word(piece, typed if len(pieces) == 1 else piece) for piece in pieces if piece)
        return words

    def _knows_all(self, pieces: Sequence[str]) -> bool:
        return all(self._knows(piece) or piece in numerals.WORDS or numerals.is_number(piece) for piece in pieces)

    def _ends_name(self, before: str, word: str) -> bool:
        """Whether both together end a name: of the "Marmot Hut's beds" the hut is meant, not huts."""
        return any(phrase[-2:] == (before, word) for phrase in self._phrases.get(word, ()))

    def _spell(self, words: Sequence[Word], notes: list[str]) -> list[Word]:
        """Unknown words that are nearly known ones become these."""
        texts = [word.text for word in words]
        changed = [i for i in range(len(words)) if self._mend(texts, i)]
        for start, end in dict.fromkeys(self._mention(texts, i) or (i, i + 1) for i in changed):
            notes.append(_note([word.text for word in words[start:end]], texts[start:end]))
        return [Word(text, word.said) for text, word in zip(texts, words, strict=True)]

    def _mend(self, texts: list[str], i: int) -> bool:
        """Replace a misspelt word: by one that completes a phrase of the lexicon, or by another with the same initial.

        So many words are near a short one that the words around it must agree.
        """
        text = texts[i]
        if not text.isalpha() or not SHORTEST <= len(text) <= LONGEST or text in numerals.WORDS or self._knows(text):
            return False
        ordinary = is_ordinary(text)
        least = 2 if ordinary or len(text) == SHORTEST else 1
        for guess in _nearest(text, self._names):
            start, end = self._mention([*texts[:i], guess, *texts[i + 1 :]], i) or (i, i)
            if end - start >= least:
                texts[i] = guess
                return True
        if ordinary or len(text) == SHORTEST:
            return False
        stem = self._stem(text)
        for guess in _nearest(stem, self._others.get(stem[:1], ())):
            texts[i] = guess
            return True
        return False

    def _mention(self, words: Sequence[str], i: int) -> tuple[int, int] | None:
        """Where the longest phrase begins and ends that word `i` is part of; None if it is in none."""
        best: tuple[int, int] | None = None
        for phrase in self._phrases.get(words[i], ()):
            for start in range(max(0, i - len(phrase) + 1), i + 1):
                longer = best is None or len(phrase) > best[1] - best[0]
                if longer and tuple(words[start : start + len(phrase)]) == phrase:
                    best = (start, start + len(phrase))
        return best

    def _respell_numbers(self, words: Sequence[Word], notes: list[str]) -> list[Word]:
        """Numbers as the model knows them, or in digits, which can be copied, where it knows neither spelling."""
        result: list[Word] = []
        texts = [word.text for word in words]
        place = 0
        for chunk, numeral in _chunks(words):
            spelling = [word.text for word in chunk]
            named = any(self._mention(texts, place + i) for i in range(len(chunk)))
            place += len(chunk)
            other = None
            if not all(self._knows(text) for text in spelling):
                other = numeral.digits if numeral else numerals.one_word(spelling[0])
                other = other if other and (self._knows(other) or (numeral and not numeral.ordinal)) else None
            elif numeral and not named and self._is_seldom(numeral, spelling):
                other = numeral.digits
            if other:
                notes.append(_note(spelling, [other]))
                chunk = [Word(other, " ".join(word.said for word in chunk))]
            result.extend(chunk)
        return result

    def _is_seldom(self, numeral: numerals.Numeral, spelling: Sequence[str]) -> bool:
        """Whether training writes a number in digits and its words hardly ever: who says "five km" is not to suffer
        from the "five" of "twenty five"."""
        if self._preparation is not None or numeral.ordinal or numeral.value < 2:
            return False
        rank = self._rank.get(numeral.digits)
        return rank is not None and all(self._rank.get(word, rank) > rank for word in spelling)


def _cleaned(part: str) -> str:
    """One spelling for one character, and none for what nobody sees."""
    text = unicodedata.normalize("NFKC", part).translate(_APOSTROPHES)
    return "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cf", "Cs"))


def _core(part: str) -> str:
    """A word without the punctuation around it; a minus before a digit is none."""
    end = len(part)
    while end and not part[end - 1].isalnum():
        end -= 1
    start = 0
    while start < end and not part[start].isalnum() and not _SIGNED.match(part, start):
        start += 1
    return part[start:end]


def _spellings(part: str) -> Iterator[tuple[str, ...]]:
    """Ways to write what was typed, the most faithful first, each as one piece or several."""
    lower = part.lower()
    core = _core(lower)
    yield (part,)
    yield (lower,)
    if not core:
        return
    yield (core,)
    core = _THOUSANDS.sub("", core)
    yield (core,)
    yield (_plain(core),)
    if "'" in core:
        yield (core.replace("'", ""),)
        before, _, after = core.rpartition("'")
        yield before, "'" + after
        if after == "s":
            yield (before,)
            core = before
    yield _apart(core)
    yield ("".join(_JOINTS.split(core)),)


def _apart(core: str) -> tuple[str, ...]:
    """The words of a compound, a number and its unit; anything else stays in one piece.

    >>> _apart("lake-side"), _apart("10km"), _apart("ap/57")
    (('lake', 'side'), ('10', 'km'), ('ap/57',))
    """
    core = _THOUSANDS.sub("", core)
    measure = _NUMBER_AND_UNIT.fullmatch(core)
    pieces = measure.groups() if measure else tuple(_JOINTS.split(core))
    return pieces if measure or all(piece.isalpha() for piece in pieces) else (core,)


def _plain(word: str) -> str:
    """A word without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def _chunks(words: Sequence[Word]) -> Iterator[tuple[list[Word], numerals.Numeral | None]]:
    """Every number in words as one chunk with its value, every other word as a chunk of its own."""
    start = 0
    for numeral in numerals.find_numerals([word.text for word in words]):
        yield from (([word], None) for word in words[start : numeral.start])
        yield list(words[numeral.start : numeral.end]), numeral
        start = numeral.end
    yield from (([word], None) for word in words[start:])


def _may_be_meant(word: str) -> bool:
    return len(word) >= SHORTEST - 1 and word.isalpha()


def _nearest(word: str, candidates: Sequence[str]) -> list[str]:
    """The candidates that are few edits away, the nearest first; a swap of neighbours is one edit."""
    edits = 1 if len(word) < TWO_EDITS else 2
    return [found for found, _, _ in process.extract(word, candidates, scorer=OSA.distance, score_cutoff=edits)]


def _note(typed: Sequence[str], read: Sequence[str]) -> str:
    return f"read '{' '.join(typed)}' as '{' '.join(read)}'"
