"""A run begins with whole parsers that other runs have trained: its own, and those of its committee.

In: a recipe, its folder, and what it takes from which run (`plan.shared_by`). Out: the run folders that can be taken
whole, copied to where `train` goes on with them; what is left are stages, which `train` takes over one by one.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from dualparse.config import Recipe
from dualparse.errors import InputError
from dualparse.files import replacing_folder
from dualparse.lab.sharing import WHOLE, parser_recipe
from dualparse.manifest import NAME as MANIFEST
from dualparse.runs import Run
from dualparse.training.run import other_settings
from dualparse.training.run_parts import members


def take_parsers(recipe: Recipe, folder: Path, shared: Mapping[str, Path]) -> dict[str, Path]:
    """Copy the parsers that are taken whole; returns the stages to be taken over. A parser whose folder is there has
    begun by itself, and takes stages."""
    whole = {place: shared[place] for place in (WHOLE, *members(recipe)) if place in shared}
    stages = {name: source for name, source in shared.items() if name not in whole}
    for place, source in whole.items():
        own, into = (recipe, folder) if place == WHOLE else (members(recipe)[place], folder / place)
        if into.exists():
            before = "" if place == WHOLE else f"{place}/"
            stages |= {f"{before}{stage}": source for stage in own.stages}
        else:
            take_whole(own, into, Run.open(source))
    return stages


def take_whole(recipe: Recipe, folder: Path, earlier: Run) -> None:
    """Begin with all that an earlier run of the same parser has, but for its scores. It may be looked through by
    another process meanwhile, which writes what it finds anew."""
    if others := other_settings(earlier.recipe, parser_recipe(recipe)):
        raise InputError(f"it is another run than this recipe's: {others}", path=earlier.folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with replacing_folder(folder) as part:
        shutil.copytree(earlier.folder, part, ignore=shutil.ignore_patterns(".*.part", MANIFEST), dirs_exist_ok=True)
        Run(part).forget_scores()
        Run(part).save_recipe(recipe)
