"""The `dualparse` command. Errors of the user's input end in one line and exit code 2, never in a traceback."""

from __future__ import annotations

import os
import sys

import typer
from rich.console import Console

from dualparse import __version__
from dualparse.errors import InputError
from dualparse.use.cli import (
    connect,
    data,
    demo,
    domain,
    errors,
    evaluate,
    forms,
    game,
    parse,
    plot,
    report,
    serve,
    sql,
    sweep,
    synthesis,
    train,
    verify,
    weigh,
)

INTERRUPTED = 130  # exit code after Ctrl-C

app = typer.Typer(
    name="dualparse",
    help="Questions into logical forms that run, from little labelled data.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
PARTS = (
    demo,
    connect,
    train,
    evaluate,
    errors,
    verify,
    weigh,
    parse,
    serve,
    sql,
    plot,
    game,
    sweep,
    report,
    forms,
    domain,
    data,
    synthesis,
)
for part in PARTS:
    part.register(app)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"dualparse {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Questions into logical forms that run, from little labelled data."""


def main() -> None:
    """Entry point of the command."""
    # Before torch is loaded. The matrices are small, and threads that wait for each other at every one of them crawl as
    # soon as another program wants a core.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        app()
    except InputError as error:
        Console(stderr=True, highlight=False).print(f"error: {error}", markup=False, soft_wrap=True)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # Typer has turned Ctrl-C into this
            Console(stderr=True).print("interrupted")
        raise


if __name__ == "__main__":
    main()
