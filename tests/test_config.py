"""Settings: closed, typed, explained; every recipe that ships can be read."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from dualparse.config import ANY_DOMAIN, Recipe, explain, make_recipe, read_recipe, write_recipe
from dualparse.errors import InputError

RECIPES = Path(__file__).parents[1] / "recipes"
SHIPPED = sorted(RECIPES.rglob("*.toml"))
SOME_DOMAIN = "blocks"  # of the recipes for several


def write(folder, text: str | bytes) -> Path:
    path = folder / "recipe.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_every_shipped_recipe_loads(path):
    assert read(path).stages


def test_there_is_a_recipe_for_every_benchmark_with_and_without_copying():
    found = {(recipe.domain, recipe.model.copy_mechanism) for recipe in map(read, SHIPPED)}
    assert {(domain, copy) for domain in ("atis", SOME_DOMAIN) for copy in (True, False)} <= found
    assert ("trails", True) in found


def read(path: Path) -> Recipe:
    """A shipped recipe, for one of the domains where it is for several."""
    several = f'domain = "{ANY_DOMAIN}"' in path.read_text(encoding="utf-8")
    return read_recipe(path, overrides=[f"domain={SOME_DOMAIN}"] if several else [])


def test_only_the_domain_is_required(tmp_path):
    assert read_recipe(write(tmp_path, 'domain = "trails"\n')) == Recipe(domain="trails")
    with pytest.raises(InputError, match=r"recipe\.toml: domain: field required"):
        read_recipe(write(tmp_path, "seed = 3\n"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sede = 3", "unknown setting 'sede', did you mean 'seed'?"),
        ("[train]\nepoch = 3", "unknown setting 'train.epoch', did you mean 'train.epochs'?"),
        ("[modle]\nhidden = 3", "unknown setting 'modle', did you mean 'model'?"),
        ("[language_model]\npatiense = 3", "did you mean 'language_model.patience'?"),
    ],
)
def test_a_typo_names_the_nearest_key(tmp_path, text, told):
    with pytest.raises(InputError) as caught:
        read_recipe(write(tmp_path, f'domain = "trails"\n{text}\n'))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("seed = 'x'", "seed: "),
        ("[train]\nepochs = 0", "train.epochs: "),
        ("[model]\ndropout = 1.0", "model.dropout: "),
        ("[data]\nlabeled = 2.0", "data.labeled: expected a share"),
        ("[data]\nlabeled = true", "data.labeled"),
        ("[data]\nlabeled = ' '", "data.labeled: expected a share"),
        ("stages = ['q2lf', 'pf2q']", "stages.1: "),
        ("train = 3", "train: "),
        ("stages = ['q2lf', 'dual']", "the stage 'dual' needs ['lf2q'"),
        ("stages = ['lf2q']\ncommittee = 2", "committee: there is no parser without 'q2lf'"),
        ("search.prior = 0.5", "search.prior: nobody knows how common forms are without 'lf_lm' among the stages"),
        ("stages = ['q2lf', 'lf2q', 'lf_lm']\nsearch.prior = 0.5", "search.prior: it counts where both agents choose"),
        ("stages = ['dual', 'q2lf', 'lf2q', 'query_lm']", "the stage 'dual' comes before ['q2lf', 'lf2q', 'query_lm']"),
        ("stages = ['q2lf']\n[stop_at]\nlf2q = 3", "stop_at: 'lf2q' is not among the stages ['q2lf']"),
        ("[stop_at]\nlf2q = 0", "stop_at: lf2q = 0, expected 1 to 100"),
        ("[train]\nepochs = 7\n[stop_at]\nlf2q = 8", "stop_at: lf2q = 8, expected 1 to 7"),
        ("stages = ['query_lm']\n[stop_at]\nquery_lm = 31", "stop_at: query_lm = 31, expected 1 to 30"),
        ("refit = true\n[data]\neverything = true", "refit needs dev"),
        ("stages = ['q2lf', 'lf2q', 'query_lm', 'dual', 'pseudo']", "the stage 'dual' comes before ['pseudo']"),
        (
            "stages = ['q2lf', 'lf2q', 'dual', 'matcher']\n[game]\nrewards = [{name = 'meaning', weight = 1}]",
            "the stage 'dual' comes before ['matcher']",
        ),
    ],
)
def test_a_value_that_cannot_be_names_its_key(tmp_path, text, told):
    with pytest.raises(InputError) as caught:
        read_recipe(write(tmp_path, f'domain = "trails"\n{text}\n'))
    assert f"recipe.toml: {told}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_problems_are_told_at_once(tmp_path):
    with pytest.raises(InputError) as caught:
        read_recipe(write(tmp_path, "sed = 3\n[train]\nepochs = 0\n"))
    assert all(word in str(caught.value) for word in ("domain", "'sed'", "train.epochs"))


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"domain = trails", "not TOML"), (b"domain = '\xff'", "not UTF-8"), (b"\x00\x01", "not TOML")],
)
def test_a_file_that_is_no_recipe(tmp_path, content, told):
    with pytest.raises(InputError, match=told):
        read_recipe(write(tmp_path, content))


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(InputError, match="no such recipe"):
        read_recipe(tmp_path / "nothing.toml")
    with pytest.raises(InputError, match="is a folder"):
        read_recipe(tmp_path)


def test_overrides_are_read_as_toml_and_bare_words_as_text(tmp_path):
    recipe = read_recipe(
        write(tmp_path, 'domain = "trails"\n[train]\nepochs = 3\n'),
        overrides=[
            "domain=blocks",
            "train.epochs=20",
            "train.learning_rate=5e-4",
            "model.copy_mechanism=false",
            'stages=["q2lf"]',
            "model.word_vectors=my/vectors=new.txt",
            "train.epochs = 21",
        ],
    )
    assert (recipe.domain, recipe.train.epochs, recipe.train.learning_rate) == ("blocks", 21, 5e-4)
    assert (recipe.model.copy_mechanism, recipe.stages) == (False, ("q2lf",))
    assert recipe.model.word_vectors == "my/vectors=new.txt"


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("train.epochs", "expected KEY=VALUE"),
        ("train.epoch=3", "did you mean 'train.epochs'?"),
        ("train.epochs=many", "train.epochs: "),
        ("train.epochs=", "train.epochs: "),
        ("seed.x=3", "'seed' is no group of settings"),
        ("=3", "unknown setting"),
        ("", "expected KEY=VALUE"),
    ],
)
def test_an_override_that_cannot_be(override, told):
    with pytest.raises(InputError) as caught:
        make_recipe({"domain": "trails", "seed": 1}, overrides=[override])
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("--set: ")


def test_an_error_names_the_recipe_only_for_its_own_mistakes(tmp_path):
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text('domain = "trails"\nseed = 1\n')
    bad.write_text("domain = 3\n")
    for path, overrides, told in (
        (good, ["committee=0"], r"--set: committee: "),
        (bad, ["committee=0"], f"{bad}: domain: "),
        (bad, ["seed=2"], f"{bad}: domain: "),
        (bad, ["domain=trails", "train.epoch=3"], "--set: unknown setting 'train.epoch'"),
    ):
        with pytest.raises(InputError, match=told):
            read_recipe(path, overrides=overrides)
    with pytest.raises(InputError, match="grids/a.toml: seed.x=3: 'seed' is no group"):
        read_recipe(good, overrides=["seed.x=3"], given=Path("grids/a.toml"))


@given(st.text())
def test_no_override_gives_a_traceback(override):
    with contextlib.suppress(InputError):
        make_recipe({"domain": "trails"}, overrides=[override])


def test_a_recipe_written_reads_as_the_same_one(tmp_path):
    recipe = make_recipe({"domain": 'a"b\\c é', "seed": 7, "train": {"learning_rate": 0.1 + 0.2}, "stages": ["lf_lm"]})
    assert read_recipe(write(tmp_path, write_recipe(recipe))) == recipe
    assert "dropout = 0.5" in write_recipe(recipe), "defaults are written out"


def test_what_a_recipe_says_about_one_setting_leaves_the_others_as_explained():
    told = {key: default for key, default, _ in explain()}
    recipe = make_recipe({"domain": "trails", "language_model": {"patience": 99}, "train": {"average": 0.5}})
    assert (recipe.language_model.patience, recipe.train.average) == (99, 0.5)
    assert str(recipe.language_model.epochs) == told["language_model.epochs"]
    assert str(recipe.train.epochs) == told["train.epochs"]


def leaves(value: BaseModel, prefix: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for name in type(value).model_fields:
        inner = getattr(value, name)
        found |= leaves(inner, f"{prefix}{name}.") if isinstance(inner, BaseModel) else {prefix + name: inner}
    return found


def test_explain_lists_every_setting_with_default_and_meaning():
    told = {key: (default, meaning) for key, default, meaning in explain()}
    settings = leaves(Recipe(domain="x"))
    assert list(told) == list(settings)
    assert told["domain"][0] == "required"
    for key, (default, meaning) in told.items():
        assert len(meaning) > 8, key
        if key != "domain":
            recipe = make_recipe({"domain": "x"}, overrides=[f"{key}={default}"])
            assert recipe == Recipe(domain="x"), f"{key}: the default is told as TOML writes it"


def test_settings_do_not_change():
    with pytest.raises(ValueError, match="frozen"):
        Recipe(domain="x").train.epochs = 3
