"""ATIS: questions about flights (paper Section 4.1). In: the folder of the benchmark files. Out: a `Domain`.

There is no database behind these forms, so a form is checked against the ontology and never executed, and accuracy is
exact match of order-free normal forms.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from dualparse.domains.atis_text import preparation
from dualparse.domains.atis_words import say
from dualparse.domains.domain import Domain
from dualparse.domains.lexicon import read_lexicon
from dualparse.domains.metrics import exact
from dualparse.domains.registry import Family
from dualparse.errors import InputError
from dualparse.fetch.benchmarks import dataset, require
from dualparse.lf.canonical import normalize_text
from dualparse.lf.guide import TypedForms
from dualparse.lf.ontology import read_ontology
from dualparse.lf.typecheck import check_text
from dualparse.lf.verdict import Verdict

SPLITS = ("train", "dev", "test", "extra")

QUESTIONS = (
    "what flights go from boston to denver tomorrow morning",
    "what is the cheapest round trip from atlanta to san francisco",
    "how many airlines serve pittsburgh",
    "is there a limousine service at logan airport",
)


def load(folder: Path) -> Domain:
    """The domain of a folder with `atis_train.tsv`, `atis_ontology.txt`, ...; `InputError` if one is missing."""
    files = {split: folder / f"atis_{split}.tsv" for split in SPLITS}
    for path in files.values():
        if not path.is_file():
            raise InputError("no such file", path=path)
    ontology = read_ontology(folder / "atis_ontology.txt")

    def check(form: str) -> Verdict:
        return check_text(form, ontology)

    return Domain(
        name="atis",
        title="Flights: schedules, fares and ground transport",
        lexicon=read_lexicon(folder / "atis_lexicon.txt"),
        check=check,
        execute=None,
        normalize=normalize_text,
        files=files,
        metric=exact,
        ontology=ontology,
        questions=QUESTIONS,
        preparation=preparation(),
        guide=partial(TypedForms, ontology),
        say=say,
    )


FAMILY = Family(
    name="atis",
    title="Flights",
    names=("atis",),
    open=lambda name: load(require("atis")),
    dataset=dataset("atis"),
)
