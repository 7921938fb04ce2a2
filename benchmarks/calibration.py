"""What the probabilities of answers are made with, and what else was tried.

    python -m benchmarks.calibration folders WORK     what folders begin with: fitted on databases, kept in the package
    python -m benchmarks.calibration methods RUN...   ways to make probabilities of the same evidence, compared

`folders` connects the databases of databases/dev and Chinook, where DUALPARSE_DATA has it, in the folder WORK, asks
their questions and writes dualparse/asking/folder_trust.json. What is said of a database there, and the cuts, come from
what was fitted on the other databases. It reads none of the questions that refusing is measured by (offtopic/).
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import typer

from benchmarks.databases.build import build
from dualparse.asking.asker import FolderAsker, open_asker
from dualparse.asking.calibrate import examples_of, judged
from dualparse.asking.confidence import (
    DEFAULT,
    Confidence,
    Evidence,
    calibration_error,
    choose_cut,
    error_by_chance,
    fit,
    reliability,
)
from dualparse.asking.grounds import RIGHT, TOPIC, topic_of
from dualparse.asking.requests import asks_for_more
from dualparse.asking.trust import Trust, write_trust_file
from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.files import write_text
from dualparse.grading.questions import read_questions
from dualparse.grading.sure import away, spoiled, weigh
from dualparse.grading.wanted import answers_of
from dualparse.use.api import load

HERE = Path(__file__).parent
KEPT = HERE.parent / "dualparse" / "asking" / "folder_trust.json"
PULL = 3.0  # to no weight at all
PRECISION = 0.85
DEV = ("bikes", "freight", "college", "webshop", "league")  # of databases/dev
LOST = 0.05  # share of the rightly answered questions that may be refused as being about something else

NONE = Confidence(0.0, dict.fromkeys(DEFAULT.weights, 0.0))

Labeled = tuple[list[Evidence], list[float]]
Probability = Callable[[Evidence], float]
Method = Callable[[list[Evidence], list[float], Confidence], Probability]

app = typer.Typer(add_completion=False)


@app.callback()
def main() -> None:
    """How sure answers are: fitting and comparing."""


@dataclass(frozen=True)
class Asked:
    """What was known of the answers about one database, which were right, and of texts that cannot be answered."""

    name: str
    rows: list[Evidence]
    right: list[float]
    strangers: list[Evidence]


@app.command()
def folders(work: Path, precision: float = PRECISION, again: bool = False) -> None:
    """Fit what folders begin with. `--again` asks anew what WORK has the evidence of."""
    work.mkdir(parents=True, exist_ok=True)
    kept = work / "evidence.json"
    if again or not kept.is_file():
        asked_of = [*(_dev(name, work) for name in DEV), *_chinook(work)]
        kept.write_text(json.dumps([vars(each) for each in asked_of]))
    found = [Asked(**each) for each in json.loads(kept.read_text())]
    none = Confidence(0.0, dict.fromkeys(RIGHT, 0.0)), Confidence(0.0, dict.fromkeys(TOPIC, 0.0))
    told: list[float] = []
    right: list[float] = []
    own: list[float] = []
    others: list[float] = []
    for held in found:
        rest = [each for each in found if each is not held]
        sure, topic = _fitted(rest, *none)
        here = [sure.of(row) for row in held.rows]
        own += [topic_of(row, topic) for row, good in zip(held.rows, held.right, strict=True) if good]
        others += [topic_of(row, topic) for row in held.strangers]
        told, right = told + here, right + held.right
        error, chance = calibration_error(reliability(here, held.right)), error_by_chance(here)
        print(f"{held.name}: {len(here)} questions, {sum(held.right) / len(here):.1%} right, ", end="")
        print(f"by the other databases: error {error:.3f} ({chance:.3f} by chance), mean {sum(here) / len(here):.3f}")
    for wanted in (0.6, 0.7, 0.8, 0.9, 0.95):
        print(f"precision {wanted}: {choose_cut(told, right, wanted)}")
    cut, topic_cut = choose_cut(told, right, precision), sorted(own)[math.floor(LOST * len(own))]
    sure, topic = _fitted(found, *none)
    refused = sum(each < topic_cut for each in others) / len(others)
    error = calibration_error(reliability(told, right))
    trust = Trust(sure, topic, cut.at, topic_cut, precision, cut.precision, cut.coverage, error, refused)
    write_trust_file(KEPT, trust)
    print(f"{KEPT}: answers from {cut.at:.3f} on, refuses below {topic_cut:.3f}: {refused:.1%} of {len(others)} texts")


def _fitted(found: list[Asked], sure: Confidence, topic: Confidence) -> tuple[Confidence, Confidence]:
    rows = [row for each in found for row in each.rows]
    others = [row for each in found for row in each.strangers]
    right = [one for each in found for one in each.right]
    own = [row for row in rows if row not in others]
    about = [1.0] * len(own) + [0.0] * len(others)
    return fit(rows, right, default=sure, pull=PULL), fit([*own, *others], about, default=topic, pull=PULL)


def _dev(name: str, work: Path) -> Asked:
    """A database of databases/dev with its questions."""
    build(f"dev/{name}", work)
    own = HERE / "databases" / "dev" / name
    return _asked(name, work, work / "dev" / f"{name}.sqlite", own / "questions.jsonl", own / "unanswerable.tsv")


def _chinook(work: Path) -> list[Asked]:
    """Chinook with its questions, where the data folder has it."""
    folder = Path(os.environ.get("DUALPARSE_DATA", "data")) / "chinook"
    if not (folder / "chinook.sqlite").is_file():
        return []
    return [_asked("chinook", work, folder / "chinook.sqlite", folder / "questions.jsonl")]


def _asked(name: str, work: Path, database: Path, path: Path, more: Path | None = None) -> Asked:
    """`more` has questions near the subject that cannot be answered; those of offtopic/ are for measuring alone."""
    asker = _connected(database, work / name)
    questions = read_questions(path)
    found = weigh(asker, questions, answers_of(path, asker, asker.source))
    others = [each.evidence for each in found if not each.question.answerable]
    others += away(asker, [*spoiled(questions), *(near_ones(more) if more and more.is_file() else ())])
    return Asked(name, [each.evidence for each in found], [each.right for each in found], others)


def near_ones(path: Path) -> list[str]:
    """The questions of a file with a kind and a question a line, but for those that ask for no data at all: they are
    refused before anything is weighed."""
    lines = [line.partition("\t")[2] for line in path.read_text(encoding="utf-8").splitlines() if "\t" in line]
    return [line for line in lines if not asks_for_more(line)]


@app.command()
def methods(runs: list[Path], out: Path = Path("results/bench-calibration-methods.jsonl")) -> None:
    """Compare ways to make probabilities of the same evidence, on the test questions of trained runs. The default of a
    run comes from the dev questions of the others."""
    told = {run.name: {split: _evidence(run, split) for split in ("dev", "test")} for run in runs}
    lines = []
    for labels in (0, 30, 100, None):
        for name, method in METHODS.items():
            found = [_tried(method, run, told, labels) for run in told]
            mean = {key: round(sum(each[key] for each in found) / len(found), 4) for key in found[0]}
            errors = {run: round(each["error"], 4) for run, each in zip(told, found, strict=True)}
            lines.append({"method": name, "labels": "all" if labels is None else labels, **mean, "errors": errors})
            print(f"{lines[-1]['labels']!s:>4} labels  {name:40} " + "  ".join(f"{k} {v:.3f}" for k, v in mean.items()))
    write_text(out, "".join(json.dumps(line) + "\n" for line in lines))
    print("the default of a run of which nothing is known:", _pooled([each["dev"] for each in told.values()]).told())


def _pooled(some: list[Labeled]) -> Confidence:
    rows, right = [row for each in some for row in each[0]], [one for each in some for one in each[1]]
    return fit(rows, right, default=NONE, pull=PULL)


def _evidence(run: Path, split: str) -> Labeled:
    parser = load(run)
    found, right = judged(parser, examples_of(parser, split))
    return [each.evidence for each in found], right


def _tried(method: Method, run: str, told: dict[str, dict[str, Labeled]], labels: int | None) -> dict[str, float]:
    """One method on the test questions of one run, with so many labeled questions of dev."""
    default = _pooled([each["dev"] for name, each in told.items() if name != run])
    rows, right = told[run]["dev"]
    order = random.Random(1).sample(range(len(rows)), len(rows))[:labels]
    probability = method([rows[at] for at in order], [right[at] for at in order], default)
    test, outcome = told[run]["test"]
    given = [probability(row) if row.get("valid", 1.0) else 0.0 for row in test]
    off = [-math.log(max(p if good else 1 - p, 1e-4)) for p, good in zip(given, outcome, strict=True)]
    return {
        "error": calibration_error(reliability(given, outcome)),
        "by_chance": error_by_chance(given),
        "log_loss": sum(off) / len(off),
    }


def _drawn(rows: list[Evidence], right: list[float], default: Confidence) -> Probability:
    return fit(rows, right, default=default).of


def _alone(rows: list[Evidence], right: list[float], default: Confidence) -> Probability:
    return fit(rows, right, default=NONE).of


def _default(rows: list[Evidence], right: list[float], default: Confidence) -> Probability:
    return default.of


def _temperature(rows: list[Evidence], right: list[float], default: Confidence) -> Probability:
    """A bias and a scale for the log-odds of the answer's share alone."""
    return fit(rows, right, default=Confidence(0.0, {"share": 1.0}), pull=0.01).of


def _isotonic(rows: list[Evidence], right: list[float], default: Confidence) -> Probability:
    """A rising step function of what the default says."""
    if not rows:
        return default.of
    from sklearn.isotonic import IsotonicRegression

    steps = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit([default.of(row) for row in rows], right)
    return lambda row: float(steps.predict([default.of(row)])[0])


METHODS: dict[str, Method] = {
    "logistic, drawn to the default": _drawn,
    "logistic, drawn to nothing": _alone,
    "the default": _default,
    "temperature and bias": _temperature,
    "isotonic regression of the default": _isotonic,
}


def _connected(database: Path, folder: Path) -> FolderAsker:
    connect(locate(str(database)), folder)
    return open_asker(folder)


if __name__ == "__main__":
    app()
