"""Figures of benchmarks: what two sides come to, and how a page tells it."""

from __future__ import annotations

import json

from benchmarks.stored import table
from benchmarks.turns import Comparison, Side


def compared(*, others: float) -> Comparison:
    """Two turns; this version does twice the work in the same time on one and a half times as much of the cores."""
    now = Side("now", rates=[20.0, 22.0], seconds=[1.0, 1.0], busy=[1.5, 1.65], others=[others] * 2)
    before = Side("before", rates=[10.0, 11.0], seconds=[1.0, 1.0], busy=[1.0, 1.1], others=[others] * 2)
    return Comparison("game", "iterations/s", now, before)


def test_work_in_a_second_of_processor_time_is_compared_too():
    figure = compared(others=0.5)
    assert figure.ratio == 2.0 and round(figure.of_processor or 0, 2) == 1.33
    figure.other.busy = []
    assert figure.of_processor is None and figure.as_json()["of_processor"] is None


def test_versions_stand_in_the_table_with_a_note_of_a_busy_machine(tmp_path):
    for others, note in ((0.0, ""), (0.5, "; on a busy machine, 1.33 of processor time")):
        told = {
            "domain": "calendar",
            "machine": "a CPU",
            "before": "abc",
            "comparisons": [compared(others=others).as_json()],
        }
        (tmp_path / "bench-versions-cpu.json").write_text(json.dumps(told), encoding="utf-8")
        line = table(tmp_path).splitlines()[-1]
        assert (
            f"this version, game: calendar, a CPU{note} | 21.00 iterations/s | 10.50 iterations/s, abc | 2.00 |" in line
        )
