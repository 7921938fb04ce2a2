"""Domains by name: what a user types after `--domain` in, a `Domain` out.

A benchmark, or any other family of domains, is one file that describes itself as a `Family`. Three ways to make one
known: the list of those that ship with dualparse (`SHIPPED`), an entry point of the group `dualparse.domains` in any
installed package, and `register` in a program. Beside these a name may be the path of a folder of one's own, or
`package.module:name` of a domain. Everything above this module is handed a `Domain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import cast

from dualparse.domains import folder
from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.fetch import benchmarks
from dualparse.fetch.benchmarks import Dataset
from dualparse.manifest import KEPT
from dualparse.plugins import is_reference, load_object
from dualparse.suggest import unknown_name

SHIPPED = (
    "dualparse.domains.embedded:FAMILY",
    "dualparse.domains.atis:FAMILY",
    "dualparse.domains.overnight:FAMILY",
)
GROUP = "dualparse.domains"  # of entry points
CONNECTED = "dualparse.asking.folder_domain:load"  # a folder that is connected to a database


@dataclass(frozen=True, slots=True)
class Family:
    """Domains that come from one place.

    name     of the family; it may stand before a domain's: `overnight/blocks`
    names    of its domains
    open     one of these names -> Domain
    dataset  the files it needs, which `dualparse data get` brings; None where it needs none
    """

    name: str
    title: str
    names: tuple[str, ...]
    open: Callable[[str], Domain]
    dataset: Dataset | None = None

    def called(self, text: str) -> str | None:
        """The name of the domain that a text names, with or without the family's before it."""
        name = text.removeprefix(f"{self.name}/")
        return name if name in self.names else None


_registered: dict[str, Family] = {}


def register(family: Family) -> None:
    """Make a family known in this program; a name that is taken is an error."""
    for other in _known():
        if other.name == family.name or set(other.names) & set(family.names):
            taken = sorted({other.name} & {family.name} | set(other.names) & set(family.names))
            raise InputError(f"{', '.join(taken)} is known already: {other.title}")
    _registered[family.name] = family


@contextmanager
def registered(family: Family) -> Iterator[Family]:
    """A family known for a while."""
    register(family)
    try:
        yield family
    finally:
        del _registered[family.name]


def families() -> list[Family]:
    """Every family there is: those that ship with dualparse first, those of other packages last."""
    return [*_known(), *_plugged_in()]


def domain_names() -> list[str]:
    """Every name `open_domain` knows."""
    return [name for family in families() for name in family.names]


def datasets() -> dict[str, Dataset]:
    """Every dataset there is, by its name: the published files dualparse knows of, and those of other families."""
    own = {name: benchmarks.dataset(name) for name in benchmarks.NAMES}
    return own | {family.dataset.name: family.dataset for family in families() if family.dataset}


def open_domain(name: str) -> Domain:
    """Load a domain; for a benchmark whose files are not here the error has the line that gets them.

    >>> open_domain("trails").name
    'trails'
    """
    if found := _opened(name, iter(_registered.values())):
        return found
    return replace(_open_elsewhere(name), opened_as=name)


def _open_elsewhere(name: str) -> Domain:
    """A domain that another program opens by the same name."""
    path = _path(name)
    if found := _opened(name, _shipped()):
        return found
    if (path / folder.DESCRIPTION).is_file():  # before other packages, of which one may be broken
        return open_folder(path)
    if found := _opened(name, _plugged_in()):
        return found
    if path.is_dir():
        return folder.load(path)
    if is_reference(name):
        return _referred(name)
    family, _, rest = name.partition("/")
    if rest and family not in (each.name for each in families()):
        raise InputError("no such folder", path=path)
    raise InputError(unknown_name("domain", rest or name, domain_names()) + ", or the path of a domain folder")


def open_folder(path: Path) -> Domain:
    """The domain of a folder: one of facts, or one that is connected to a database."""
    if folder.read_description(path / folder.DESCRIPTION).database:
        load = cast(Callable[[Path], Domain], load_object(CONNECTED, what="domain"))
        return load(path)
    return folder.load(path)


def trained_on(run: Path, name: str) -> Domain:
    """The domain of a run: the one its folder holds, or the one of the name in its recipe."""
    return open_domain(str(run / KEPT) if (run / KEPT).is_dir() else name)


def _path(name: str) -> Path:
    """A name as the path it may be."""
    try:
        path = Path(name).expanduser()
        path.is_dir()
    except (OSError, RuntimeError, ValueError) as error:  # too long, nobody's home, a zero byte
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"no domain and no folder can be called {name[:60]!r}: {reason}") from None
    return path


def _shipped() -> Iterator[Family]:
    """The families of dualparse."""
    yield from (_family(reference, f"a part of dualparse, {reference},") for reference in SHIPPED)


def _known() -> Iterator[Family]:
    """The families of dualparse and of this program."""
    yield from _shipped()
    yield from _registered.values()


def _plugged_in() -> Iterator[Family]:
    """The families of other installed packages."""
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        package = entry.dist.name if entry.dist else entry.value
        yield _family(entry.value, f"the entry point {entry.name!r} of the installed package {package!r}")


def _family(reference: str, where: str) -> Family:
    found = load_object(reference, what="family of domains")
    if not isinstance(found, Family):
        raise InputError(f"{where} is no Family of dualparse.domains.registry, but a {type(found).__name__}")
    return found


def _opened(text: str, known: Iterator[Family]) -> Domain | None:
    for family in known:
        if name := family.called(text):
            return family.open(name)
    return None


def _referred(reference: str) -> Domain:
    """The domain of a `package.module:name`: itself, or what a function without arguments returns."""
    found = load_object(reference, what="domain")
    made = found() if callable(found) else found
    if not isinstance(made, Domain):
        raise InputError(
            f"{reference!r} is of type {type(made).__name__}; expected a Domain or a function that makes one"
        )
    return made
