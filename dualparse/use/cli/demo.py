"""`dualparse demo`: from a database to answers, then from labels to better ones, on the domain that ships with the
package."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from dualparse.use.cli.ask import lines_of
from dualparse.use.cli.connect import needs_database
from dualparse.use.cli.progress import follow
from dualparse.use.cli.screen import Screen

if TYPE_CHECKING:
    import torch

    from dualparse.asking.asker import FolderAsker
    from dualparse.config import Recipe
    from dualparse.domains.domain import Domain
    from dualparse.matching.index import Index
    from dualparse.runs import Run

DATABASE, FOLDER, RUN, PLOT = "trails.sqlite", "trails", "run", "curves.png"  # in the demo's folder
MOST_LINES = 4  # of an answer
QUESTIONS = (
    "how many huts are there",
    "which easy trails start in orsaz",
    "which huts on the cloud traverse have showers",
    "what is the longest easy trail",
    "which peaks are higher than 3200 m",
    "what is the average price of huts that serve food",
    "how many trails start in each village",
    "will it rain in orsaz on saturday",
)


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    out: Path = typer.Option(Path("demo"), help="Folder of the demo; what is finished there is used again."),
    device: str = typer.Option("cpu", help="auto, cpu or cuda."),
) -> None:
    """Connect to a database and ask it without any training; then train with half of the labels, then by the game.

    The database holds the facts of the embedded domain. Takes a few minutes on two cores.

    Example: dualparse demo
    """
    with needs_database():
        from dualparse.asking.asker import open_asker
    from dualparse.config import read_recipe
    from dualparse.domains.registry import open_domain
    from dualparse.engines.cores import use_all_cores
    from dualparse.lab.plots import save_plot
    from dualparse.runs import Run
    from dualparse.training.run import choose_device, train
    from dualparse.use.api import load

    console = Screen(highlight=False, soft_wrap=True)
    chosen = choose_device(device)
    with as_file(files("dualparse.use.cli") / "demo.toml") as path:
        recipe = read_recipe(path)
    domain = open_domain(recipe.domain)
    _heading("1. Connect to a database", console)
    _connect(out, console)
    with open_asker(out / FOLDER) as asker:
        _heading("2. Ask it, without labels and without training", console)
        _ask(asker, console)
        _heading("3. Train with half of the labels, then play the game with what is left of the other pairs", console)
        use_all_cores()
        follow(train(recipe, out / RUN, resume=True, device=chosen), console)
        run = Run.open(out / RUN)
        parser = load(out / RUN, device=chosen)
        if not parser.scales.trust.fitted:
            parser.calibrate()
        save_plot(run.folder, out / PLOT)
        _heading("4. What each step adds", console)
        _compare(asker, domain, run, recipe, chosen, console)
    _go_on(out, console)


def _heading(text: str, console: Console) -> None:
    console.print(Text(f"\n{text}\n", "bold"))


def _connect(out: Path, console: Console) -> None:
    """The facts of the domain as a database, and the folder through which it is asked."""
    from dualparse.database.connect import connect
    from dualparse.database.location import locate
    from dualparse.database.worlds import write_database
    from dualparse.domains.embedded import EMBEDDED
    from dualparse.domains.folder import read_folder
    from dualparse.lines import raise_error

    database = out / DATABASE
    if not database.is_file():
        out.mkdir(parents=True, exist_ok=True)
        _, schema, world = read_folder(EMBEDDED / "trails", report=raise_error)
        write_database(world, database, schema, units=True)
    report = connect(locate(str(database)), out / FOLDER)
    console.print(f"$ dualparse connect {database} --out {out / FOLDER}")
    console.print(
        f"{report.tables} tables, {report.properties} properties, {report.relations} relations, {report.rows} rows"
    )


def _ask(asker: FolderAsker, console: Console) -> None:
    for question in QUESTIONS:
        reply = asker.ask(question)
        console.print(Text(question, "bold"))
        if reply.answered:
            lines = list(lines_of(reply))
            more = [f"  and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
            for line in lines[:MOST_LINES] + more:
                console.print(Text(line))
            console.print(Text(f"  {reply.sql}", "dim"))
        elif reply.choices:
            console.print(Text(f"  this can mean: {'; '.join(choice.said for choice in reply.choices)}"))
        else:
            console.print(Text(f"  no answer: {reply.reason}"))


def _compare(
    asker: FolderAsker, domain: Domain, run: Run, recipe: Recipe, device: torch.device, console: Console
) -> None:
    """Every step on the test questions."""
    from dualparse.training.score import score_run

    without = _without_labels(asker, domain, console)
    index = _index(domain, console)
    half = score_run(run, split="test", before=True, device=device)
    game = score_run(run, split="test", device=device)
    rows = {"no labels: schema and names": [without]}
    if index is not None:
        rows["no labels: what the grammar says"] = [_nearest(index)]
    rows |= {"half of the labels": _told(half), "then the game": _told(game)}
    if index is not None:
        rows["game and grammar together"] = [_together(run, index, device)]
    choosers = ("right answers", "both agents choose")[: max(map(len, rows.values()))]
    table = Table("step", box=None, header_style="bold", pad_edge=False)
    for column in choosers:
        table.add_column(column, justify="right")
    for name, told in rows.items():
        table.add_row(name, *map(_with_interval, told), *["-"] * (len(choosers) - len(told)))
    labeled = recipe.data.labeled
    share = f"{labeled:.0%}" if isinstance(labeled, float) else f"those of {labeled}"
    console.print(
        f"{without['examples']} test questions: the share of right answers and its 95 % interval. "
        "None was trained on, though their forms\nwere met in other words. "
        f"{share} of the training pairs have labels, and {recipe.data.canonical} more come from the domain's grammar;\n"
        "the game also plays with the questions and forms of the others.\n"
    )
    console.print(table)


def _told(scores: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [scores[who] for who in ("q2lf", "both") if who in scores]


def _without_labels(asker: FolderAsker, domain: Domain, console: Console) -> Mapping[str, Any]:
    """The first readings of the untrained asker, compared with the facts of the domain."""
    import numpy as np

    from dualparse.asking.saying import Sayer
    from dualparse.data.examples import load_examples
    from dualparse.evaluate import bootstrap
    from dualparse.grading.rows import Match, match

    world = Sayer(domain).plain
    assert world is not None
    right: list[float] = []
    examples = load_examples(domain, dev_seed=1).test
    for example in track(examples, "asking without training", console=Screen(stderr=True), transient=True):
        _, reply = asker.judged(" ".join(example.query or ()))
        wanted = world.answer(" ".join(example.lf or ())).values
        right.append(match(reply.rows, wanted) is not Match.NO)
    return {
        "accuracy": 100 * sum(right) / len(right),
        "interval_95": bootstrap(np.array(right)),
        "examples": len(right),
    }


def _index(domain: Domain, console: Console) -> Index | None:
    """All that the grammar says, by the matcher as it ships; None without the extra `pretrained`."""
    from dualparse.matching.adapter import open_matcher
    from dualparse.matching.index import open_index, templates_of

    if find_spec("transformers") is None or find_spec("tokenizers") is None:
        return None
    with console.status("reading all that the grammar says, which takes a minute or two the first time"):
        return open_index(templates_of(domain), open_matcher())


def _nearest(index: Index) -> Mapping[str, Any]:
    """The forms whose utterances are nearest to the test questions."""
    from dualparse.data.examples import load_examples
    from dualparse.training.score import nearest, score_forms

    examples = load_examples(index.domain, dev_seed=1).test
    return score_forms(nearest(index, [example.query or () for example in examples]), examples, index.domain, {})[0]


def _together(run: Run, index: Index, device: torch.device) -> Mapping[str, Any]:
    """Forms that the agents find and that the grammar has, chosen by both agents and the matcher."""
    from dualparse.choosing.chooser import Proposed
    from dualparse.choosing.ranking import Weighted, rerank
    from dualparse.choosing.scorers import Meaning
    from dualparse.data.examples import load_examples
    from dualparse.training.score import score_forms

    domain = index.domain
    examples = load_examples(domain, dev_seed=1).test
    queries = [example.query or () for example in examples]
    found = Proposed(run.search(domain, device), index).choose(queries)
    scorers = [*run.scorers(domain, device), Weighted("matcher", Meaning(index), 1.0)]
    return score_forms(rerank(queries, found, scorers), examples, domain, {})[0]


def _with_interval(scores: Mapping[str, Any]) -> str:
    low, high = scores["interval_95"]
    return f"{scores['accuracy']:.1f} %  ({low:.0f}-{high:.0f})"


def _go_on(out: Path, console: Console) -> None:
    _heading("5. Go on", console)
    for purpose, command in (
        ("ask the database", f'dualparse ask {out / FOLDER} "which huts serve food" --sql'),
        ("ask what was trained", f'dualparse ask {out / RUN} "which huts serve food"'),
        ("watch a round of the game", f'dualparse game {out / RUN} "which huts serve food"'),
        ("both on a page", f"dualparse serve {out / FOLDER} {out / RUN}   (then open http://127.0.0.1:8000)"),
    ):
        console.print(Text(f"  {purpose:26}{command}"))
    console.print(Text(f"\nlearning curves and rewards: {out / PLOT}"))
