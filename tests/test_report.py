"""Tables from result files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dualparse.errors import InputError
from dualparse.report import BEGIN, END, MISSING, PAPER, Scores, collect, method, put_into, read_results, tables


def result(domain: str, accuracy: float, *, seed: int = 1, labeled: float = 1.0, copy: bool = True, **more) -> dict:
    data = {"labeled": labeled, "queries": True, "forms": True, "synthesized": False} | more.pop("data", {})
    recipe = {"domain": domain, "seed": seed, "stages": ["q2lf"], "data": data, "model": {"copy_mechanism": copy}}
    return {"recipe": recipe | more, "test": {"q2lf": {"accuracy": accuracy}}}


def write(folder: Path, *results: dict) -> Path:
    (folder / "grid").mkdir(parents=True)
    for i, item in enumerate(results):
        (folder / "grid" / f"{i}.json").write_text(json.dumps(item))
    return folder


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({}, "AttPtr"),
        ({"copy": False}, "Att"),
        ({"stages": ["q2lf", "lf2q", "query_lm", "dual"]}, "AttPtr+Dual"),
        ({"stages": ["dual"], "data": {"synthesized": True}}, "AttPtr+Dual+LF"),
        ({"stages": ["dual"], "labeled": 0.5}, "AttPtr+Dual+LF+Q"),
        ({"stages": ["dual"], "labeled": 0.5, "data": {"queries": False}}, "AttPtr+Dual+LF"),
        ({"stages": ["pseudo"], "labeled": 0.5, "data": {"forms": False}}, "AttPtr+Pseudo(Q)"),
    ],
)
def test_a_recipe_has_the_papers_name(settings, name):
    assert method(result("atis", 50.0, **settings)["recipe"]) == name


def test_every_name_of_the_paper_can_come_out():
    names = {name for table in ("table2", "table3", "table4") for name in PAPER[table]}
    assert {"Att", "AttPtr+Dual+LF+Q", "Att+Pseudo(LF+Q)"} <= names


def test_seeds_become_a_median_with_count_and_spread(tmp_path):
    folder = write(tmp_path, *(result("atis", a, seed=s) for s, a in ((1, 80.0), (2, 90.0), (3, 81.0))))
    found = collect(read_results(folder), labeled=1.0)
    assert str(found["AttPtr", "atis"]) == "81.0 (80.0-90.0, 3 seeds)"
    assert "| AttPtr | 85.7 | 81.0 (80.0-90.0, 3 seeds) |" in tables(read_results(folder))


def test_an_average_needs_all_domains(tmp_path):
    domains = PAPER["domains"]
    most = write(tmp_path / "most", *(result(domain, 80.0) for domain in domains[1:]))
    row = next(line for line in tables(read_results(most)).splitlines() if line.startswith("| AttPtr | 76.0"))
    assert row.split(" | ")[2:5] == [MISSING, MISSING, MISSING]
    whole = write(tmp_path / "whole", *(result(domain, 70.0 + i) for i, domain in enumerate(domains)))
    row = next(line for line in tables(read_results(whole)).splitlines() if line.startswith("| AttPtr | 76.0"))
    assert row.split(" | ")[2] == "73.5"


def test_results_without_a_test_score_are_no_results(tmp_path):
    folder = write(tmp_path, {"recipe": {}, "dev": {}}, {"other": 1})
    assert read_results(folder) == []
    assert str(Scores(())) == MISSING


def test_bad_input_is_named(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        read_results(tmp_path / "nowhere")
    (write(tmp_path / "bad") / "grid" / "x.json").write_text("{")
    with pytest.raises(InputError, match=r"x\.json: not JSON"):
        read_results(tmp_path / "bad")


def test_tables_replace_what_stands_between_the_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"above\n{BEGIN}\nold\n{END}\nbelow\n")
    put_into(page, "new\n")
    put_into(page, "newer\n")
    assert page.read_text() == f"above\n{BEGIN}\n\nnewer\n\n{END}\nbelow\n"
    page.write_text("no marks")
    with pytest.raises(InputError, match="marks"):
        put_into(page, "new")
