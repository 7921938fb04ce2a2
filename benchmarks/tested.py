"""How often the test questions of OVERNIGHT have been looked at for a method, and how far a score can be trusted.

    python -m benchmarks.tested "Att+Dual+LF" [--labeled 0.5] [--out results/tested.json]

In: the stored results of all eight domains with each trained by itself and dev held out. Out: every way to train and
answer that was tested, best on test first, by the mean over the domains: of the medians over seeds on test, of the
means over seeds on dev. The standard error is that of the test questions, each domain counting alike.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dualparse.files import write_text
from dualparse.lab.report.paper import DATASETS
from dualparse.lab.report.results import DEV_TOO, Outcome, all_outcomes, read_results
from dualparse.lab.sweep.jobs import current_commit

DOMAINS = DATASETS["OVERNIGHT"]


def tested(outcomes: Sequence[Outcome], base: str, labeled: float) -> list[dict[str, Any]]:
    """A record for every method and setting that has all domains."""
    ways: dict[tuple[str, str], dict[str, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
    for outcome in outcomes:
        alone = not json.loads(outcome.settings)["data"].get("family") and DEV_TOO not in outcome.method
        if outcome.method.partition(" (")[0] == base and outcome.labeled == labeled and alone:
            ways[outcome.method, outcome.settings][outcome.domain].append(outcome)
    whole = [record(name, domains) for (name, _), domains in ways.items() if set(DOMAINS) <= set(domains)]
    return sorted(whole, key=lambda each: -each["test"])


def record(name: str, domains: Mapping[str, Sequence[Outcome]]) -> dict[str, Any]:
    runs = [domains[domain] for domain in DOMAINS]
    test = [statistics.median(run.test for run in seeds) for seeds in runs]
    dev = [statistics.mean(run.dev for run in seeds) for seeds in runs]
    variance = sum(score * (100 - score) / seeds[0].examples for score, seeds in zip(test, runs, strict=True))
    return {
        "method": name,
        "test": round(statistics.mean(test), 2),
        "dev": round(statistics.mean(dev), 2),
        "seeds": min(map(len, runs)),
        "standard error": round(variance**0.5 / len(runs), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", help="the paper's name, e.g. Att+Dual+LF")
    parser.add_argument("--labeled", type=float, default=1.0, help="share of labels")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    found = tested(all_outcomes(read_results(asked.results)), asked.method, asked.labeled)
    told = {"method": asked.method, "labeled": asked.labeled, "tested": found, "commit": current_commit()}
    text = json.dumps(told, indent=1) + "\n"
    print(text, end="")
    if asked.out:
        write_text(asked.out, text)


if __name__ == "__main__":
    main()
