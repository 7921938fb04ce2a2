"""`dualparse worksheet`: questions for a person to word, and back as labeled pairs of a connected folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dualparse.files import write_text
from dualparse.use.cli.connect import needs_database
from dualparse.use.cli.screen import Screen, say


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("worksheet")(worksheet)


def worksheet(
    folder: Annotated[Path, typer.Argument(help="A connected folder.", metavar="DIR")],
    n: Annotated[int, typer.Option("--n", "-n", min=1, max=2000, help="How many questions.")] = 60,
    seed: Annotated[int, typer.Option(help="The same seed gives the same questions.")] = 1,
    out: Annotated[Path | None, typer.Option(help="File to write; standard output without it.")] = None,
    read: Annotated[
        Path | None, typer.Option(help="A worksheet whose questions were worded: keep its pairs in the folder.")
    ] = None,
) -> None:
    """Print the questions that are most worth wording by a person, or read them back as labeled pairs.

    Each line has a question as the schema words it and its form. A person words the question as people ask; read back,
    the changed lines go to train.tsv of the folder. Answers go by them at once, and training learns from them.

    Example: dualparse worksheet shop --out sheet.tsv
    Example: dualparse worksheet shop --read sheet.tsv
    """
    with needs_database():
        from dualparse.asking.folder_domain import FolderDomain
        from dualparse.asking.labels import PAIRS
        from dualparse.asking.worksheet import head_of, lines_of, take_back

    domain = FolderDomain(folder)
    console = Screen(highlight=False, markup=False, soft_wrap=True)
    with domain.asker:
        if read is not None:
            taken = take_back(domain, read)
            console.print(
                f"{taken.new} new pairs in {folder / PAIRS}; {taken.known} were there already, "
                f"{taken.unchanged} questions are as they were"
            )
            return
        lines = [*head_of(folder), *lines_of(domain, n, seed=seed)]
    if out is None:
        for line in lines:
            say(line)
    else:
        write_text(out, "".join(f"{line}\n" for line in lines))
