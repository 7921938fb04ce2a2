"""What docs/serving.md says is so."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import httpx
import toy_run

from dualparse.asking.journal import Journal
from dualparse.domains.text import MAX_WORDS
from dualparse.use.service.app import make_app
from dualparse.use.service.limits import MAX_BODY, MAX_FORM, MAX_HEAD, MAX_K, MAX_PIPELINED, MAX_QUESTION, Limits
from dualparse.use.service.paging import KEPT, MOST_PAGE, PAGE

TEXT = (Path(__file__).parents[3] / "docs" / "serving.md").read_text(encoding="utf-8")


def test_the_commands_work(parser, tmp_path):
    commands = re.findall(r"^\$ curl localhost:8000(.*)$", TEXT, flags=re.MULTILINE)
    assert len(commands) == 9
    with toy_run.serving(make_app({"toy": parser}, journals={"toy": Journal(tmp_path / "journal.jsonl")})) as url:
        for command in commands:
            path, *rest = shlex.split(command)
            body = json.loads(rest[rest.index("-d") + 1]) if rest else None
            answer = httpx.post(url + path, json=body) if body else httpx.get(url + path)
            assert answer.status_code == 200, answer.text


def test_the_limits_are_those_of_the_service():
    told = " ".join(TEXT.split())
    limits = Limits()
    assert f"larger than {MAX_BODY} bytes" in told
    assert f"at most {MAX_QUESTION} characters and {MAX_WORDS} words, a form {MAX_FORM} characters" in told
    assert f"`k` is at most {MAX_K}" in told
    assert f"A page has {PAGE} rows, or as many as `limit` says ({MOST_PAGE} at most)" in told
    assert f"the last {KEPT} long answers" in told
    assert f"{limits.seconds:g} seconds (`--timeout`), and {limits.room} may wait" in told
    assert f"up to {limits.batch} (`--batch`)" in told
    assert f"| at most {MAX_HEAD} bytes, and {limits.head_seconds:g} seconds to arrive" in told
    assert f"| {MAX_PIPELINED} on one connection" in told
    assert f"{limits.connections} open (`--connections`), {limits.per_client} of one address (`--per-client`)" in told
