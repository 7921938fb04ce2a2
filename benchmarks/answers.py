"""How well questions about a database are answered: with no label and no training, and with forty labels.

    python -m benchmarks.answers [NAME ...] [--out results/bench-answers.json] [--page docs/own-database.md]

In: the databases of databases/, and Chinook where DUALPARSE_DATA has it; each is connected anew. Out: how many of the
answerable questions were answered rightly, how many of the given answers are right, and how many of the unanswerable
questions were refused, by kind of question. Of a test database no question is shown. Chinook's questions are then split
in halves by a seed: with one half as labels, the other half is asked, in turn. Databases that are measured take the
place of those in the file; the others stay. `--page` puts the table of all that is stored between the marks of a page.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.databases.build import NAMES, build, questions_of
from benchmarks.load import processor
from benchmarks.stored import between
from dualparse import __version__
from dualparse.asking.asker import open_asker
from dualparse.asking.labels import PAIRS
from dualparse.asking.trust import NAME as TRUST
from dualparse.asking.trust import write_trust_file
from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.fetch.benchmarks import data_dir
from dualparse.files import write_text
from dualparse.grading.grade import Graded, by_kind, grade, scores_of
from dualparse.grading.questions import Question, read_questions
from dualparse.grading.sure import learn, weigh
from dualparse.grading.wanted import answers_of
from dualparse.lab.sweep.jobs import current_commit

BEGIN = "<!-- answers: written by `python -m benchmarks.answers --page docs/own-database.md` -->"
END = "<!-- end of answers -->"
CHINOOK = "chinook"
FORMS = Path(__file__).parents[1] / "examples" / "chinook_forms.tsv"
TODAY = date(2026, 1, 1)  # "last month" means the same whenever this runs
SEED = 7
PRECISION = 0.85  # share of the given answers that the cut fitted on labels is to keep
DRIVERS = ("duckdb", "numpy", "sqlalchemy", "sqlglot")


def measured(name: str, work: Path) -> dict[str, Any]:
    """The figures of one database."""
    source, file = _source(name, work)
    folder = work / f"{name.replace('/', '-')}-folder"
    connect(locate(str(source)), folder)
    questions = read_questions(file)
    with open_asker(folder, today=TODAY) as asker:
        graded = list(grade(asker, questions, answers_of(file, asker, asker.source)))
    found: dict[str, Any] = {"database": name, "questions": len(questions), **_figures(graded)}
    if name == CHINOOK:
        found["labels"] = {
            "seed": SEED,
            "pairs": _figures(with_labels(folder, file, fit=False)),
            "pairs, and how sure": _figures(with_labels(folder, file, fit=True)),
        }
    return found


def with_labels(folder: Path, file: Path, *, fit: bool) -> list[Graded]:
    """Each half of the questions, answered with the other half as labels: pairs of a question and its form, and with
    `fit` what they tell of how sure answers are."""
    questions = read_questions(file)
    forms = _forms()
    graded: list[Graded] = []
    for known, asked in halves(questions):
        pairs = [(each.text, forms[each.line]) for each in known if each.line in forms]
        write_text(folder / PAIRS, "".join(f"{text}\t{form}\n" for text, form in pairs))
        (folder / TRUST).unlink(missing_ok=True)
        with open_asker(folder, today=TODAY) as asker:
            wanted = answers_of(file, asker, asker.source)
            if fit:
                write_trust_file(folder / TRUST, learn(asker, weigh(asker, known, wanted), precision=PRECISION))
        with open_asker(folder, today=TODAY) as asker:
            graded += grade(asker, asked, answers_of(file, asker, asker.source))
    (folder / PAIRS).unlink()
    (folder / TRUST).unlink(missing_ok=True)
    return graded


def halves(questions: Sequence[Question]) -> list[tuple[list[Question], list[Question]]]:
    """One half and the other, both ways round."""
    drawn = list(questions)
    random.Random(SEED).shuffle(drawn)
    one, other = drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]
    return [(one, other), (other, one)]


def _forms() -> dict[int, str]:
    """The forms of Chinook's answerable questions, by line."""
    rows = [line.split("\t") for line in FORMS.read_text(encoding="utf-8").splitlines() if line]
    return {int(line): form for line, form in rows}


def _source(name: str, work: Path) -> tuple[Path, Path]:
    """A database and its questions."""
    if name == CHINOOK:
        return data_dir() / CHINOOK / "chinook.sqlite", data_dir() / CHINOOK / "questions.jsonl"
    return build(name, work), questions_of(name)


def _figures(graded: Sequence[Graded]) -> dict[str, Any]:
    kinds = {kind: scores.as_json() for kind, scores in by_kind(graded).items()}
    keep = ("answerable", "right", "wrong", "ambiguous", "offered", "refused", "refused_rightly", "unanswerable")
    return {
        "scores": scores_of(graded).as_json(),
        "kinds": {kind: {key: scores[key] for key in keep} for kind, scores in kinds.items()},
    }


def table(results: Sequence[dict[str, Any]]) -> str:
    """The three figures of each database, as Markdown."""
    lines = [
        "| database | right among the answerable | right among the given answers | refused among the others |",
        "|---|---:|---:|---:|",
    ]
    for each in results:
        lines.append(_line(each["database"], each["scores"]))
        for how, told in each.get("labels", {}).items():
            if isinstance(told, dict):
                lines.append(_line(f"{each['database']}, 40 labels: {how}", told["scores"]))
    return "\n".join(lines)


def _line(name: str, scores: dict[str, Any]) -> str:
    parts = (("right", "answerable"), ("right", "given"), ("refused_rightly", "unanswerable"))
    shares = [f"{_percent(scores[part], scores[whole])} ({scores[part]} of {scores[whole]})" for part, whole in parts]
    return f"| {name} | {' | '.join(shares)} |"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def names() -> list[str]:
    """The databases that there are on this machine."""
    return [*([CHINOOK] if (data_dir() / CHINOOK / "chinook.sqlite").is_file() else []), *NAMES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join((CHINOOK, *NAMES))}; without one, all")
    parser.add_argument("--out", type=Path, default=Path("results/bench-answers.json"))
    parser.add_argument("--page", type=Path, help="page whose table is written anew")
    told = parser.parse_args()
    if unknown := set(told.names) - set(names()):
        parser.error(f"there is no database {', '.join(sorted(unknown))}; there are {', '.join(names())}")
    before = json.loads(told.out.read_text(encoding="utf-8"))["results"] if told.out.is_file() else []
    found = {each["database"]: each for each in before}
    with tempfile.TemporaryDirectory() as work:
        for name in told.names or names():
            found[name] = {**measured(name, Path(work)), "commit": current_commit()}
            print(table([found[name]]).splitlines()[-1], file=sys.stderr, flush=True)
    results = [found[name] for name in (CHINOOK, *NAMES) if name in found]
    versions = {"dualparse": __version__, "python": sys.version.split()[0], **{each: version(each) for each in DRIVERS}}
    stored = {"processor": processor(), "versions": versions, "today": TODAY.isoformat(), "results": results}
    write_text(told.out, json.dumps(stored, indent=1) + "\n")
    print(table(results))
    if told.page:
        between(told.page, BEGIN, END, table(results))


if __name__ == "__main__":
    main()
