"""Domains by name: what a user types after `--domain` in, a `Domain` out.

A name is `atis`, one of OVERNIGHT's eight (`blocks` or `overnight/blocks`), a domain that ships with the package, or
the path of a folder of one's own.
"""

from __future__ import annotations

from pathlib import Path

import dualparse.domains
from dualparse.domains import atis, folder, overnight
from dualparse.domains.domain import Domain
from dualparse.errors import InputError
from dualparse.fetch.benchmarks import require
from dualparse.suggest import unknown_name

EMBEDDED = Path(dualparse.domains.__file__).parent / "files"
_OVERNIGHT = "overnight/"


def embedded_names() -> list[str]:
    """The domains that ship with the package and need no download."""
    return sorted(path.parent.name for path in EMBEDDED.glob("*/domain.toml"))


def domain_names() -> list[str]:
    """Every name `open_domain` knows: those that ship with the package first, then the benchmarks."""
    return [*embedded_names(), "atis", *overnight.DOMAINS]


def open_domain(name_or_folder: str) -> Domain:
    """Load a domain; for a benchmark whose files are not here the error has the line that gets them.

    >>> open_domain("trails").name
    'trails'
    """
    name = name_or_folder.removeprefix(_OVERNIGHT)
    if name in overnight.DOMAINS:
        return overnight.load(name, require("overnight"))
    if name_or_folder == "atis":
        return atis.load(require("atis"))
    if name_or_folder in embedded_names():
        return folder.load(EMBEDDED / name_or_folder)
    path = Path(name_or_folder).expanduser()
    if path.is_dir():
        return folder.load(path)
    if len(path.parts) > 1 and not name_or_folder.startswith(_OVERNIGHT):
        raise InputError("no such folder", path=path)
    raise InputError(unknown_name("domain", name, domain_names()) + ", or the path of a domain folder")
