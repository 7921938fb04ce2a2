"""A domain: everything that is particular to one kind of question, as data and functions.

Nothing above this level asks which domain it has; it asks the domain to check, execute and compare forms.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dualparse.domains.lexicon import Lexicon
from dualparse.domains.metrics import Metric, exact
from dualparse.domains.results import Answer
from dualparse.domains.text import Preparation
from dualparse.lf.guide import Guide
from dualparse.lf.verdict import Verdict

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Domain:
    """One domain.

    check      form text -> Verdict, never raises for a bad form
    execute    form text -> printed denotation, raises the two LF errors; None where the domain has no executor
    normalize  form text -> text of its order-free normal form, for exact match; raises LFSyntaxError
    metric     (gold form, predicted form, domain) -> true or a share: what accuracy means here
    fresh      (form text, seconds) -> Verdict and denotation (None where there is none), remembering nothing: for forms
               of strangers; None where `check` and `execute` are all there is
    opened_as  what `open_domain` of another process takes to open the same; empty for a domain made in a program
    files      split name ("train", "dev", "test", "extra", "queries") -> tab-separated file; a missing "dev" means
               that dev is drawn from train
    canonical  (how many, seed) -> pairs of an utterance and its form, where no grammar file makes them
    reads      a pair as its files have it -> as models learn it, with placeholders for names; either side may be None
    answer     a form, without placeholders -> its answer, where a database gives it; say: the same in plain words
    keep       write into a folder what a run needs to be asked where the domain's own folder is not
    guide      tokens that can always be written -> what the types of the domain let a form become; None where it has no
               types: search can then be held to complete trees alone
    """

    name: str
    title: str
    lexicon: Lexicon
    check: Callable[[str], Verdict]
    execute: Callable[[str], str] | None
    normalize: Callable[[str], str]
    files: Mapping[str, Path] = field(default_factory=dict)
    metric: Metric = exact
    grammar: Path | None = None
    ontology: object | None = None  # lf.typecheck.Ontology where the domain has one
    world: object | None = None  # domains.world.World where the domain has one
    questions: tuple[str, ...] = ()  # a few example questions to show a newcomer
    description: str = ""  # a sentence or two, for a newcomer
    fresh: Callable[[str, float | None], tuple[Verdict, str | None]] | None = None
    opened_as: str = ""
    preparation: Preparation | None = None  # what its queries went through before they became data
    guide: Callable[[Collection[str]], Guide] | None = None
    phrases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what people call types and properties
    canonical: Callable[[int, int], Sequence[tuple[str, str]]] | None = None
    reads: Callable[[Tokens | None, Tokens | None], tuple[Tokens | None, Tokens | None]] | None = None
    answer: Callable[[str], Answer] | None = None
    say: Callable[[str], str] | None = None
    keep: Callable[[Path], None] | None = None
