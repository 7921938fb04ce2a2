"""What speaks for the readings of a question about a connected folder, in numbers, and how likely each one is meant.

In: the readings, the best first, with their figures. Out: a `Judged`: each reading with its probability, and how likely
the question is about the data at all. The numbers have the names of `dualparse.asking.confidence`. What turns them into
probabilities is fitted on the databases of benchmarks/databases/dev (`folder_trust.json`), or on questions about this
very folder (`dualparse evaluate DIR --questions FILE --calibration`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Protocol

from dualparse.asking.confidence import Confidence
from dualparse.asking.drafts import Draft
from dualparse.asking.evidence import LEAST, log_odds
from dualparse.asking.familiar import common_words
from dualparse.asking.measures import FIGURES
from dualparse.asking.question import Question
from dualparse.asking.terms import LEAST as SPOKEN
from dualparse.asking.terms import Evidence
from dualparse.asking.trust import Trust, read_trust_file
from dualparse.asking.weigh import Figures, explained_places

TEMPERATURE = 0.25  # of the scores, which are no probabilities by themselves
EXPLAINED = 0.3  # of a word, from which on a reading explains it
TOLD = ("explained", "missed", "unsaid", "structure", "named", "target")  # figures; `behind` where it is known
RIGHT = (*("share", "margin", "score", *TOLD), *("empty", "strange", "things", "unexplained", "behind"))
TOPIC = ("score", "explained", "target", "spoken", "strange", "strange_share", "things", "unexplained", "cosine")


class Ranked(Protocol):
    """A reading with its figures and their sum."""

    @property
    def draft(self) -> Draft: ...

    @property
    def figures(self) -> Figures: ...

    @property
    def score(self) -> float: ...

    @property
    def cosine(self) -> float | None: ...


@dataclass(frozen=True)
class Judged:
    """What a question may mean.

    shares       of each reading among all of them, in their order
    probability  that the first one is meant
    topic        that the question is about the data at all
    things       its words that ask for something by a name that nothing here has
    strange      its words that nothing here knows; unexplained: those that the first reading does not explain
    evidence     what both probabilities were worked out from
    """

    shares: tuple[float, ...]
    probability: float
    topic: float
    things: tuple[str, ...]
    strange: tuple[str, ...]
    unexplained: tuple[str, ...]
    evidence: dict[str, float]

    def chance(self, number: int) -> float:
        """The probability of a reading: what the first leaves is shared by the others, as far as they are as likely."""
        if number == 0:
            return self.probability
        first, share = self.shares[0], self.shares[number]
        return min((1 - self.probability) * share / max(1 - first, share), self.probability * share / first)


@cache
def default_trust() -> Trust:
    """What is known of the answers about folders of which nobody has told anything."""
    with as_file(files("dualparse.asking") / "folder_trust.json") as path:
        return read_trust_file(path)


def grounds(
    question: Question, evidence: Evidence, ranked: Sequence[Ranked], same: Sequence[int] = ()
) -> dict[str, float]:
    """What is known before anything was run; of readings that say the `same` the first has the share of all."""
    best, content = ranked[0], len(question.content) or 1
    shares = of_same(shares_of(ranked), same or by_form(ranked))
    strange = strange_words(question, evidence, ranked)
    found = {name: float(getattr(best.figures, name)) for name in TOLD}
    if best.cosine is not None:
        found |= {"cosine": best.cosine, "behind": best.figures.behind}
    return found | {
        "score": best.score,
        "share": log_odds(shares[0]),
        "margin": math.log(shares[0]) - math.log(max(shares[1], LEAST)) if len(shares) > 1 else math.log(1 / LEAST),
        "spoken": float(len(spoken_places(question, evidence, ranked))),
        "strange": float(len(strange)),
        "strange_share": len(strange) / content,
        "things": float(len(things(question, evidence, ranked))),
        "unexplained": float(len(unexplained_words(question, evidence, best.draft))),
    }


def judge(
    question: Question,
    evidence: Evidence,
    ranked: Sequence[Ranked],
    trust: Trust,
    *,
    empty: bool = False,
    same: Sequence[int] = (),
) -> Judged:
    """Weigh the readings of a question, of which there is one at least; `empty` says that the first gives nothing,
    `same` has for each reading the number of the first one that says the same."""
    found = grounds(question, evidence, ranked, same)
    known = found | {"empty": float(empty)}
    return Judged(
        shares_of(ranked),
        trust.right.of(known),
        topic_of(found, trust.topic),
        things(question, evidence, ranked),
        strange_words(question, evidence, ranked),
        unexplained_words(question, evidence, ranked[0].draft),
        known,
    )


def topic_of(found: Mapping[str, float], topic: Confidence) -> float:
    """How likely a question is about the data; it is not where no word speaks of any of it."""
    return topic.of(found) if found["spoken"] else 0.0


def shares_of(ranked: Sequence[Ranked]) -> tuple[float, ...]:
    """The share of each reading among all."""
    weights = [math.exp((each.score - ranked[0].score) / TEMPERATURE) for each in ranked]
    whole = math.fsum(weights)
    return tuple(weight / whole for weight in weights)


def by_form(ranked: Sequence[Ranked]) -> tuple[int, ...]:
    """For each reading the number of the first one that says the same by its form: a property of things, alone or
    beside them."""
    first: dict[str, int] = {}
    return tuple(first.setdefault(_alone(each.draft.form), number) for number, each in enumerate(ranked))


def _alone(form: str) -> str:
    return f"( get {form.removeprefix('( select ')}" if form.startswith("( select ") else form


def of_same(shares: Sequence[float], same: Sequence[int]) -> list[float]:
    """The shares of what is told apart, that of the first reading first, the others falling."""
    found: dict[int, float] = {}
    for number, share in zip(same, shares, strict=True):
        found[number] = found.get(number, 0.0) + share
    first = found.pop(0)
    return [min(first, 1.0), *sorted(found.values(), reverse=True)]


def things(question: Question, evidence: Evidence, ranked: Sequence[Ranked]) -> tuple[str, ...]:
    """Words that ask for something by a name that nothing here has: "the weather", "top speed of the Volt". A verb
    that nothing has may say what a relation is: "artists that play jazz"."""
    known = spoken_places(question, evidence, ranked) | {place for each in ranked for place in each.draft.covers}
    names = {place for each in ranked for named in each.draft.names for place in named.places}
    found: list[str] = []
    for place in question.content:
        word = question.words[place].text
        if place in known or word in common_words() or not word.isalpha() or {place - 1, place + 1} & names:
            continue
        if not _is_verb(question, place, known):
            found.append(word)
    return tuple(found)


_BEFORE_VERBS = frozenset(
    ["we", "i", "you", "they", "that", "who", "which", "has", "have", "had", "is", "are", "was", "were", "to", "ever"]
    + ["never", "nobody", "everyone", "everybody", "somebody", "anybody", "not", "it", "he", "she", "be", "been"]
)
_AFTER_VERBS = frozenset(["up", "out", "off", "by", "in", "on", "under", "for", "from", "over", "at", "with", "to"])


def _is_verb(question: Question, place: int, known: frozenset[int]) -> bool:
    """Whether a word stands where a verb stands."""
    words = question.words
    text = words[place].text
    before = words[place - 1].text if place else ""
    after = words[place + 1].text if place + 1 < len(words) else ""
    if text.endswith(("ed", "ing")) and len(text) > 4:
        return True
    if before in _BEFORE_VERBS and before not in ("which", "is", "are", "was", "were", "has", "have", "had"):
        return True
    return place - 1 in known and (after in _AFTER_VERBS or place + 1 in known) and before not in ("a", "the")


def spoken_places(question: Question, evidence: Evidence, ranked: Sequence[Ranked]) -> frozenset[int]:
    """The places of words that speak of a name of the schema or of the data."""
    known = {place for places in evidence.values() for place, weight in places.items() if weight >= SPOKEN}
    known |= {place for each in ranked for named in each.draft.names for place in named.places}
    known |= {place for place in ranked[0].draft.covers if question.words[place].text in FIGURES}
    return frozenset(known & set(question.content))


def strange_words(question: Question, evidence: Evidence, ranked: Sequence[Ranked]) -> tuple[str, ...]:
    """Words that no name of the schema, no name of the data and no figure of speech explains."""
    known = spoken_places(question, evidence, ranked) | {place for each in ranked for place in each.draft.covers}
    words = [question.words[place].text for place in question.content if place not in known]
    return tuple(word for word in words if word not in common_words() and not word.isdigit())


def unexplained_words(question: Question, evidence: Evidence, draft: Draft) -> tuple[str, ...]:
    """Words that a reading does not explain."""
    found = explained_places(question, evidence, draft)
    return tuple(question.words[place].text for place in question.content if found.get(place, 0.0) < EXPLAINED)
