"""`dualparse execute` and `dualparse check`: what logical forms mean, and whether they are good, line by line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from dualparse.domains.domain import Domain
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError, spelt_out
from dualparse.lf.errors import LF_ERRORS
from dualparse.use.cli.lines import Unusable, text_lines

DomainOption = Annotated[
    str, typer.Option("--domain", "-d", help="A domain's name or the path of its folder.", show_default=False)
]
FileArgument = Annotated[str, typer.Argument(help="A file with one form a line; - reads from standard input.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command("execute", rich_help_panel="Logical forms")(execute_forms)
    app.command("check", rich_help_panel="Logical forms")(check_forms)


def execute_forms(domain: DomainOption, file: FileArgument = "-") -> None:
    """Print the denotation of each form, or `error: reason`, one line for each line.

    Example: echo "( count ( all hut ) )" | dualparse execute --domain trails
    """
    opened = open_domain(domain)
    if opened.execute is None and opened.answer is None:
        raise InputError(f"forms of {opened.name} can be checked, not executed: use `dualparse check`")
    _answer_lines(file, lambda text: _denotation(opened, text))


def check_forms(domain: DomainOption, file: FileArgument = "-") -> None:
    """Print `ok` or `error: reason` for each form, one line for each line.

    Example: dualparse check --domain trails forms.txt
    """
    opened = open_domain(domain)
    _answer_lines(file, lambda text: _verdict(opened, text))


def _denotation(domain: Domain, text: str) -> str:
    """Of forms that come in a stream nothing is remembered, however many there are."""
    if domain.fresh is not None:
        verdict, answer = domain.fresh(text, None)
        return _error(verdict.reason, text) if answer is None else answer
    try:
        if domain.answer is not None:
            return domain.answer(text).denotation
        assert domain.execute is not None
        return domain.execute(text)
    except LF_ERRORS as error:
        return _error(str(error), text)


def _verdict(domain: Domain, text: str) -> str:
    verdict = domain.check(text) if domain.fresh is None else domain.fresh(text, None)[0]
    return "ok" if verdict.ok else _error(verdict.reason, text)


def _error(reason: str, text: str) -> str:
    """What is wrong; a line of an example file is told from a form."""
    return f"error: {reason}" + ("; expected a form alone, without its query and tab" if "\t" in text else "")


def _answer_lines(file: str, answer: Callable[[str], str]) -> None:
    """Answer every line as it comes, so that a program at the other end of a pipe can wait for it."""
    out = sys.stdout.buffer  # UTF-8 whatever the locale says, as the input is
    for text in text_lines(file):
        line = f"error: {text.reason}" if isinstance(text, Unusable) else answer(text)
        out.write(spelt_out(line).encode() + b"\n")
        out.flush()
