"""What is left on dev: questions that no run answers, and how answers depend on whether their form was known.

    DUALPARSE_DATA=DIR python -m benchmarks.unsolved [--labeled 0.5] [--show atis] [--out results/unsolved.json]

In: results that tell which dev questions came out right, those with the share of labels asked for, and the examples. A
form is known where a labeled pair has it, new where training had at least the form (of a pair without label, or
synthesised), unheard of elsewhere. `--show` prints the questions that no run of a domain answers; they are not stored.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dualparse.data.examples import Example, labeled_split, load_examples
from dualparse.domains.registry import open_domain
from dualparse.files import write_text
from dualparse.lab.report.paper import DATASETS
from dualparse.lab.report.results import method
from dualparse.lab.store import Store
from dualparse.lab.sweep.jobs import current_commit

KINDS = ("known", "new", "unheard of")


@dataclass(frozen=True)
class Run:
    """Which dev questions of a domain came out right in a run."""

    grid: str
    method: str
    domain: str
    right: np.ndarray


def runs_of(results: Path, labeled: float) -> Iterator[Run]:
    for stored in Store(results).read():
        recipe, told = stored.result["recipe"], stored.result.get("correct", {}).get("dev")
        if told and recipe["data"].get("labeled", 1.0) == labeled:
            right = np.array([character == "1" for character in told])
            yield Run(stored.name.partition("/")[0], method(recipe), recipe["domain"], right)


def kinds_of(dev: Sequence[Example], train: Sequence[Example], extra: Sequence[Example], labeled: float) -> np.ndarray:
    """The kind of every dev question's form, as a place in KINDS."""
    known = {pair.lf for pair in labeled_split(train, ratio=labeled, seed=1).labeled}
    had = {each.lf for each in (*train, *extra)}
    return np.array([0 if each.lf in known else 1 if each.lf in had else 2 for each in dev])


def by_domain(runs: Sequence[Run], kinds: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """How many questions no run answers; runs that had pairs from elsewhere count as well."""
    rows = []
    for domain in kinds:
        right = np.array([run.right for run in runs if run.domain == domain])
        if len(right):
            never = int((~right.any(axis=0)).sum())
            rows.append({"domain": domain, "runs": len(right), "questions": right.shape[1], "never right": never})
    return rows


def by_method(runs: Sequence[Run], kinds: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Accuracy by kind of form, the questions of all domains together; methods run on a part of them are left out."""
    grouped: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        grouped[run.grid, run.method].append(run)
    rows = []
    for (grid, name), group in grouped.items():
        if {run.domain for run in group} != set(kinds):
            continue
        right = np.concatenate([run.right for run in group])
        kind = np.concatenate([kinds[run.domain] for run in group])
        shares = {KINDS[k]: round(100 * float(right[kind == k].mean()), 1) for k in range(3) if (kind == k).any()}
        rows.append({"grid": grid, "method": name, "runs": len(group)} | shares)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labeled", type=float, default=1.0)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--show", metavar="DOMAIN")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    told: dict[str, Any] = {"commit": current_commit(), "labeled": options.labeled}
    every = list(runs_of(options.results, options.labeled))
    for dataset, domains in DATASETS.items():
        splits = {domain: load_examples(open_domain(domain), dev_seed=1) for domain in domains}
        kinds = {d: kinds_of(s.dev, s.train, s.extra_forms, options.labeled) for d, s in splits.items()}
        runs = [run for run in every if run.domain in kinds]
        counts = np.bincount(np.concatenate(list(kinds.values())), minlength=3)
        told[dataset] = {
            "questions": dict(zip(KINDS, map(int, counts), strict=True)),
            "domains": by_domain(runs, kinds),
            "methods": by_method(runs, kinds),
        }
        if options.show in splits:
            right = np.array([run.right for run in runs if run.domain == options.show])
            for number in np.flatnonzero(~right.any(axis=0)):
                example = splits[options.show].dev[number]
                print(" ".join(example.query or ()), "->", " ".join(example.lf or ()))
    text = json.dumps(told, indent=1) + "\n"
    print(text, end="")
    if options.out:
        write_text(options.out, text)


if __name__ == "__main__":
    main()
