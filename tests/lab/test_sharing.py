"""What a stage depends on: recipes that agree in it train the same weights, and nothing that matters is left out."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
import toy

from dualparse.config import GameSettings, Recipe, explain, make_recipe
from dualparse.lab.sharing import fingerprint, parser_recipe
from dualparse.networks.tensors import load_tensors
from dualparse.training.essence import PRETRAINING, essence, stage_recipe
from dualparse.training.run import train
from dualparse.training.run_parts import members

CPU = torch.device("cpu")
ALL = ["q2lf", "lf2q", "query_lm", "lf_lm", "matcher", "dual"]
TINY = {
    "domain": "toy",
    "stages": ALL,
    "data": {"labeled": 0.5},
    "model": {"embedding": 5, "hidden": 8},
    "train": {"epochs": 1},
    "language_model": {"epochs": 1},
    "game": {"rewards": [{"name": "form_lm", "weight": 0.5}, {"name": "fluency", "weight": 0.5}], "epochs": 1},
    "search": {"max_length": 8},
}
# Another value for every setting, as text after `--set`.
OTHERS = {
    "model.network": "transformer",
    "model.networks": '{q2lf = "transformer", lf2q = "transformer", query_lm = "transformer", lf_lm = "transformer"}',
    "model.heads": "2",
    "data.family": '["trails"]',
    "model.word_vectors": "some.txt",
    "start_from": "runs/other",
    "stages": '["q2lf", "lf2q", "query_lm", "dual"]',
    "stop_at": "{q2lf = 1}",
    "game.rewards": '[{name = "fluency", weight = 0.25}]',
}


def tiny(*overrides: str, **changes: object) -> Recipe:
    return make_recipe(deepcopy(TINY | changes), overrides=overrides)


def other_value(key: str, recipe: Recipe) -> str:
    value = recipe.model_dump()
    for part in key.split("."):
        value = value[part]
    if key in OTHERS:
        return OTHERS[key]
    if isinstance(value, bool):
        return str(not value).lower()
    if isinstance(value, int):
        return str(value + 1)
    return "0.25" if isinstance(value, float) else "elsewhere"


def changed(key: str, recipe: Recipe) -> Recipe:
    game = {**TINY["game"], **({"rewards": [{"name": "fluency", "weight": 0.5}]} if key == "stages" else {})}
    needed = {"search.prior": "search.reconstruction=0.1"}
    more = (needed[key],) if key in needed else ()
    return tiny(*more, f"{key}={other_value(key, recipe)}", game=game)


KEYS = [key for key, _, _ in explain()]


@pytest.mark.parametrize("key", [key for key in KEYS if not key.startswith("pseudo.")])
def test_every_setting_of_a_game_counts(key):
    assert fingerprint(changed(key, tiny())) != fingerprint(tiny())


@pytest.mark.parametrize(
    ("stage", "unread"),
    [
        ("q2lf", {"data.unlabeled", "data.queries", "data.forms", "data.synthesized"}),
        (
            "lf2q",
            {"data.unlabeled", "data.queries", "data.forms", "data.synthesized", "data.analogies"},
        ),
        ("query_lm", {"data.forms", "data.synthesized", "data.analogies"}),
        ("lf_lm", {"data.queries", "data.analogies"}),
    ],
)
def test_a_stage_reads_its_own_settings_only(stage, unread):
    groups = ("game.", "pseudo.", "matcher.", "train." if stage.endswith("lm") else "language_model.")
    unread |= {key for key in KEYS if key.startswith(groups)} | {
        "search.beams",
        "search.reconstruction",
        "search.prior",
        "search.matcher",
        "stages",
        "start_from",
        "refit",
        "committee",
    }
    if stage != "q2lf":
        unread.add("stop_at")
    if stage.endswith("lm"):
        unread |= {"model.network", "model.copy_mechanism", "model.word_dropout", "model.word_vectors"}
        unread |= {key for key in KEYS if key.startswith("search.")}
    same = {key for key in KEYS if stage_recipe(changed(key, tiny()), stage) == stage_recipe(tiny(), stage)}
    assert same == unread


def test_a_matcher_depends_on_few_settings():
    same = {key for key in KEYS if stage_recipe(changed(key, tiny()), "matcher") == stage_recipe(tiny(), "matcher")}
    read = {key for key in KEYS if key not in same}
    assert read == {
        "domain",
        "seed",
        "data.labeled",
        "data.canonical",
        "data.family",
        "data.split_seed",
        "data.everything",
        "data.min_count",
        "model.encoder",
        "matcher.epochs",
        "matcher.layers",
    }


def test_names_outlive_new_settings_that_have_their_default():
    class LaterGame(GameSettings):
        something: int = 1

    class Later(Recipe):
        game: LaterGame = LaterGame()

    later = Later.model_validate(deepcopy(TINY))
    assert fingerprint(later) == fingerprint(tiny())
    other = Later.model_validate(deepcopy(TINY | {"game": {**TINY["game"], "something": 2}}))
    assert fingerprint(other) != fingerprint(tiny())
    assert fingerprint(stage_recipe(other, "q2lf")) == fingerprint(stage_recipe(tiny(), "q2lf"))


def test_runs_that_are_there_keep_their_names():
    """New settings, and those that go, must not have anything trained again."""
    assert fingerprint(make_recipe({"domain": "trails", "stages": ["q2lf"], "seed": 3})) == "8dfc19eea223"


@pytest.mark.parametrize("stage", [stage for stage in PRETRAINING if stage != "matcher"])  # the toy has no grammar
def test_what_a_stage_does_not_read_changes_no_weight(stage, tmp_path, toy_domain):
    toy_domain(toy.write_files(tmp_path / "toy"))
    unread = [key for key in KEYS if stage_recipe(changed(key, tiny()), stage) == stage_recipe(tiny(), stage)]
    other = ("stages", "start_from", "committee", "search.prior", "search.matcher")  # these need other stages
    settings = [f"{key}={other_value(key, tiny())}" for key in unread if key not in other]
    weights = []
    for number, recipe in enumerate((tiny(), tiny(*settings))):
        folder = tmp_path / str(number)
        for _ in train(recipe.model_copy(update={"stages": (stage,), "stop_at": {}}), folder, device=CPU):
            pass
        weights.append(load_tensors(folder / f"{stage}.safetensors")[0])
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_without_torn_pairs_their_settings_do_not_matter():
    one, other = tiny("data.labeled=1"), tiny("data.labeled=1", "data.unlabeled=0.2", "data.forms=false")
    assert essence(one) == essence(other)
    unused = ("data.queries=false", "data.forms=false")
    assert essence(tiny(*unused)) == essence(tiny(*unused, "data.unlabeled=0.2"))


def test_all_runs_below_a_run_are_known():
    """A committee changes no weights, and names no stage anew."""
    stages = ["q2lf", "lf2q", "pseudo"]
    whole = tiny(stages=stages, committee=2)
    assert {place: (each.seed, each.stages) for place, each in members(whole).items()} == {
        "members/2": (1001, tuple(stages)),
    }
    assert members(tiny()) == {}
    assert stage_recipe(whole, "q2lf") == stage_recipe(tiny(stages=stages), "q2lf")
    assert fingerprint(tiny(committee=1)) == fingerprint(tiny()) != fingerprint(tiny(committee=2))


def test_how_answers_are_chosen_does_not_matter_to_a_parser():
    """But pseudo-labels are found with as many beams as answers."""
    both = ("search.reconstruction=0.7", "search.prior=0.5")
    for stages, beams_matter in (
        (["q2lf", "lf2q", "query_lm", "lf_lm", "dual"], False),
        (["q2lf", "lf2q", "lf_lm", "pseudo"], True),
    ):
        plain = parser_recipe(tiny(stages=stages, committee=3))
        assert plain == parser_recipe(tiny(*both, stages=stages))
        assert (plain == parser_recipe(tiny("search.beams=7", stages=stages))) != beams_matter
        assert plain != parser_recipe(tiny("search.length_power=0.5", stages=stages)), "dev is searched with it"
