"""Settings of earlier versions are read as what they were; what is no more is told apart and not forgotten."""

from __future__ import annotations

import pytest

from dualparse import migration
from dualparse.config import make_recipe, read_saved_recipe, write_recipe
from dualparse.errors import InputError
from dualparse.lab.sharing import fingerprint
from dualparse.lab.trained import trained
from dualparse.migration import SCHEMA, Gone, migrate, schema_of
from dualparse.runs import Run

OLD = {"domain": "trails", "stages": ["q2lf"], "train": {"warmth": 3, "epochs": 7}, "oven": True}


@pytest.fixture
def oven(monkeypatch):
    """Two settings that there were once."""
    gone = {"train.warmth": Gone(1), "oven": Gone(False, stages=("dual",))}
    monkeypatch.setattr(migration, "REMOVED", gone)


def test_a_setting_that_is_no_more_is_kept_aside_where_it_was_not_as_all_have_it_now(oven):
    migrated = migrate(OLD)
    assert migrated.values == {"domain": "trails", "stages": ["q2lf"], "train": {"epochs": 7}}
    assert migrated.removed == {"train.warmth": 3}, "no stage here reads the oven"
    assert migrate(OLD | {"stages": ["dual"]}).removed == {"train.warmth": 3, "oven": True}
    assert migrate(OLD | {"train": {"warmth": 1}}).removed == {}
    assert OLD["train"] == {"warmth": 3, "epochs": 7}, "what is given stays as it is"


def test_a_stored_result_with_a_setting_that_is_no_more_is_no_cell_of_today(oven):
    today = make_recipe({"domain": "trails", "stages": ["q2lf"], "train": {"epochs": 7}})
    old, plain = trained({"recipe": OLD}), trained({"recipe": OLD | {"train": {"warmth": 1, "epochs": 7}}})
    assert plain.key == fingerprint(today) and old.recipe == today
    assert old.key not in (fingerprint(today), trained({"recipe": OLD | {"train": {"warmth": 4, "epochs": 7}}}).key)
    assert old.essence["train"]["warmth"] == 3 and "warmth" not in plain.essence["train"]


def test_a_change_of_form_is_made_once(monkeypatch):
    def celsius(values):
        values["train"]["epochs"] = values["train"].pop("rounds") * 2
        return {"train.rounds": 7} if values["train"]["epochs"] == 14 else {}

    monkeypatch.setattr(migration, "CHANGES", {1: [celsius]})
    old = {"domain": "trails", "train": {"rounds": 7}}
    migrated = migrate(old)
    assert (migrated.values["train"], migrated.removed) == ({"epochs": 14}, {"train.rounds": 7})
    assert migrate(migrated.values, SCHEMA).values == migrated.values


def test_a_change_is_made_of_what_was_written_before_it_and_of_nothing_later():
    family = {"domain": "blocks", "data": {"family": ["blocks", "housing"]}, "game": {"patience": 1000}}
    assert migrate(family).removed == {"data.joint": False}
    later = migrate(family, 2)
    assert (later.removed, later.values["game"]) == ({}, {})
    assert migrate({"stages": ["dual"], "game": {"patience": 3}}, 2).removed == {"game.patience": 3}


def test_a_run_of_an_earlier_version_still_answers(oven, tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('domain = "trails"\noven = true\n[train]\nwarmth = 3\nepochs = 7\n')
    recipe, removed = read_saved_recipe(path)
    assert recipe.train.epochs == 7 and removed == {"train.warmth": 3}
    assert Run.open(tmp_path).recipe == recipe


def test_a_saved_recipe_tells_its_schema_and_is_read_back(tmp_path):
    recipe = make_recipe({"domain": "trails", "train": {"epochs": 7}})
    (tmp_path / "config.toml").write_text(write_recipe(recipe))
    assert write_recipe(recipe).startswith(f"schema = {SCHEMA}\n")
    assert read_saved_recipe(tmp_path / "config.toml") == (recipe, {})
    assert make_recipe({"schema": SCHEMA, "domain": "trails", "train": {"epochs": 7}}) == recipe


def test_a_recipe_that_asks_for_what_is_no_more_is_an_error(oven):
    with pytest.raises(InputError, match="are no more: train.warmth = 3"):
        make_recipe(OLD | {"schema": 1})
    with pytest.raises(InputError, match="newer version"):
        make_recipe({"domain": "trails", "schema": SCHEMA + 1})


@pytest.mark.parametrize("wrong", [0, "2", True, 1.5])
def test_a_schema_is_a_whole_number(wrong):
    with pytest.raises(InputError, match="expected a whole number"):
        schema_of({"schema": wrong})
