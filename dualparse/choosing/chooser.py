"""From questions to forms, best first: the one place where it is said how a form is chosen.

A `Chooser` is made of parts. `Search` finds forms with one parser or with several together; `Proposed` adds those that
a matcher finds in the grammar; `Reranked` takes what another chooser found and gives scorers a say: the way back to the
query, how common a form is, what its utterance means, or a function of one's own (`dualparse.choosing.scorers`). A
search can be held to forms of the domain (`dualparse.choosing.constraint`). Pseudo-labels, scores, answers and the
laboratory all choose by these; `Run.search` and `Run.chooser` make those that a recipe asks for.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from dualparse.choosing.committee import find_by_committee
from dualparse.choosing.constraint import Constraint
from dualparse.choosing.ranking import Hypothesis, Queries, Weighted, rerank, with_forms
from dualparse.engines.found import Options
from dualparse.engines.scoring import reconstruction
from dualparse.lf.errors import LFSyntaxError
from dualparse.matching.index import Index
from dualparse.networks.agent import Agent


class Chooser(Protocol):
    """Whatever chooses forms for queries."""

    def choose(
        self, queries: Queries, *, k: int = 1, constraint: Constraint | None = None, copies: bool = False
    ) -> list[list[Hypothesis]]:
        """Forms for every query, best first, of those a `constraint` allows. The search is as wide as it is set, and at
        least `k` wide. `copies` asks what of each form was copied, where that is known."""
        ...


@dataclass(frozen=True, slots=True)
class Search:
    """Finds forms with one agent, or with several that rank them together. An lf2q finds queries the same way."""

    agents: Sequence[Agent]
    options: Options

    def choose(
        self,
        queries: Queries,
        *,
        k: int = 1,
        constraint: Constraint | None = None,
        copies: bool = False,
        rng: random.Random | None = None,
    ) -> list[list[Hypothesis]]:
        """`rng` words the entities of forms that an lf2q reads; without it each is worded as if it were alone."""
        options = replace(self.options, beams=max(k, self.options.beams))
        return find_by_committee(self.agents, queries, options, rng=rng, constraint=constraint, copies=copies)

    def likely(self, queries: Queries, forms: Queries) -> list[float]:
        """The log-probability of a form for each query, the mean over the agents."""
        told = [reconstruction(agent, queries, forms) for agent in self.agents]
        return [sum(each) / len(each) for each in zip(*told, strict=True)]


PROPOSED = 20  # forms that a matcher adds for each query


@dataclass(frozen=True, slots=True)
class Proposed:
    """What a search finds, and the forms of the grammar whose utterances are nearest to the query: the parsers of the
    search say how likely they find each. The forms of the search stand in front."""

    search: Search
    index: Index

    def choose(
        self, queries: Queries, *, k: int = 1, constraint: Constraint | None = None, copies: bool = False
    ) -> list[list[Hypothesis]]:
        return self.beside(queries, self.search.choose(queries, k=k, constraint=constraint, copies=copies))

    def beside(self, queries: Queries, found: Sequence[Sequence[Hypothesis]]) -> list[list[Hypothesis]]:
        """What the search has found, and the forms of the grammar that are none of these in another order."""
        forms = []
        for near, there in zip(self.index.propose(queries, PROPOSED), found, strict=True):
            known = {self._normal(each.text) for each in there}
            forms.append([tuple(form.split()) for form, _ in near if self._normal(form) not in known])
        return with_forms(queries, found, forms, self.search.likely)

    def _normal(self, form: str) -> str:
        try:
            return self.index.domain.normalize(form)
        except LFSyntaxError:
            return form


@dataclass(frozen=True, slots=True)
class Reranked:
    """Takes what another chooser found, and lets scorers have their say in the order."""

    chooser: Chooser
    scorers: Sequence[Weighted]

    def choose(
        self, queries: Queries, *, k: int = 1, constraint: Constraint | None = None, copies: bool = False
    ) -> list[list[Hypothesis]]:
        found = self.chooser.choose(queries, k=k, constraint=constraint, copies=copies)
        return rerank(queries, found, self.scorers)
