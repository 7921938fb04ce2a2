"""Settings as earlier versions wrote them -> settings as this one reads them.

In: a recipe as a plain nested dictionary, with its schema number (1 where it has none). Out: one that fits today's
`Recipe`, and beside it what it says of settings that are no more: a stored result or a run that used one of them stays
what it was, countable and told apart from what today's settings train.

How to take a setting away: one line in `REMOVED` with the value that everybody has from now on, and with the stages
that read it. How to change what a setting looks like: a function in `CHANGES`, which gets the whole dictionary, changes
it in place, and returns what of it is no more (dotted key -> value). Either way `SCHEMA` is the next number.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dualparse.errors import InputError

SCHEMA = 3  # of the settings this version writes; 1 are those without a number


@dataclass(frozen=True)
class Migrated:
    """A recipe in today's form. `removed` has the settings that are no more and mattered: dotted key -> value."""

    values: dict[str, Any]
    removed: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Gone:
    """A setting that is no more: what all runs do now, and which stages read it (none named: all of them)."""

    now: Any
    stages: tuple[str, ...] = ()


_PSEUDO, _GAME, _MODELS = ("pseudo",), ("dual",), ("query_lm", "lf_lm")
_AGENTS = ("q2lf", "lf2q", "pseudo", "dual")

REMOVED: dict[str, Gone] = {
    "data.noise": Gone(0.0),
    "data.recombined": Gone(0, ("lf_lm", "pseudo", "dual")),
    "train.final_rate": Gone(1.0, _AGENTS),
    "train.weight_decay": Gone(1e-5, _AGENTS),
    "train.clip": Gone(5.0, _AGENTS),
    "language_model.batch_size": Gone(16, _MODELS),
    "language_model.updates": Gone(1, _MODELS),
    "language_model.learning_rate": Gone(1e-3, _MODELS),
    "language_model.final_rate": Gone(1.0, _MODELS),
    "language_model.weight_decay": Gone(1e-5, _MODELS),
    "language_model.clip": Gone(5.0, _MODELS),
    "language_model.average": Gone(0.0, _MODELS),
    "language_model.evaluate_from": Gone(1, _MODELS),
    "language_model.evaluate_every": Gone(1, _MODELS),
    "game.final_rate": Gone(1.0, _GAME),
    "game.weight_decay": Gone(1e-5, _GAME),
    "game.clip": Gone(5.0, _GAME),
    "pseudo.teachers": Gone(1, _PSEUDO),
    "pseudo.distinct": Gone(False, _PSEUDO),
    "pseudo.reconstruction": Gone(0.0, _PSEUDO),
    "pseudo.analogies": Gone(0, _PSEUDO),
    "model.init": Gone(0.2),
    "game.patience": Gone(1000, _GAME),
    "game.evaluate_from": Gone(1, _GAME),
    "game.length_power": Gone(1.0, _GAME),
    "game.query_sharpness": Gone(0.0, _GAME),
    "game.form_sharpness": Gone(0.0, _GAME),
    "game.query_hearing": Gone(0.0, _GAME),
    "game.lf2q_rate": Gone(1.0, _GAME),
}

Change = Callable[[dict[str, Any]], dict[str, Any]]


def migrate_game(old: Mapping[str, Any]) -> dict[str, Any]:
    """A `[game]` table from before rewards had names: alpha and beta, who judges, how the way back is measured and what
    its reader learns become `rewards`. Rewards that count nothing are left out.

    >>> migrate_game({"alpha": 0.75, "per_token": True})["rewards"][:2]
    [{'name': 'validity', 'weight': 0.75}, {'name': 'fluency', 'weight': 0.5}]
    """
    new = {key: value for key, value in old.items() if key not in _REWARDS_BEFORE}
    told = _REWARDS_BEFORE | {key: value for key, value in old.items() if key in _REWARDS_BEFORE}
    shares = {"query": told["alpha"], "form": told["beta"]}
    query, form = (shares[loop] if told[f"{loop}_loop"] else 0.0 for loop in ("query", "form"))
    rewards = [
        {"name": "validity", "weight": _round(query * told["query_validity_check"]), "graded": told["graded"]},
        {"name": "form_lm", "weight": _round(query * told["query_validity_lm"])},
        {"name": "fluency", "weight": _round(form * told["form_validity_lm"])},
    ]
    back = [
        {"name": "reconstruction", "weight": _round(1 - share), "loop": loop, "lesson": told[f"{loop}_lesson"]}
        for loop, share in shares.items()
        if told[f"{loop}_loop"]
    ]
    if len(back) == 2 and all(back[0][key] == back[1][key] for key in ("weight", "lesson")):
        back = [{key: value for key, value in back[0].items() if key != "loop"}]
    for entry in back:
        entry |= {"per_token": told["per_token"], "noisy": told["noisy_reward"]}
    usual = {"graded": False, "per_token": False, "noisy": False, "lesson": 1.0}
    new["rewards"] = [
        {key: value for key, value in entry.items() if key not in usual or value != usual[key]}
        for entry in rewards + back
        if entry["weight"]
    ]
    return new


def _round(weight: float) -> float:
    """1 - 0.8 is 0.2."""
    return round(weight, 12)


_REWARDS_BEFORE: dict[str, Any] = {
    "alpha": 0.5,
    "beta": 0.5,
    "query_validity_check": 1.0,
    "query_validity_lm": 0.0,
    "form_validity_lm": 1.0,
    "graded": False,
    "per_token": False,
    "noisy_reward": False,
    "query_lesson": 1.0,
    "form_lesson": 1.0,
    "query_loop": True,
    "form_loop": True,
}


def _name_rewards(values: dict[str, Any]) -> dict[str, Any]:
    if isinstance(values.get("game"), dict) and "rewards" not in values["game"]:
        values["game"] = migrate_game(values["game"])
    return {}


def _families_are_joint(values: dict[str, Any]) -> dict[str, Any]:
    """Every family shares its agents now. Without a family there was nothing to share."""
    data = values.get("data", {})
    shared = data.pop("joint", False)
    return {"data.joint": shared} if data.get("family") and not shared else {}


CHANGES: dict[int, list[Change]] = {1: [_name_rewards, _families_are_joint]}  # what became of this number


def migrate(values: Mapping[str, Any], schema: int = 1) -> Migrated:
    """A recipe of any version in today's form.

    >>> migrate({"domain": "trails", "stages": ["q2lf"]}).values
    {'domain': 'trails', 'stages': ['q2lf']}
    """
    if schema > SCHEMA:
        raise InputError(f"written by a newer version: schema {schema}, this one knows {SCHEMA}")
    changed = copy.deepcopy(dict(values))
    if schema == SCHEMA:
        return Migrated(changed)
    removed: dict[str, Any] = {}
    for change in (each for number in sorted(CHANGES) if number >= schema for each in CHANGES[number]):
        removed |= change(changed)
    stages = set(changed.get("stages", ("q2lf", "lf2q")))
    for key, gone in REMOVED.items():
        for value in _taken(changed, key.split(".")):
            if value != gone.now and (not gone.stages or stages & set(gone.stages)):
                removed[key] = value
    return Migrated(changed, removed)


def schema_of(values: Mapping[str, Any]) -> int:
    """The number that stands in a recipe or a stored result; 1 where there is none."""
    schema = values.get("schema", 1)
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise InputError(f"schema: {schema!r}, expected a whole number")
    return schema


def _taken(values: dict[str, Any], path: list[str]) -> Iterator[Any]:
    """Take a key out of nested tables; nothing where it is not there."""
    *groups, last = path
    place: Any = values
    for group in groups:
        place = place.get(group) if isinstance(place, dict) else None
    if isinstance(place, dict) and last in place:
        yield place.pop(last)
