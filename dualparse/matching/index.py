"""What a domain's grammar can say, ready to be compared with questions: utterances, their vectors, and back to forms.

In: a domain with a grammar, and a matcher. Out: an `Index`, which proposes forms for questions and says how well a form
fits one. A small grammar is taken as it is; of a large one the names and numbers become placeholders, and what a
question names fills them. Both parts are kept below the user's cache folder, by their content: templates by grammar and
names, vectors by texts and weights.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.lf.errors import LFSyntaxError
from dualparse.matching.candidates import cache_folder, candidates_of, fingerprint, short
from dualparse.matching.matcher import Matcher
from dualparse.matching.placeholders import Masked, Placeholders, Template, filled
from dualparse.matching.vectors import Vectors
from dualparse.networks.tensors import load_tensors, save_tensors

SMALL = 10_000  # forms of a grammar that is taken as it is
FLOOR = 0.0  # the cosine of a form that the grammar cannot word
UNUSED = 0.15  # taken from the cosine for everything that is named in the question or in the form alone
OTHER_ORDER = 0.02  # the same for names in another order than the question has them in
REMEMBERED = 1 << 14  # questions whose vectors are kept
LONGEST_REMEMBERED = 400  # letters of such a question: what people ask, and about 100 MB of them at the most
TEMPLATES = 4  # times as many templates are looked at as forms are wanted: not all can be filled


@dataclass(frozen=True)
class Templates:
    """The templates of a domain's grammar, and where each form's is."""

    domain: Domain
    items: tuple[Template, ...]
    places: Placeholders
    numbers: dict[str, int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.items)

    def number(self, form: str) -> int | None:
        """The template of a form; None where the grammar has no words for it."""
        try:
            return self.numbers.get(self.places.key(self.domain.normalize(form)))
        except LFSyntaxError:
            return None

    def read(self, question: Sequence[str]) -> Masked:
        return self.places.of_question(question)


def templates_of(domain: Domain, *, cache: Path | None = None) -> Templates:
    """All that a domain's grammar says, from the cache where it is there."""
    path = (cache or cache_folder()) / "templates" / f"{fingerprint(domain)}-{SMALL}.json"
    known = _read_templates(path)
    if known is None:
        known = _made(domain)
        told = json.dumps([[key, t.form, t.text, t.order] for key, t in known.items()])
        with suppress(OSError, InputError):  # without a place to keep them they are made again
            write_text(path, f"{hashlib.sha256(told.encode()).hexdigest()}\n{told}")
    places = Placeholders(domain.lexicon if any(t.order for t in known.values()) else None)
    return Templates(domain, tuple(known.values()), places, {key: i for i, key in enumerate(known)})


def _made(domain: Domain) -> dict[str, Template]:
    """Key -> template."""
    candidates = candidates_of(domain)
    places = Placeholders(domain.lexicon if len(candidates) > SMALL else None)
    known: dict[str, Template] = {}
    for normal, number in candidates.numbers.items():
        key = places.key(normal)
        if key not in known:
            known[key] = places.template(candidates.forms[number], candidates.utterances[number])
    return known


def _read_templates(path: Path) -> dict[str, Template] | None:
    """None where there is none, or not what was written: its first line is the SHA-256 of the rest."""
    try:
        digest, _, told = path.read_bytes().partition(b"\n")
        if digest.decode("ascii") != hashlib.sha256(told).hexdigest():
            return None
        rows = json.loads(told)
        return {
            key: Template(form, text, {kind: tuple(places) for kind, places in order.items()})
            for key, form, text, order in rows
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return None


class Index:
    """Templates with their vectors by one matcher."""

    def __init__(self, templates: Templates, matcher: Matcher, vectors: Vectors):
        self.templates, self.matcher, self.vectors = templates, matcher, vectors
        kinds = sorted({kind for item in templates.items for kind in item.order})
        self._kinds = {kind: place for place, kind in enumerate(kinds)}
        needs = [tuple(item.needs[kind] for kind in kinds) for item in templates.items]
        groups = {need: place for place, need in enumerate(dict.fromkeys(needs))}  # few templates differ in it
        self._needs, self._group = torch.tensor(list(groups)), torch.tensor([groups[need] for need in needs])
        self._vector = lru_cache(REMEMBERED)(self._read)

    def __len__(self) -> int:
        return len(self.templates)

    @property
    def domain(self) -> Domain:
        return self.templates.domain

    def read_all(self, questions: Sequence[Sequence[str]]) -> list[tuple[Masked, Tensor]]:
        """Questions with their vectors."""
        return [
            self._vector(tuple(question)) if sum(map(len, question)) <= LONGEST_REMEMBERED else self._read(question)
            for question in questions
        ]

    def _read(self, question: Sequence[str]) -> tuple[Masked, Tensor]:
        masked = self.templates.read(question)
        return masked, self.matcher.encoder.vectors([masked.text])[0]

    @property
    def steepness(self) -> float:
        """What cosines are multiplied by, so that they are logarithms of probabilities."""
        return float(self.matcher.scale.detach().exp())

    def propose(self, questions: Sequence[Sequence[str]], k: int) -> list[list[tuple[str, float]]]:
        """The k forms that fit each question best, with their scores."""
        return [self._proposed(*read, k) for read in self.read_all(questions)]

    def _proposed(self, question: Masked, vector: Tensor, k: int) -> list[tuple[str, float]]:
        numbers, scores = self.vectors.nearest(vector, TEMPLATES * k, more=self._cost(question))
        found: dict[str, tuple[str, float]] = {}
        for number, score in zip(numbers.tolist(), scores.tolist(), strict=True):
            if not np.isfinite(score):
                break
            for form, same_order in filled(self.templates.items[number], question):
                worth = self.steepness * (score - (0.0 if same_order else OTHER_ORDER))
                found.setdefault(self.domain.normalize(form), (form, worth))
        return sorted(found.values(), key=lambda pair: -pair[1])[:k]

    def _cost(self, question: Masked) -> Tensor | None:
        """What is added to the cosine of each template: less for what it leaves unused, and no chance at all for one
        that asks for more than the question names."""
        if not self._kinds:
            return None
        have = torch.tensor([len(question.stood.get(kind, ())) for kind in self._kinds])
        unknown = sum(len(stood) for kind, stood in question.stood.items() if kind not in self._kinds)
        spare = torch.zeros_like(have)
        if question.one and "[number]" in self._kinds:
            spare[self._kinds["[number]"]] = 1
        left = have - self._needs
        cost = -UNUSED * (left.clamp_min(0).sum(1) + unknown).float()
        cost[(left + spare < 0).any(1)] = -torch.inf
        return cost[self._group]

    def scores(self, questions: Sequence[Sequence[str]], forms: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """How well the forms of each question, as text, fit it, as `propose` scores them."""
        return [self.steepness * near for near in self.nearness(questions, forms)]

    def nearness(self, questions: Sequence[Sequence[str]], forms: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """How near the utterances of the forms of each question are to it: a cosine, less what is named in one of the
        two alone. A form without words has the floor."""
        return [
            np.array([self._nearness(*read, form) for form in some])
            for read, some in zip(self.read_all(questions), forms, strict=True)
        ]

    def _nearness(self, question: Masked, vector: Tensor, form: str) -> float:
        number = self.templates.number(form)
        if number is None:
            return FLOOR
        cosine = float(self.vectors.half[number].float() @ vector)
        return cosine - UNUSED * _named_once(self.templates.items[number], question, form)

    def words(self, form: str) -> str | None:
        """The utterance of a form's template; None where the grammar has none."""
        number = self.templates.number(form)
        return None if number is None else self.templates.items[number].text


def _named_once(template: Template, question: Masked, form: str) -> int:
    """How many names and numbers are in the question or in the form, and not in the other."""
    if not template.order and not question.stood:
        return 0
    tokens = form.split()
    named = [what for stood in question.stood.values() for what in stood]
    unsaid = sum(what not in tokens for what in named)
    return unsaid + sum(max(need - len(question.stood.get(kind, ())), 0) for kind, need in template.needs.items())


def open_index(templates: Templates, matcher: Matcher, *, cache: Path | None = None) -> Index:
    """An index by a matcher, its vectors from the cache where they are there."""
    return Index(templates, matcher, Vectors.of(vectors_of(matcher, [t.text for t in templates.items], cache=cache)))


def vectors_of(matcher: Matcher, texts: Sequence[str], *, cache: Path | None = None) -> Tensor:
    """[N, n] vectors of texts in half precision."""
    path = (cache or cache_folder()) / "vectors" / f"{_weights(matcher, texts)}.safetensors"
    try:
        return load_tensors(path)[0]["vectors"]
    except (InputError, KeyError):  # none there, or none that can be read
        vectors = matcher.encoder.vectors(texts).half()
        with suppress(OSError, InputError):
            save_tensors(path, {"vectors": vectors}, {"texts": str(len(texts))})
        return vectors


def _weights(matcher: Matcher, texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in _bytes(matcher):
        digest.update(part)
    return short(digest, "\n".join(texts))


def _bytes(matcher: Matcher) -> Iterator[bytes]:
    for name, tensor in sorted(matcher.encoder.body.state_dict().items()):
        yield name.encode()
        yield tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
