"""The domains that ship with the package: folders like a user's own. In: a name. Out: its `Domain`."""

from __future__ import annotations

from pathlib import Path

from dualparse.domains import folder
from dualparse.domains.domain import Domain
from dualparse.domains.registry import Family

EMBEDDED = Path(__file__).parent / "files"


def load(name: str) -> Domain:
    """An embedded domain by its name."""
    return folder.load(EMBEDDED / name)


FAMILY = Family(
    name="embedded",
    title="part of dualparse",
    names=tuple(sorted(path.parent.name for path in EMBEDDED.glob("*/domain.toml"))),
    open=load,
)
