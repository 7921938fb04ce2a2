"""`dualparse feedback`, `learn` and `suggest`: people say what was right, and the run learns from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dualparse.errors import InputError
from dualparse.use.cli.lines import argument
from dualparse.use.cli.screen import Screen, say

if TYPE_CHECKING:
    from dualparse.asking.journal import Collected
    from dualparse.use.api import Parser

UNLABELED = "logged.txt"  # in the run folder: questions that were asked and have no label

JOURNAL = typer.Option(help="The journal; journal.jsonl in the folder by default.", metavar="FILE")


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(feedback)
    app.command()(learn)
    app.command()(suggest)


def feedback(
    target: Annotated[str, typer.Argument(help="A run folder or a connected folder.", metavar="DIR")],
    question: Annotated[str, typer.Argument(help="The question that was asked.")],
    right: Annotated[bool, typer.Option("--right", help="The answer was right.")] = False,
    wrong: Annotated[bool, typer.Option("--wrong", help="The answer was wrong.")] = False,
    meant: Annotated[str, typer.Option(help="The form that is meant.", metavar="FORM")] = "",
    journal: Annotated[Path | None, JOURNAL] = None,
    keep_days: Annotated[float | None, typer.Option(help="Drop records that are older.", metavar="DAYS")] = None,
    redact: Annotated[
        str, typer.Option(help="A function of text to text that sees every question first.", metavar="MODULE:NAME")
    ] = "",
) -> None:
    """Say of an answer that it was right or wrong, or what was meant.

    It goes to a journal, which is only ever added to; the command says where that is. `dualparse learn` reads it.

    Example: dualparse feedback runs/trails "huts with a bath" --meant "( filter ( all hut ) has_showers )"
    """
    from dualparse.asking.journal import MEANT, RIGHT, WRONG, Record, open_journal
    from dualparse.use.asking import open_any

    if [right, wrong, bool(meant)].count(True) != 1:
        raise InputError("say one of --right, --wrong and --meant FORM")
    asked = argument(question)
    if not asked.strip():
        raise InputError("the question is empty")
    asker = open_any(argument(target), light=True)
    try:
        reply = asker.run(meant, asked) if meant else asker.ask(asked)
    finally:
        asker.close()
    if meant and reply.status == "error":
        raise InputError(f"{meant!r} is no form that runs: {reply.reason}")
    if right and not reply.form:
        raise InputError(f"there is no answer that could be right ({reply.status}); --meant FORM says what is")
    path = _journal(Path(target), journal)
    kept = open_journal(path, keep_days=keep_days, redact=redact)
    kind = MEANT if meant else RIGHT if right else WRONG
    kept.add(Record(kind, asked, meant or reply.form, reply.status, reply.probability))
    console = Screen(highlight=False, markup=False, soft_wrap=True)
    console.print(f"noted in {path}: {kind}, {reply.said or reply.form or reply.reason or 'asked back'}")


def learn(
    run: Annotated[Path, typer.Argument(help="A run folder or a connected folder.", metavar="DIR")],
    journal: Annotated[Path | None, JOURNAL] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only remember: q2lf stays as it is.")] = False,
    epochs: Annotated[int, typer.Option(min=1, help="Epochs in which q2lf goes on.")] = 4,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "cpu",
) -> None:
    """Learn from the feedback in a journal: remember what was meant, then let q2lf go on for a few epochs.

    A corrected question is answered right from then on, and others of its kind more often. Where going on costs more
    than a point on dev, q2lf stays as it was. Questions without a label go to logged.txt in the run folder; the next
    game plays with them (--set data.queries=RUN/logged.txt). Of a connected folder nothing is trained: the labels go
    to its train.tsv, the other questions to its queries.txt.

    Example: dualparse learn runs/trails
    """
    from dualparse.asking.journal import collect, read_journal

    console = Screen(highlight=False, markup=False, soft_wrap=True)
    records = read_journal(_journal(run, journal))
    told = collect(records)
    if _is_connected(run):
        _learn_folder(run, len(records), told, console)
        return
    parser = _load(run, device)
    pairs = [(question, form) for question, form in told.labeled if _fits(parser, question, form, console)]
    lessons = parser.learn(pairs)
    _keep_unlabeled(parser, told.unlabeled)
    console.print(
        f"{len(records)} records: {len(pairs)} questions with the form that is meant ({len(lessons)} are remembered), "
        f"{len(told.unlabeled)} without ({run / UNLABELED})"
    )
    if pairs and not quick:
        _warm(parser, run, epochs, device, console)


def suggest(
    run: Annotated[Path, typer.Argument(help="A run folder or a connected folder.", metavar="DIR")],
    journal: Annotated[Path | None, JOURNAL] = None,
    most: Annotated[int, typer.Option("-n", min=1, help="How many questions.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "cpu",
) -> None:
    """List the logged questions whose label would help most: answered least surely, about the domain, and different.

    Example: dualparse suggest runs/trails -n 5
    """
    from dualparse.asking.journal import collect, read_journal

    questions = list(collect(read_journal(_journal(run, journal))).unlabeled)
    console = Screen(highlight=False, markup=False, soft_wrap=True)
    found = _helpful_folder(run, questions, most) if _is_connected(run) else _helpful(run, questions, most, device)
    for question, probability, form, said in found:
        if as_json:
            say(json.dumps({"question": question, "probability": probability, "form": form}, ensure_ascii=False))
        else:
            console.print(f"{probability:4.0%}  {question}")
            console.print(f"      {said or 'no reading'}")


def _helpful(run: Path, questions: list[str], most: int, device: str) -> list[tuple[str, float, str, str]]:
    """Of a run: question, probability, form, and what was understood."""
    from dualparse.asking.calibrate import weighed
    from dualparse.asking.suggesting import suggest as chosen

    parser = _load(run, device)
    questions = [question for question in questions if _readable(parser, question)]
    found, scales = weighed(parser, questions), parser.scales
    told = []
    for number in chosen(found, scales.familiar, most=most, topic_cut=scales.trust.topic_cut):
        form = found[number].options[0].form if found[number].options else ""
        said = parser.asker.sayer.say(form) if form else ""
        told.append((questions[number], round(found[number].probability, 4), form, said))
    return told


def _helpful_folder(folder: Path, questions: list[str], most: int) -> list[tuple[str, float, str, str]]:
    """The same of a connected folder."""
    from dualparse.asking.asker import open_asker
    from dualparse.asking.folder_learning import helpful

    with open_asker(folder) as asker:
        found = helpful(asker, questions, most=most)
    return [(question, round(reply.probability, 4), reply.form, reply.said) for question, reply in found]


def _learn_folder(folder: Path, records: int, told: Collected, console: Screen) -> None:
    from dualparse.asking.asker import open_asker
    from dualparse.asking.folder_learning import keep_unlabeled, remember
    from dualparse.asking.labels import PAIRS

    with open_asker(folder) as asker:
        replies = {pair: asker.run(pair[1], pair[0]) for pair in told.labeled}
    for (question, _), reply in replies.items():
        if reply.reason:
            console.print(f"left out: {question!r}: {reply.reason}")
    pairs = [pair for pair, reply in replies.items() if not reply.reason]
    remember(folder, pairs)
    new = keep_unlabeled(folder, told.unlabeled)
    console.print(
        f"{records} records: {len(pairs)} questions with the form that is meant ({folder / PAIRS}), "
        f"{new} new ones without ({folder / 'queries.txt'})"
    )


def _is_connected(folder: Path) -> bool:
    from dualparse.database.folder import is_connected

    return is_connected(folder) and not (folder / "config.toml").is_file()


def _journal(folder: Path, named: Path | None) -> Path:
    from dualparse.asking.journal import NAME

    return named or folder / NAME


def _load(run: Path, device: str) -> Parser:
    from dualparse.use.api import load

    return load(run, device=device)


def _readable(parser: Parser, question: str) -> bool:
    try:
        parser.read(question)
    except InputError:
        return False
    return True


def _fits(parser: Parser, question: str, form: str, console: Screen) -> bool:
    """Whether a label can be learned; one that cannot is told."""
    problem = parser.problem(question, form)
    if problem:
        console.print(f"left out: {question!r}: {problem}")
    return not problem


def _keep_unlabeled(parser: Parser, questions: tuple[str, ...]) -> None:
    """The words of the questions as the files of the domain have them, for `data.queries`."""
    from dualparse.files import write_text

    readings = [parser.read(question) for question in questions if _readable(parser, question)]
    lines = dict.fromkeys(" ".join(each.said if parser.domain.reads else each.words) for each in readings)
    write_text(parser.run.folder / UNLABELED, "".join(line + "\n" for line in lines))


def _warm(parser: Parser, run: Path, epochs: int, device: str, console: Screen) -> None:
    from dualparse.asking.learning import Warmed, warm_start
    from dualparse.asking.memory import read_lessons
    from dualparse.engines.cores import use_all_cores
    from dualparse.training.run import choose_device

    use_all_cores()
    lessons = read_lessons(run)
    for event in warm_start(parser.run, parser.domain, lessons, epochs=epochs, device=choose_device(device)):
        if isinstance(event, Warmed):
            became = "its weights are those of the run now" if event.kept else "that costs too much: it stays as it was"
            console.print(f"q2lf on dev: {event.before:.1f} before, {event.after:.1f} after; {became}")
            if event.kept and not parser.recipe.data.everything:
                _load(run, device).calibrate(precision=parser.scales.trust.wanted)
