"""`dualparse evaluate --questions`: questions asked and graded, shown by kind, with every miss."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from rich.progress import track
from rich.table import Table

from dualparse.files import write_text
from dualparse.use.cli.connect import needs_database
from dualparse.use.cli.days import day
from dualparse.use.cli.lines import argument
from dualparse.use.cli.screen import Screen, say

if TYPE_CHECKING:
    from dualparse.asking.reply import Asker
    from dualparse.database.source import Source
    from dualparse.grading.grade import Graded

QUESTIONS_ONLY = ("--database", "--today", "--json", "--out")
WIDTH = 110  # characters of rows that are shown of a miss


def grade_file(target: str, file: Path, *, database: str, today: str, as_json: bool, out: Path | None) -> None:
    """Ask every question of a file and show how it went."""
    from dualparse.grading.grade import grade
    from dualparse.grading.questions import read_questions
    from dualparse.grading.wanted import answers_of

    questions = read_questions(file)
    with _opened(argument(target), database, day(today)) as (asker, source):
        graded_ones = grade(asker, questions, answers_of(file, asker, source))
        console = Screen(stderr=True)
        graded = list(track(graded_ones, "questions", total=len(questions), console=console, transient=True))
    facts = _facts(graded, target=target, file=file, today=today)
    if out is not None:
        write_text(out, json.dumps(_stored(facts, graded), indent=1, ensure_ascii=False) + "\n")
    if as_json:
        say(json.dumps({**facts, "misses": [_miss(each) for each in graded if not each.good]}, ensure_ascii=False))
    else:
        _show(graded, Screen(highlight=False, markup=False, soft_wrap=True))


@contextmanager
def _opened(target: str, database: str, today: date | None) -> Iterator[tuple[Asker, Source | None]]:
    """The asker, and the database for SQL, where the target is a connected folder or `database` says which."""
    with needs_database():
        from dualparse.asking.asker import open_asker
        from dualparse.database.folder import is_connected, read_connected
        from dualparse.database.location import locate
        from dualparse.database.source import open_source

    with ExitStack() as stack:
        location = locate(database) if database else None
        if location is None and is_connected(Path(target)):
            location = read_connected(Path(target)).location
        source = stack.enter_context(open_source(location)) if location is not None else None
        asker = open_asker(target, database=database, today=today)
        stack.callback(asker.close)
        yield asker, source


def _facts(graded: Sequence[Graded], *, target: str, file: Path, today: str) -> dict[str, Any]:
    from dualparse.grading.grade import by_kind, scores_of

    seconds = sorted(each.seconds for each in graded)
    return {
        "target": target,
        "questions": str(file),
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "today": today or date.today().isoformat(),
        "scores": scores_of(graded).as_json(),
        "kinds": {kind: scores.as_json() for kind, scores in by_kind(graded).items()},
        "median_seconds": round(median(seconds), 4),
        "slowest_seconds": round(seconds[-1], 4),
    }


def _stored(facts: dict[str, Any], graded: Sequence[Graded]) -> dict[str, Any]:
    """What a file of results holds: paths by their last name, so that a result says the same on every machine."""
    from dualparse.lab.sweep.jobs import current_commit

    names = {"target": Path(facts["target"]).name, "questions": Path(facts["questions"]).name}
    return {**facts, **names, "commit": current_commit(), "graded": [each.as_json() for each in graded]}


def _miss(each: Graded) -> dict[str, Any]:
    """A miss for JSON: its first rows, and what was to be there."""
    more = {"wanted": _line(each.wanted.rows), "given": _line(each.reply.rows), "unanswerable": each.question.reason}
    return {**each.as_json(), **more}


def _show(graded: Sequence[Graded], console: Screen) -> None:
    from dualparse.grading.grade import by_kind, scores_of

    table = Table("kind", box=None, header_style="bold")
    for name in ("questions", "right", "wrong", "ambiguous", "refused", "error"):
        table.add_column(name, justify="right")
    total = scores_of(graded)
    for kind, scores in [*by_kind(graded).items(), ("all", total)]:
        counts = (scores.questions, scores.right, scores.wrong, scores.ambiguous, scores.refused, scores.error)
        table.add_row(kind or "-", *map(str, counts), style="bold" if kind == "all" else None)
    console.print(table)
    console.print()
    shares = total.shares()
    console.print(f"right among the answerable:    {_percent(shares['right_of_answerable'], total.right)}")
    console.print(f"right among the given answers: {_percent(shares['right_of_given'], total.right)}")
    console.print(
        f"refused among the others:      {_percent(shares['refused_of_unanswerable'], total.refused_rightly)}"
    )
    if total.ambiguous:
        console.print(f"offered among the readings:    {total.offered} of {total.ambiguous} ambiguous")
    if total.wider:
        console.print(f"more columns than asked for:   {total.wider} of {total.right} right answers")
    seconds = [each.seconds for each in graded]
    console.print(f"an answer takes {1000 * median(seconds):.0f} ms (median), {1000 * max(seconds):.0f} ms at the most")
    for each in graded:
        if not each.good:
            console.print()
            _show_miss(each, console)


def _show_miss(each: Graded, console: Screen) -> None:
    question, reply = each.question, each.reply
    offered = ", the right reading among them" if each.offered else ""
    console.print(f"{question.line}: {question.text}   [{question.kind or '-'}, {each.outcome}{offered}]")
    console.print(f"  wanted: {_line(each.wanted.rows) if question.answerable else f'no answer: {question.reason}'}")
    if reply.answered:
        console.print(f"  given:  {_line(reply.rows)}")
    for choice in reply.choices if reply.status == "ambiguous" else ():
        console.print(f"  choice: {_cut(choice.form)}")
    if reply.form:
        console.print(f"  form:   {reply.form}   ({reply.probability:.2f})")
    if reply.reason:
        console.print(f"  reason: {_cut(reply.reason)}")


def _line(rows: Sequence[Sequence[object]]) -> str:
    """Rows on one line."""
    told: list[str] = []
    for row in rows[:WIDTH]:
        told.append(" | ".join("-" if cell is None else " ".join(str(cell).split()) for cell in row))
    return _cut("; ".join(told) or "nothing", f" ({len(rows)} rows)" if len(rows) > 1 else "")


def _cut(text: str, more: str = "") -> str:
    return (text if len(text) <= WIDTH else f"{text[:WIDTH]}...") + more


def _percent(share: dict[str, float | int | None], part: int) -> str:
    if not share["of"]:
        return "there are none"
    return f"{share['percent']} % ({part} of {share['of']}; {share['low']}-{share['high']} at 95 %)"
