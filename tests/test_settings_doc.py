"""docs/settings.md has every setting as the code has it, and names results that are there."""

from __future__ import annotations

import re
from pathlib import Path

from dualparse.config import explain
from dualparse.lab.store import Store
from dualparse.migration import REMOVED

ROOT = Path(__file__).parents[1]
PAGE, GONE = ROOT / "docs" / "settings.md", ROOT / "docs" / "lab" / "removed-settings.md"


def rows(page: Path) -> list[list[str]]:
    lines = page.read_text(encoding="utf-8").splitlines()
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("| `")]


def test_every_setting_is_told_with_its_default_and_its_meaning():
    told = [(key.strip("`"), default.strip("`"), meaning) for key, default, meaning, _ in rows(PAGE)]
    assert told == [(key, default, meaning) for key, default, meaning in explain()]


def test_what_shows_that_a_setting_is_needed_is_stored():
    grids = {item.name.partition("/")[0] for item in Store(ROOT / "results").read()}
    for key, *_, shown in rows(PAGE):
        assert shown, key
        named = re.findall(r"`([\w-]+)`", shown)
        assert set(named) <= grids, f"{key}: no results of {set(named) - grids}"


def test_what_a_removal_loses_is_told():
    text = GONE.read_text(encoding="utf-8")
    for key in REMOVED:
        assert f"`{key.rpartition('.')[2]}`" in text or key.startswith("language_model."), key


def test_there_are_no_more_settings_than_one_can_know():
    assert len(list(explain())) <= 62
