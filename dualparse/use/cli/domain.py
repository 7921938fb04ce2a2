"""`dualparse domain list | show | check | new`: what can be asked about, and domains of one's own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dualparse.data.folder_check import Severity, check_folder
from dualparse.data.summary import Summary, summarize
from dualparse.data.template import write_template
from dualparse.domains.domain import Domain
from dualparse.domains.registry import families, open_domain
from dualparse.errors import InputError
from dualparse.fetch.benchmarks import State, verify
from dualparse.use.cli.answers import answer
from dualparse.use.cli.screen import Screen, say

commands = typer.Typer(help="Look at domains, and make one of your own.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the family `domain` to the program."""
    app.add_typer(commands, name="domain")


@commands.command("list")
def list_domains() -> None:
    """Name the domains and say whether their files are here.

    Example: dualparse domain list
    """
    table = Table("domain", "files", box=None, pad_edge=False)
    for family in families():
        state = family.title
        if needed := family.dataset:
            missing = State.MISSING in verify([needed]).values()
            state = f"dualparse data get {needed.name}" if missing else "here"
        for name in family.names:
            table.add_row(name, state)
    table.add_row("a folder of yours", "dualparse domain new my-domain")
    Screen().print(table)


@commands.command("show")
def show(
    domain: Annotated[str, typer.Argument(help="Name of a domain, or a folder.", metavar="DOMAIN")],
    entities: Annotated[int, typer.Option(help="Entities to name of each type.", min=0)] = 4,
    examples: Annotated[int, typer.Option(help="Questions to show.", min=0)] = 8,
) -> None:
    """Show a domain: types, properties, files, and questions with their forms and answers.

    Example: dualparse domain show trails
    """
    opened = open_domain(domain)
    if opened.answer is not None:
        raise InputError(f"{domain}: this folder is connected to a database; ontology.txt says what is in it")
    summary = summarize(opened, examples=examples)
    console = Screen(highlight=False)
    console.print(f"[bold]{escape(opened.name)}[/bold]: {escape(opened.title)}")
    if opened.description:
        console.print(escape(opened.description))
    _show_counts(console, opened, summary)
    _show_types(console, summary, entities)
    _show_properties(console, summary)
    _show_examples(console, opened, summary)


@commands.command("check")
def check(
    folder: Annotated[Path, typer.Argument(help="Folder of a domain.", metavar="DIR")],
) -> None:
    """Report every problem of a domain folder with file and line. Exit code 1 when there is an error.

    Example: dualparse domain check my-domain
    """
    problems = check_folder(folder)
    for problem in problems:
        say(problem)
    counts = Counter(problem.severity for problem in problems)
    errors, warnings = counts[Severity.ERROR], counts[Severity.WARNING]
    say(f"{folder}: {_number(errors, 'error')}, {_number(warnings, 'warning')}")
    if errors:
        raise typer.Exit(1)


@commands.command("new")
def new(
    folder: Annotated[Path, typer.Argument(help="Folder to make; it must not exist or be empty.", metavar="DIR")],
) -> None:
    """Make a small working domain to turn into one of your own.

    Example: dualparse domain new my-domain
    """
    for path in write_template(folder):
        say(path)
    say(f"now edit the files, and see what they lack with: dualparse domain check {folder}")


def _show_counts(console: Console, domain: Domain, summary: Summary) -> None:
    sizes = ", ".join(f"{size} {split}" for split, size in summary.sizes.items())
    console.print(f"examples: {sizes or 'none'}; {summary.forms} distinct forms; accuracy: {domain.metric.__name__}")
    lexicon = domain.lexicon
    console.print(f"lexicon: {len(lexicon)} phrases for {len(lexicon.entities)} entities", end="")
    console.print(f"; grammar: {domain.grammar.name}" if domain.grammar else "")


def _show_types(console: Console, summary: Summary, entities: int) -> None:
    table = Table("type", "entities", "such as", box=None, pad_edge=False, header_style="bold", title_justify="left")
    for row in summary.types:
        named = ", ".join(entity.rpartition(".")[2] for entity in row.entities[:entities])
        table.add_row(escape(row.name), str(len(row.entities) or ""), escape(named))
    console.print()
    console.print(table)


def _show_properties(console: Console, summary: Summary) -> None:
    table = Table("of", "property", "values", "facts", box=None, pad_edge=False, header_style="bold")
    last = ""
    for row in summary.properties:
        owner = "" if row.owner == last else row.owner
        table.add_row(escape(owner), escape(row.name), escape(row.kind), "" if row.facts is None else str(row.facts))
        last = row.owner
    console.print()
    console.print(table)


def _show_examples(console: Console, domain: Domain, summary: Summary) -> None:
    for shown in summary.examples:
        console.print()
        console.print(f"[bold]{escape(shown.question)}[/bold]", soft_wrap=True)
        console.print(f"  {escape(shown.lf)}", soft_wrap=True)
        if shown.denotation:
            read = shown.denotation if shown.denotation.startswith("error") else answer(shown.denotation)
            console.print(f"  [green]{escape(read)}[/green]", soft_wrap=True)
    others = [
        question for question in domain.questions if question not in {shown.question for shown in summary.examples}
    ]
    if others:
        console.print("\n[bold]to try on a trained parser[/bold]")
        for question in others:
            console.print(f"  {escape(question)}", soft_wrap=True)


def _number(amount: int, noun: str) -> str:
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"
