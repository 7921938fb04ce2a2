"""How much a question is like those that are known: words that nobody has used, and pairs of words that never met.

In: known questions as words, the lexicon and what may be common words. Out: for the words of a question a few numbers,
which are evidence of whether it is about the domain at all. Entities count as their types, so that a question about
another hut is as familiar as the one about this hut. Counting takes milliseconds; no model is needed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from dualparse.asking.lexis import verbs
from dualparse.domains import ordinary
from dualparse.domains.lexicon import Lexicon

BEGIN, END, NUMBER, UNKNOWN = "<s>", "</s>", "<number>", "<unk>"
SEEN_TWICE = 0.4  # share of the likelihood of a pair that falls to the word alone
MOST = 5_000  # known questions that are compared with
Words = Sequence[str]


@cache
def common_words() -> frozenset[str]:
    """Words of any question, which say nothing about what it is about."""
    text = files("dualparse.asking").joinpath("everyday.txt").read_text(encoding="utf-8")
    return (
        verbs()
        | ordinary.common_words()
        | {word for line in text.splitlines() if not line.startswith("#") for word in line.split()}
    )


class Familiar:
    """What known questions are made of.

    >>> known = Familiar([("which", "huts", "have", "showers"), ("how", "long", "is", "it")], Lexicon())
    >>> known.strange("which huts have saunas".split())
    ['saunas']
    >>> round(known.nearest("which huts have saunas".split()), 2)
    0.6
    """

    def __init__(self, questions: Iterable[Words], lexicon: Lexicon):
        self._lexicon = lexicon
        patterns = list(dict.fromkeys(self.pattern(words) for words in questions))
        self._single = Counter(word for pattern in patterns for word in pattern)
        self._pairs = Counter(pair for pattern in patterns for pair in _pairs(pattern))
        self._before = Counter(first for pattern in patterns for first, _ in _pairs(pattern))
        self._total = sum(self._single.values()) + 1
        spread = Counter(word for pattern in patterns for word in set(pattern))
        self._weight = {word: math.log(1 + len(patterns) / count) for word, count in spread.items()}
        self._rare = math.log(1 + max(len(patterns), 1))
        self._patterns = patterns[:MOST]
        self._holding: dict[str, list[int]] = {}
        for number, pattern in enumerate(self._patterns):
            for word in set(pattern):
                self._holding.setdefault(word, []).append(number)
        self._whole = [sum(self._weight[word] for word in set(pattern)) for pattern in self._patterns]
        self._named = {word for entity in lexicon.entities for phrase in lexicon.phrases(entity) for word in phrase}

    def pattern(self, words: Words) -> tuple[str, ...]:
        """A question with types in the place of entities, and a mark for every number."""
        found: list[str] = []
        last = 0
        for mention in self._lexicon.match(words):
            found += map(_marked, words[last : mention.start])
            found.append(_type(mention.entity))
            last = mention.end
        return (*found, *map(_marked, words[last:]))

    def strange(self, words: Words) -> list[str]:
        """Words that no known question has and that are no common words."""
        return [word for word in self._new(words) if word not in common_words()]

    def _new(self, words: Words) -> list[str]:
        return [
            word
            for word in self.pattern(words)
            if word not in self._single and word not in self._named and not word.startswith("<")
        ]

    def fluency(self, words: Words) -> float:
        """Log-probability per word of a question, from pairs of neighbouring words."""
        pattern = self.pattern(words)
        told = [self._follows(first, second) for first, second in _pairs(pattern)]
        return sum(map(math.log, told)) / len(told)

    def _follows(self, first: str, second: str) -> float:
        alone = (self._single[second] + 0.5) / (self._total + 0.5 * len(self._single))
        before = self._before[first]
        together = self._pairs[first, second] / before if before else 0.0
        return (1 - SEEN_TWICE) * together + SEEN_TWICE * alone

    def nearest(self, words: Words) -> float:
        """How much of a question the most similar known one has, from 0 to 1; rare words count more."""
        pattern = set(self.pattern(words))
        weight = {word: self._weight.get(word, self._rare) for word in pattern}
        shared: Counter[int] = Counter()
        for word in pattern:
            for number in self._holding.get(word, ()):
                shared[number] += weight[word]  # type: ignore[assignment]
        whole = sum(weight.values())
        return max((both / (whole + self._whole[number] - both) for number, both in shared.items()), default=0.0)

    def likeness(self, pattern: Words, other: Words) -> float:
        """How much two patterns have in common, from 0 to 1; rare words count more, common ones little."""
        first, second = ({word: self._counts(word) for word in set(each)} for each in (pattern, other))
        both = sum(weight for word, weight in first.items() if word in second)
        whole = sum((first | second).values())
        return both / whole if whole else 0.0

    def _counts(self, word: str) -> float:
        return self._weight.get(word, self._rare) * (0.3 if word in common_words() else 1.0)

    def evidence(self, words: Words) -> dict[str, float]:
        """All of it, by the names that `dualparse.asking.confidence` knows."""
        new, strange = self._new(words), self.strange(words)
        return {
            "strange": float(len(strange)),
            "strange_share": len(strange) / max(len(words), 1),
            "new": float(len(new)),
            "fluency": self.fluency(words),
            "nearest": self.nearest(words),
        }


def _pairs(pattern: Words) -> list[tuple[str, str]]:
    return list(zip((BEGIN, *pattern), (*pattern, END), strict=True))


def _marked(word: str) -> str:
    return NUMBER if word.replace(".", "", 1).isdigit() else word


def _type(entity: str) -> str:
    front, colon, back = entity.rpartition(":")
    return f"<{back if colon else entity.rpartition('.')[0]}>"
