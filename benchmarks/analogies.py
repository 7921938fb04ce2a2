"""Pairs made by analogy in figures: how many come out, how much is new in them, and how often they are right.

    DUALPARSE_DATA=DIR python -m benchmarks.analogies [--out results/analogies.json]

In: the training pairs of every domain, with all labels and with half of them. Out: a JSON file, and a Markdown table. A
made pair can be judged where its query is one that people asked, in dev or among the pairs that lost their label:
denotations are compared where a domain has them, else normal forms.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from dualparse.data.examples import Example, labeled_split, load_examples
from dualparse.domains.domain import Domain
from dualparse.domains.overnight import DOMAINS
from dualparse.domains.registry import open_domain
from dualparse.evaluate import judge
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit
from dualparse.synthesis.analogy import by_analogy

PAIRS = {("atis", 1.0): 12_000, ("atis", 0.5): 8_000}  # as many as the grids make
OTHERS = 2_000


def measure(domain: Domain, labeled: float) -> dict[str, object]:
    splits = load_examples(domain, dev_seed=1)
    pairs = labeled_split(splits.train, ratio=labeled, seed=1).labeled
    start = time.perf_counter()
    made = by_analogy(pairs, domain.check, n=PAIRS.get((domain.name, labeled), OTHERS), seed=1)
    seconds = time.perf_counter() - start
    known, ours, dev = (forms_of(domain, examples) for examples in (pairs, made, splits.dev))
    verdicts = judged(domain, made, splits.train + splits.dev)
    return {
        "domain": domain.name,
        "labeled": labeled,
        "pairs": len(pairs),
        "made": len(made),
        "new forms": len(ours - known),
        "dev forms not known": len(dev - known),
        "of these made": len((dev - known) & ours),
        "judged": len(verdicts),
        "right": sum(verdicts),
        "seconds": round(seconds, 1),
    }


def forms_of(domain: Domain, examples: Sequence[Example]) -> set[str]:
    forms = (" ".join(example.lf or ()) for example in examples)
    return {domain.normalize(form) for form in forms if domain.check(form).surface}


def judged(domain: Domain, made: Sequence[Example], asked: Sequence[Example]) -> list[bool]:
    """For every made pair whose query was asked: whether its form is one of those people gave it."""
    gold: dict[tuple[str, ...], list[str]] = {}
    for example in asked:
        gold.setdefault(example.query or (), []).append(" ".join(example.lf or ()))
    return [
        any(judge(domain, "", form, " ".join(pair.lf or ())).correct for form in gold[pair.query or ()])
        for pair in made
        if pair.query in gold
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = [measure(open_domain(name), labeled) for labeled in (1.0, 0.5) for name in ("atis", *DOMAINS, "trails")]
    print("| " + " | ".join(rows[0]) + " |", "|---|" + "---:|" * (len(rows[0]) - 1), sep="\n")
    for row in rows:
        print("| " + " | ".join(map(str, row.values())) + " |")
    if options.out:
        write_text(options.out, json.dumps({"commit": current_commit(), "domains": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
