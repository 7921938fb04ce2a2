"""A benchmark in one file, as somebody else would add it: a domain, its examples, its metric, how to open it."""

from __future__ import annotations

from pathlib import Path

from dualparse.domains.domain import Domain
from dualparse.domains.lexicon import Lexicon
from dualparse.domains.registry import Family
from dualparse.fetch.benchmarks import Dataset, require
from dualparse.lf import sexpr
from dualparse.lf.errors import LFSyntaxError
from dualparse.lf.verdict import VALID, Verdict

FILES = Dataset(
    name="tides",
    title="high and low water",
    origin="the harbour office",
    folder="tides",
    address="http://127.0.0.1:1/tides",
    checksums={f"{split}.tsv": "0" * 64 for split in ("train", "dev", "test")},
)


def check(form: str) -> Verdict:
    try:
        sexpr.read(form)
    except LFSyntaxError as error:
        return Verdict(surface=False, semantics=False, reason=str(error))
    return VALID


def shared_tokens(gold: str, predicted: str, domain: Domain) -> float:
    """The share of tokens that two forms have in common."""
    wanted, said = set(gold.split()), set(predicted.split())
    return len(wanted & said) / len(wanted | said)


def open_tides(name: str) -> Domain:
    folder: Path = require(FILES)
    return Domain(
        name=name,
        title="Tides",
        lexicon=Lexicon([(("old", "quay"), "quay.old")]),
        check=check,
        execute=None,
        normalize=lambda form: sexpr.write(sexpr.read(form)),
        files={split: folder / f"{split}.tsv" for split in ("train", "dev", "test")},
        metric=shared_tokens,
    )


FAMILY = Family("tides", "High and low water", names=("tides",), open=open_tides, dataset=FILES)
