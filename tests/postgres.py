"""A PostgreSQL server of the tests' own, in a folder that goes with it; skipped where none is installed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """The URL of a running server, without the name of a database; the user is `tester`, and no password is asked."""
    found = [os.environ.get("PATH", ""), *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True))]
    programs = {name: shutil.which(name, path=os.pathsep.join(found)) for name in ("initdb", "postgres")}
    if not all(programs.values()):
        pytest.skip("needs PostgreSQL: `make postgresql` installs it")
    user = {"user": "nobody", "extra_groups": []} if os.geteuid() == 0 else {}  # it refuses to run as root
    data = folder / "data"
    folder.chmod(0o777)
    subprocess.run(
        [programs["initdb"], "-D", str(data), "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
        check=True,
        capture_output=True,
        **user,
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={data}", "-c", "fsync=off"]
    process = subprocess.Popen(
        [programs["postgres"], "-D", str(data), "-p", str(port), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **user,
    )
    try:
        url = f"postgresql://tester@127.0.0.1:{port}"
        _wait(url)
        yield url
    finally:
        process.terminate()
        process.wait(20)


def _wait(url: str) -> None:
    import time

    import psycopg

    for _ in range(100):
        try:
            psycopg.connect(f"{url}/postgres").close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")
