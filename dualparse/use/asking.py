"""Whatever it is, it answers questions: a connected database, a trained run, or a domain by its name.

In: a folder, or the name of a domain. Out: an `Asker`.
"""

from __future__ import annotations

from datetime import date as Day
from pathlib import Path

from dualparse.asking.reply import Asker
from dualparse.domains.domain import Domain
from dualparse.domains.folder import DESCRIPTION
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.manifest import KEPT, verify


def open_any(
    target: str | Path, *, database: str = "", today: Day | None = None, device: str = "cpu", light: bool = False
) -> Asker:
    """What answers the questions; `database` is another location of the data of a connected folder, or of a run that
    was trained on one, `today` the day that "last month" is seen from, `light` (without torch, for a question or two)
    for runs."""
    folder = Path(target)
    if (folder / "config.toml").is_file():
        from dualparse.use.api import load

        return load(folder, device=device, light=light, domain=_own_domain(folder, database, today)).asker
    if _says_database(folder):
        from dualparse.asking.asker import open_asker

        return open_asker(folder, database=database, today=today)
    if database:
        raise InputError(f"{target}: --database is for connected folders, and runs that were trained on one")
    return _by_domain(open_domain(str(target)), today)


def _own_domain(run: Path, database: str, today: Day | None) -> Domain | None:
    """The domain of a run that was trained on a database."""
    if (run / KEPT).is_dir():
        verify(run, below=KEPT)  # before any of it is read
        from dualparse.asking.folder_domain import load

        return load(run / KEPT, database=database, today=today)
    if database or today:
        raise InputError("a trained run has its own data: --database and --today are for connected folders", path=run)
    return None


def _says_database(folder: Path) -> bool:
    from dualparse.database.folder import is_connected

    return is_connected(folder) or (folder.is_dir() and not (folder / DESCRIPTION).is_file())


def _by_domain(domain: Domain, today: Day | None) -> Asker:
    """A domain without any training: by its facts, or by what its grammar says."""
    from dualparse.asking.world_asker import WorldAsker, has_facts

    if has_facts(domain):
        return WorldAsker(domain, today=today)
    from dualparse.asking.matched import MatchAsker

    return MatchAsker(domain)
