"""What has a say in the order of the forms that were found, besides the parser that found them.

How scorers change the order stands in `dualparse.choosing.ranking`.

`WayBack` lets both agents choose. The game teaches that a good form lets the other agent find the way back; the same
holds when a question is answered. The way back says how well a form explains the query, not how likely anybody is to
mean it: an odd form can be put into the same words. So `Commonness` may count as well, as Bayes' rule would have it.
`Meaning` asks somebody who has read a lot of English whether the words of the form say what the query says, and
`SecondReading` somebody who reads both together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from dualparse.choosing.ranking import NBest, Queries, by_query
from dualparse.data.vocab import Vocab
from dualparse.engines.scoring import fluency, reconstruction
from dualparse.matching.index import FLOOR, Index
from dualparse.matching.reader import SecondReader
from dualparse.networks.agent import Agent
from dualparse.networks.network import TextModel

FORMS_AT_ONCE = 256  # that a language model reads


@dataclass(frozen=True, slots=True)
class WayBack:
    """log P(query | form), the mean over agents that word forms (lf2q)."""

    listeners: Sequence[Agent]

    def __call__(self, queries: Queries, found: NBest) -> list[np.ndarray]:
        pairs = [(form.tokens, query) for query, forms in zip(queries, found, strict=True) for form in forms]
        forms, said = [form for form, _ in pairs], [query for _, query in pairs]
        heard = [reconstruction(lf2q, forms, said) for lf2q in self.listeners]
        return by_query(np.mean(heard, axis=0).tolist(), found)


@dataclass(frozen=True, slots=True)
class Commonness:
    """log P(form), the mean over language models of forms. Many queries have the same forms among theirs, and each is
    asked about once."""

    models: Sequence[TextModel]
    vocab: Vocab

    def __call__(self, queries: Queries, found: NBest) -> list[np.ndarray]:
        forms = sorted({form.tokens for form in chain.from_iterable(found)}, key=lambda form: (len(form), form))
        parts = [forms[start : start + FORMS_AT_ONCE] for start in range(0, len(forms), FORMS_AT_ONCE)]
        told = [
            [each for part in parts for each in fluency(model, self.vocab, part, per_token=False)]
            for model in self.models
        ]
        known = dict(zip(forms, np.mean(told, axis=0).tolist(), strict=True))
        return by_query([known[form.tokens] for form in chain.from_iterable(found)], found)


@dataclass(frozen=True, slots=True)
class Meaning:
    """How well the utterance of a form says what the query says, by a matcher: log P(form | query) up to a constant. A
    form that the grammar has no words for gets the floor of the index."""

    index: Index

    def __call__(self, queries: Queries, found: NBest) -> list[np.ndarray]:
        return self.index.scores(queries, [[form.text for form in forms] for forms in found])


@dataclass(frozen=True, slots=True)
class SecondReading:
    """The same by the second reader. A form that the grammar has no words for gets the least of the others, or the
    floor where none of them has any."""

    index: Index
    reader: SecondReader

    def __call__(self, queries: Queries, found: NBest) -> list[np.ndarray]:
        asked = [masked.text for masked, _ in self.index.read_all(queries)]
        said = [[self.index.words(form.text) for form in forms] for forms in found]
        read = iter(self.reader.scores(asked, [[text for text in texts if text is not None] for texts in said]))
        return [self._figures(texts, next(read).tolist()) for texts in said]

    @staticmethod
    def _figures(texts: Sequence[str | None], read: Sequence[float]) -> np.ndarray:
        told, least = iter(read), min(read, default=FLOOR)
        return np.array([least if text is None else next(told) for text in texts])
