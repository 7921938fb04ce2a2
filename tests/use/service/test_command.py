"""`dualparse serve` as a process: it listens, answers, and ends well."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
from shops import SHOP, sqlite_file
from typer.testing import CliRunner

from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.errors import InputError
from dualparse.use.cli.main import app
from dualparse.use.cli.serve import _named

SCRIPT = Path(__file__).with_name("slow_server.py")


@contextmanager
def process(run: Path, *options: str, slow: float = 0.0, **more: str) -> Iterator[tuple[subprocess.Popen, str]]:
    """A server of its own and its address."""
    paths = [str(SCRIPT.parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "SLOW_SECONDS": str(slow)} | more
    started = subprocess.Popen(
        [sys.executable, str(SCRIPT), "serve", str(run), "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )
    with started:
        try:
            assert started.stdout is not None
            line = started.stdout.readline()
            assert " at http://127.0.0.1:" in line, line
            yield started, line.split(" at ")[1].split()[0]
        finally:
            started.kill()


@pytest.mark.skipif(find_spec("numba") is None, reason="needs the extra `fast`")
def test_compiled_search_serves(run_folder):
    with process(run_folder, "--compiled") as (_, url):
        answer = httpx.post(f"{url}/parse", json={"question": "list all lakes"}, timeout=30).json()
    assert answer["parses"][0]["form"] == "( all lake )"


def test_sigterm_finishes_what_was_accepted(run_folder):
    answers: list[httpx.Response] = []
    with process(run_folder, "--batch", "1", slow=0.4) as (server, url):

        def ask() -> None:
            answers.append(httpx.post(f"{url}/parse", json={"question": "list all lakes"}, timeout=30))

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        wait_until(lambda: httpx.get(f"{url}/health").json()["waiting"] == 2)
        server.send_signal(signal.SIGTERM)
        for thread in threads:
            thread.join()
        assert server.wait(30) == 0
        assert server.stdout is not None and server.stdout.read() == ""
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/health")
    assert [answer.json()["parses"][0]["form"] for answer in answers] == ["( all lake )"] * 3


def test_a_connected_folder_is_served_and_left_without_a_word(tmp_path):
    """What a database library takes for leaked when a process ends, it tells in sixty lines."""
    sqlite_file(tmp_path / "shop.sqlite", SHOP)
    connect(locate(str(tmp_path / "shop.sqlite")), tmp_path / "shop")
    with subprocess.Popen(
        [sys.executable, "-m", "dualparse.use.cli.main", "serve", str(tmp_path / "shop"), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None and server.stderr is not None
        line = server.stdout.readline()
        assert "serving shop at" in line
        assert httpx.get(f"{line.split(' at ')[1].split()[0]}/health", timeout=30).status_code == 200
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
        assert server.stderr.read() == ""


def wait_until(happened) -> None:
    ends = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < ends
        time.sleep(0.01)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can split processes")
def test_several_processes_serve_one_address(run_folder):
    with process(run_folder, "--workers", "2") as (server, url):
        assert httpx.post(f"{url}/ask", json={"question": "list all lakes"}, timeout=60).status_code == 200
        told = 'dualparse_requests_total{path="/ask",status="200"} '
        wait_until(lambda: f"{told}1.0" in httpx.get(f"{url}/metrics").text)  # counted after the answer was sent
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
        if children.exists():
            first, second = map(int, children.read_text().split())
            os.kill(first, signal.SIGKILL)
            wait_until(lambda: len(children.read_text().split()) == 2)
            assert str(second) in children.read_text().split()
        for _ in range(4):
            httpx.post(f"{url}/ask", json={"question": "list all lakes"}, timeout=60)
        wait_until(lambda: f"{told}5.0" in httpx.get(f"{url}/metrics").text)
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs to see the processes of a process")
def test_workers_do_not_outlive_the_command(run_folder):
    with process(run_folder, "--workers", "2") as (server, _):
        children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
        wait_until(lambda: len(children.read_text().split()) == 2)
        workers = [Path("/proc", number) for number in children.read_text().split()]
        server.kill()
        server.wait(30)
        wait_until(lambda: not any(worker.exists() for worker in workers))


def test_workers_that_cannot_start_end_the_command(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-m", "dualparse.use.cli.main", "serve", str(tmp_path), "--port", "0", "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.wait(120) == 2
        assert server.stderr is not None and "not a run folder" in server.stderr.read()


def test_the_token_comes_from_the_environment(run_folder):
    with process(run_folder, DUALPARSE_TOKEN="sesame") as (_, url):
        assert httpx.get(f"{url}/domains").status_code == 401
        assert httpx.get(f"{url}/domains", headers={"Authorization": "Bearer sesame"}).status_code == 200
        assert httpx.get(f"{url}/health", headers={"Host": "example.org"}).status_code == 421


def call(*arguments: str) -> Exception | None:
    result = CliRunner().invoke(app, ["serve", *arguments])
    return result.exception if isinstance(result.exception, Exception) else None


def test_bad_starts(tmp_path, run_folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        problem = call(str(run_folder), "--port", str(taken.getsockname()[1]))
    assert isinstance(problem, InputError) and "cannot listen on 127.0.0.1" in str(problem)
    problem = call(str(run_folder), "--host", "no such host", "--port", "0")
    assert isinstance(problem, InputError) and "cannot listen" in str(problem)
    problem = call(str(tmp_path), "--port", "0")
    assert isinstance(problem, InputError) and "not a run folder" in str(problem)
    for token in ("", "  ", "ü", "a\nb"):
        problem = call(str(run_folder), "--port", "0", "--token", token)
        assert isinstance(problem, InputError) and "token" in str(problem)


def test_names_of_runs(tmp_path):
    assert _named(["a/first", f"other={tmp_path}"]) == {"first": Path("a/first"), "other": tmp_path}
    with pytest.raises(InputError, match="two runs are called 'x'"):
        _named(["a/x", "b/x"])
    with pytest.raises(InputError, match="needs a name"):
        _named(["=a"])


def test_help_has_an_example():
    assert "Example: dualparse serve" in CliRunner().invoke(app, ["serve", "--help"]).output
