"""A short version of every part of the campaign, and the campaign itself: nothing that fails is lost or stops it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.campaign import load, supervise
from benchmarks.campaign.serving import serving
from benchmarks.campaign.supervise import Outcome, run_part
from benchmarks.campaign.table import BEGIN, END, put_into, store, table
from benchmarks.campaign.worker import PARTS, part_class

ROOT = Path(__file__).parents[1]
CASES = {"forms": 400, "sql": 60, "readers": 60, "damage": 20}  # tried here, one after the other
IN_A_PROCESS = {"kills": 2, "fill": 3, "races": 4}
# Of requests it is tests/use/service/: test_openapi.py, test_doors.py, test_apart.py.


@pytest.mark.parametrize("name", CASES)
def test_no_promise_breaks_in_the_first_cases(name, tmp_path):
    part = part_class(name)(tmp_path, seed=1, seconds=60.0)
    kinds: Counter[str] = Counter()
    try:
        for number in range(CASES[name]):
            kinds += part.case(number)
    finally:
        part.close()
    assert kinds.total() >= CASES[name] and len(kinds) > 1, kinds


@pytest.mark.parametrize(("name", "cases"), IN_A_PROCESS.items())
def test_no_promise_breaks_in_a_process_of_its_own(name, cases, tmp_path):
    outcome = run_part(name, seed=2, seconds=120.0, cases=cases, failures=tmp_path)
    assert outcome.failures == 0 and outcome.cases >= cases, [path.read_text() for path in tmp_path.iterdir()]


def test_a_case_is_the_same_every_time(tmp_path):
    made = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        part = part_class("forms")(tmp_path / folder, seed=4, seconds=60.0)
        for number in range(10) if folder == "one" else reversed(range(10)):
            part.case(number)
            made.append((number, part.input))
    assert sorted(made[:10]) == sorted(made[10:])


def test_what_fails_is_written_down_and_stops_nothing(tmp_path):
    """An exception, a process that dies, and one that hangs: each is one failure, and the next case follows."""
    shown: list[int] = []
    outcome = run_part(
        "broken_part:Breaking",
        seed=9,
        seconds=60.0,
        cases=20,
        failures=tmp_path,
        say=lambda told: shown.append(told.cases),
    )
    assert (outcome.failures, outcome.figures["largest"]) == (3, 11)
    assert outcome.cases >= 20 and outcome.kinds["good"] >= 10 and shown
    told = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert sorted(told) == [f"Breaking-9-{number}.txt" for number in (3, 5, 7)]
    assert "--seed 9 --case 3" in told["Breaking-9-3.txt"] and "'input 3'" in told["Breaking-9-3.txt"]
    assert "ended with 7" in told["Breaking-9-5.txt"] and "no end after 1 seconds" in told["Breaking-9-7.txt"]


def test_a_part_that_cannot_begin_is_one_failure(tmp_path):
    outcome = run_part("broken_part:NeverReady", seed=1, seconds=60.0, cases=20, failures=tmp_path)
    assert (outcome.cases, outcome.failures) == (1, 1)
    assert "not here" in next(tmp_path.iterdir()).read_text()


def test_a_part_that_never_gets_ready_is_one_failure(tmp_path, monkeypatch):
    monkeypatch.setattr(supervise, "READY", 2.0)
    outcome = run_part("broken_part:NeverDone", seed=1, seconds=60.0, cases=20, failures=tmp_path)
    assert (outcome.cases, outcome.failures) == (1, 1)
    assert "no end after 2 seconds" in next(tmp_path.iterdir()).read_text()


def test_the_load_begins_and_its_clients_get_answers(tmp_path, monkeypatch):
    """With the smallest run there is; what its scenes promise is measured on a machine that does nothing else."""
    small = {"model": {"embedding": 4, "hidden": 4}, "train": {"epochs": 1}, "data": {"labeled": 0.05}}
    monkeypatch.setattr(load, "SMALL", load.SMALL | small)
    part = load.Load(tmp_path, seed=1, seconds=1.0)
    with serving(part.run) as server:
        seen = part._ask(server, 4, 1.0)
    assert set(seen.counted) == {"200"} and seen.quantile(0.99) < float("inf")


def test_a_part_of_few_cases_tries_them_all_whatever_the_time(tmp_path):
    outcome = run_part("broken_part:Few", seed=1, seconds=0.1, cases=20, failures=tmp_path)
    assert outcome.kinds == {"0": 1, "1": 1, "2": 1} and not outcome.failures


def test_a_copy_of_a_worker_does_not_wait_for_threads_of_torch(tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    outcome = run_part("broken_part:Copying", seed=1, seconds=60.0, cases=1, failures=tmp_path)
    assert (outcome.kinds["good"], outcome.failures) == (1, 0)


def alive(status: Path) -> bool:
    """Whether a process has not ended; one that has may still be there, until somebody notices."""
    try:
        return status.read_text().split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the processes of Linux")
def test_no_copy_of_a_worker_is_left(tmp_path, monkeypatch):
    monkeypatch.setenv("COPY_TOLD_IN", str(tmp_path / "pid"))
    outcome = run_part("broken_part:Waiting", seed=1, seconds=60.0, cases=1, failures=tmp_path / "failures")
    assert outcome.failures == 1
    status = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat")
    until = time.monotonic() + 10  # a signal takes a moment to arrive
    while alive(status) and time.monotonic() < until:
        time.sleep(0.01)
    assert not alive(status)


def test_the_command_tries_stores_and_tells(tmp_path):
    command = [sys.executable, "-m", "benchmarks.campaign", "--only", "forms", "--cases", "5", "--out"]
    done = subprocess.run([*command, str(tmp_path / "c.json")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "| forms | 5 forms | 0 |" in done.stdout
    told = json.loads((tmp_path / "c.json").read_text())["parts"]["forms"]
    assert told["seeds"] == [1] and told["commits"] and told["machine"] and told["versions"]["dualparse"]


def test_a_line_takes_the_place_of_its_earlier_one_and_the_page_shows_it(tmp_path):
    path, page = tmp_path / "c.json", tmp_path / "page.md"
    store(path, Outcome("sql", 7, 1, 60.0, Counter(rows=6), {"slowest, s": 0.5}), seed=1)
    store(path, Outcome("forms", 5, 0, 3.0), seed=1)
    store(path, Outcome("sql", 1_000, 0, 90.0, Counter(rows=1_000), {"slowest, s": 0.25}), seed=2)
    lines = table(path).splitlines()[2:]
    assert [line.split(" | ")[:4] for line in lines] == [
        ["| forms", "5 forms", "0", "0.1"],
        ["| sql", "1,000 forms to SQL", "0", "1.5"],
    ]
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    put_into(page, path)
    shown = page.read_text()
    assert shown.startswith("before\n") and shown.endswith("after\n") and "old" not in shown
    assert table(path) in shown and "| sql: slowest, s | 0.25 |  |" in shown


def test_pieces_with_other_seeds_add_up_to_one_line(tmp_path):
    path = tmp_path / "c.json"
    store(path, Outcome("sql", 700, 1, 60.0, Counter(rows=600, error=100), {"slowest, s": 0.5, "a": 1}), seed=1)
    store(path, Outcome("sql", 300, 0, 31.0, Counter(rows=300), {"slowest, s": 0.25, "b": 2}), seed=2, more=True)
    told = json.loads(path.read_text())["parts"]["sql"]
    assert (told["cases"], told["failures"], told["seconds"], told["seeds"]) == (1_000, 1, 91, [1, 2])
    assert told["kinds"] == {"error": 100, "rows": 900} and told["figures"] == {"slowest, s": 0.5, "a": 1, "b": 2}
    assert "| sql | 1,000 forms to SQL | 1 | 1.5 | 1, 2 |" in table(path)


def test_pieces_that_end_at_the_same_moment_are_all_counted(tmp_path):
    def add(seed: int) -> None:
        store(tmp_path / "c.json", Outcome("sql", 10, 0, 1.0), seed=seed, more=True)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(1, 17)))
    assert json.loads((tmp_path / "c.json").read_text())["parts"]["sql"]["cases"] == 160


@pytest.mark.parametrize(("name", "said"), [("sql", "counts the cases of seed 2 already"), ("load", "no more")])
def test_the_same_cases_are_not_counted_twice(name, said, tmp_path):
    store(tmp_path / "c.json", Outcome("sql", 300, 0, 31.0), seed=2)
    command = [sys.executable, "-m", "benchmarks.campaign", "--only", name, "--seed", "2", "--more", "--out"]
    done = subprocess.run([*command, str(tmp_path / "c.json")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and said in done.stderr


def test_every_part_says_what_it_is():
    for name in PARTS:
        part = part_class(name)
        assert part.about.endswith(".") and part.unit and part.cases and part.share
