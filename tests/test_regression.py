"""The whole method, once more: what a later version trained with the settings and seeds of stored cells."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.regression import compare
from dualparse.errors import InputError
from dualparse.lab.store import Store

RESULTS = Path(__file__).parents[1] / "results"
GRIDS = sorted({cell.name.partition("/")[0] for cell in Store(RESULTS / "apart").read()})


@pytest.mark.parametrize("grid", GRIDS)
def test_cells_that_were_run_again_come_within_a_point_of_the_stored_medians(grid):
    found = compare(RESULTS, RESULTS / "apart", grid)
    assert {pair.split for pair in found} == {"dev", "test"} and all(len(pair.again) == 3 for pair in found)
    assert all(abs(pair.apart) <= 1.0 for pair in found if pair.split == "test"), found


def test_a_cell_with_settings_nobody_ran_is_an_error(tmp_path):
    known = Store(RESULTS / "apart").read()[0]
    other = dict(known.result, recipe=known.result["recipe"] | {"seed": 99})
    Store(tmp_path).put("table3/other", other | {"cell": "other", "grid": "table3"})
    with pytest.raises(InputError, match="no stored cell"):
        compare(RESULTS, tmp_path, "table3")
    with pytest.raises(InputError, match="was run again"):
        compare(RESULTS, tmp_path, "table2")
