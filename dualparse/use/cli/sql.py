"""`dualparse sql`: the statement that a form becomes, in the dialect of any engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dualparse.domains.registry import open_domain
from dualparse.domains.schema import Schema
from dualparse.domains.world import World
from dualparse.errors import InputError
from dualparse.lf.errors import LF_ERRORS
from dualparse.suggest import nearest
from dualparse.use.cli.connect import needs_database
from dualparse.use.cli.days import day
from dualparse.use.cli.screen import say

if TYPE_CHECKING:
    from dualparse.database.model import Database


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("sql", rich_help_panel="Logical forms")(sql)


def sql(
    domain: Annotated[
        str, typer.Argument(help="A connected folder, or a domain of one's own by name or folder.", metavar="DOMAIN")
    ],
    form: Annotated[str, typer.Argument(help="A logical form.", metavar="FORM")],
    dialect: Annotated[
        str, typer.Option(help="sqlite, duckdb, postgres, spark, trino or bigquery; else the database's own.")
    ] = "",
    today: Annotated[str, typer.Option(help='The day "last month" is seen from (YYYY-MM-DD).', metavar="DAY")] = "",
) -> None:
    """Print the SELECT that a form becomes, and its parameters.

    Example: dualparse sql trails "( top 3 ( all peak ) elevation )" --dialect postgres
    """
    with needs_database():
        from dualparse.database.compile import compile_form
        from dualparse.database.model import DIALECTS
    if dialect and dialect not in DIALECTS:
        raise InputError(f"unknown dialect {dialect!r}{nearest(dialect, DIALECTS)}; known: {', '.join(DIALECTS)}")
    try:
        statement = compile_form(form, _model(domain), dialect=dialect, today=day(today))
    except LF_ERRORS as error:
        raise InputError(f"the form is not valid: {error}") from error
    say(statement.sql(pretty=True) + ";")
    named = {str(place): statement.parameters[name] for place, name in enumerate(statement.positions, 1)}
    for name, value in (named or statement.parameters).items():
        say(f"-- {name} = {value!r}")


def _model(domain: str) -> Database:
    """The model of a connected folder's database, or of the one that a domain's world would be."""
    from dualparse.database.folder import is_connected, read_connected
    from dualparse.database.worlds import model_of
    from dualparse.domains.plain import schema_of

    if is_connected(Path(domain)):
        return read_connected(Path(domain)).database
    opened = open_domain(domain)
    if not isinstance(opened.world, World) or not isinstance(opened.ontology, Schema):
        raise InputError(f"{opened.name} has a language of its own, which is not turned into SQL")
    return model_of(schema_of(opened.world, opened.ontology))
