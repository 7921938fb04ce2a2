"""Who is next: a cell as soon as its stages are done, whatever else waits; and never one whose stage failed."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.lab.sweep.jobs import Job
from dualparse.lab.sweep.line import Line
from dualparse.lab.sweep.plan import Work


def stage(name: str, *needs: str) -> Job:
    return Job("stage", name, {}, name, name, shared={f"stage{i}": need for i, need in enumerate(needs)})


def cell(name: str, *needs: str) -> Job:
    return replace(stage(name, *needs), kind="cell")


def names(jobs: list[Job]) -> list[str]:
    return [job.name for job in jobs]


def test_a_cell_comes_as_soon_as_its_own_stages_are_done():
    a, b, one, two = stage("a"), stage("b"), cell("one", "a"), cell("two", "a", "b")
    line = Line([a, one, b, two])
    taking = iter(line)
    assert next(taking) == a
    assert line.end(a, "") == [(a, "")]
    assert names([next(taking), next(taking)]) == ["one", "b"]
    assert line.take() == []
    line.end(b, "")
    assert next(taking) == two
    assert list(taking) == []


def test_stages_that_are_there_already_are_not_waited_for():
    assert names(Line([cell("one", "trained before")]).take()) == ["one"]


def test_cells_of_a_failed_stage_are_given_up_and_no_others():
    line = Line([stage("a"), cell("one", "a"), cell("two", "b"), stage("b"), cell("three", "b", "a")])
    first, second = line.take()
    lost = line.end(first, "no such file\n\nat some length")
    assert [(job.name, error.partition("\n")[0]) for job, error in lost] == [
        ("a", "no such file"),
        ("one", "a failed: no such file"),
        ("three", "a failed: no such file"),
    ]
    line.end(second, "")
    assert names(line.take()) == ["two"]


def test_a_member_waits_for_its_stages_and_falls_with_them():
    jobs = [stage("a"), stage("member", "a"), cell("one", "member"), cell("two", "b")]
    line = Line(jobs)
    assert names(line.take()) == ["a", "two"]
    assert [(job.name, error) for job, error in line.end(jobs[0], "no")] == [
        ("a", "no"),
        ("member", "a failed: no"),
        ("one", "member failed: a failed: no"),
    ]
    line = Line(jobs)
    line.take()
    line.end(jobs[0], "")
    assert names(line.take()) == ["member"]
    line.end(jobs[1], "")
    assert names(line.take()) == ["one"]


@pytest.mark.parametrize("closed", [False, True])
def test_a_thread_waits_for_what_another_does(closed):
    line = Line([stage("a"), cell("one", "a")])
    [first] = line.take()
    found: list[str] = []
    waiting = threading.Thread(target=lambda: found.extend(names(list(line))))
    waiting.start()
    time.sleep(0.05)
    assert waiting.is_alive() and not found
    if closed:
        line.close()
    else:
        line.end(first, "")
    waiting.join(10)
    assert found == ([] if closed else ["one"])


NEEDS = st.sets(st.sampled_from("abcdMN"), max_size=4)


@given(st.lists(NEEDS, max_size=8), st.sets(st.sampled_from("abcdMN")))
def test_every_job_ends_once_and_none_before_its_needs(wanted, failing):
    stages = [stage("M", "a", "b"), stage("N", "b", "d"), *(stage(name) for name in "abcd")]
    cells = [cell(f"cell {i}", *sorted(needs)) for i, needs in enumerate(wanted)]
    behind = {job.name: {job.name, *job.shared.values()} for job in stages}
    wanted = [{each for need in needs for each in behind[need]} for needs in wanted]
    work = Work([job for job in stages if any(job.name in needs for needs in wanted)], cells)
    line = Line(work.jobs)
    ended: dict[str, str] = {}
    for job in line:
        assert all(need in ended for need in job.shared.values())
        for other, error in line.end(job, "it failed" if job.name in failing else ""):
            assert other.name not in ended
            ended[other.name] = error
    assert set(ended) == set(names(work.jobs))
    assert {name for name, error in ended.items() if error} == {
        *(job.name for job in work.stages if behind[job.name] & failing),
        *(job.name for job, needs in zip(cells, wanted, strict=True) if needs & failing),
    }
