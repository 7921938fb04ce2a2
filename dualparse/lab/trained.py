"""What a stored result trained, whichever version wrote it.

In: a result. Out: its recipe in today's form, what it says of settings that are no more, and the name of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dualparse.config import Recipe, make_recipe
from dualparse.lab.sharing import fingerprint
from dualparse.migration import migrate, schema_of
from dualparse.training.essence import essence


@dataclass(frozen=True)
class Trained:
    """The recipe of a stored result in today's form, and what it says of settings that are no more."""

    recipe: Recipe
    removed: dict[str, Any]

    @property
    def key(self) -> str:
        return fingerprint(self.recipe, self.removed)

    @property
    def essence(self) -> dict[str, Any]:
        """All that its stages read, as nested tables; settings that are no more stand where they stood."""
        told = essence(self.recipe).model_dump(mode="json")
        for key, value in self.removed.items():
            *groups, last = key.split(".")
            place = told
            for group in groups:
                place = place.setdefault(group, {})
            place[last] = value
        return told


def trained(result: Mapping[str, Any]) -> Trained:
    """What a stored result trained, whichever version wrote it."""
    migrated = migrate(result["recipe"], schema_of(result))
    return Trained(make_recipe(migrated.values), migrated.removed)
