"""Agents of a run and the matcher as it ships, choosing together: weights from dev, then test once.

    python -m benchmarks.together RUN [--out results/bench-together.json]

The forms are those of the run's search and the nearest of the domain's grammar. Each is ranked by q2lf, by the way back
of lf2q and by the matcher; the weights of the latter two are those with most right answers on dev, the smaller ones
where several have as many. Nothing is trained. A run that is there already is not scored again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import torch

from dualparse.choosing.chooser import Proposed
from dualparse.choosing.ranking import Hypothesis, Weighted, rerank
from dualparse.choosing.scorers import Meaning
from dualparse.data.examples import Example
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit, hardware, software
from dualparse.matching.index import Index
from dualparse.runs import Run
from dualparse.training.material import load_splits
from dualparse.training.score import nearest, score_forms

BACK, MATCHER = (0.0, 0.3, 1.0), (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # weights that are tried
OUT = Path(__file__).parents[1] / "results" / "bench-together.json"
CPU = torch.device("cpu")


class Asked:
    """Some questions with all forms that were found for them, and what everybody says of each."""

    def __init__(self, run: Run, index: Index, examples: Sequence[Example]):
        self.domain, self.examples = index.domain, examples
        self.queries = [example.query or () for example in examples]
        search = run.search(self.domain, CPU)
        self.searched = search.choose(self.queries)
        self.found = Proposed(search, index).beside(self.queries, self.searched)
        self.near = nearest(index, self.queries)
        self.said = [self._said(each) for each in run.scorers(self.domain, CPU)]
        self.said.append(self._said(Weighted("matcher", Meaning(index), 1.0)))

    def _said(self, who: Weighted) -> Weighted:
        figures = who.scorer(self.queries, self.found)
        return replace(who, scorer=lambda *_: figures)

    def right(self, found: Sequence[Sequence[Hypothesis]]) -> float:
        """Share of the right answers, in per cent."""
        return float(score_forms(found, self.examples, self.domain, {})[0]["accuracy"])

    def together(self, back: float, matcher: float) -> float:
        weights = {"matcher": matcher}
        heard = [replace(each, weight=weights.get(each.name, back)) for each in self.said]
        return self.right(rerank(self.queries, self.found, heard))

    def told(self, back: float, matcher: float) -> dict[str, float]:
        """What each reaches alone, and what all reach together."""
        alone = {"q2lf": self.right(self.searched), "matcher": self.right(self.near)}
        return alone | {"together": self.together(back, matcher), "examples": len(self.examples)}


def measured(run: Run) -> dict:
    """The record of a run."""
    domain = open_domain(run.recipe.domain)
    splits, index = load_splits(domain, run.recipe.data), run.index(domain, CPU)
    dev = Asked(run, index, splits.dev)
    back, matcher = max(product(BACK, MATCHER), key=lambda ways: (dev.together(*ways), -ways[1], -ways[0]))
    found = {"dev": dev.told(back, matcher), "test": Asked(run, index, splits.test).told(back, matcher)}
    recipe = {"stages": run.recipe.stages, "labeled": run.recipe.data.labeled, "seed": run.recipe.seed}
    made = {"commit": current_commit(), "hardware": hardware(CPU), "software": software()}
    return {"run": run.folder.name, **recipe, "weights": {"reconstruction": back, "matcher": matcher}, **found, **made}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    told = parser.parse_args()
    run = Run.open(told.run)
    known = json.loads(told.out.read_text(encoding="utf-8")) if told.out.exists() else []
    if not any(record["run"] == run.folder.name for record in known):
        known.append(measured(run))
        write_text(told.out, json.dumps(known, indent=1) + "\n")
    print(json.dumps(next(record for record in known if record["run"] == run.folder.name), indent=1))


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        raise SystemExit(str(error)) from None
