"""Examples and splits: benchmark or user files in, lists of `Example` out (paper Sections 4.1 and 4.5).

A side that is not there is `None`. Every draw has a generator of its own made from the caller's seed, so that all
stages of a run see the same split and no other use of randomness can move it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.lines import numbered_lines, raise_error

NO_QUERY = "none"  # the benchmark files' word for "this form has no query"; it means nothing outside this module


@dataclass(frozen=True, slots=True)
class Example:
    """A query with its logical form, both as tokens; the side that is unknown is None."""

    query: tuple[str, ...] | None
    lf: tuple[str, ...] | None

    @property
    def labeled(self) -> bool:
        return self.query is not None and self.lf is not None


@dataclass(frozen=True, slots=True)
class Split:
    """Labeled pairs, and what is left of the other pairs when nobody knows which query goes with which form."""

    labeled: list[Example]
    queries: list[Example]
    forms: list[Example]

    @property
    def unlabeled(self) -> list[Example]:
        return self.queries + self.forms


@dataclass(frozen=True, slots=True)
class Splits:
    """All examples of a domain. `train`, `dev` and `test` are pairs; the extras have one side."""

    train: list[Example]
    dev: list[Example]
    test: list[Example]
    extra_forms: list[Example]
    extra_queries: list[Example]


def read_examples(path: Path) -> list[Example]:
    """Read `query<TAB>form` lines, or one query a line from a file that ends in `.txt`. Blank lines are skipped."""
    return [example for _, _, example in numbered_examples(path)]


def numbered_examples(
    path: Path, *, report: Callable[[InputError], None] = raise_error
) -> Iterator[tuple[int, str, Example]]:
    """Every example with its line number and its line; a caller with a `report` gets the good lines only."""
    parse = _parse_query if path.suffix == ".txt" else _parse_pair
    for number, line in numbered_lines(path, report=report):
        if not line.strip():
            continue
        try:
            example = parse(line)
        except InputError as error:
            report(InputError(error.message, path=path, line=number))
        else:
            yield number, line, example


def _parse_pair(line: str) -> Example:
    columns = line.split("\t")
    if len(columns) != 2:
        raise InputError(f"expected query<TAB>form, found {len(columns)} column{'s' * (len(columns) > 1)}")
    query = tuple(columns[0].split())
    lf = tuple(columns[1].replace("(", " ( ").replace(")", " ) ").split())
    if not query:
        raise InputError("the query is empty")
    if not lf:
        raise InputError("the form is empty")
    return Example(None if query == (NO_QUERY,) else query, lf)


def _parse_query(line: str) -> Example:
    if "\t" in line:
        raise InputError("expected one query a line, found a tab")
    return Example(tuple(line.split()), None)


def dev_split(examples: Sequence[Example], *, seed: int, share: float = 0.2) -> tuple[list[Example], list[Example]]:
    """Train and dev for a domain without a dev file; both keep the order of the file.

    >>> train, dev = dev_split([Example((str(i),), ("f",)) for i in range(10)], seed=1)
    >>> len(train), len(dev)
    (8, 2)
    """
    _check_share("the dev share", share)
    drawn = set(_order(len(examples), f"dev {seed}")[: round(share * len(examples))])
    return _pick(examples, set(range(len(examples))) - drawn), _pick(examples, drawn)


def labeled_split(
    examples: Sequence[Example],
    *,
    ratio: float = 1.0,
    kept: Collection[int] | None = None,
    seed: int,
    unlabeled_ratio: float = 1.0,
) -> Split:
    """Keep a share of the pairs labeled, or those `kept` by their numbers; tear the others apart into unpaired queries
    and unpaired forms.

    With the same seed a smaller `ratio` gives a subset of the labeled pairs of a larger one, and a smaller
    `unlabeled_ratio` (share of the torn pairs that is kept at all, paper Figure 4) a subset of the unlabeled ones,
    so that the points of a curve differ in nothing but the amount. Any ratio above 0 keeps at least one pair.

    >>> split = labeled_split([Example((str(i),), ("f",)) for i in range(10)], ratio=0.3, seed=1, unlabeled_ratio=0.5)
    >>> len(split.labeled), len(split.queries), len(split.forms)
    (3, 4, 4)
    """
    _check_share("the labeled ratio", ratio)
    _check_share("the unlabeled ratio", unlabeled_ratio)
    if not all(example.labeled for example in examples):
        raise ValueError("only pairs can be split into labeled and unlabeled")
    order = _order(len(examples), f"labeled {seed}")
    chosen = set(order[: _amount(ratio, len(order))]) if kept is None else set(kept)
    rest = [i for i in order if i not in chosen]
    # Taken from the far end: the unlabeled set then also shrinks to a subset when the labeled one grows.
    torn = set(rest[len(rest) - _amount(unlabeled_ratio, len(rest)) :])
    queries = [Example(example.query, None) for example in _pick(examples, torn)]
    # The forms come in an order of their own, or a position would give the pairing away.
    forms = [Example(None, examples[i].lf) for i in _order(len(examples), f"forms {seed}") if i in torn]
    return Split(_pick(examples, chosen), queries, forms)


def listed_pairs(examples: Sequence[Example], path: Path) -> set[int]:
    """The numbers of the pairs that a file names, a question a line. A question of several pairs names the first of
    them, and the next where the file has it again."""
    places: dict[tuple[str, ...], list[int]] = {}
    for number, example in enumerate(examples):
        if example.labeled and example.query:
            places.setdefault(example.query, []).append(number)
    found: set[int] = set()
    for line, _, listed in numbered_examples(path):
        left = [number for number in places.get(listed.query or (), ()) if number not in found]
        if not left:
            raise InputError("no training pair, or no other one, has this question", path=path, line=line)
        found.add(left[0])
    if not found:
        raise InputError("expected a question a line, found none", path=path)
    return found


def load_examples(domain: Domain, *, dev_seed: int) -> Splits:
    """Read all files of a domain; dev is drawn from train where the domain has no dev file. A missing file is empty."""
    read = {name: read_examples(path) for name, path in domain.files.items()}
    if domain.reads is not None:
        read = {name: [Example(*domain.reads(each.query, each.lf)) for each in some] for name, some in read.items()}
    train = [example for example in read.get("train", []) if example.labeled]
    one_sided = [example for name in ("train", "extra", "queries") for example in read.get(name, [])]
    for name in ("dev", "test"):
        if not all(example.labeled for example in read.get(name, [])):
            raise InputError("a form without a query is of no use for evaluation", path=domain.files[name])
    if any(example.labeled for example in read.get("extra", [])):
        raise InputError(f"a pair among the extra forms: write {NO_QUERY!r} for the query", path=domain.files["extra"])
    if "dev" in read:
        dev = read["dev"]
    else:
        train, dev = dev_split(train, seed=dev_seed)
    return Splits(
        train=train,
        dev=dev,
        test=read.get("test", []),
        extra_forms=[example for example in one_sided if example.query is None],
        extra_queries=[example for example in one_sided if example.lf is None],
    )


def _order(size: int, seed: str) -> list[int]:
    """A permutation; the seed is text, so that two kinds of draws never share a stream."""
    order = list(range(size))
    random.Random(seed).shuffle(order)
    return order


def _amount(ratio: float, size: int) -> int:
    return max(1, round(ratio * size)) if ratio > 0 and size else 0


def _pick(examples: Sequence[Example], chosen: set[int]) -> list[Example]:
    return [example for i, example in enumerate(examples) if i in chosen]


def _check_share(name: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise InputError(f"{name} must lie between 0 and 1, not {share:g}")
