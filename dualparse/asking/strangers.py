"""Questions that nobody can answer, to tune refusals by: texts of no domain, and a domain's own questions spoiled.

In: a domain's questions. Out: questions without an answer. A spoiled question is one of the domain's with another name
for an entity, or with a word that its questions never use. What refusing is measured by is written elsewhere
(benchmarks/offtopic), by another hand.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from dualparse.asking.familiar import Familiar, common_words
from dualparse.domains.lexicon import Lexicon

TEXTS = ("question", "scramble", "foreign")
WORDS = ("noun", "quality")
RENAMED = 0.4  # share of the spoiled questions in which an entity gets a name that nobody has
SHUFFLED = 0.15  # questions whose words stand in no order, as a share
MOST = 300  # questions that are spoiled
Words = Sequence[str]


@cache
def _listed() -> dict[str, tuple[str, ...]]:
    text = files("dualparse.asking").joinpath("strangers.tsv").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            kind, _, words = line.partition("\t")
            found.setdefault(kind, []).append(words)
    return {kind: tuple(texts) for kind, texts in found.items()}


def strangers(questions: Sequence[Words], lexicon: Lexicon, familiar: Familiar, *, seed: int = 1) -> list[str]:
    """Texts of no domain, then spoiled questions and questions whose words are shuffled."""
    drawn = random.Random(f"strangers {seed}")
    chosen = list(questions) if len(questions) <= MOST else drawn.sample(list(questions), MOST)
    found = [text for kind in TEXTS for text in _listed()[kind]]
    for words in chosen:
        if spoiled := _spoiled(words, lexicon, familiar, drawn):
            found.append(" ".join(spoiled))
        if len(words) > 3 and drawn.random() < SHUFFLED:
            found.append(" ".join(drawn.sample(list(words), len(words))))
    return found


def _spoiled(words: Words, lexicon: Lexicon, familiar: Familiar, drawn: random.Random) -> Words | None:
    mentions = lexicon.match(words)
    names = [name for name in _listed()["name"] if name in familiar.strange([name])]
    if mentions and names and drawn.random() < RENAMED:
        mention = drawn.choice(mentions)
        return [*words[: mention.start], drawn.choice(names), *words[mention.end :]]
    inside = {place for mention in mentions for place in range(mention.start, mention.end)}
    places = [
        place
        for place, word in enumerate(words)
        if place not in inside and word.isalpha() and word not in common_words()
    ]
    others = [word for kind in WORDS for word in _listed()[kind] if word in familiar.strange([word])]
    if not places or not others:
        return None
    place = drawn.choice(places)
    return [*words[:place], drawn.choice(others), *words[place + 1 :]]
