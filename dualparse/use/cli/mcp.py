"""`dualparse mcp`: a connected folder or a run as tools for an assistant (Model Context Protocol)."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from dualparse.errors import InputError
from dualparse.use.cli.lines import argument


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("mcp")(mcp)


def mcp(
    target: Annotated[str, typer.Argument(help="A connected folder, or a run folder.", metavar="DIR")],
    device: Annotated[str, typer.Option(help="auto, cpu or cuda; of a run.")] = "cpu",
) -> None:
    """Let an assistant ask: the tools ask, explain and schema, over standard input and output.

    The assistant starts the command itself; docs/assistants.md shows what to write into its settings.

    Example: dualparse mcp shop
    """
    try:
        from dualparse.use.assistants.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "mcp":
            raise
        raise InputError("mcp is not installed: pip install 'dualparse[mcp]'") from None
    from dualparse.use.cli.serve import open_target

    logging.basicConfig(level=logging.WARNING)  # on standard error: standard output is the assistant's
    make_server(open_target(Path(argument(target)), device=device, compiled=False)).run("stdio")
