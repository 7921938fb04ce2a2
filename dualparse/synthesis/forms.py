"""New logical forms for a domain, by what it has: a grammar, an ontology, the schema of a database, or known forms
(paper Section 4.2 and Appendix B).

In: a domain and its training forms. Out: distinct forms that are valid and that training does not have, with a report
of what was rejected and why. The same seed gives the same forms in the same order.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.lf.canonical import normalize_text
from dualparse.lf.grammar import Limits, read_grammar
from dualparse.lf.ontology import Ontology
from dualparse.lf.recombine import conditions
from dualparse.lf.sexpr import read
from dualparse.synthesis.derived import from_grammar, keep_valid
from dualparse.synthesis.made import DERIVED, KNOWN, Synthesis, Synthetic
from dualparse.synthesis.varied import from_forms, from_ontology

MOST_OF_A_SCHEMA = 20_000  # forms, where all are asked for


def synthesize(
    domain: Domain,
    forms: Mapping[str, Sequence[str]],
    *,
    n: int | None,
    seed: int,
    source: str | None = None,
    limits: Limits | None = None,
    swap: bool = True,
) -> Synthesis:
    """New forms for a domain. `forms` has the forms of its splits by name; those of "train" are the known ones.

    `source` is "grammar", "ontology" or "forms"; without it the grammar is taken where the domain has one, else the
    ontology.
    """
    rng = random.Random(f"synthesis {seed}")
    known = forms.get("train", ())
    made = domain.canonical if domain.grammar is None else None
    source = source or ("grammar" if domain.grammar is not None or made is not None else "ontology")
    if source == "grammar" and made is not None:
        result = from_schema(made, n=n or MOST_OF_A_SCHEMA, seed=seed, known=known, normalize_form=domain.normalize)
    elif source == "grammar":
        if domain.grammar is None:
            raise InputError(f"the domain {domain.name!r} has no grammar")
        grammar = read_grammar(domain.grammar)
        result = from_grammar(
            grammar,
            n=n,
            rng=rng,
            keep=keep_valid(domain.check, root=grammar.root),
            known=known,
            normalize_form=domain.normalize,
            limits=limits,
            swap=swap,
        )
    elif source == "forms":
        if n is None or not any(conditions(map(read, known))):
            raise InputError(f"the domain {domain.name!r} has no training forms with conditions to put together")
        result = from_forms(known, domain.check, n=n, rng=rng)
    else:
        if not isinstance(domain.ontology, Ontology) or n is None or not known:
            needed = "ontology of predicates" if known else "training forms"
            raise InputError(f"the domain {domain.name!r} has no {needed} to make new forms from")
        result = from_ontology(known, domain.ontology, n=n, rng=rng, entities=domain.lexicon.entities)
    result.compare({name: others for name, others in forms.items() if name != "train"}, domain.normalize)
    return result


def from_schema(
    make: Callable[[int, int], Sequence[tuple[str, str]]],
    *,
    n: int,
    seed: int,
    known: Iterable[str] = (),
    normalize_form: Callable[[str], str] = normalize_text,
) -> Synthesis:
    """Take `n` of the forms that the schema of a database lets say, with their utterances, and training has not."""
    start = time.perf_counter()
    trained = {normalize_form(form) for form in known}
    result = Synthesis()
    for utterance, form in make(n + len(trained), seed):
        if normalize_form(form) in trained:
            result.rejected[KNOWN] += 1
        elif len(result.forms) < n:
            result.forms.append(Synthetic(form, DERIVED, utterance=utterance))
    result.complete = len(result.forms) < n
    result.seconds = time.perf_counter() - start
    return result
