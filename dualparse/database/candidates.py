"""Which names of the data stand in a question: the candidates, with their types. Nothing is chosen here.

In: a question, an `Index`, and the words that the schema itself explains. Out: `Candidate`s, the likeliest first. Case,
accents, punctuation and possessives do not matter; a misspelt word is read as a word of the names; a part of a name is
enough where the rest of the question leaves it unexplained. Common words are names only where nothing else explains
them: between quotes, with a capital inside the sentence, or as part of a longer name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from dualparse.database.fold import Token, fold, tokens
from dualparse.database.index import LABEL, Index, Stored
from dualparse.domains.ordinary import common_words

LONGEST_NAME = 10  # words
MOST_TOKENS = 60  # of a question that is looked at
SAME_NAME = 50  # things of one name that are told apart
MOST_HOLDING = 200  # names with one word that are looked through for another one
MOST_PARTS = 12  # names that hold a phrase; a phrase in more of them names none
SHORTEST_SLIP, TWO_EDITS = 4, 8  # letters of a word that may be misspelt, and of one that may be so twice
_EXACT, _FOLDED, _SLIP, _ONLY, _PART = 1.0, 0.97, 0.85, 0.8, 0.6  # the only name that holds a phrase is surer
_COMMON = 0.3  # what is left of the score of a name that is made of common words


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name that a question may speak of.

    start, end  where it stands in the question
    phrase      what was typed there
    type        the table; property  of a value its column, "" for the label of a thing
    value       the text in the data
    keys        ids of the things that have this label; of a value none
    score       1 for the very letters, less for what had to be guessed
    how         "exact", "folded" (case, accents, punctuation), "slip" or "part"
    """

    start: int
    end: int
    phrase: str
    type: str
    property: str
    value: str
    keys: tuple[str, ...]
    score: float
    how: str


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int  # of tokens, exclusive
    texts: tuple[str, ...]
    how: str = ""
    edits: int = 0


def candidates(text: str, index: Index, *, known: Collection[str] = ()) -> list[Candidate]:
    """The names in a question. `known` are words of the schema and its synonyms: they explain themselves."""
    words = tokens(text)[:MOST_TOKENS]
    plain = common_words() | frozenset(known)
    found: list[tuple[_Span, Candidate]] = []
    for span in _spans(words):
        found += _read(text, words, span, index.exact("".join(span.texts), SAME_NAME), plain)
    covered = {place for span, candidate in found if candidate.score > _COMMON for place in range(span.start, span.end)}
    left = [place for place, word in enumerate(words) if place not in covered and not _explained(word.text, plain)]
    for span in _mended(words, left, index):
        if hits := list(_read(text, words, span, index.exact("".join(span.texts), SAME_NAME), plain)):
            found += hits
            covered |= set(range(span.start, span.end))
    left = [place for place in left if place not in covered]
    found += _parts(text, words, left, index)
    return _sorted(found)


def _explained(word: str, plain: Collection[str]) -> bool:
    return word in plain or word.isdigit() or (word.endswith("s") and word[:-1] in plain)


def _spans(words: Sequence[Token]) -> Iterator[_Span]:
    for start in range(len(words)):
        for end in range(start + 1, min(start + LONGEST_NAME, len(words)) + 1):
            yield _Span(start, end, tuple(word.text for word in words[start:end]))
        for end in range(start + 1, min(start + 5, len(words)) + 1):
            last = words[end - 1].text
            if last.endswith("s") and (len(last) > 3 or last[:-1].isdigit()):  # "sales support agents", "Swift 3s"
                yield _Span(start, end, (*(word.text for word in words[start : end - 1]), last[:-1]), "folded")


def _read(
    text: str, words: Sequence[Token], span: _Span, stored: Sequence[Stored], plain: Collection[str]
) -> Iterator[tuple[_Span, Candidate]]:
    """Candidates of one span; things of the same name and type are one candidate with several keys."""
    if not stored:
        return
    start, end = words[span.start].start, words[span.end - 1].end
    phrase = text[start:end]
    ordinary = all(_explained(word, plain) for word in span.texts)
    for (kind, type_, property_, value), keys in _grouped(stored).items():
        how = span.how or ("exact" if phrase == value else "folded")
        score = {"exact": _EXACT, "folded": _FOLDED, "slip": _SLIP}[how] - 0.05 * span.edits
        if ordinary and not _set_off(text, words, span):
            score *= _COMMON
        of = "" if kind == LABEL else property_
        yield span, Candidate(start, end, phrase, type_, of, value, tuple(keys), score, how)


def _grouped(stored: Sequence[Stored]) -> dict[tuple[str, str, str, str], list[str]]:
    groups: dict[tuple[str, str, str, str], list[str]] = {}
    for found in stored:
        property_ = "" if found.kind == LABEL else found.property
        groups.setdefault((found.kind, found.type, property_, found.text), []).extend([found.key] if found.key else [])
    return groups


def _set_off(text: str, words: Sequence[Token], span: _Span) -> bool:
    """Whether a phrase is marked as a name: by quotes, or by capitals that are not those of a sentence's beginning."""
    start, end = words[span.start].start, words[span.end - 1].end
    if text[max(0, start - 1) : start] in tuple("\"'“‘«") and text[end : end + 1] in tuple("\"'”’».?!,"):
        return True
    typed = [word.typed for word in words[span.start : span.end]]
    shouted = text.upper() == text
    capitals = [word[:1].isupper() or word[:1].isdigit() for word in typed]
    return span.start > 0 and not shouted and capitals[0] and capitals[-1] and any(word[:1].isupper() for word in typed)


def _mended(words: Sequence[Token], left: Sequence[int], index: Index) -> Iterator[_Span]:
    """Spans around words that no name has, each read as a word that one has."""
    for place in left:
        word = words[place].text
        if len(word) < SHORTEST_SLIP or not word.isalpha() or index.knows(word):
            continue
        edits = 1 if len(word) < TWO_EDITS else 2
        near = sorted((OSA.distance(word, other), other) for other in index.alike(word, edits))
        for distance, other in [pair for pair in near if pair[0] <= edits][:6]:
            for start in range(max(0, place - LONGEST_NAME + 1), place + 1):
                for end in range(place + 1, min(start + LONGEST_NAME, len(words)) + 1):
                    texts = [token.text for token in words[start:end]]
                    if len(word) == SHORTEST_SLIP and end - start == 1:
                        continue  # so many words are near a short one that the words around it must agree
                    texts[place - start] = other
                    yield _Span(start, end, tuple(texts), "slip", distance)


def _parts(text: str, words: Sequence[Token], left: Sequence[int], index: Index) -> list[tuple[_Span, Candidate]]:
    """Names that hold what is left unexplained, the longest run of words first."""
    found: list[tuple[_Span, Candidate]] = []
    runs: list[list[int]] = []
    for place in left:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    for run in runs:
        taken: set[int] = set()
        spans = [(i, j) for i in range(run[0], run[-1] + 1) for j in range(i + 1, run[-1] + 2)]
        for i, j in sorted(spans, key=lambda span: span[0] - span[1]):
            if taken & set(range(i, j)):
                continue
            said = fold(" ".join(word.typed for word in words[i:j])).split()
            stored = _holding(said, index) if any(len(word) > 2 for word in said) else []
            if stored and len(stored) <= MOST_PARTS:
                taken |= set(range(i, j))
                found += _part(text, words, i, j, said, stored)
    return found


def _holding(said: Sequence[str], index: Index) -> list[Stored]:
    """Names in which these words stand in a row; without any, those that have them all: "fjell lamp" of Lamp Fjell."""
    stored = index.containing(said, MOST_PARTS + 1)
    if stored or len(said) < 2:
        return stored
    first, *others = [index.containing([word], MOST_HOLDING) for word in said]
    return [each for each in first if all(each in other for other in others)][: MOST_PARTS + 1]


def _part(
    text: str, words: Sequence[Token], i: int, j: int, said: Sequence[str], stored: Sequence[Stored]
) -> Iterator[tuple[_Span, Candidate]]:
    start, end = words[i].start, words[j - 1].end
    groups = _grouped(stored)
    sure = _ONLY if len(groups) == 1 else _PART
    for (_, type_, property_, value), keys in groups.items():
        score = sure * (0.5 + 0.5 * len(said) / max(len(said), len(fold(value).split())))
        found = Candidate(start, end, text[start:end], type_, property_, value, tuple(keys), score, "part")
        yield _Span(i, j, tuple(said)), found


def _sorted(found: Sequence[tuple[_Span, Candidate]]) -> list[Candidate]:
    """The best reading of each name at each place, without what a longer name of the same strength explains."""
    best: dict[tuple[object, ...], tuple[_Span, Candidate]] = {}
    for span, one in found:
        key = (span.start, span.end, one.type, one.property, one.value)
        if key not in best or best[key][1].score < one.score:
            best[key] = (span, one)
    kept = [
        one
        for span, one in best.values()
        if not any(
            other.start <= span.start
            and span.end <= other.end
            and other != span
            and (other.end - other.start) > (span.end - span.start)
            and better.score >= min(one.score, _SLIP - 0.1)
            for other, better in best.values()
        )
    ]
    return sorted(kept, key=lambda one: (-one.score, one.start, one.type, one.property, one.value))
