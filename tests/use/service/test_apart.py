"""Forms of strangers in a process of their own: they are answered as here, and none of them holds anybody up."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dualparse.asking.saying import Sayer
from dualparse.domains.domain import Domain
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.lf.errors import LFExecutionError
from dualparse.lf.verdict import VALID
from dualparse.use.service.apart import Apart, answer, execute

OMEGA = "( lambda x ( ( var x ) ( var x ) ) )"
FORMS = ["( count ( all hut ) )", "( all hut )", "( all hut", "( nonsense )", "(count (all ! type))", "ünï"]
BAD_DOMAIN = """
import time
from dualparse.domains.registry import open_domain
from dataclasses import replace

def fresh(form, seconds):
    if form == "for ever":
        time.sleep(3600)  # ends by no budget and no look at a clock
    return plain(form, seconds) if form != "memory" else (None, "a" * 10**10)

trails = open_domain("trails")
plain = trails.fresh
bad = replace(trails, name="bad", fresh=fresh)
"""


@pytest.fixture(scope="module")
def apart() -> Iterator[Apart]:
    process = Apart("trails", seconds=5.0)
    yield process
    process.close()


@pytest.fixture(scope="module")
def bad(tmp_path_factory) -> Iterator[Apart]:
    folder = tmp_path_factory.mktemp("bad")
    (folder / "bad_domain.py").write_text(BAD_DOMAIN)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    process = Apart("bad_domain:bad", seconds=0.2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        yield process
    process.close()


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_answered_as_it_is_here(apart, form):
    assert apart.execute(form) == execute(open_domain("trails"), form, seconds=5.0)


@pytest.mark.parametrize(
    "form", [*FORMS, "( filter ( all hut ) elevation > ( number 2000 m ) )", "( row ( count ( all hut ) ) )"]
)
def test_its_rows_are_those_that_are_shown_here(apart, form):
    domain = open_domain("trails")
    told = apart.answer(form)
    assert told == answer(domain, Sayer(domain), form, seconds=5.0)
    assert told.answered == apart.execute(form).verdict.ok


def test_rows_that_take_too_long_are_refused(bad):
    assert bad.answer("( all hut )").answered
    slow = Apart("trails", seconds=0.0)
    assert slow.answer("( all hut )").reason == "not done within 0 seconds"
    slow.close()


def test_a_form_that_never_ends_is_refused_and_the_next_is_answered(apart):
    done = apart.execute(f"( {OMEGA} {OMEGA} )")
    assert not done.verdict.ok and done.answer is None
    assert apart.execute(FORMS[0]).answer == "(list (number 10 count))"


def test_a_form_that_cannot_be_stopped_is_ended_with_its_process(bad):
    bad.start()
    started = time.monotonic()
    assert bad.execute("for ever").verdict.reason == "stopped: too much time or memory"
    assert time.monotonic() - started < 5
    assert bad.execute(FORMS[0]).answer == "(list (number 10 count))"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_a_form_gets_no_more_memory_than_there_is_for_it(bad):
    assert bad.execute("memory").verdict.reason == "stopped: too much time or memory"
    assert bad.execute(FORMS[0]).verdict.ok


def test_a_process_that_dies_takes_one_form_with_it(apart):
    apart.start()
    assert apart._process is not None
    apart._process.send_signal(signal.SIGKILL)
    apart._process.wait()
    assert not apart.execute(FORMS[0]).verdict.ok
    assert apart.execute(FORMS[0]).verdict.ok


def test_the_process_ends_when_nobody_asks_any_more():
    command = [sys.executable, "-m", "dualparse.use.service.apart", "trails"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == b"{}\n"
        process.stdin.close()
        assert process.wait(20) == 0


def test_a_domain_that_is_not_there_is_told(capfd):
    with pytest.raises(InputError, match="did not start"):
        Apart("no-such-domain", seconds=1.0).start()


def test_without_a_process_steps_and_seconds_still_count():
    executed: list[tuple[str, float | None]] = []

    def fresh(form: str, seconds: float | None):
        executed.append((form, seconds))
        return VALID, "(list)"

    def never(form: str) -> str:
        raise LFExecutionError("not remembered, not asked")

    domain: Domain = replace(open_domain("trails"), fresh=fresh, execute=never, opened_as="")
    assert execute(domain, "( all hut )", seconds=3.0).answer == "(list)"
    assert executed == [("( all hut )", 3.0)]


def test_the_service_executes_apart_and_parses_meanwhile(bad, monkeypatch):
    """While a form is at its worst, the event loop and the threads of this process have nothing to do with it."""
    from dualparse.use.service.batching import Batcher

    async def scene() -> float:
        async with Batcher(lambda forms: [bad.execute(form) for form in forms], most=1, room=9) as queue:
            bad.start()
            worst = asyncio.create_task(queue.submit("for ever"))
            await asyncio.sleep(0.05)
            used = time.process_time()
            await worst
            return time.process_time() - used

    assert asyncio.run(scene()) < 0.5
