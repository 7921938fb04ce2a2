"""Grid files: which cells they have, what their names are, and what is said about a wrong one."""

from __future__ import annotations

import pytest

from dualparse.errors import InputError
from dualparse.lab.sweep.grid import cells_of, named, read_grid

METHODS = """
[methods.Att]
recipe = "{dataset}-att.toml"
[methods."Att+Dual(LF)"]
recipe = "{dataset}-att.toml"
stages = ["q2lf", "lf2q", "query_lm", "dual"]
data.synthesized = true
"""


@pytest.fixture
def write(tmp_path):
    """A grid file beside a folder of recipes."""
    (tmp_path / "recipes").mkdir(parents=True)
    for name, domain in (("one-att", "trails"), ("set-att", "{domain}")):
        (tmp_path / "recipes" / f"{name}.toml").write_text(f'domain = "{domain}"\nstages = ["q2lf"]\n')

    def write(text: str, name: str = "grid.toml"):
        path = tmp_path / "grids" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


def cells(path):
    return cells_of(read_grid(path), path)


def test_datasets_methods_and_axes_make_cells(write):
    path = write('datasets = ["one", "set/trails"]\n' + METHODS + "[set]\ntrain.epochs = 7\n[axes]\nseed = [1, 2]\n")
    # The two datasets are the same domain here, so the second would train nothing new.
    found = cells(path)
    assert [cell.name for cell in found] == [
        "one-att,seed=1",
        "one-att,seed=2",
        "one-att-dual-lf,seed=1",
        "one-att-dual-lf,seed=2",
    ]
    last = found[-1]
    assert (last.grid, last.method, last.varied) == ("grid", "Att+Dual(LF)", {"seed": 2})
    assert (last.recipe.seed, last.recipe.train.epochs, last.recipe.data.synthesized) == (2, 7, True)
    assert last.recipe.stages == ("q2lf", "lf2q", "query_lm", "dual")
    assert not found[0].recipe.data.synthesized


def test_a_dataset_with_a_slash_is_a_domain_of_a_recipe_for_several(write):
    path = write('datasets = ["set/two"]\n' + METHODS)
    assert [cell.name for cell in cells(path)] == ["two-att", "two-att-dual-lf"]
    assert {cell.recipe.domain for cell in cells(path)} == {"two"}


def test_methods_may_stand_in_a_file_of_their_own(write):
    write(METHODS.replace("methods.", ""), "methods/all.toml")
    path = write('datasets = ["one"]\nmethods = "methods/all.toml"\n')
    assert [cell.method for cell in cells(path)] == ["Att", "Att+Dual(LF)"]


def test_recipes_may_be_named_directly_and_quoted_keys_are_the_same(write):
    path = write('recipe = ["one-att.toml"]\n[axes]\n"train.average" = [0.0, 0.5]\nseed = [3]\n')
    assert [cell.name for cell in cells(path)] == ["one-att,average=0.0,seed=3", "one-att,average=0.5,seed=3"]
    assert cells(path)[1].recipe.train.average == 0.5


def test_cells_that_train_the_same_are_one(write):
    """Supervised training reads no unlabeled material, so it is one point and not a curve."""
    text = 'datasets = ["one"]\n' + METHODS + "[set]\ndata.labeled = 0.3\n[axes]\ndata.unlabeled = [0.0, 0.5, 1.0]\n"
    names = [cell.name for cell in cells(write(text))]
    assert names == ["one-att,unlabeled=0.0", *(f"one-att-dual-lf,unlabeled={u}" for u in ("0.0", "0.5", "1.0"))]


def test_test_is_scored_at_once_unless_there_is_a_choice(write):
    text = 'recipe = "one-att.toml"\ntest = true\n{}[axes]\nseed = [1]\n'
    assert [cell.test for cell in cells(write(text.format("")))] == [True]
    assert [cell.test for cell in cells(write(text.format('choose = ["seed"]\n')))] == [False]


def test_cells_are_found_by_pattern(write):
    found = cells(write('datasets = ["one"]\n' + METHODS + "[axes]\nseed = [1, 2]\n"))
    assert [cell.name for cell in named(found, ["*dual*seed=1"])] == ["one-att-dual-lf,seed=1"]
    assert named(found, ["grid/*"]) == found
    assert named(found, ["one"]) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("recipe = ", "not TOML"),
        ("rezipe = 'x'", "unknown key of a grid 'rezipe', did you mean 'recipe'"),
        ("test = true", "either a recipe, or datasets and methods"),
        ('recipe = "one-att.toml"\ndatasets = ["one"]\n' + METHODS, "either a recipe, or datasets and methods"),
        (METHODS, "methods need datasets"),
        ('datasets = ["one"]\n[methods.Att]\nseed = 1\n', "methods.Att: expected a recipe"),
        ('datasets = ["one"]\nmethods = "nowhere.toml"\n', "nowhere.toml: no such file of methods"),
        ('recipe = "one-att.toml"\n[axes]\nseed = 1\n', "axes.seed: expected a list"),
        ('recipe = "one-att.toml"\nchoose = ["sed"]\n[axes]\nseed = [1]\n', "unknown axis 'sed', did you mean 'seed'"),
        ('recipe = "nowhere.toml"\n', "recipes/nowhere.toml: no such recipe"),
        ('recipe = "one-att.toml"\n[set]\ntrain.epoch = 1\n', "grid.toml: unknown .* did you mean 'train.epochs'"),
    ],
)
def test_a_wrong_grid_is_told(write, text, told):
    with pytest.raises(InputError, match=told):
        cells(write(text))


def test_a_missing_grid_is_told(tmp_path):
    with pytest.raises(InputError, match="no such grid"):
        read_grid(tmp_path / "none.toml")
