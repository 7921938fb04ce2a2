"""What the report says of probabilities: a line for each run and folder, OVERNIGHT's mean, and the diagrams."""

from __future__ import annotations

from pathlib import Path

import pytest

from dualparse.asking.calibrate import Calibration
from dualparse.asking.confidence import Bin
from dualparse.lab.reliability import keep
from dualparse.lab.report.page import write_report
from dualparse.lab.report.paper import DOMAINS
from dualparse.lab.report.sure import measured, reliability_figure, sure_text

BINS = (Bin(0.4, 0.5, 10, 0.45, 0.5), Bin(0.9, 1.0, 90, 0.97, 0.96))
FIGURES = {"error": 0.02, "by_chance": 0.03, "wanted": 0.95, "cut": 0.9, "right": 0.96, "refused": 0.02, "lost": 0.01}


def calibration(split: str = "test", *, answered: float = 0.8, **more: object) -> Calibration:
    told = {"split": split, "examples": 100, "accuracy": 0.9, "answered": answered, "bins": BINS, "strangers": {}}
    return Calibration(**(told | FIGURES | more))


@pytest.fixture
def results(tmp_path) -> Path:
    path = tmp_path / "results" / "bench-calibration.jsonl"
    path.parent.mkdir()
    strangers = {"off-topic": (20, 0.5), "all": (30, 0.93)}
    keep(path, "run", "trails", calibration(strangers=strangers), {"domain": "trails"})
    keep(path, "run", "trails", calibration("dev"), {"domain": "trails"})
    for number, domain in enumerate(DOMAINS):
        keep(path, "run", domain, calibration(answered=number / 10), {"domain": f"overnight/{domain}"})
    keep(path, "folder", "chinook", calibration("questions", answered=0.0, right=0.0), {"fitted": False})
    return path.parent


def test_every_run_and_folder_has_a_line_and_overnight_a_mean(results):
    lines = {line.split(" | ")[0].strip("| "): line for line in sure_text(results, "").splitlines() if "|" in line}
    assert "| 93.0% of 30 |" in lines["trails"], "all of them, whatever the kind"
    assert "| 35.0% |" in lines["OVERNIGHT, mean"] and "| 800 |" in lines["OVERNIGHT, mean"]
    assert "| 0.014 |" in lines["OVERNIGHT, pooled"], "(80 * 0.05 + 720 * 0.01) / 800"
    assert "| 0.0% | - |" in lines["chinook"], "of no answers none is right"
    assert len(measured(results)) == len(DOMAINS) + 2, "dev chooses and is not told"


def test_where_a_domain_is_missing_there_is_no_mean(results):
    path = results / "bench-calibration.jsonl"
    path.write_text("".join(line for line in path.read_text().splitlines(keepends=True) if "blocks" not in line))
    assert "mean" not in sure_text(results, "").replace("mean probability", "")


def test_the_report_has_the_section_and_its_diagrams(results, tmp_path):
    written = write_report(results, tmp_path / "report")
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "## How sure answers are" in page and "(calibration.svg)" in page
    assert tmp_path / "report" / "calibration.svg" in written
    figure = reliability_figure(results)
    assert figure is not None and sum(axes.get_visible() for axes in figure.axes) == len(DOMAINS) + 2


def test_without_measurements_the_section_says_how_to_make_them(tmp_path):
    (tmp_path / "results").mkdir()
    write_report(tmp_path / "results", tmp_path / "report")
    page = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "Not measured yet: `dualparse evaluate RUN --calibration --split test" in page
    assert not (tmp_path / "report" / "calibration.svg").exists()
