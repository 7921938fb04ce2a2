"""What the outcome of a run depends on.

In: a recipe. Out: the same recipe with every setting that none of its stages reads put back to its default. Two recipes
that come out equal train the same weights; a setting nobody listed here counts as one that matters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TypeVar

from pydantic import BaseModel

from dualparse.config import Recipe, Stage

PRETRAINING: tuple[Stage, ...] = ("q2lf", "lf2q", "query_lm", "lf_lm", "matcher")  # stages that need no earlier one
TAKEN_OVER: tuple[Stage, ...] = (*PRETRAINING, "reader")  # stages that no later one goes on with

READERS = {  # group of settings -> the stages that read it
    "language_model": {"query_lm", "lf_lm"},
    "matcher": {"matcher", "reader"},
    "game": {"dual"},
    "pseudo": {"pseudo"},
}

Settings = TypeVar("Settings", bound=BaseModel)


def essence(recipe: Recipe) -> Recipe:
    """The recipe without what its stages do not read.

    >>> from dualparse.config import make_recipe
    >>> supervised = make_recipe({"domain": "trails", "stages": ["q2lf"], "game": {"epochs": 7}})
    >>> essence(supervised).game.epochs
    100
    """
    changed: dict[str, BaseModel] = {
        group: _defaults(getattr(recipe, group), names) for group, names in _unread(recipe).items()
    }
    model = changed.get("model", recipe.model)
    networks = {name: kind for name, kind in recipe.model.networks.items() if name in recipe.stages}
    return recipe.model_copy(update=changed | {"model": model.model_copy(update={"networks": networks})})


def _unread(recipe: Recipe) -> dict[str, list[str]]:
    """By group, the settings that none of the stages reads."""
    stages = set(recipe.stages)
    unread: dict[str, list[str]] = {"data": _unread_data(recipe)}
    if "lf_lm" not in stages or not recipe.search.prior:  # newer than the first names
        unread["search"] = ["prior"]
    if "matcher" not in stages or not recipe.search.matcher:
        unread.setdefault("search", []).append("matcher")
    if not stages & {"q2lf", "lf2q", "pseudo", "dual"}:  # no agent: language models never copy nor start from vectors
        unread["model"] = ["network", "copy_mechanism", "word_dropout", "word_vectors"]
        unread["search"] = list(type(recipe.search).model_fields)
        unread["train"] = list(type(recipe.train).model_fields)
    if stages <= {"matcher", "reader"}:
        unread["model"] = [name for name in type(recipe.model).model_fields if name != "encoder"]
    for group, readers in READERS.items():
        if not stages & readers:
            unread[group] = list(type(getattr(recipe, group)).model_fields)
    return unread


def stage_recipe(recipe: Recipe, stage: Stage) -> Recipe:
    """The recipe of a run that trains one pre-training stage of another run and nothing else."""
    stop_at = {name: epoch for name, epoch in recipe.stop_at.items() if name == stage}
    changed = {"stages": (stage,), "start_from": "", "refit": False, "committee": 1, "stop_at": stop_at}
    one = essence(recipe.model_copy(update=changed))
    if recipe.data.family and stage in ("q2lf", "lf2q", "matcher", "reader"):  # the same for the whole family
        one = one.model_copy(update={"domain": recipe.data.family[0]})
    return unscored(one)


def read_in_answers(stages: Collection[str]) -> tuple[str, ...]:
    """The settings of search that are read only where a run answers or is scored. Training looks with dev_beams, but
    labels what it makes up with beams.

    >>> read_in_answers(["q2lf", "lf2q", "pseudo"])
    ('reconstruction', 'prior', 'matcher')
    """
    return ("reconstruction", "prior", "matcher", *(() if "pseudo" in stages else ("beams",)))


def unscored(recipe: Recipe) -> Recipe:
    """Without what is read only where a run is scored."""
    return recipe.model_copy(update={"search": _defaults(recipe.search, read_in_answers(recipe.stages))})


def _unread_data(recipe: Recipe) -> list[str]:
    stages, unread = set(recipe.stages), []
    queries, forms = stages & {"query_lm", "pseudo", "dual"}, stages & {"lf_lm", "pseudo", "dual"}
    data, whole = recipe.data, recipe.data.labeled == 1.0  # whole: no pair is torn apart
    if not data.everything:
        unread.append("everything")
    if not queries:
        unread.append("queries")
    if not forms or whole:
        unread.append("forms")
    if not forms:
        unread.append("synthesized")
    if not stages & {"q2lf", "pseudo", "dual"}:
        unread.append("analogies")
    if whole or not (queries and data.queries or forms and data.forms):
        unread.append("unlabeled")
    return unread


def _defaults(settings: Settings, names: Iterable[str]) -> Settings:
    fields = type(settings).model_fields
    values: dict[str, Any] = {name: fields[name].default for name in names}
    return settings.model_copy(update=values)
