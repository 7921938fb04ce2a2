"""`dualparse serve`: connected databases and trained runs as a web service, with a page to ask them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING

import typer

from dualparse.errors import InputError
from dualparse.use.cli.screen import Screen

if TYPE_CHECKING:
    from dualparse.asking.journal import Journal
    from dualparse.use.service.limits import Limits
    from dualparse.use.service.served import Target


JOURNAL = "journal.jsonl"  # in each folder that is served


def register(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    runs: list[str] = typer.Argument(
        metavar="DIR...", help="Connected folders and run folders; NAME=FOLDER gives one another name."
    ),
    host: str = typer.Option("127.0.0.1", help="Address to listen on; 0.0.0.0 is every one of this machine."),
    port: int = typer.Option(8000, min=0, max=65535, help="Port; 0 picks a free one."),
    token: str | None = typer.Option(
        None, envvar="DUALPARSE_TOKEN", help="Ask callers for this bearer token.", show_envvar=True
    ),
    batch: int = typer.Option(32, min=1, max=512, help="Most questions searched together."),
    searches: int = typer.Option(1, min=1, max=64, help="Searches of a run at the same time, in each process."),
    workers: int = typer.Option(1, min=1, max=64, help="Processes that serve; more for idle cores."),
    timeout: float = typer.Option(10.0, min=0.1, max=600.0, help="Seconds a request may take."),
    connections: int = typer.Option(2048, min=8, max=100_000, help="Most connections open at once."),
    per_client: int = typer.Option(1024, min=1, max=100_000, help="Most connections of one address open at once."),
    rate: int = typer.Option(
        0, min=0, max=1_000_000, help="Most questions of one address a minute, in each process; 0 is any number."
    ),
    log: bool = typer.Option(False, "--log", help="A line of JSON for every request, on standard error."),
    log_questions: bool = typer.Option(False, "--log-questions", help="The same, with what was asked."),
    journal: bool = typer.Option(
        False, "--journal", help="Keep questions and feedback in journal.jsonl of each folder, for `dualparse learn`."
    ),
    keep_days: float | None = typer.Option(None, help="Drop records of the journal that are older.", metavar="DAYS"),
    redact: str = typer.Option(
        "", help="A function of text to text that sees every question before the journal.", metavar="MODULE:NAME"
    ),
    allowed_host: list[str] = typer.Option(
        [],
        help="Host name to answer to besides this machine's own; others are refused then, whatever --host is. "
        "Repeatable.",
    ),
    device: str = typer.Option("cpu", help="auto, cpu or cuda."),
    compiled: bool = typer.Option(False, "--compiled", help="Search with compiled steps: quicker answers on a CPU."),
) -> None:
    """Serve connected folders and runs over HTTP: the page at /, the API at /docs.

    Example: dualparse serve runs/trails
    """
    folders = _named(runs)
    if token is not None and not (token.strip() and token.isascii() and token.isprintable()):
        raise InputError("the token must be printable ASCII and not empty")
    if not journal and (keep_days is not None or redact):
        raise InputError("--keep-days and --redact are about the journal: add --journal")
    from dualparse.use.service.limits import Limits
    from dualparse.use.service.server import is_loopback, listen, names_answered_to, url
    from dualparse.use.service.workers import run_workers, shared_figures

    most = {"connections": connections, "per_client": min(per_client, connections), "rate": rate}
    limits = Limits(batch=batch, searches=searches, seconds=timeout, **most)
    with listen(host, port) as listener:  # before the models: a taken port should not cost their loading
        told = partial(_tell, url(listener), folders, journal=journal, open_to_all=not is_loopback(host) and not token)
        work = partial(
            _work,
            listener,
            partial(_opened, folders, device=device, compiled=compiled),
            partial(_journals, folders, keep_days=keep_days, redact=redact) if journal else dict,
            limits=limits,
            token=token,
            hosts=names_answered_to(host, allowed_host),
            log=log or log_questions,
            questions=log_questions,
        )
        if workers == 1:
            work(told)
            return
        with shared_figures():
            told()
            if failed := run_workers(workers, lambda: work(lambda: None)):
                raise typer.Exit(failed)


def _work(
    listener: socket,
    opened: Callable[[], dict[str, Target]],
    journals: Callable[[], dict[str, Journal]],
    ready: Callable[[], None],
    *,
    limits: Limits,
    token: str | None,
    hosts: frozenset[str] | None,
    log: bool,
    questions: bool,
) -> None:
    """What a process that serves does, from loading to its end; `ready` is called in between."""
    from dualparse.use.service.app import make_app
    from dualparse.use.service.observing import Log, log_to_stderr
    from dualparse.use.service.server import run

    targets = opened()
    gc.collect()
    gc.freeze()  # what is there now stays: looking through it again and again would make requests wait
    kept = journals()
    ready()
    lines = log_to_stderr(questions=questions) if log else Log()
    app = make_app(targets, limits=limits, token=token, hosts=hosts, log=lines, journals=kept)
    try:
        run(app, listener, limits)
    finally:
        gc.unfreeze()  # what is never let go of is told as leaked when the process ends


def _tell(address: str, folders: dict[str, Path], *, journal: bool, open_to_all: bool) -> None:
    """Say what is served, and where."""
    console = Screen(highlight=False, markup=False, soft_wrap=True)
    console.print(f"serving {', '.join(folders)} at {address} (API: {address}/docs); Ctrl-C ends it")
    for folder in folders.values() if journal else ():
        console.print(f"questions and what is said of the answers are kept in {folder / JOURNAL}")
    if open_to_all:
        console.print("everyone who reaches this machine can ask; --token limits that", style="yellow")


def _opened(folders: dict[str, Path], *, device: str, compiled: bool) -> dict[str, Target]:
    """Everything that is to be served, loaded and used once."""
    return {name: open_target(folder, device=device, compiled=compiled) for name, folder in folders.items()}


def open_target(folder: Path, *, device: str, compiled: bool) -> Target:
    """A connected folder or a run, loaded and used once."""
    from dualparse.database.folder import is_connected
    from dualparse.use.api import load
    from dualparse.use.service.models import make_ready
    from dualparse.use.service.served import connected_target, target_of

    if is_connected(folder):
        return connected_target(folder)
    parser = load(folder, device=device, compiled=compiled)
    make_ready(parser)
    return target_of(parser)


def _journals(folders: dict[str, Path], *, keep_days: float | None, redact: str) -> dict[str, Journal]:
    from dualparse.asking.journal import open_journal

    return {
        name: open_journal(folder / JOURNAL, keep_days=keep_days, redact=redact) for name, folder in folders.items()
    }


def _named(runs: list[str]) -> dict[str, Path]:
    """Folders by the name they are served under: that of the folder, unless one is given."""
    folders: dict[str, Path] = {}
    for text in runs:
        name, equals, folder = text.partition("=")
        path = Path(folder if equals else text)
        name = name if equals else path.resolve().name
        if not name:
            raise InputError(f"a run needs a name: {text!r}")
        if name in folders:
            raise InputError(f"two runs are called {name!r}; give one another name: NAME=FOLDER")
        folders[name] = path
    return folders
