"""The journal: whole records or none, whatever happens to the process that writes them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import dualparse
from dualparse.asking.journal import ASKED, MEANT, Journal, Record, open_journal, read_journal
from dualparse.errors import InputError

WRITER = """
import sys
from pathlib import Path
from dualparse.asking.journal import Journal, Record
journal = Journal(Path(sys.argv[1]))
number = 0
while True:
    journal.add(Record("asked", f"question {number} " + "x" * 500))
    print(number, flush=True)
    number += 1
"""


def lower(text: str) -> str:
    return text.lower().replace("anna", "somebody")


def test_records_are_read_as_they_were_written(tmp_path):
    journal = Journal(tmp_path / "deep" / "j.jsonl")
    first = journal.add(Record(ASKED, 'welche Hütten, "schön"?\n', "( all hut )", "answered", 0.5))
    journal.add(Record(MEANT, "huts", "( count ( all hut ) )", of=first))
    asked, meant = journal.records()
    assert asked.question == 'welche Hütten, "schön"?\n' and asked.probability == 0.5 and asked.id == first
    assert meant.of == first and meant.time <= datetime.now(UTC).isoformat()
    assert oct(os.stat(journal.path).st_mode & 0o777) == "0o600", "questions are nobody else's business"
    with pytest.raises(InputError, match="expected asked"):
        journal.add(Record("praised", "huts"))
    with pytest.raises(InputError, match="no journal here"):
        read_journal(tmp_path / "none.jsonl")


def test_a_writer_that_is_killed_leaves_whole_records(tmp_path):
    path = tmp_path / "j.jsonl"
    env = os.environ | {"PYTHONPATH": str(Path(dualparse.__file__).parents[1])}
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True, env=env)
    assert writer.stdout
    for _ in range(20):
        writer.stdout.readline()
    os.kill(writer.pid, signal.SIGKILL)
    told = [int(line) for line in writer.stdout.read().split()]
    writer.stdout.close()
    writer.wait()
    journal = Journal(path)
    numbers = [int(record.question.split()[1]) for record in journal.records()]
    assert numbers == list(range(len(numbers))) and len(numbers) >= max([19, *told]) + 1, "what was told is there"
    journal.add(Record(ASKED, "after"))
    assert journal.records()[-1].question == "after"


def test_a_torn_tail_is_taken_away_and_told(tmp_path, caplog):
    path = tmp_path / "j.jsonl"
    Journal(path).add(Record(ASKED, "whole"))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    assert [record.question for record in read_journal(path)] == ["whole"]
    journal = Journal(path)
    assert journal.cut == len(whole) // 2 and path.read_bytes() == whole
    assert "the last line was cut off" in caplog.text
    journal.add(Record(ASKED, "next"))
    assert [record.question for record in journal.records()] == ["whole", "next"]


def test_a_changed_line_is_left_out_and_told(tmp_path, caplog):
    journal = Journal(tmp_path / "j.jsonl")
    for question in ("one", "two", "three"):
        journal.add(Record(ASKED, question))
    journal.path.write_bytes(journal.path.read_bytes().replace(b'"two"', b'"too"'))
    assert [record.question for record in journal.records()] == ["one", "three"]
    assert "1 damaged lines are left out (2)" in caplog.text


def test_threads_and_journals_do_not_mix_their_lines(tmp_path):
    journals = [Journal(tmp_path / "j.jsonl") for _ in range(3)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda i: journals[i % 3].add(Record(ASKED, f"{i} " + "y" * 3000)), range(60)))
    assert sorted(int(record.question.split()[0]) for record in journals[0].records()) == list(range(60))


def test_old_records_are_dropped_and_questions_redacted(tmp_path):
    path = tmp_path / "j.jsonl"
    old = (datetime.now(UTC) - timedelta(days=40)).isoformat(timespec="seconds")
    Journal(path).add(Record(ASKED, "long ago", time=old))
    journal = open_journal(path, keep_days=30, redact=f"{__name__}:lower") if __name__ in sys.modules else None
    journal = journal or Journal(path, keep_days=30, redact=lower)
    journal.add(Record(ASKED, "Where does Anna sleep"))
    assert [record.question for record in journal.records()] == ["where does somebody sleep"]
    assert b"Anna" not in path.read_bytes() and b"long ago" not in path.read_bytes()
    with pytest.raises(InputError, match="expected a number above 0"):
        Journal(path, keep_days=0)


def test_writing_is_quick_enough_for_a_service(tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    started = time.perf_counter()
    for number in range(50):
        journal.add(Record(ASKED, f"question {number}"))
    assert time.perf_counter() - started < 5
    assert all(json.loads(line)["sum"] for line in journal.path.read_text().splitlines())
