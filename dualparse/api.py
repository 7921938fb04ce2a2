"""Use a trained run from Python: questions in, hypotheses with their verdicts and answers out.

>>> parser = load("runs/trails")                                     # doctest: +SKIP
>>> parser.parse("which huts have showers", k=3)[0].answer           # doctest: +SKIP
'(list (name hut.marmot_hut) (name hut.gentian_hut))'
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch

from dualparse.data.catalog import open_domain
from dualparse.data.vocab import Vocab
from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.evaluate import denotation
from dualparse.lf.sexpr import tokenize
from dualparse.lf.verdict import Verdict
from dualparse.models.agent import Agent
from dualparse.runs import Run, search_options
from dualparse.search import Options, find

MAX_WORDS = 200  # no question is longer; a text that is would only burn time


@dataclass(frozen=True)
class Parse:
    """One reading of a question. `answer` is None where the domain cannot execute, or the form does not run."""

    form: str
    score: float
    verdict: Verdict
    answer: str | None


@dataclass(frozen=True)
class Wording:
    """One way to say a form."""

    query: str
    score: float


@dataclass(frozen=True)
class Parser:
    """A trained run, ready to use."""

    run: Run
    domain: Domain
    device: torch.device

    @cached_property
    def q2lf(self) -> Agent:
        return self.run.agent("q2lf", self.domain, self.device)

    @cached_property
    def lf2q(self) -> Agent:
        return self.run.agent("lf2q", self.domain, self.device)

    def _options(self, k: int) -> Options:
        recipe = self.run.recipe
        return search_options(recipe, beams=max(k, recipe.search.beams))

    def parse(self, question: str, *, k: int = 5) -> list[Parse]:
        """The k best readings, valid ones first."""
        return self.parse_all([question], k=k)[0]

    def parse_all(self, questions: Sequence[str], *, k: int = 5) -> list[list[Parse]]:
        """The same for many questions at once."""
        sources = [words(question) for question in questions]
        found = find(self.q2lf, sources, self._options(k), rng=random.Random(0))
        results = []
        for hypotheses in found:
            parses = [
                Parse(h.text, h.score, self.domain.check(h.text), denotation(self.domain, h.text)) for h in hypotheses
            ]
            results.append(sorted(parses, key=lambda parse: not parse.verdict.ok)[:k])  # stable: score order is kept
        return results

    def verbalize(self, form: str, *, k: int = 1) -> list[Wording]:
        """The k likeliest questions for a form."""
        verdict = self.domain.check(form)
        if not verdict.surface:
            raise InputError(f"not a logical form: {verdict.reason}")
        tokens = form_tokens(form, self.lf2q.source_vocab)
        found = find(self.lf2q, [tokens], self._options(k), rng=random.Random(0))
        return [Wording(h.text, h.score) for h in found[0][:k]]


def load(folder: str | Path, *, device: str | torch.device = "cpu") -> Parser:
    """Open a run folder."""
    run = Run.open(Path(folder))
    return Parser(run, open_domain(run.recipe.domain), torch.device(device))


def form_tokens(form: str, vocab: Vocab) -> list[str]:
    """The tokens of a form as the training files write them: some write `! type`, which reads as the atom `!type`."""
    tokens: list[str] = []
    for token in tokenize(form):
        apart = len(token) > 1 and token[0] == "!" and token not in vocab.index
        tokens.extend((token[0], token[1:]) if apart else (token,))
    return tokens


def words(question: str) -> list[str]:
    """The words of a question as the models read them: lower case, without punctuation around words.

    >>> words("Which huts serve food, please?")
    ['which', 'huts', 'serve', 'food', 'please']
    """
    found = [word for part in question.lower().split() if (word := part.strip("?!.,;:\"()"))]
    if not found:
        raise InputError("the question is empty")
    if len(found) > MAX_WORDS:
        raise InputError(f"the question has {len(found)} words; {MAX_WORDS} are the most")
    return found
