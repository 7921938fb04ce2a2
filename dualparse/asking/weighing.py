"""How likely each reading of a question is right: what was found for it in, options with probabilities out.

In: the forms that search found for a question, with lf2q's way back, and the `Trust` of the run. Out: a `Weighed`. The
same numbers stand in `Parse.probability`, in JSON, on the page and in a `Reply`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from dualparse.asking.evidence import Candidate, Option, evidence_for, options_of
from dualparse.asking.familiar import Familiar
from dualparse.asking.trust import Trust
from dualparse.choosing.ranking import FOUND, Hypothesis
from dualparse.data.examples import load_examples
from dualparse.domains.domain import Domain
from dualparse.domains.metrics import meaning
from dualparse.domains.text import Reading, unknown_names
from dualparse.lf.errors import LFSyntaxError

AGENTS = (FOUND, "reconstruction")  # what they say of a form is weighed here by itself
KNOWN = 0.99  # probability of a reading that somebody has said is meant by this very question
RECALLED = 3.0  # log-probability that a form gains where it was meant by a question like this one, times how alike
THE_SAME = 20.0  # the same where the questions differ in names and numbers alone
MENDED = "read '"  # a note that begins so tells of a word whose spelling was mended


@dataclass(frozen=True)
class Weighed:
    """What a question may mean.

    options      likeliest first; none where search found nothing
    probability  that the first option is right
    topic        that the question is about the domain at all
    strange      its words that nobody knows
    known        somebody has said that the first option is right
    evidence     what both were worked out from
    """

    reading: Reading
    options: tuple[Option, ...]
    probability: float
    topic: float
    strange: tuple[str, ...]
    evidence: dict[str, float] = field(repr=False)
    known: bool = False

    def chance(self, option: Option) -> float:
        """The probability of an option: what the first leaves is shared by the others, as far as they are as likely."""
        if not self.options or not option.valid:
            return 0.0
        first = self.options[0]
        if option is first:
            return self.probability
        left = (1 - self.probability) * option.share / max(1 - first.share, option.share)
        return min(left, self.probability * option.share / first.share)

    @cached_property
    def chances(self) -> dict[str, float]:
        """The probability of every form that counts."""
        return {each.form: self.chance(option) for option in self.options for each in option.forms}


class Scales:
    """What weighs the readings of one run; it never changes. `taught` are questions that people have given forms."""

    def __init__(self, domain: Domain, trust: Trust, *, dev_seed: int, taught: Sequence[Sequence[str]] = ()):
        self.domain, self.trust, self._dev_seed, self._taught = domain, trust, dev_seed, taught

    @cached_property
    def familiar(self) -> Familiar:
        """What the known questions of the domain are made of."""
        splits = load_examples(self.domain, dev_seed=self._dev_seed)
        known = (example.query for example in (*splits.train, *splits.extra_queries) if example.query)
        return Familiar(chain(known, self._taught), self.domain.lexicon)

    def weigh(
        self,
        reading: Reading,
        found: Sequence[Hypothesis],
        back: Sequence[float | None],
        *,
        recalled: Mapping[tuple[str, ...], float] | None = None,
        known: bool = False,
    ) -> Weighed:
        """Weigh what was found for a question. `recalled` are forms that were meant by questions like this, with how
        alike they are; `known` says that the first form found was said to be meant by this very question."""
        alike = recalled or {}
        candidates = [
            self._candidate(each, way, more + _bonus(alike.get(each.tokens, 0.0)), reading)
            for each, way, more in zip(found, back, _others(found), strict=True)
        ]
        if known:
            first = candidates[0]
            same = [each for each in candidates if each.comes_to == first.comes_to]
            return self._weighed(reading, [Option((first, *(each for each in same if each is not first)), 1.0)], True)
        options = options_of(candidates)
        return self._weighed(reading, options, False)

    def _weighed(self, reading: Reading, options: Sequence[Option], known: bool) -> Weighed:
        words = reading.words
        evidence = self.familiar.evidence(words)
        evidence["unread"] = float(sum(note.startswith(MENDED) for note in reading.notes))
        if options:
            evidence |= evidence_for(options[0], options, len(words))
        right = self.trust.right.of(evidence) if options and options[0].valid else 0.0
        if known:
            right = max(right, KNOWN) if options[0].valid else 0.0
        return Weighed(
            reading,
            tuple(options),
            right,
            1.0 if known else self.trust.topic.of(evidence),
            tuple(self.familiar.strange(words)),
            evidence,
            known,
        )

    def _candidate(self, found: Hypothesis, back: float | None, bonus: float, reading: Reading) -> Candidate:
        text = found.text
        valid = self.domain.check(text).ok and not unknown_names(found.tokens, reading.names)
        return Candidate(text, valid, self._comes_to(text), found.log_prob, len(found.tokens), back, bonus)

    def _comes_to(self, form: str) -> str:
        """What tells the answer of a form from others."""
        answer = meaning(form, self.domain)
        if answer is not None:
            return answer
        try:
            return self.domain.normalize(form)
        except LFSyntaxError:
            return form


def _others(found: Sequence[Hypothesis]) -> list[float]:
    """How much less than of the form they like best all but the two agents think of each: a matcher, a prior. Where
    nobody has looked at a form, nothing is held against it."""
    said = [math.fsum(part for name, part in each.parts if name not in AGENTS) for each in found]
    most = max((more for each, more in zip(found, said, strict=True) if each.parts), default=0.0)
    return [more - most if each.parts else 0.0 for each, more in zip(found, said, strict=True)]


def _bonus(alike: float) -> float:
    return THE_SAME if alike >= 1 else RECALLED * alike
