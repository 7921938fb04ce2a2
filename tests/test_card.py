"""What is measured on a card: each part is a list of commands with an end."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from benchmarks.card import (
    ATIS,
    CELLS,
    GRID,
    MATCHED,
    PARTS,
    commands,
    earlier,
    match,
    matching,
    run,
    surroundings,
    together,
)
from benchmarks.matching import ROWS
from dualparse.lab.sweep.grid import cells_of, named, read_grid

HERE = Path(__file__).parents[1]
SLOW = [sys.executable, "-c", "import time; time.sleep(60)"]


def test_the_regression_trains_two_methods_with_three_seeds():
    cells = cells_of(read_grid(HERE / GRID), HERE / GRID)
    assert [len(named(cells, [pattern])) for pattern in CELLS] == [3, 3]
    sweep, compared = commands("regression", "")
    assert sweep.count("--only") == 2 and compared[-1] == "benchmarks.regression"


@pytest.mark.parametrize("part", [part for part in PARTS if part != "matching"])
def test_every_program_and_grid_of_a_part_is_there(part):
    all_of = commands(part, "abc")
    modules = [command[2].replace(".", "/") + ".py" for command in all_of if command[1] == "-m"]
    grids = [word for command in all_of for word in command if word.startswith("grids/")]
    assert modules + grids and all((HERE / name).is_file() for name in modules + grids)


def test_a_part_ends_when_its_time_is_up_and_says_how_to_go_on(capfd):
    started = time.monotonic()
    assert run([SLOW, SLOW], 0.5) == 1
    assert time.monotonic() - started < 30
    assert "the same command goes on" in capfd.readouterr().out


def test_the_first_command_that_fails_ends_a_part(capfd):
    fails = [sys.executable, "-c", "raise SystemExit(3)"]
    says = [sys.executable, "-c", "print('there')"]
    assert run([says, fails, says], 30) == 3
    assert capfd.readouterr().out.count("there") == 1


def test_matching_learns_all_rows_with_labels_beside_what_reads_atis(tmp_path):
    match, sweep = matching(tmp_path, 500.0, "9")
    assert {row for row in ROWS if ROWS[row].updates} == set(MATCHED) <= set(match)
    assert match[match.index("--known") + 1] == str(tmp_path / "known.json") and "--dev" not in match
    assert ATIS in sweep and (HERE / ATIS).is_file()


def test_a_tiny_run_stores_nothing_beside_what_was_packed(tmp_path):
    match, sweep = matching(tmp_path, 500.0, "9", tiny=True)
    assert "--dev" in match and "cuda" not in match + sweep
    assert [sweep[sweep.index(name) + 1] for name in ("--results", "--runs")] == [
        str(tmp_path / "results"),
        str(tmp_path / "runs"),
    ]
    cells = cells_of(read_grid(tmp_path / "tiny.toml"), HERE / "grids" / "tiny.toml")
    assert [cell.recipe.model.networks for cell in cells] == [{"q2lf": "pretrained"}] and not cells[0].test


def test_what_was_packed_goes_before_what_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    (tmp_path / "commit").write_text("0123abc\n")
    told = surroundings(tmp_path)
    assert told["PYTHONPATH"].split(os.pathsep) == [str(tmp_path / "site"), "elsewhere"]


def test_without_what_it_needs_matching_says_how_to_make_it(tmp_path, capsys):
    assert match(tmp_path / "card.zip", 1.0) == 2
    assert "python -m benchmarks.pack" in capsys.readouterr().err


def test_side_by_side_one_that_fails_does_not_end_the_other(capfd):
    fails = [sys.executable, "-c", "raise SystemExit(3)"]
    later = [sys.executable, "-c", "import os, time; time.sleep(0.5); print(os.environ['TOLD'])"]
    assert together([fails, later], 30, {"TOLD": "there"}) == 3
    assert "there" in capfd.readouterr().out


def test_side_by_side_all_end_when_time_is_up(capfd):
    started = time.monotonic()
    assert together([SLOW, SLOW], 0.5) == 1
    assert time.monotonic() - started < 30 and "time is up" in capfd.readouterr().out


def test_a_machine_without_history_takes_both_versions_from_what_was_packed(tmp_path, monkeypatch):
    monkeypatch.delenv("DUALPARSE_COMMIT", raising=False)
    (tmp_path / "earlier" / "89abcde").mkdir(parents=True)
    (tmp_path / "commit").write_text("0123abc\n")
    assert surroundings(tmp_path)["DUALPARSE_COMMIT"] == "0123abc"
    assert commands("versions", earlier(tmp_path))[0][4] == str(tmp_path / "earlier" / "89abcde")
