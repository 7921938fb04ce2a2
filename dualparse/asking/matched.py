"""Answers by the nearest utterance of a domain's grammar, without any training: for a benchmark with forms of its own.

In: a domain with a grammar. Out: an asker. What the grammar says is compared with the question by the pretrained
encoder; the nearest utterances are read once more beside the question and are the readings, those with the same answer
as one. How near is near enough was not fitted on any domain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from dualparse.asking import refusals
from dualparse.asking.reply import AMBIGUOUS, ANSWERED, ERROR, REFUSED, Asker, Choice, Reply, answered
from dualparse.asking.saying import Sayer
from dualparse.asking.shown import answer_of
from dualparse.choosing.ranking import Hypothesis
from dualparse.choosing.scorers import SecondReading
from dualparse.domains.domain import Domain
from dualparse.domains.metrics import meaning
from dualparse.domains.text import Reader
from dualparse.errors import InputError
from dualparse.lf.errors import LF_ERRORS
from dualparse.matching.adapter import open_matcher
from dualparse.matching.index import Index, open_index, templates_of
from dualparse.matching.reader import SecondReader, open_reader

LOOKED_AT, MOST_CHOICES = 20, 3
SURE, NEAR = 0.5, 0.3  # probability of an answer that is given; cosine of a question about something else


class MatchAsker(Asker):
    """Answers questions about one domain by its grammar."""

    def __init__(self, domain: Domain):
        if domain.grammar is None:
            raise InputError(f"the domain {domain.name!r} has neither facts nor a grammar to be asked by: train on it")
        self.domain, self.sayer = domain, Sayer(domain)
        self._reader = Reader((), [p for e in domain.lexicon.entities for p in domain.lexicon.phrases(e)])

    @cached_property
    def index(self) -> Index:
        """What the grammar says; made when first asked for, which takes a minute the first time."""
        return open_index(templates_of(self.domain), open_matcher())

    @cached_property
    def reader(self) -> SecondReader:
        """What reads a question and an utterance together."""
        return open_reader(self.index.matcher)

    def ask(self, question: str) -> Reply:
        """The answer to a question, readings to choose from, or a refusal."""
        words = self._reader.read(question).words
        found = [pair for pair in self.index.propose([words], LOOKED_AT)[0] if self.domain.check(pair[0]).ok]
        if not found or found[0][1] < NEAR * self.index.steepness:
            title = self.domain.title or self.domain.name
            return Reply(question, REFUSED, reason=refusals.unlike(title))
        choices = self._choices(self._read_again(words, found))
        reply = Reply(question, ANSWERED, probability=choices[0].probability, choices=choices[1:])
        if reply.probability < SURE:
            return replace(reply, status=AMBIGUOUS, choices=choices)
        return self._answer(reply, choices[0].form)

    def run(self, form: str, question: str = "") -> Reply:
        """The answer to a form."""
        return self._answer(Reply(question, ANSWERED, probability=1.0), form)

    def close(self) -> None:
        """Nothing is held open."""

    def _read_again(self, words: Sequence[str], found: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
        """The forms in the order of matcher and second reader together, the best first. Each of the two says how likely
        a form is; their mean says so, too, where their sum would be too sure."""
        forms = [Hypothesis(tuple(form.split()), score, score, True) for form, score in found]
        (read,) = SecondReading(self.index, self.reader)([words], [forms])
        both = [(form, (score + more) / 2) for (form, score), more in zip(found, read.tolist(), strict=True)]
        return sorted(both, key=lambda pair: -pair[1])

    def _choices(self, found: Sequence[tuple[str, float]]) -> tuple[Choice, ...]:
        """Readings with different answers, that of the nearest form first: many that are less near and come to the same
        do not outvote it."""
        shares: dict[str, list[float]] = {}
        first: dict[str, str] = {}
        for (form, _), share in zip(found, _shares([score for _, score in found]), strict=True):
            answer = meaning(form, self.domain) or form
            first.setdefault(answer, form)
            shares.setdefault(answer, []).append(share)
        return tuple(
            Choice(first[each], self.sayer.say(first[each]), round(sum(shares[each]), 4))
            for each in list(shares)[:MOST_CHOICES]
        )

    def _answer(self, reply: Reply, form: str) -> Reply:
        try:
            answer, notes = answer_of(form, self.domain, self.sayer.plain)
        except LF_ERRORS as error:
            return replace(reply, status=ERROR, form=form, reason=str(error))
        told = replace(reply, form=form, said=self.sayer.say(form), notes=notes)
        return told if answer is None else answered(told, answer, self.sayer.columns(form))


def _shares(scores: Sequence[float]) -> list[float]:
    weights = [math.exp(score - scores[0]) for score in scores]
    return [weight / math.fsum(weights) for weight in weights]
