"""What it takes to answer with valid forms alone, and what it brings: `dualparse parse` against `parse --constrained`.

    python -m benchmarks.constrained RUN... [--questions 100] [--k 5] [--out results/bench-constrained.json]

Asked are questions of each run's dev set, on a CPU: one by one as people type them, the two ways in turn, and all at
once. Times are processor time, so that what else the machine does counts for little. The first constrained question of
a program is told apart: it works out what follows from the beginning of a form, which the others find there.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dualparse.data.examples import Example, load_examples
from dualparse.engines.engine import told
from dualparse.evaluate import judge
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit, hardware, software
from dualparse.use.api import Parse, Parser, load

WAYS = {"free": False, "constrained": True}


@dataclass(frozen=True)
class Asked:
    """A run, and the questions it is asked: examples of dev."""

    parser: Parser
    dev: Sequence[Example]
    k: int

    @classmethod
    def of(cls, folder: Path, *, questions: int, k: int) -> Asked:
        parser = load(folder)
        return cls(parser, load_examples(parser.domain, dev_seed=parser.recipe.data.split_seed).dev[:questions], k)

    @property
    def questions(self) -> list[str]:
        return [" ".join(example.query or ()) for example in self.dev]

    def one_by_one(self) -> dict[str, Any]:
        """The two ways in turn, and which goes first in turn as well."""
        engine = told(self.parser.q2lf.model)["engines"]
        self.parser.parse(self.questions[0], k=self.k)
        first, _ = _timed(self, self.questions[:1], "constrained")
        seconds, parses = dict.fromkeys(WAYS, 0.0), {way: list[list[Parse]]() for way in WAYS}
        for number, question in enumerate(self.questions):
            for way in sorted(WAYS, reverse=bool(number % 2)):
                took, found = _timed(self, [question], way)
                seconds[way] += took
                parses[way] += found
        gold = [" ".join(example.lf or ()) for example in self.dev]
        return {
            "domain": self.parser.domain.name,
            "questions": len(self.dev),
            "k": self.k,
            "beams": self.parser.recipe.search.beams,
            "engine_one_by_one": engine,
            "first_constrained_ms": round(1000 * first, 1),
            **_times("one_by_one", seconds, len(self.dev)),
            "readings": {way: _readings(parses[way]) for way in WAYS},
            "correct": {way: _correct(self.parser, gold, parses[way]) for way in WAYS},
        }

    def together(self) -> dict[str, Any]:
        """All at once; before that once unmeasured, which may load compiled search."""
        seconds = {way: min(_timed(self, self.questions, way)[0] for _ in range(2)) for way in WAYS}
        engine = told(self.parser.q2lf.model)["engines"]
        return {"engine_together": engine, **_times("together", seconds, len(self.dev))}


def _times(name: str, seconds: Mapping[str, float], questions: int) -> dict[str, Any]:
    return {
        f"{name}_ms": {way: round(1000 * seconds[way] / questions, 2) for way in WAYS},
        f"{name}_ratio": round(seconds["constrained"] / seconds["free"], 2),
    }


def _timed(asked: Asked, questions: Sequence[str], way: str) -> tuple[float, list[list[Parse]]]:
    started = time.process_time()
    found = asked.parser.parse_all(questions, k=asked.k, constrained=WAYS[way])
    return time.process_time() - started, found


def _readings(found: list[list[Parse]]) -> dict[str, float]:
    """How many there are of a question, what share of them is invalid, and of how many questions there is no valid one;
    per cent."""
    every = [parse for parses in found for parse in parses]
    return {
        "a_question": round(len(every) / len(found), 2),
        "invalid": round(100 * sum(not parse.verdict.ok for parse in every) / max(len(every), 1), 2),
        "none_valid": round(100 * sum(not any(p.verdict.ok for p in parses) for parses in found) / len(found), 2),
    }


def _correct(parser: Parser, gold: list[str], found: list[list[Parse]]) -> float:
    """Per cent of the questions whose first reading is right, by the metric of the domain."""
    judged = [
        judge(parser.domain, "", wanted, parses[0].form if parses else "")
        for wanted, parses in zip(gold, found, strict=True)
    ]
    return round(100 * sum(float(each.correct) for each in judged) / len(judged), 2)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("runs", nargs="+", type=Path)
    arguments.add_argument("--questions", type=int, default=100)
    arguments.add_argument("--k", type=int, default=5)
    arguments.add_argument("--out", type=Path)
    chosen = arguments.parse_args()
    asked = [Asked.of(folder, questions=chosen.questions, k=chosen.k) for folder in chosen.runs]
    alone = [each.one_by_one() for each in asked]  # before any of them loads compiled search
    found = [figures | each.together() for figures, each in zip(alone, asked, strict=True)]
    print(json.dumps(found, indent=1))
    if chosen.out:
        facts = {"commit": current_commit(), "hardware": hardware(torch.device("cpu")), "software": software()}
        write_text(chosen.out, json.dumps(facts | {"runs": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
