"""What the pretrained encoder adds to answers about a connected folder, by the databases of databases/dev and Chinook.

    python -m benchmarks.asking WORK [NAME ...] [--out FILE]

Every database is connected in the folder WORK and asked its questions without the encoder and with it. The shares are
those of `dualparse evaluate`. The probabilities were fitted on the databases of databases/dev (calibration.py); Chinook
took no part. It is also asked the questions of offtopic, which it cannot answer.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from benchmarks.calibration import DEV
from benchmarks.databases.build import build, questions_of
from dualparse.asking.asker import FolderAsker, open_asker
from dualparse.asking.reply import REFUSED
from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.fetch.benchmarks import data_dir
from dualparse.files import write_text
from dualparse.grading.grade import grade, scores_of
from dualparse.grading.questions import read_questions
from dualparse.grading.wanted import answers_of
from dualparse.lab.sweep.jobs import current_commit

CHINOOK = "chinook"
AWAY = [Path(__file__).parent / "offtopic" / f"{name}.tsv" for name in ("anywhere", CHINOOK)]
OUT = Path("results/bench-asking.json")


def connected(name: str, work: Path) -> tuple[Path, Path]:
    """The folder of a database, and the file of its questions."""
    if name == CHINOOK:
        file, questions = (data_dir() / CHINOOK / each for each in ("chinook.sqlite", "questions.jsonl"))
    else:
        file, questions = build(f"dev/{name}", work), questions_of(f"dev/{name}")
    connect(locate(str(file)), work / name)
    return work / name, questions


def measured(asker: FolderAsker, path: Path) -> dict[str, object]:
    """What comes of the questions of a database, and the time of the processor for an answer."""
    questions = read_questions(path)
    start = time.process_time()
    scores = scores_of(list(grade(asker, questions, answers_of(path, asker, asker.source))))
    seconds = (time.process_time() - start) / len(questions)
    told = {name: getattr(scores, name) for name in ("answerable", "right", "wrong", "ambiguous", "offered", "refused")}
    others = {"unanswerable": scores.unanswerable, "refused_rightly": scores.refused_rightly}
    return {**told, **others, "processor_ms_a_question": round(1000 * seconds, 1)}


def refused(asker: FolderAsker) -> dict[str, list[int]]:
    """Of questions that have no answer: how many there are, how many are refused, how many are given an answer."""
    found = {}
    for path in AWAY:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if "\t" in line and line[0] != "#"]
        replies = [asker.ask(line.partition("\t")[2]) for line in lines]
        given = sum(reply.answered for reply in replies)
        found[path.stem] = [len(lines), sum(reply.status == REFUSED for reply in replies), given]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("names", nargs="*", default=[*DEV, CHINOOK])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = []
    for name in options.names:
        folder, questions = connected(name, options.work)
        for encoder in (False, True):
            with open_asker(folder) as asker:
                if not encoder:
                    asker.nearness = None
                row = {"database": name, "encoder": encoder, **measured(asker, questions)}
                row |= {"away": refused(asker)} if name == CHINOOK else {}
            rows.append(row)
            print(json.dumps(row), flush=True)
    for encoder in (False, True):
        some = [row for row in rows if row["encoder"] is encoder]
        sums = {key: sum(int(str(row[key])) for row in some) for key in ("answerable", "right", "wrong", "refused")}
        print(f"{'with' if encoder else 'without'} the encoder: {sums}")
    if options.out:
        write_text(options.out, json.dumps({"commit": current_commit(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
