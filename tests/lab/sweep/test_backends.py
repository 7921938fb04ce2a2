"""Jobs in processes of their own: what one does to itself harms no other, and an interrupt leaves none behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from dualparse.errors import InputError
from dualparse.lab.sweep.backends import Local, OnRay
from dualparse.lab.sweep.jobs import Job

# A worker that does what its job is called, and needs no torch.
WORKER = """
import json, os, signal, sys, time
job = json.load(sys.stdin)
if job["name"] == "killed": os.kill(os.getpid(), signal.SIGKILL)
if job["name"] == "killed once":
    tries = open(job["folder"], "a+"); tries.write("x"); tries.flush(); tries.seek(0)
    if len(tries.read()) < 2: os.kill(os.getpid(), signal.SIGKILL)
if job["name"] == "bad input": sys.exit("error: no such recipe")
if job["name"] == "bug": raise ValueError("a bug")
if job["name"] == "slow":
    open(job["folder"], "w").write(str(os.getpid()))
    time.sleep(60)
if job["name"] == "at the door":
    tries = open(job["folder"], "a+"); tries.write("x"); tries.seek(0)
    if len(tries.read()) < 3: raise RuntimeError("CUDA error: CUDA-capable device(s) is/are busy or unavailable\\nHint")
if job["name"] == "asked": open(job["folder"], "w").write(os.environ.get("DUALPARSE_SHARED_GPU", "alone"))
"""
COMMAND = (sys.executable, "-c", WORKER)


def job(name: str, folder: Path) -> Job:
    return Job("cell", name, {"domain": "toy", "stages": []}, str(folder / "pid"), str(folder / "jobs" / name))


@pytest.mark.parametrize("workers", [1, 3])
def test_a_job_that_dies_harms_no_other(tmp_path, workers):
    names = ["good", "killed", "bad input", "bug", "fine", "well"]
    with Local(workers, command=COMMAND) as local:
        told = {done.name: error for done, error in local.run([job(name, tmp_path) for name in names])}
    assert set(told) == set(names)
    assert told["good"] == told["fine"] == told["well"] == ""
    assert told["killed"].startswith("the process was killed (SIGKILL), out of memory?")
    assert told["bad input"].startswith("no such recipe\n")
    first, *rest = told["bug"].splitlines()
    assert first == "ValueError: a bug" and any(line.startswith("Traceback") for line in rest)
    assert not list((tmp_path / "jobs").glob("*.log"))


def test_a_job_that_is_killed_begins_again_once(tmp_path):
    with Local(command=COMMAND) as local:
        assert [error for _, error in local.run([job("killed once", tmp_path)])] == [""]
    assert (tmp_path / "pid").read_text() == "xx"


def test_two_sweeps_may_be_busy_with_the_same_job(tmp_path):
    told: list[str] = []

    def sweep(seconds: float) -> None:
        command = (sys.executable, "-c", f"import sys, time; sys.stdin.read(); time.sleep({seconds}); sys.exit('no')")
        with Local(command=command) as local:
            told.extend(error for _, error in local.run([job("good", tmp_path), job("fine", tmp_path)]))

    threads = [threading.Thread(target=sweep, args=(seconds,)) for seconds in (0.1, 0.3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == ["no\n\nno"] * 4


@pytest.mark.parametrize(("workers", "told"), [(1, "alone"), (2, "1")])
def test_jobs_are_told_whether_they_share_a_gpu(tmp_path, workers, told):
    with Local(workers, command=COMMAND) as local:
        assert [error for _, error in local.run([job("asked", tmp_path)])] == [""]
    assert (tmp_path / "pid").read_text() == told


@pytest.mark.parametrize(("pauses", "told"), [((0, 0), ""), ((0,), "RuntimeError: CUDA error: CUDA-capable device(s)")])
def test_a_busy_gpu_is_asked_again(tmp_path, monkeypatch, pauses, told):
    monkeypatch.setattr("dualparse.lab.sweep.backends.PAUSES", pauses)
    with Local(command=COMMAND) as local:
        ((_, error),) = local.run([job("at the door", tmp_path)])
    assert error.startswith(told) and bool(error) == bool(told)  # what was raised comes first, not a hint behind it


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if Path("/proc").is_dir() else True


def wait_for(condition, seconds: float = 30.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def test_an_interrupt_of_the_sweep_alone_stops_its_jobs(tmp_path):
    """Not every interrupt comes from a keyboard, which would reach the jobs as well."""
    script = f"""
from pathlib import Path
from types import SimpleNamespace
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_backends import COMMAND, Local, job
with Local(2, command=COMMAND) as local:
    for _ in local.run([job("slow", Path({str(tmp_path)!r}))] * 3):
        pass
"""
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, start_new_session=True)
    pid = int(wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
    assert alive(pid)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode != 0 and b"KeyboardInterrupt" in errors
    wait_for(lambda: not alive(pid))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_worker_ends_with_the_sweep_that_is_killed(tmp_path, how):
    said = tmp_path / "pid"
    work = f"""
import os, pathlib, time
from dualparse.lab.sweep.worker import end_with_parent
end_with_parent()
pathlib.Path({str(said)!r}).write_text(str(os.getpid()))
time.sleep(60)
"""
    sweep = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}])"
    parent = subprocess.Popen([sys.executable, "-c", sweep])
    pid = int(wait_for(lambda: said.exists() and said.read_text()))
    parent.send_signal(how)
    parent.wait()
    wait_for(lambda: not alive(pid))


def test_without_ray_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'dualparse\[ray\]'"), OnRay():
        pass


def do_as_called(job: Job) -> None:
    """What a job of the Ray test does, in a worker of the cluster."""
    if job.name == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if job.name == "bad input":
        raise InputError("no such recipe", path="x.toml")
    if job.name == "bug":
        raise ValueError("a bug")
    Path(job.folder).write_text(job.name, encoding="utf-8")


def test_on_ray_a_job_that_dies_harms_no_other(tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="needs the extra `ray`")
    import ray.cloudpickle

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the cluster does not know this file
    monkeypatch.chdir(tmp_path)
    with OnRay(device="cpu", work=do_as_called) as cluster:
        names = ["good", "killed", "bad input", "bug"]
        jobs = [Job("cell", name, {}, f"{name}.txt", str(tmp_path / name)) for name in names]
        told = {done.name: error.partition("\n")[0] for done, error in cluster.run(jobs)}
    assert told.pop("killed").startswith("WorkerCrashedError")
    assert told == {"good": "", "bad input": "x.toml: no such recipe", "bug": "ValueError: a bug"}
    assert (tmp_path / "good.txt").read_text() == "good"


@pytest.mark.parametrize(("address", "mode"), [("", "token"), ("ray://there:1", "unset")])
def test_a_ray_cluster_of_our_own_asks_for_a_token(monkeypatch, address, mode):
    seen: list[str] = []
    init = lambda **_: seen.append(os.environ.get("RAY_AUTH_MODE", "unset"))  # noqa: E731
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init, shutdown=lambda: None))
    monkeypatch.setenv("RAY_AUTH_MODE", "")
    monkeypatch.delenv("RAY_AUTH_MODE")
    with OnRay(address):
        assert seen == [mode]
