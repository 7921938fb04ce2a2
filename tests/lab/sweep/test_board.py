"""Time left: from jobs of the same kind that have ended, or from how far the running ones are."""

from __future__ import annotations

from dualparse.lab.sweep.board import Board, Running, kind_of
from dualparse.lab.sweep.jobs import Job
from dualparse.lab.sweep.plan import Work

AGENTS = ("q2lf", "lf2q")


def job(name: str, *stages: str, domain: str = "atis", shared: tuple[str, ...] = (), **more: object) -> Job:
    recipe = {"domain": domain, "stages": list(stages), **more}
    return Job("cell", name, recipe, name, f"/nowhere/{name}", shared={stage: "somewhere" for stage in shared})


def test_jobs_of_a_kind_train_the_same_stages_themselves():
    assert kind_of(job("a", *AGENTS, shared=("q2lf",))) == kind_of(job("b", "lf2q"))
    assert kind_of(job("a", "q2lf")) != kind_of(job("a", "q2lf", domain="blocks"))
    assert kind_of(job("a", "q2lf", shared=("q2lf",))) != kind_of(job("a", "q2lf"))
    assert kind_of(job("a", "q2lf", committee=3)) != kind_of(job("a", "q2lf"))
    assert kind_of(job("a", "q2lf", shared=("q2lf",), refit=True)) != kind_of(job("a", "q2lf", shared=("q2lf",)))


def test_time_left_is_known_when_every_kind_has_been_seen():
    now = 0.0
    board = Board.of(Work([job("s1", "q2lf"), job("s2", "q2lf")], [job("c1", "lf2q"), job("c2", "lf2q")]))
    board.clock = lambda: now
    assert board.seconds_left() == (0.0, False)
    board.running = [Running(job("s1", "q2lf"), 10.0, {"done": 0.5})]
    assert board.seconds_left() == (10 + 20, False)  # nothing is known of the others
    board._begun["s1"] = 0.0
    now = 30.0
    assert board.end(job("s1", "q2lf"), "") == 30.0
    board.running = [Running(job("c1", "lf2q"), 20.0, {"done": 0.25}), Running(job("s2", "q2lf"), 10.0, {})]
    # s2: 30 - 10, c1: 80 - 20, c2: 80; two at the same time.
    assert board.seconds_left() == ((20 + 60 + 80) / 2, True)


def test_what_fails_says_nothing_about_the_time():
    board = Board.of(Work([job("s1", "q2lf"), job("s2", "q2lf")], []))
    assert board.end(job("s1", "q2lf"), "killed") == 0.0
    assert ([j.name for j in board.failed], board.seconds_left()) == (["s1"], (0.0, False))


def test_a_job_may_end_while_somebody_looks(monkeypatch):
    jobs = [job("s1", "q2lf"), job("s2", "q2lf"), job("s3", "q2lf")]
    board = Board.of(Work(jobs, []))

    def told(state: object) -> dict[str, float]:
        board.end(jobs[0], "")
        return {"begun": 0.0}

    monkeypatch.setattr("dualparse.lab.sweep.board.read_progress", told)
    monkeypatch.setattr("dualparse.lab.sweep.board.is_running", lambda state: True)
    board.look()
    assert list(board.waiting) == ["s2", "s3"] and len(board.running) == 3
