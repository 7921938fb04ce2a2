"""Settings of a run: typed, closed and explained. A recipe is a TOML file; every key has a default but `domain`."""

from dualparse.config.reading import make_recipe, read_recipe, read_saved_recipe
from dualparse.config.recipe import ANY_DOMAIN, LEARNED_FROM_DEV, MEMBERS, Recipe
from dualparse.config.settings import (
    NETWORKS,
    Closed,
    DataSettings,
    GameSettings,
    LanguageModelSettings,
    MatcherSettings,
    ModelSettings,
    PseudoSettings,
    RewardSettings,
    SearchSettings,
    Stage,
    TrainSettings,
    UpdateSettings,
)
from dualparse.config.telling import differences, dotted, explain, inline, write_recipe

__all__ = [
    "ANY_DOMAIN",
    "LEARNED_FROM_DEV",
    "MEMBERS",
    "NETWORKS",
    "Closed",
    "DataSettings",
    "GameSettings",
    "LanguageModelSettings",
    "MatcherSettings",
    "ModelSettings",
    "PseudoSettings",
    "Recipe",
    "RewardSettings",
    "SearchSettings",
    "Stage",
    "TrainSettings",
    "UpdateSettings",
    "differences",
    "dotted",
    "explain",
    "inline",
    "make_recipe",
    "read_recipe",
    "read_saved_recipe",
    "write_recipe",
]
