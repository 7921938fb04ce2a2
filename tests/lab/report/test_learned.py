"""What the report says of learning from use."""

from __future__ import annotations

import json

import pytest

from dualparse.errors import InputError
from dualparse.lab.report.learned import NAME, learned_text
from dualparse.lab.report.page import write_report

SHARES = {"corrected": 0.0, "paraphrases": 0.0, "old_test": 81.88}
CORRECTED = {
    "run": "trails",
    "questions": {"asked": 138, "corrected": 23, "paraphrases": 0, "old_test": 138},
    "before": SHARES,
    "after_warm_start": SHARES | {"corrected": 100.0, "old_test": 82.6},
    "seconds": {"remembering": 0.04, "warm_start": 8.7},
}
SUGGESTED = {
    "run": "few",
    "labels_a_round": 20,
    "suggested": [[35.0, 39.0]],
    "random": [[35.0, 36.0], [35.0, 38.0]],
    "area": {"suggested": 37.0, "random": 36.0},
}


def test_both_tables_have_a_line_a_run(tmp_path):
    told = {"corrections": {"runs": [CORRECTED]}, "suggestions": {"runs": [SUGGESTED]}}
    (tmp_path / NAME).write_text(json.dumps(told))
    lines = learned_text(tmp_path).splitlines()
    assert "| trails | 23 | 100.0 % | 138 | 81.9 % | 82.6 % | 9 |" in lines
    assert "| few | 20 | 35.0 % | 39.0 % | 37.0 % | 37.0 | 36.0 |" in lines


def test_what_was_not_measured_is_left_out(tmp_path):
    assert "Not measured yet: `python -m benchmarks.learning" in learned_text(tmp_path)
    (tmp_path / NAME).write_text(json.dumps({"corrections": {"runs": [CORRECTED]}}))
    assert "suggest" not in learned_text(tmp_path)
    (tmp_path / NAME).write_text("[3]")
    with pytest.raises(InputError, match="not a measurement of benchmarks/learning.py"):
        learned_text(tmp_path)


def test_the_report_has_the_section(tmp_path):
    (tmp_path / "results").mkdir()
    write_report(tmp_path / "results", tmp_path / "report")
    assert "## Learning from use\n\nNot measured yet" in (tmp_path / "report" / "report.md").read_text()
