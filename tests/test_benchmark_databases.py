"""The databases of the benchmark: the same content on every machine, and an answer for every question."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from dualparse.asking.calibrate import read_strangers

ROOT = Path(__file__).parents[1]
CONTENT = {  # figures are measured on this content: whoever changes it measures again
    "dev/bikes": "ef7f27c735289fa8b0fb69e6981cfad72529836c40b15dd65b95bdef55abddfa",
    "dev/freight": "37327b947b3c8b78c451c2b1f4d07e41826416d13fc45a5aba3f4654c3d371ad",
    "dev/college": "c9ec14dd5715cc6213d0e2f13f60f91ff6d48e2c928fc645c01780b37028c0f7",
    "dev/webshop": "b15bb445c245705c9a9589f3a1b6e22d234dfddde169ad8da82487be9b93d4e5",
    "dev/league": "88b7168ff8b2f927d707344c02011d8a4ac710ab20471bd71af95cebd349f822",
    "test/clinic": "c86677e795ea94bf025c601bae48429873dbffdf9f403c515575be8d2c64b237",
    "test/games": "c2a28b24450b10f61afa2af21805a8ea5ac86d6f6ed18d4bde0b954e4140d2bb",
}


def _run(module: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"benchmarks.databases.{module}", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("databases")
    done = _run("build", out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("name", CONTENT)
def test_the_content_is_the_same_everywhere(made: Path, name: str) -> None:
    connection = sqlite3.connect(made / f"{name}.sqlite")
    tables = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
    ).fetchall()
    content = [(sql, connection.execute(f'SELECT * FROM "{table}"').fetchall()) for table, sql in tables]
    connection.close()
    assert hashlib.sha256(repr(content).encode()).hexdigest() == CONTENT[name]


def test_every_question_has_its_answer(made: Path) -> None:
    done = _run("check", made)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", CONTENT)
def test_there_are_sixty_questions_of_twelve_kinds(name: str) -> None:
    lines = (ROOT / "benchmarks/databases" / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 60
    assert len({row["kind"] for row in rows}) == 12
    assert 4 <= sum(row["sql"] is None for row in rows) <= 6


def test_a_question_without_an_answer_is_told(made: Path, tmp_path: Path) -> None:
    """The check itself: a limit amid equals, SQL that does not run, an answer that is empty."""
    asked = [
        ("two names", "SELECT town FROM depots ORDER BY has_workshop DESC LIMIT 2", "topn"),
        ("no such table", "SELECT x FROM y", "lookup"),
        ("nothing", "SELECT name FROM depots WHERE name = 'Moon'", "lookup"),
    ]
    rows = [{"question": question, "sql": sql, "kind": kind} for question, sql, kind in asked]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(map(json.dumps, rows)))
    program = (
        "import sys; from pathlib import Path; from benchmarks.databases import check;"
        "check.questions_of = lambda name: Path(sys.argv[1]);"
        "print(*check.problems('dev/bikes', Path(sys.argv[2])), sep='\\n')"
    )
    command = [sys.executable, "-c", program, questions, made / "dev/bikes.sqlite"]
    told = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=True).stdout
    first, second, third = told.splitlines()
    assert "same rank" in first and ":1:" in first
    assert "no such table" in second and ":2:" in second
    assert "empty" in third and ":3:" in third


@pytest.mark.parametrize("file", sorted((ROOT / "benchmarks/offtopic").glob("*.tsv")), ids=lambda file: file.stem)
def test_questions_to_refuse_are_there_once_and_of_a_known_kind(file: Path) -> None:
    found = read_strangers(file)
    assert {kind for kind, _ in found} <= {"unanswerable", "off-topic", "nonsense", "other-language"}
    assert len({question.casefold() for _, question in found}) == len(found) >= 80
