"""The report as a reader gets it: tables, CSV files, pictures, and a part of it in a page of one's own."""

from __future__ import annotations

import csv
import json
import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from dualparse.config import make_recipe
from dualparse.errors import InputError
from dualparse.lab.report.figures import figure3, figure4, summary
from dualparse.lab.report.page import (
    BEGIN,
    END,
    draw,
    put_into,
    put_results_into,
    sharing_text,
    short_text,
    write_report,
)
from dualparse.lab.report.paper import DOMAINS, PAPER
from dualparse.lab.report.results import all_outcomes, outcomes_of
from dualparse.lab.report.tables import (
    beyond,
    committee_table,
    main_table,
    mistakes,
    network_table,
    own_table,
    refit_table,
    table2,
    table3,
    table4,
    table5,
)

ROOT = Path(__file__).parents[3]
DUAL = ["q2lf", "lf2q", "query_lm", "dual"]
PSEUDO = ["q2lf", "lf2q", "pseudo"]


def result(accuracy: float, domain: str = "atis", **settings) -> dict:
    recipe = make_recipe({"domain": domain, "stages": ["q2lf"], **settings}).model_dump(mode="json")
    scores = {"q2lf": {"accuracy": accuracy, "examples": 448}}
    return {"recipe": recipe, "dev": scores, "test": scores, "commit": "abc", "hardware": "a machine", "seconds": 1800}


def curve(shares: tuple[float, ...], key: str = "labeled", **data) -> list[dict]:
    """Supervised, pseudo and dual runs over shares of data."""
    return [
        result(60 + 20 * share + gain, stages=stages, data={**data, key: share})
        for share in shares
        for stages, gain in ((["q2lf"], 0), (PSEUDO, 1), (DUAL, 4))
    ]


def write(folder: Path, *results: dict) -> Path:
    (folder / "grid").mkdir(parents=True)
    for i, item in enumerate(results):
        (folder / "grid" / f"{i}.json").write_text(json.dumps(item))
    return folder


def row(markdown: str, method: str) -> list[str]:
    [line] = [line for line in markdown.splitlines() if line.startswith(f"| {method} |")]
    return line.strip("| ").split(" | ")


def test_table_3_has_the_papers_number_beside_ours():
    outcomes = outcomes_of(result(a, seed=s) for s, a in ((1, 80.0), (2, 90.0), (3, 81.0)))
    text = table3(outcomes).markdown()
    assert row(text, "AttPtr") == ["AttPtr", "85.7", "81.0 (80.0-90.0, 3 seeds)"]
    assert row(text, "Att") == ["Att", "84.4", "-"]


def test_an_average_needs_all_domains():
    most = table2(outcomes_of(result(80.0, domain) for domain in DOMAINS[1:])).markdown()
    assert row(most, "AttPtr")[1] == "- (86.7)" and row(most, "AttPtr")[-2:] == ["- (76.0)", "1"]
    whole = table2(outcomes_of(result(70.0 + i, domain) for i, domain in enumerate(DOMAINS))).markdown()
    assert row(whole, "AttPtr")[-2:] == ["73.5 (76.0)", "1"]
    assert row(whole, "Att")[-2:] == ["- (75.7)", "-"]


def test_table_4_takes_half_of_the_labels_and_all_that_is_left():
    runs = [result(70.0, data={"labeled": 0.5}), result(99.0, data={"labeled": 0.5}, stages=DUAL)]
    runs.append(result(11.0, data={"labeled": 0.5, "unlabeled": 0.5}, stages=DUAL))
    text = table4(outcomes_of(runs)).markdown()
    assert row(text, "AttPtr")[-2:] == ["70.0 (84.8)", "1"]
    assert row(text, "AttPtr+Dual+LF+Q")[-2:] == ["99.0 (86.8)", "1"]


def test_what_the_paper_does_not_have_has_a_table_of_its_own():
    together = result(70.0, stages=DUAL)
    together["test"] = together["test"] | {
        "both": {"accuracy": 72.0, "examples": 448},
        "combined": {"accuracy": 74.0, "examples": 448},
    }
    outcomes = outcomes_of([together, result(60.0, "trails", data={"canonical": 9, "labeled": 0})])
    assert row(table3(outcomes).markdown(), "AttPtr+Dual")[-1] == "70.0"
    (more,) = beyond(outcomes)
    assert more.header == ["method", "domain", "100%", "0%", "seeds"]
    assert more.rows == [
        ["AttPtr+Dual (both agents and the matcher choose)", "atis", "74.0", "-", "1"],
        ["AttPtr+Dual (both agents choose)", "atis", "72.0", "-", "1"],
        ["AttPtr (pairs from the grammar)", "trails", "-", "60.0", "1"],
    ]
    assert beyond(outcomes_of([result(80.0)])) == []


def test_parts_of_the_unlabeled_data_are_in_the_csv_file_alone():
    data = {"labeled": 0.3, "canonical": 9}
    amounts = {1.0: 70.0, 0.5: 65.0}
    runs = [result(test, "trails", data=data | {"unlabeled": part}, stages=DUAL) for part, test in amounts.items()]
    (more,) = beyond(outcomes_of(runs))
    assert more.header[2] == "30%" and [cells[2] for cells in more.rows] == ["70.0"]
    assert [(record["unlabeled"], record["test"]) for record in more.records] == list(amounts.items())


def test_domains_that_learn_together_stand_side_by_side():
    family = {"family": ["blocks", "calendar"]}
    runs = [result(70.0 + i, domain, data=family) for i, domain in enumerate(DOMAINS)]
    name = "AttPtr (all domains together)"
    numbers = [f"{70 + i}.0" for i in range(8)]
    (more,) = beyond(outcomes_of(runs))
    assert more.rows == [[name, "100%", *numbers, "73.5", "1"]]
    assert own_table(outcomes_of(runs)).rows == [["AttPtr", "-", "-", "all domains together", "73.5"]]
    (part,) = beyond(outcomes_of(runs[:3]))
    assert part.rows == [[name, "100%", *numbers[:3], *"------", "1"]]  # five domains and the average are missing
    assert own_table(outcomes_of(runs[:3])).rows == []


def test_of_what_we_add_to_a_method_the_best_on_dev_is_shown():
    def run(test: float, dev: float, stages: list[str], **data: object) -> dict:
        return result(test, data=data, stages=stages) | {"dev": {"q2lf": {"accuracy": dev}}}

    runs = [run(90.0, 70.0, ["q2lf"], canonical=9), run(80.0, 75.0, ["q2lf"], family=["atis"])]
    runs += [run(70.0, 60.0, ["q2lf"]), run(60.0, 99.0, DUAL, canonical=9), run(50.0, 99.0, DUAL)]
    outcomes = outcomes_of(runs)
    assert [cells[0] for cells in main_table(outcomes).rows] == list(PAPER["table3"])
    assert own_table(outcomes).rows == [
        ["AttPtr", "all domains together", "80.0", "-", "-"],
        ["AttPtr+Dual", "pairs from the grammar", "60.0", "-", "-"],
    ]
    assert own_table(outcomes, labeled=0.5).rows == []


def test_refits_stand_beside_what_they_go_back_to():
    def run(test: float, dev: float, **settings: object) -> dict:
        return result(test, **settings) | {"dev": {"q2lf": {"accuracy": dev}}}

    analogies = {"data": {"analogies": 9}}
    runs = [
        run(70.0, 60.0, **analogies),
        run(72.0, 61.0, refit=True, **analogies),
        run(74.0, 59.0, seed=2, refit=True, **analogies),
        run(80.0, 99.0, train={"epochs": 3}, **analogies),
        run(60.0, 90.0),
        run(65.0, 40.0, refit=True),
    ]
    table = refit_table(all_outcomes(runs))
    assert table.rows == [["AttPtr", "ATIS", "100%", "pairs by analogy", "85.7", "70.0", "73.0 (72.0-74.0, 2 seeds)"]]
    assert table.records[0]["dev held out"] == 70.0 and table.records[0]["dev pairs too"] == 73.0
    outcomes = outcomes_of(runs)
    assert own_table(outcomes).rows[0][1:3] == ["pairs by analogy", "80.0"], "dev knows nothing of a refit"
    assert refit_table(all_outcomes(runs[-1:])).rows == [["AttPtr", "ATIS", "100%", "-", "85.7", "-", "65.0"]]
    assert refit_table(all_outcomes(runs[:1])).rows == []


def test_committees_stand_beside_one_of_their_parsers():
    def run(test: float, dev: float, **settings: object) -> dict:
        return result(test, **settings) | {"dev": {"q2lf": {"accuracy": dev}}}

    runs = [
        run(70.0, 60.0),
        run(71.0, 61.0, committee=3),
        run(72.0, 62.0, committee=5),
        run(90.0, 63.0, committee=5, refit=True),
        run(10.0, 60.0, train={"epochs": 3}),
    ]
    table = committee_table(all_outcomes(runs))
    assert table.rows == [["AttPtr", "ATIS", "100%", "5 parsers together", "85.7", "70.0", "72.0"]]
    assert table.records[0]["one parser"] == 70.0 and table.records[0]["together"] == 72.0
    assert committee_table(all_outcomes(runs[:1])).rows == []


def test_pseudo_methods_without_a_note_are_found_as_well():
    pseudo = {"stages": ["q2lf", "lf2q", "pseudo"], "data": {"labeled": 0.5}}
    runs = [result(70.0, **pseudo), result(72.0, committee=3, **pseudo), result(74.0, refit=True, **pseudo)]
    assert committee_table(all_outcomes(runs)).rows[0][-2:] == ["70.0", "72.0"]
    assert refit_table(all_outcomes(runs)).rows[0][-2:] == ["70.0", "74.0"]


def test_a_refit_stands_beside_the_run_with_its_seed():
    runs = [result(70.0), result(90.0, seed=2), result(74.0, refit=True)]
    assert refit_table(all_outcomes(runs)).rows[0][-2:] == ["70.0", "74.0"]


def test_one_parser_of_a_committee_has_all_its_seeds_and_its_own_way_to_choose():
    def run(test: float, dev: float, weight: float, prior: float = 0.0, **settings: object) -> dict:
        search = {"reconstruction": weight, "prior": prior}
        told = result(test, stages=["q2lf", "lf2q", "lf_lm"], search=search, **settings)
        told["test"]["both"] = {"accuracy": test, "examples": 448}
        return told | {"dev": {"q2lf": {"accuracy": 50.0}, "both": {"accuracy": dev}}}

    runs = [
        run(80.0, 70.0, 0.7, 0.5, committee=5),
        *(run(test, 65.0, 0.3, 0.3, seed=seed) for seed, test in enumerate((75.0, 76.0, 78.0), start=1)),
        run(99.0, 64.0, 0.5, 0.3),
        run(98.0, 69.0, 0.7),
    ]
    [row] = committee_table(all_outcomes(runs)).rows
    assert row[3:] == [
        "5 parsers together, both agents choose, common forms first",
        "85.7",
        "76.0 (75.0-78.0, 3 seeds)",
        "80.0",
    ]


def test_the_mistakes_of_the_best_on_dev_are_told_by_kind():
    def telling(dev: float, domain: str = "atis", wrong: dict | None = None, **settings) -> dict:
        told = result(90.0, domain, **settings) | {"dev": {"q2lf": {"accuracy": dev}}}
        return told | {"mistakes": {"test": wrong or {}}}

    best = {"wrong entity": 4, "invalid": 2, "right answer, another form": 1}
    runs = [telling(70.0, stages=DUAL), telling(80.0, wrong=best), telling(82.0, wrong={"invalid": 4}, seed=2)]
    runs += [telling(60.0, domain, {"wrong structure": 224}) for domain in DOMAINS]
    runs += [result(95.0, data={"labeled": 0.5})]
    table = mistakes(outcomes_of(runs))
    assert table.header[4:] == ["invalid", "wrong entity", "wrong predicate", "wrong structure"]
    assert table.rows == [
        ["ATIS", "100%", "AttPtr", "10.0", "0.7", "0.4", "0.0", "0.0"],
        ["OVERNIGHT", "100%", "AttPtr", "10.0", "0.0", "0.0", "0.0", "50.0"],
    ]
    assert not mistakes(outcomes_of(runs[3:-1][:7])).rows, "one domain is missing"


def test_table_5_sets_the_judges_apart():
    language_model = {"rewards": [{"name": name, "weight": 0.5} for name in ("form_lm", "fluency", "reconstruction")]}
    runs = [
        result(70.0, data={"labeled": 0.5}, stages=["lf_lm", *DUAL], game=language_model),
        result(75.0, data={"labeled": 0.5}, stages=DUAL),
    ]
    runs.append(result(99.0, data={"labeled": 0.5}, stages=DUAL, game={"epochs": 9}))  # another game
    lines = [line for line in table5(all_outcomes(runs)).markdown().splitlines() if line.startswith("| AttPtr")]
    assert lines == [
        "| AttPtr+Dual+LF+Q | language model | 70.0 (86.2) | - (71.4) | 1 |",
        "| AttPtr+Dual+LF+Q | check | 75.0 (86.8) | - (73.0) | 1 |",
    ]


def test_the_main_table_counts_the_seeds_all_domains_have():
    runs = [result(80.0, domain, seed=seed) for domain in DOMAINS for seed in (1, 2)]
    text = main_table(outcomes_of(runs)).markdown()
    assert row(text, "AttPtr") == ["AttPtr", "85.7", "-", "76.0", "80.0 (2 seeds)"]


def test_a_report_has_tables_figures_and_claims(tmp_path):
    shares = (0.1, 0.3, 0.5, 0.9)
    found = curve(shares) + curve((0.0, 0.5, 1.0), "unlabeled", labeled=0.3)
    folder = write(tmp_path / "results", result(86.0), *found)
    out = tmp_path / "report"
    written = write_report(folder, out, more=["## Errors of a run\n\nnone"])
    assert {path.name for path in written} == {
        "report.md",
        *(f"table{number}.csv" for number in (2, 3, 4, 5)),
        *(f"{name}.{kind}" for name in ("summary", "figure3", "figure4") for kind in ("svg", "png")),
    }
    text = (out / "report.md").read_text()
    assert "on a machine" in text and "the commit that made it: abc." in text
    for heading in (
        "# Results",
        "## The paper's claims",
        "## Tables",
        "## Figures",
        "## Processes on one GPU",
        "## Errors",
    ):
        assert heading in text
    assert "| The gain over supervised training is largest with 20 to 40 % of the labels |" in text
    for line in text.splitlines():  # every picture and file it points to is there
        if line.startswith("!["):
            assert (out / line.partition("](")[2].rstrip(")")).is_file()
    for path in out.glob("*.svg"):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
    assert (out / "figure3.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader((out / "table3.csv").read_text().splitlines()))
    assert next(row for row in rows if row["method"] == "AttPtr")["ATIS"] == "86.0"
    assert next(row for row in rows if row["method"] == "Att")["ATIS"] == ""


def test_a_report_can_be_made_of_nothing(tmp_path):
    (tmp_path / "results").mkdir()
    written = write_report(tmp_path / "results", tmp_path / "report")
    assert not [path for path in written if path.name.startswith("figure")]
    text = (tmp_path / "report" / "report.md").read_text()
    assert "Not run yet" in text and "not run yet" in text and "Not measured yet" in text


def test_the_same_results_give_the_same_files(tmp_path):
    folder = write(tmp_path / "results", *curve((0.1, 0.5)))
    for name in ("one", "two"):
        write_report(folder, tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_curves_have_our_points_and_the_papers_where_a_table_has_them():
    [axes] = figure3(outcomes_of(curve((0.1, 0.3, 0.5)))).axes
    lines = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}
    assert lines["dual learning"] == ([10, 30, 50], [66, 70, 74])
    hollow = [list(zip(*line.get_data(), strict=True)) for line in axes.lines if line.get_markerfacecolor() == "none"]
    assert hollow == [[(50, 84.8), (100, 85.7)], [(50, 85.0)], [(50, 86.8), (100, 88.6)]]


def test_supervised_training_is_a_level_of_figure_4():
    [axes] = figure4(outcomes_of(curve((0.0, 0.5, 1.0), "unlabeled", labeled=0.3))).axes
    level = next(line for line in axes.lines if line.get_label().startswith("supervised"))
    assert len(set(level.get_ydata())) == 1
    dual = next(line for line in axes.lines if line.get_label() == "dual learning")
    assert list(dual.get_xdata()) == [0, 50, 100]


def test_a_curve_is_dotted_where_a_point_is_missing(tmp_path):
    runs = curve((0.1, 0.3, 0.5))
    gap = [run for run in runs if run["recipe"]["stages"] != DUAL or run["recipe"]["data"]["labeled"] != 0.3]
    assert len(gap) == len(runs) - 1
    [axes] = figure3(outcomes_of(gap)).axes
    drawn = next(line for line in axes.lines if line.get_label() == "dual learning")
    assert [math.isnan(y) for y in drawn.get_ydata()] == [False, True, False]
    dotted = [list(line.get_xdata()) for line in axes.lines if line.get_linestyle() == ":"]
    assert [10, 50] in dotted and [10, 30, 50] in dotted
    assert "Dotted" in draw(outcomes_of(gap), tmp_path)["figure3"].caption
    assert "Dotted" not in draw(outcomes_of(runs), tmp_path)["figure3"].caption


def test_one_point_is_no_curve():
    outcomes = outcomes_of([result(86.0)])
    assert figure3(outcomes) is None and figure4(outcomes) is None
    assert len(summary(outcomes).axes) == 2


def test_what_was_measured_about_shared_gpus_is_shown(tmp_path):
    path = tmp_path / "bench-game-gpu.json"
    rows = [{"processes": count, "iterations_per_second": rate} for count, rate in ((1, 30.0), (4, 75.0))]
    path.write_text(json.dumps({"device": "a GPU", "commit": "abc", "rows": rows}))
    text = sharing_text(tmp_path)
    assert " on a GPU, commit abc:" in text and "| 4 | 75.0 | 2.50 |" in text
    path.write_text("{}")
    with pytest.raises(InputError, match="not a measurement"):
        sharing_text(tmp_path)


def test_results_replace_what_stands_between_the_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"above\n{BEGIN}\nold\n{END}\nbelow\n")
    put_into(page, "new\n")
    put_into(page, "newer\n")
    assert page.read_text() == f"above\n{BEGIN}\n\nnewer\n\n{END}\nbelow\n"
    page.write_text("no marks")
    with pytest.raises(InputError, match="marks"):
        put_into(page, "new")
    with pytest.raises(InputError, match="no such file"):
        put_into(tmp_path / "none.md", "new")


def test_a_page_gets_the_main_table_and_a_picture(tmp_path):
    page, picture = tmp_path / "README.md", tmp_path / "docs" / "images" / "results.svg"
    page.write_text(f"{BEGIN}{END}")
    runs = [result(86.0), *(result(80.0 + extra, data={"labeled": 0.5, "canonical": extra}) for extra in (0, 2))]
    put_results_into(page, write(tmp_path / "results", *runs), picture)
    text = page.read_text()
    assert "| 100% | AttPtr | 85.7 | 86.0 |" in text and "| 50% | AttPtr | 84.8 | 80.0 |" in text
    assert "| 50% | AttPtr (pairs from the grammar) | - | 82.0 |" in text and "100% | AttPtr (pairs" not in text
    assert "| 100% | Inan et al. 2020 (BERT-large as re-ranker) | 91.5 | - | 83.7 | - |" in text
    assert text.count("|---|") == 1 and "](docs/images/results.svg)" in text and picture.is_file()


def test_the_readme_shows_the_stored_results():
    """If this fails: make report."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = text.partition(BEGIN)[2].partition(END)[0].strip()
    assert shown == short_text(ROOT / "results", "docs/images/results.svg").strip()


def test_another_network_stands_beside_the_papers_and_in_no_other_table():
    other = {"model": {"network": "transformer"}}
    found = [result(80.0), result(82.0, seed=2), result(75.0, **other), result(70.0, "calendar", **other)]
    outcomes = outcomes_of(found)
    assert network_table(outcomes).rows == [
        ["ATIS", "100%", "AttPtr", "81.0 (80.0-82.0, 2 seeds)", "75.0"],
        ["calendar", "100%", "AttPtr", "-", "70.0"],
    ]
    assert not beyond(outcomes) and not network_table(outcomes_of(found[:2])).rows
    more = result(71.0, data={"analogies": 9}, **other)
    assert [row[0] for row in beyond(outcomes_of([more]))[0].rows] == ["AttPtr (Transformer, pairs by analogy)"]
