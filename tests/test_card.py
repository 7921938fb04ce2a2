"""What is measured on a card: each part is a list of commands with an end."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from benchmarks.card import CELLS, GRID, commands, run
from dualparse.lab.sweep.grid import cells_of, named, read_grid

HERE = Path(__file__).parents[1]
SLOW = [sys.executable, "-c", "import time; time.sleep(60)"]


def test_the_regression_trains_two_methods_with_three_seeds():
    cells = cells_of(read_grid(HERE / GRID), HERE / GRID)
    assert [len(named(cells, [pattern])) for pattern in CELLS] == [3, 3]
    sweep, compared = commands("regression", "")
    assert sweep.count("--only") == 2 and compared[-1] == "benchmarks.regression"


@pytest.mark.parametrize("part", ["parity", "versions", "regression"])
def test_every_program_of_a_part_is_there(part):
    modules = [command[2] for command in commands(part, "abc") if command[1] == "-m"]
    assert modules and all((HERE / module.replace(".", "/")).with_suffix(".py").is_file() for module in modules)


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
