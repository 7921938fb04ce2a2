"""What a run is made of: its stages, the names of their weights, and the runs below it, the members of a committee.

In: a recipe. Out: names, folders and recipes; nothing is read or trained.
"""

from __future__ import annotations

from pathlib import Path

from dualparse.config import MEMBERS, Recipe, Stage
from dualparse.training.essence import essence

BETWEEN_SEEDS = 1000  # of a run and the runs below it: runs whose seeds are neighbours have none in common


def results(recipe: Recipe, stage: str) -> dict[str, str]:
    """Module of a stage -> name its weights are kept under."""
    if stage == "dual":
        return {"q2lf": "q2lf", "lf2q": "lf2q"}
    if stage == "pseudo":
        return {"q2lf": "pseudo-q2lf" if "dual" in recipe.stages else "q2lf"}
    replaced = {name for later in ("dual", "pseudo") if later in recipe.stages for name in results(recipe, later)}
    return {stage: f"pretrained-{stage}" if stage in replaced else stage}


def is_finished(folder: Path, recipe: Recipe, *stages: str) -> bool:
    """Whether a run folder has the weights of these stages, or of all there are."""
    names = [name for stage in stages or recipe.stages for name in results(recipe, stage).values()]
    return all((folder / f"{name}.safetensors").exists() for name in names)


def members(recipe: Recipe) -> dict[str, Recipe]:
    """The runs below a run, whose parsers answer together with its own: folder below its own -> recipe. They have none
    below themselves, no lf2q where it teaches no parser, and no second reader: the run's own reads for all."""
    taught = {"pseudo", "dual"} & set(recipe.stages)
    whole = tuple(stage for stage in recipe.stages if stage != "reader")
    return _other_seeds(recipe, MEMBERS, recipe.committee, stages=whole if taught else ("q2lf",))


def _other_seeds(recipe: Recipe, folder: str, count: int, *, stages: tuple[Stage, ...]) -> dict[str, Recipe]:
    common = {"stages": stages, "start_from": "", "refit": False, "committee": 1}
    alike = essence(recipe.model_copy(update=common))
    found: dict[str, Recipe] = {}
    for number in range(2, count + 1):
        place = f"{folder}/{number}"
        stop_at: dict[str, int] = {name: epoch for name, epoch in recipe.stop_at.items() if name in stages}
        stop_at |= {
            name.removeprefix(f"{place}/"): epoch
            for name, epoch in recipe.stop_at.items()
            if name.startswith(f"{place}/")
        }
        own = {"seed": recipe.seed + (number - 1) * BETWEEN_SEEDS, "stop_at": stop_at}
        found[place] = alike.model_copy(update=own)
    return found


def all_stages(recipe: Recipe) -> dict[str, tuple[str, Recipe, Stage]]:
    """Every stage of a run and of the runs below it: its name, with the folder before it -> folder, recipe, stage."""
    return {
        f"{place}/{stage}" if place else stage: (place, each, stage)
        for place, each in ({"": recipe} | members(recipe)).items()
        for stage in each.stages
    }
