"""`dualparse serve`: trained runs as a web service with a page to ask them."""

from __future__ import annotations

import gc
from pathlib import Path

import typer

from dualparse.errors import InputError
from dualparse.use.cli.screen import Screen


def register(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    runs: list[str] = typer.Argument(metavar="RUN...", help="Run folders; NAME=FOLDER gives one another name."),
    host: str = typer.Option("127.0.0.1", help="Address to listen on; 0.0.0.0 is every one of this machine."),
    port: int = typer.Option(8000, min=0, max=65535, help="Port; 0 picks a free one."),
    token: str | None = typer.Option(
        None, envvar="DUALPARSE_TOKEN", help="Ask callers for this bearer token.", show_envvar=True
    ),
    batch: int = typer.Option(32, min=1, max=512, help="Most questions searched together."),
    workers: int = typer.Option(1, min=1, max=64, help="Searches of a run at the same time; more for idle cores."),
    timeout: float = typer.Option(10.0, min=0.1, max=600.0, help="Seconds a request may take."),
    connections: int = typer.Option(2048, min=8, max=100_000, help="Most connections open at once."),
    per_client: int = typer.Option(1024, min=1, max=100_000, help="Most connections of one address open at once."),
    allowed_host: list[str] = typer.Option(
        [],
        help="Host name to answer to besides this machine's own; others are refused then, whatever --host is. "
        "Repeatable.",
    ),
    device: str = typer.Option("cpu", help="auto, cpu or cuda."),
    compiled: bool = typer.Option(False, "--compiled", help="Search with compiled steps: quicker answers on a CPU."),
) -> None:
    """Serve runs over HTTP: the page at /, the API at /docs.

    Example: dualparse serve runs/trails
    """
    folders = _named(runs)
    if token is not None and not (token.strip() and token.isascii() and token.isprintable()):
        raise InputError("the token must be printable ASCII and not empty")
    from dualparse.training.run import choose_device
    from dualparse.use.api import load
    from dualparse.use.service.app import make_app
    from dualparse.use.service.limits import Limits
    from dualparse.use.service.served import make_ready
    from dualparse.use.service.server import is_loopback, listen, names_answered_to, run, url

    hosts = names_answered_to(host, allowed_host)
    limits = Limits(
        batch=batch, workers=workers, seconds=timeout, connections=connections, per_client=min(per_client, connections)
    )
    console = Screen(highlight=False, markup=False, soft_wrap=True)
    with listen(host, port) as listener:  # before the models: a taken port should not cost their loading
        chosen = choose_device(device)
        parsers = {name: load(folder, device=chosen, compiled=compiled) for name, folder in folders.items()}
        for parser in parsers.values():
            make_ready(parser)
        gc.collect()
        gc.freeze()  # what is there now stays: looking through it again and again would make requests wait
        address = url(listener)
        console.print(f"serving {', '.join(parsers)} at {address} (API: {address}/docs); Ctrl-C ends it")
        if not is_loopback(host) and token is None:
            console.print("everyone who reaches this machine can ask; --token limits that", style="yellow")
        run(make_app(parsers, limits=limits, token=token, hosts=hosts), listener, limits)


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
