"""What is measured on a card: each part is a list of commands with an end."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from benchmarks.card import CELLS, GRID, PARTS, commands, run
from dualparse.lab.sweep.grid import cells_of, named, read_grid

HERE = Path(__file__).parents[1]
SLOW = [sys.executable, "-c", "import time; time.sleep(60)"]


def test_the_regression_trains_two_methods_with_three_seeds():
    cells = cells_of(read_grid(HERE / GRID), HERE / GRID)
    assert [len(named(cells, [pattern])) for pattern in CELLS] == [3, 3]
    sweep, compared = commands("regression", "")
    assert sweep.count("--only") == 2 and compared[-1] == "benchmarks.regression"


@pytest.mark.parametrize("part", PARTS)
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
