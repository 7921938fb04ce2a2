"""The `dualparse` command. Errors of the user's input end in one line and exit code 2, never in a traceback."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import typer

from dualparse import __version__
from dualparse.errors import InputError
from dualparse.files import FULL
from dualparse.use.cli import (
    ask,
    connect,
    data,
    demo,
    domain,
    errors,
    evaluate,
    feedback,
    forms,
    game,
    mcp,
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
    worksheet,
)
from dualparse.use.cli.screen import Screen

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
    ask,
    worksheet,
    train,
    evaluate,
    feedback,
    errors,
    verify,
    weigh,
    parse,
    serve,
    mcp,
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
    debug: bool = typer.Option(False, "--debug", help="Show where an unexpected error comes from."),
) -> None:
    """Questions into logical forms that run, from little labelled data."""


def main() -> None:
    """Entry point of the command."""
    # Before torch is loaded, and for the processes that commands start: see `settle_threads`.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    debug = "--debug" in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    try:
        app()
    except InputError as error:
        _told(f"error: {error}", 2)
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except SystemExit as end:
        if end.code == INTERRUPTED:  # Typer has turned Ctrl-C into this
            Screen(stderr=True).print("interrupted")
        raise
    except OSError as error:
        if debug or error.errno not in FULL:
            _unexpected(error, debug=debug)
        place = f"{error.filename}: " if error.filename else ""
        _told(f"error: {place}cannot write or read: {error.strerror}", 2)
    except Exception as error:
        _unexpected(error, debug=debug)


def _told(text: str, code: int) -> NoReturn:
    Screen(stderr=True, highlight=False).print(text, markup=False, soft_wrap=True)
    sys.exit(code)


def _unexpected(error: Exception, *, debug: bool) -> NoReturn:
    """What nobody has thought of: one line, and the trace for who asks for it."""
    if debug:
        raise error
    told = " ".join(str(error).split())[:200]
    _told(f"error: {type(error).__name__}: {told} (unexpected; the same command with --debug shows where)", 1)


if __name__ == "__main__":
    main()
