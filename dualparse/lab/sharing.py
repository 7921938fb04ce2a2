"""Which recipes train the same, so that the cells of a sweep can share work, whole parsers of a committee among it.

In: recipes. Out: a short name for what a recipe trains, and the recipe of one parser by itself. What matters to a stage
stands in `dualparse.training.essence`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from dualparse.config import MEMBERS, Recipe, differences
from dualparse.training.essence import essence, unscored

WHOLE = "."  # all stages of a run itself, among what it takes from others


def fingerprint(recipe: Recipe, removed: Mapping[str, Any] | None = None) -> str:
    """A short name for what a recipe trains: the same for recipes with the same essence. Only what differs from the
    defaults goes into it, so that it outlives new settings; and what an earlier version `removed` from it, so that no
    recipe of today is taken for one that has settings which are no more."""
    told = differences(essence(recipe)) | dict(removed or {})
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:12]


def parser_recipe(recipe: Recipe) -> Recipe:
    """The recipe of a run that trains one parser of a committee and nothing else."""
    stop_at = {name: epoch for name, epoch in recipe.stop_at.items() if not name.startswith(f"{MEMBERS}/")}
    return unscored(essence(recipe.model_copy(update={"refit": False, "committee": 1, "stop_at": stop_at})))
