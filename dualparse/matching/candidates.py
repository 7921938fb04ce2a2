"""The forms a domain's grammar can say, each with its canonical utterance: what a matcher chooses among.

In: a domain with a grammar. Out: `Candidates`, in a fixed order. A form that the grammar words in several ways is there
once, with the first wording.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

import dualparse
from dualparse.data.examples import Example
from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.grammar import Limits
from dualparse.synthesis.forms import synthesize

MOST = 1_000_000  # derivations gone through; a recursive grammar may have no end


@dataclass(frozen=True)
class Candidates:
    """Forms with their utterances, and the number of each form by its normal form."""

    domain: Domain
    forms: tuple[str, ...]
    utterances: tuple[str, ...]
    numbers: dict[str, int] = field(repr=False)

    def __len__(self) -> int:
        return len(self.forms)

    def number(self, form: str) -> int | None:
        """The number of a form, however its parts are ordered; None where the grammar does not make it."""
        try:
            return self.numbers.get(self.domain.normalize(form))
        except LFSyntaxError:
            return None

    def pairs(self, examples: Iterable[Example]) -> tuple[list[str], list[int]]:
        """Questions, and the number of the form each means; those whose form the grammar does not make are left out."""
        found = [
            (" ".join(example.query), number)
            for example in examples
            if example.query and example.lf and (number := self.number(" ".join(example.lf))) is not None
        ]
        return [question for question, _ in found], [number for _, number in found]


def candidates_of(domain: Domain) -> Candidates:
    """All forms of a domain's grammar, those with its entities swapped included."""
    if domain.grammar is None:
        raise InputError(
            f"the domain {domain.name!r} has no grammar, so its forms have no utterances to be matched with"
        )
    made = synthesize(domain, {}, n=None, seed=1, source="grammar", limits=Limits(tried=MOST)).forms
    return from_pairs(domain, sorted((item.form, item.utterance.lower()) for item in made if item.utterance))


def kept_candidates(domain: Domain, *, cache: Path | None = None) -> Candidates:
    """The same from the user's cache, where they are there: some grammars take seconds."""
    path = (cache or cache_folder()) / "candidates" / f"{fingerprint(domain)}.json"
    try:
        pairs = [(str(form), str(utterance)) for form, utterance in json.loads(path.read_bytes())]
    except (OSError, ValueError, TypeError):  # none there, or none that can be read
        made = candidates_of(domain)
        with suppress(OSError, InputError):  # without a place to keep them they are made again
            write_text(path, json.dumps(list(zip(made.forms, made.utterances, strict=True))))
        return made
    return from_pairs(domain, pairs)


def fingerprint(domain: Domain) -> str:
    """Of all that comes of a grammar: the grammar, the names, and what the forms are checked by."""
    if domain.grammar is None:
        raise InputError(
            f"the domain {domain.name!r} has no grammar, so its forms have no utterances to be matched with"
        )
    digest = hashlib.sha256(f"{dualparse.__version__} {domain.name} {domain.opened_as}".encode())
    beside = [domain.grammar.parent / name for name in ("ontology.txt", "world.tsv")]
    for path in [domain.grammar, *filter(Path.is_file, beside)]:
        digest.update(path.read_bytes())
    names = sorted((entity, domain.lexicon.phrases(entity)) for entity in domain.lexicon.entities)
    return short(digest, repr(names))


def cache_folder() -> Path:
    return Path(platformdirs.user_cache_path("dualparse", appauthor=False)) / "matching"


def short(digest: hashlib._Hash, text: str) -> str:
    digest.update(text.encode())
    return digest.hexdigest()[:24]


def from_pairs(domain: Domain, pairs: Sequence[tuple[str, str]]) -> Candidates:
    """Candidates from (form, utterance) pairs."""
    first: dict[str, tuple[str, str]] = {}
    for form, utterance in pairs:
        first.setdefault(domain.normalize(form), (form, utterance))
    forms, utterances = zip(*first.values(), strict=True) if first else ((), ())
    return Candidates(domain, forms, utterances, {normal: number for number, normal in enumerate(first)})
