"""Names and numbers as placeholders, so that nobody has to learn them: "trails that start in [village]".

In: questions, and forms with their utterances. Out: the same with a placeholder where a name or a number stood, what
stood there, and back: a form with placeholders filled with what a question names. A type with few names, such as the
seasons, is left as it is: these are words to be understood.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from dualparse.domains import numerals
from dualparse.domains.lexicon import Lexicon

FEW = 5  # names of a type that is left as it is
NUMBER = "[number]"
MOST_ORDERS = 2  # places of a kind that are filled in every order; more of them as the question has it

_DIGITS = re.compile(r"\d+(\.\d+)?")
_NONE = "0"  # said as "no hut", never as a number


@dataclass(frozen=True)
class Masked:
    """A text, and by placeholder what stood in it, in the order of the text. `one`: whether it says "one", which is a
    number at times ("at least one hut") and more often none."""

    text: str
    stood: Mapping[str, tuple[str, ...]]
    one: bool = False


@dataclass(frozen=True)
class Template:
    """A form with placeholders, and its utterance; `order` has for every placeholder of the form, by kind, its place
    among those of the utterance."""

    form: str
    text: str
    order: Mapping[str, tuple[int, ...]]

    @property
    def needs(self) -> Counter[str]:
        """How often each placeholder is there."""
        return Counter({kind: len(places) for kind, places in self.order.items()})


class Placeholders:
    """Masks the texts of a domain; without a lexicon it leaves everything as it is.

    >>> places = Placeholders(Lexicon([((name,), f"hut.{name}") for name in "abcdef"]))
    >>> places.of_question("beds of a over 40".split())
    Masked(text='beds of [hut] over [number]', stood={'[hut]': ('hut.a',), '[number]': ('40',)}, one=False)
    """

    def __init__(self, lexicon: Lexicon | None):
        self.lexicon = lexicon
        sizes = Counter(map(_type, lexicon.entities)) if lexicon else Counter[str]()
        self._open = {kind for kind, size in sizes.items() if kind and size > FEW}

    def of_question(self, words: Sequence[str]) -> Masked:
        """A question with placeholders for the names and numbers in it."""
        if self.lexicon is None:
            return Masked(" ".join(words), {})
        found = {mention.start: (mention.end, mention.entity) for mention in self._names(words)}
        named = {place for start, (end, _) in found.items() for place in range(start, end)}
        for numeral in numerals.find_numerals(words):
            if not numeral.ordinal and numeral.value > 1 and not named & set(range(numeral.start, numeral.end)):
                found[numeral.start] = (numeral.end, numeral.digits)
        for place, word in enumerate(words):
            if _DIGITS.fullmatch(word) and place not in named:
                found[place] = (place + 1, word)
        masked = _masked(words, {start: (end, self._kind(what), what) for start, (end, what) in found.items()})
        return Masked(masked.text, masked.stood, one="one" in words)

    def template(self, form: str, utterance: str) -> Template:
        """A form and its utterance with placeholders for the names and numbers that both have."""
        if self.lexicon is None:
            return Template(form, utterance, {})
        words, tokens = utterance.split(), form.split()
        numbers = {tokens[place] for place in _numbers(tokens)}
        said = {m.start: (m.end, self._kind(m.entity), m.entity) for m in self._names(words) if m.entity in tokens}
        said |= {i: (i + 1, NUMBER, word) for i, word in enumerate(words) if word in numbers and i not in said}
        masked = _masked(words, said)
        order: dict[str, list[int]] = {}
        for place in [i for i, token in enumerate(tokens) if self._is_open(token) or i in _numbers(tokens)]:
            kind = self._kind(tokens[place])
            stood, taken = masked.stood.get(kind, ()), order.get(kind, [])
            left = [i for i, what in enumerate(stood) if what == tokens[place] and i not in taken]
            if left:
                order.setdefault(kind, []).append(left[0])
                tokens[place] = kind
        return Template(" ".join(tokens), masked.text, {kind: tuple(places) for kind, places in order.items()})

    def key(self, form: str) -> str:
        """A form with placeholders, by which its template is found."""
        tokens = form.split()
        if self.lexicon is not None:
            for place in _numbers(tokens):
                tokens[place] = NUMBER
            tokens = [self._kind(token) if self._is_open(token) else token for token in tokens]
        return " ".join(tokens)

    def _names(self, words: Sequence[str]) -> list:
        assert self.lexicon is not None
        return [mention for mention in self.lexicon.match(words) if self._is_open(mention.entity)]

    def _is_open(self, token: str) -> bool:
        return _type(token) in self._open

    def _kind(self, what: str) -> str:
        return f"[{_type(what).rpartition('.')[2]}]" if self._is_open(what) else NUMBER


def filled(template: Template, question: Masked) -> Iterator[tuple[str, bool]]:
    """The form of a template with what a question names, in every order that may be meant; and whether it is the order
    of the question. Nothing where the question does not name enough."""
    kinds = list(template.order)
    ways = []
    for kind in kinds:
        stood = question.stood.get(kind, ())
        if kind == NUMBER and question.one and len(stood) < len(template.order[kind]):
            stood = (*stood, "1")
        count = len(template.order[kind])
        if len(stood) < count:
            return
        orders = permutations(stood, count) if len(stood) <= MOST_ORDERS else [stood[:count]]
        ways.append([(chosen, chosen == stood[:count]) for chosen in orders])
    for choice in product(*ways):
        values = {
            kind: iter([chosen[place] for place in template.order[kind]])
            for kind, (chosen, _) in zip(kinds, choice, strict=True)
        }
        form = " ".join(next(values[token]) if token in values else token for token in template.form.split())
        yield form, all(same for _, same in choice)


def _type(entity: str) -> str:
    return entity.rpartition(".")[0]


def _numbers(tokens: Sequence[str]) -> list[int]:
    """Where the numbers of a form stand: amounts, years and counts, but no day of a month and no 0."""
    found = []
    for place, token in enumerate(tokens):
        if token == "date" and list(tokens[place + 2 : place + 4]) == ["-1", "-1"]:
            found.append(place + 1)
        dated = "date" in tokens[max(place - 3, 0) : place] or "time" in tokens[max(place - 3, 0) : place]
        if _DIGITS.fullmatch(token) and token != _NONE and not dated:
            found.append(place)
    return found


def _masked(words: Sequence[str], found: Mapping[int, tuple[int, str, str]]) -> Masked:
    """Words with a placeholder in the place of each thing found: start -> (end, placeholder, what stood there)."""
    out: list[str] = []
    stood: dict[str, tuple[str, ...]] = {}
    place = 0
    while place < len(words):
        if place in found:
            place, kind, what = found[place]
            out.append(kind)
            stood[kind] = (*stood.get(kind, ()), what)
        else:
            out.append(words[place])
            place += 1
    return Masked(" ".join(out), stood)
