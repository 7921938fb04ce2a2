"""Recipes from files, from dictionaries and from what was typed behind `--set`: TOML in, a checked `Recipe` out."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from dualparse.config.recipe import Recipe
from dualparse.config.telling import dotted
from dualparse.errors import InputError
from dualparse.migration import migrate, schema_of
from dualparse.suggest import unknown_name
from dualparse.toml import DEEPEST, parse_toml, read_toml

MOST_OVERRIDE = 10_000  # characters of one `--set`

FILES = ("domain", "start_from", "data.labeled", "data.queries", "model.word_vectors", "model.encoder")  # or folders


def read_recipe(path: Path, *, overrides: Sequence[str] = (), given: Path | str = "--set") -> Recipe:
    """A recipe file, with `a.b=value` overrides on top (the value as TOML writes it; bare words are text). Errors name
    the file, or where the overrides were `given` if it is right without them. Files that it names are below its folder
    or the one where we are, unless somebody has typed (`--set`) that they are not."""
    recipe = make_recipe(read_toml(path, kind="recipe"), overrides=overrides, path=path, given=given)
    typed = [override.partition("=")[0].strip() for override in overrides] if given == "--set" else []
    told = dict(dotted(recipe.model_dump()))
    for key in FILES:
        allowed = any(f"{key}.".startswith(f"{name}.") for name in typed)
        if isinstance(told[key], str) and not allowed and not _is_below(told[key], (path.parent, Path())):
            raise InputError(
                f"{key}: {told[key][:80]!r} leads out of the folder of the recipe, and out of this one; "
                f"if that is meant: --set {key}=...",
                path=path,
            )
    return recipe


def _is_below(name: str, folders: Sequence[Path]) -> bool:
    """Whether what a setting names is below one of these folders; so are names that are no paths."""
    try:
        file = Path(name).expanduser().resolve()
        return any(file.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, RuntimeError, ValueError):  # links in a circle, a name too long, a home that is not there
        return False


def make_recipe(
    values: dict[str, Any], *, overrides: Sequence[str] = (), path: Path | None = None, given: Path | str = "--set"
) -> Recipe:
    """Settings from a plain dictionary; one with the schema number of an earlier version is brought up to date."""
    values = changed = _up_to_date(values, path)
    if overrides:
        changed = copy.deepcopy(values)
    for override in overrides:
        _apply(changed, override, given)
    try:
        return Recipe.model_validate(changed)
    except ValidationError as error:
        problems = [_explain(problem) for problem in error.errors()]
    own = [told for told in problems if told in _problems(values)] if overrides else problems
    raise InputError("; ".join(own or problems), path=path if own else given)


def _up_to_date(values: dict[str, Any], path: Path | None) -> dict[str, Any]:
    if "schema" not in values:
        return values
    told = {key: value for key, value in values.items() if key != "schema"}
    try:
        migrated = migrate(told, schema_of(values))
    except InputError as error:
        raise InputError(error.message, path=path) from None
    if migrated.removed:
        gone = ", ".join(f"{key} = {value!r}" for key, value in migrated.removed.items())
        raise InputError(f"settings of an earlier version that are no more: {gone}", path=path)
    return migrated.values


def read_saved_recipe(path: Path) -> tuple[Recipe, dict[str, Any]]:
    """The recipe of a run folder, whichever version wrote it, and what it says of settings that are no more (dotted key
    -> value): a parser that was trained with one of them still answers."""
    values = read_toml(path, kind="recipe")
    try:
        schema = schema_of(values)
        migrated = migrate({key: value for key, value in values.items() if key != "schema"}, schema)
    except InputError as error:
        raise InputError(error.message, path=path) from None
    return make_recipe(migrated.values, path=path), migrated.removed


def _problems(values: dict[str, Any]) -> list[str]:
    """All that is wrong with these settings, in words."""
    try:
        Recipe.model_validate(values)
    except ValidationError as error:
        return [_explain(problem) for problem in error.errors()]
    return []


def _apply(values: dict[str, Any], override: str, given: Path | str) -> None:
    key, equals, text = override.partition("=")
    if not equals:
        raise InputError(f"{override}: expected KEY=VALUE, for example train.epochs=20", path=given)
    if len(override) > MOST_OVERRIDE:
        raise InputError(f"{override[:40]}...: longer than {MOST_OVERRIDE} characters", path=given)
    try:
        value = parse_toml(f"value = {text}")["value"]
    except InputError:  # a bare word
        value = text
    *path, last = key.strip().split(".")
    if len(path) > DEEPEST:
        raise InputError(f"{override[:40]}...: no setting lies so deep", path=given)
    place = values
    for part in path:
        place = place.setdefault(part, {})
        if not isinstance(place, dict):
            raise InputError(f"{override}: {part!r} is no group of settings", path=given)
    place[last] = value


def _explain(problem: Any) -> str:
    """One problem in words; for an unknown key, with the keys that exist there."""
    place = [str(part) for part in problem["loc"]]  # empty for what is wrong with the settings as a whole
    if problem["type"] != "extra_forbidden":
        reason = problem["msg"].removeprefix("Value error, ")
        return ": ".join(filter(None, (".".join(place), reason[0].lower() + reason[1:])))
    *group, last = place
    model: type[BaseModel] = Recipe
    for part in group:
        if not part.isdigit():  # a place in a list
            default = model.model_fields[part].default
            model = type(default[0] if isinstance(default, tuple) else default)
    return unknown_name("setting", ".".join((*group, last)), (".".join((*group, name)) for name in model.model_fields))
