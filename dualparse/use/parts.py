"""What a parser is made of: models, scales and memory, each loaded when it is first asked for.

In: a run folder and its domain. Out: `Parts`, which run the models in torch, and `LightParts`, which run them in NumPy.
What is made of their answers stands in `dualparse.use.api`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from dualparse.asking.memory import NOTHING, Memory, read_lessons
from dualparse.asking.trust import read_trust
from dualparse.asking.weighing import Scales
from dualparse.choosing.constraint import Constraint
from dualparse.choosing.ranking import Hypothesis, Weighted, rerank
from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.files import written
from dualparse.manifest import NAME as MANIFEST
from dualparse.runs import Run, search_options

if TYPE_CHECKING:
    import torch

    from dualparse.choosing.chooser import Chooser, Search
    from dualparse.choosing.light import LightAgent
    from dualparse.choosing.scorers import WayBack
    from dualparse.networks.agent import Agent

Words = Sequence[str]

_log = logging.getLogger(__name__)


class Parts:
    """What a parser is made of, from any number of threads at once: the models and what else answers depend on."""

    def __init__(self, run: Run, domain: Domain, device: torch.device | None = None):
        self.run, self.domain, self._device = run, domain, device
        self.recipe = run.recipe
        self._search: Search | None = None
        self._chooser: Chooser | None = None
        self._constraint: Constraint | None = None
        self._listeners: WayBack | None = None
        self._scales: Scales | None = None
        self._memory: Memory | None = None
        self._lf2q: Agent | None = None
        self._lf_vocab = run.vocab("lf")
        self._loading, self._renewing = Lock(), Lock()
        self._written = written(run.folder / MANIFEST)

    def load(self) -> None:
        """Load all that answers depend on: a file that is missing or damaged is told now, not in the middle."""
        _ = self.chooser, self.scales, self.memory
        if self.hears:
            _ = self.listeners

    def keep_up(self) -> None:
        """Take up what the run has learned since: lessons, weights and how sure answers are. For who asks for a long
        time; others go on with what they have meanwhile. No manifest means that somebody is writing."""
        now = written(self.run.folder / MANIFEST)
        if now in (None, self._written) or not self._renewing.acquire(blocking=False):
            return
        try:
            fresh = Parts(Run.open(self.run.folder), self.domain, self._device)
            fresh.load()
        except InputError as error:  # half of it is written; the manifest changes again when the rest is
            _log.warning("what %s has learned is not taken up yet: %s", self.run.folder, error)
        else:
            with self._loading:
                self.recipe = fresh.recipe
                self._search, self._chooser, self._lf2q = fresh._search, fresh._chooser, fresh._lf2q
                self._listeners, self._scales, self._memory = fresh._listeners, fresh._scales, fresh._memory
        finally:
            self._written = now
            self._renewing.release()

    @property
    def device(self) -> torch.device:
        """Where the models are."""
        import torch

        return self._device or torch.device("cpu")

    @property
    def chooser(self) -> Chooser:
        """What chooses the forms: the parsers, and whoever else has a say by the recipe."""
        search = self.search
        with self._loading:
            self._chooser = self._chooser or self.run.chooser(self.domain, self.device, search)
            return self._chooser

    @property
    def search(self) -> Search:
        """What finds the forms: all parsers that answer together, the run's own first."""
        with self._loading:
            self._search = self._search or self.run.search(self.domain, self.device)
            return self._search

    @property
    def constraint(self) -> Constraint:
        """What holds a search to forms of the domain."""
        with self._loading:
            self._constraint = self._constraint or Constraint.of(self.domain, self._lf_vocab)
            return self._constraint

    @property
    def q2lf(self) -> Agent:
        return self.search.agents[0]

    @property
    def lf2q(self) -> Agent:
        with self._loading:
            self._lf2q = self._lf2q or self.run.agent("lf2q", self.domain, self.device)
            return self._lf2q

    @property
    def hears(self) -> bool:
        """Whether there is an lf2q, which tells how well a form explains a question."""
        return "lf2q" in self.recipe.stages

    @property
    def listeners(self) -> WayBack:
        """Every lf2q that tells how well a form explains a question."""
        with self._loading:
            self._listeners = self._listeners or self.run.way_back(self.domain, self.device)
            return self._listeners

    @property
    def scales(self) -> Scales:
        """What says how likely a reading is right."""
        with self._loading:
            if self._scales is None:
                taught = [lesson.words for lesson in read_lessons(self.run.folder)]
                seed = self.recipe.data.split_seed
                self._scales = Scales(self.domain, read_trust(self.run.folder), dev_seed=seed, taught=taught)
            return self._scales

    @property
    def memory(self) -> Memory:
        """What people have said is meant (`dualparse learn`)."""
        scales = self.scales
        with self._loading:
            if self._memory is None:
                lessons = read_lessons(self.run.folder)
                self._memory = Memory(lessons, scales.familiar, self.domain.lexicon) if lessons else NOTHING
            return self._memory

    # -- what is asked of the models

    def _chosen(
        self, words: Sequence[Words], k: int, constraint: Constraint | None, copies: bool
    ) -> list[list[Hypothesis]]:
        return self.chooser.choose(words, k=k, constraint=constraint, copies=copies)

    def _heard(self, words: Sequence[Words], found: Sequence[Sequence[Hypothesis]]) -> list[np.ndarray]:
        """How well each form explains its question."""
        return self.listeners(words, found)

    def _likely(self, words: Sequence[Words], forms: Sequence[Words]) -> list[float]:
        """The log-probability of each form of a question, the mean over the parsers."""
        return self.search.likely(words, forms)

    def _copied(self, words: Sequence[Words], forms: Sequence[Sequence[Words]]) -> list[list[Sequence[float]]]:
        """How much of each token of the forms of each question was copied."""
        from dualparse.networks.agent import look_all

        return [[seen.copied.tolist() for seen in row] for row in look_all(self.q2lf, words, forms)]


class LightParts(Parts):
    """The same without torch, for runs of one parser whose networks are the paper's."""

    def load(self) -> None:
        """Load all that answers depend on."""
        _ = self._q2lf, self.scales, self.memory
        if self.hears:
            _ = self._lf2q_light

    @cached_property
    def _q2lf(self) -> LightAgent:
        return self.run.light_agent("q2lf", self.domain)

    @cached_property
    def _lf2q_light(self) -> LightAgent:
        return self.run.light_agent("lf2q", self.domain)

    def _chosen(
        self, words: Sequence[Words], k: int, constraint: Constraint | None, copies: bool
    ) -> list[list[Hypothesis]]:
        found = self._q2lf.choose(words, search_options(self.recipe), k=k, constraint=constraint, copies=copies)
        weight = self.recipe.search.reconstruction if self.hears else 0.0
        return rerank(words, found, [Weighted("reconstruction", self._heard, weight)] if weight else [])

    def _heard(self, words: Sequence[Words], found: Sequence[Sequence[Hypothesis]]) -> list[np.ndarray]:
        from dualparse.choosing.light import way_back

        return way_back(self._lf2q_light, words, found)

    def _likely(self, words: Sequence[Words], forms: Sequence[Words]) -> list[float]:
        return self._q2lf.likelihood(words, forms)

    def _copied(self, words: Sequence[Words], forms: Sequence[Sequence[Words]]) -> list[list[Sequence[float]]]:
        return [list(self._q2lf.copied([each] * len(some), some)) for each, some in zip(words, forms, strict=True)]
