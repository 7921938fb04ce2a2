"""A recipe as text: as TOML, as dotted keys with values, and its settings with what each means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w
from pydantic import BaseModel

from dualparse.config.recipe import Recipe
from dualparse.migration import SCHEMA


def write_recipe(recipe: Recipe) -> str:
    """All settings, defaults included, as TOML, with the number of their schema."""
    return tomli_w.dumps({"schema": SCHEMA} | recipe.model_dump(mode="json", exclude_none=True))


def dotted(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested tables as dotted keys: `data.labeled = 0.5` and `"data.labeled" = 0.5` are the same."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from dotted(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def differences(recipe: Recipe) -> dict[str, Any]:
    """What a recipe says that no other has by default: dotted key -> value."""
    usual = dict(dotted(type(recipe)(domain="").model_dump(mode="json")))
    told = dotted(recipe.model_dump(mode="json"))
    return {key: value for key, value in told if key == "domain" or key not in usual or value != usual[key]}


def explain(model: type[BaseModel] = Recipe, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """(key, default, meaning) of every setting, in order."""
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            yield from explain(type(field.default), f"{prefix}{name}.")
        else:
            yield prefix + name, "required" if field.is_required() else _show(field.default), field.description or ""


def _show(value: object) -> str:
    """A value as TOML writes it, in one line; what is not set in a group is left out."""
    if isinstance(value, BaseModel):
        return inline(value.model_dump(mode="json", exclude_none=True))
    return "[" + ", ".join(map(_show, value)) + "]" if isinstance(value, tuple) else inline(value)


def inline(value: object) -> str:
    """A plain value as TOML writes it, in one line.

    >>> inline([{"name": "validity", "graded": True}, 0.5])
    '[{name = "validity", graded = true}, 0.5]'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {inline(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | str) else str(value)
