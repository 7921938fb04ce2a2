"""Files of strangers: whatever is in them, there is one clear error, soon, and nothing of the reader's own is read."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import tracemalloc
from collections import deque
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from dualparse import manifest
from dualparse.asking.journal import Journal, read_journal
from dualparse.asking.memory import read_lessons
from dualparse.asking.trust import read_trust
from dualparse.config import dotted, make_recipe, read_recipe
from dualparse.domains.embedded import EMBEDDED
from dualparse.domains.folder import load
from dualparse.domains.registry import open_domain
from dualparse.errors import InputError
from dualparse.files import FULL, write_text
from dualparse.lab.mistakes import read_mistakes
from dualparse.lab.store import Store
from dualparse.lab.sweep.grid import cells_of, read_grid
from dualparse.lf.grammar import read_grammar
from dualparse.lines import numbered_lines, read_regular
from dualparse.runs import Run
from dualparse.toml import parse_toml, read_toml
from dualparse.use.cli import main as program

BOMBS = {
    "brackets": "a = " + "[" * 100_000,
    "closed brackets": "a = " + "[" * 100 + "]" * 100,
    "a long key": ".".join(["a"] * 100_000) + " = 1",
    "a long key in a value": "a = { " + ".".join(["a"] * 5_000) + " = 1 }",
    "a long table": "[" + ".".join(["a"] * 5_000) + "]",
    "digits": "a = " + "9" * 5_000,
    "lines": "\n" * 20_000_000,
    "a date": "a = 2024-02-31",
    "no text": "a = '\x00'",
}


@pytest.mark.parametrize("kind", BOMBS)
def test_toml_of_strangers_is_read_in_bounded_time(kind, tmp_path):
    started = time.process_time()
    with pytest.raises(InputError, match="TOML|longer|larger"):
        parse_toml(BOMBS[kind])
    path = tmp_path / "x.toml"
    path.write_text(BOMBS[kind])
    for read in (read_recipe, read_grid):
        with pytest.raises(InputError, match=r"x\.toml"):
            read(path)
    shutil.copytree(EMBEDDED / "trails", tmp_path / "own")
    shutil.copyfile(path, tmp_path / "own" / "domain.toml")
    with pytest.raises(InputError, match=r"domain\.toml"):
        load(tmp_path / "own")
    assert time.process_time() - started < 2


def test_too_many_digits_are_told_in_words_for_people():
    with pytest.raises(InputError, match=r"a number with more than \d+ digits$"):
        parse_toml(BOMBS["digits"])


@given(st.text(alphabet="abc=.[]{}\"'\n,# 1-", max_size=200))
def test_any_text_is_toml_or_an_error(text):
    try:
        assert isinstance(parse_toml(text), dict)
    except InputError as error:
        assert error.message


@pytest.mark.parametrize("override", ["a" * 20_000 + "=1", "train." * 1_000 + "x=1", "train.epochs=" + "9" * 5_000])
def test_overrides_are_bounded(override):
    with pytest.raises(InputError) as told:
        make_recipe({"domain": "trails"}, overrides=[override])
    assert len(str(told.value)) < 12_000


@pytest.mark.parametrize(
    "wrong",
    [
        {"train": {"learning_rate": float("inf")}},
        {"train": {"learning_rate": float("nan")}},
        {"train": {"clip": float("inf")}},
        {"train": {"epochs": True}},
        {"train": {"learning_rate": True}},
        {"seed": False},
        {"model": {"hidden": 10**12}},
        {"model": {"embedding": 10**12}},
        {"search": {"beams": 10**9}},
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(wrong):
    with pytest.raises(InputError):
        make_recipe({"domain": "trails"} | wrong)


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for path in (tmp_path / "pipe", tmp_path / "socket", Path("/dev/zero")):
            for read in (read_recipe, read_grid, read_toml, lambda path: list(numbered_lines(path)), read_regular):
                with pytest.raises(InputError, match="no regular file"):
                    read(path)
    with pytest.raises(InputError, match="is a folder"):
        read_recipe(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "loop", tmp_path / ("a" * 300), tmp_path / "a\0b"):
        with pytest.raises(InputError):
            read_recipe(path)


@pytest.mark.parametrize("name", ["~nosuchuser", "~nosuchuser/x", "a" * 300, "a/" + "b" * 300, "a\0b", "x" * 5_000])
def test_names_that_no_folder_can_have(name):
    with pytest.raises(InputError):
        open_domain(name)


def test_a_folder_that_is_a_circle_of_links(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(InputError):
        open_domain(str(tmp_path / "a"))


def test_millions_of_empty_lines_take_no_memory_each(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"\n" * 3_000_000 + b"end")
    assert deque(numbered_lines(path), maxlen=1).pop() == (3_000_001, "end")


def test_an_error_is_one_line_that_fits_a_screen():
    told = str(InputError("x" * 10**6 + "\x1b[31m\nred" + "\U000e0001" * 10**5, path="a\u202eb\n", line=3))
    assert told.isprintable() and len(told) < 4_000
    assert told.startswith("a\\u202eb\\n:3: xxx") and "..." in told
    assert InputError(told).message == told, "one error may quote another"


@pytest.mark.parametrize("text", ['{"a":' * 200_000, "[" * 200_000, '{"files": ' * 50_000], ids=lambda text: text[:9])
def test_json_that_nests_without_end_is_told(text, tmp_path):
    for name in ("manifest.json", "confidence.json", "learned.jsonl", "metrics.json", "store.json", "j.jsonl"):
        (tmp_path / name).write_text(text + "\n")
    readers = (
        lambda: manifest.verify(tmp_path),
        lambda: read_trust(tmp_path),
        lambda: read_lessons(tmp_path),
        lambda: Run(tmp_path).metrics(),
        lambda: Store(tmp_path).read(),
    )
    for read in readers:
        with pytest.raises(InputError):
            read()
    assert Journal(tmp_path / "j.jsonl").records() == []


def test_a_journal_of_nothing_but_damage_takes_no_memory_for_each_line(tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_bytes(b"\n" * 3_000_000)
    tracemalloc.start()
    try:
        assert read_journal(path) == []
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


# -- what a folder may lead to


@pytest.fixture
def own(tmp_path) -> Path:
    (tmp_path / "secret.txt").write_text("(the secret of the reader)\n")
    return Path(shutil.copytree(EMBEDDED / "trails", tmp_path / "own"))


@pytest.mark.parametrize("place", ["/etc/passwd", "../secret.txt", "inside/../../secret.txt", "link"])
def test_a_grammar_includes_no_file_of_the_reader(own, place):
    (own / "inside").mkdir()
    (own / "link").symlink_to(own.parent / "secret.txt")
    (own / "x.grammar").write_text(f"(include {place})\n")
    with pytest.raises(InputError, match=r"x\.grammar:1: include: .* leads out of the grammar's folder") as told:
        read_grammar(own / "x.grammar")
    assert "secret of" not in str(told.value) and "root:" not in str(told.value)


def test_a_grammar_includes_what_lies_beside_it_and_below(own):
    (own / "inside").mkdir()
    shutil.copyfile(own / "domain.grammar", own / "inside" / "other.grammar")
    (own / "x.grammar").write_text("(include inside/other.grammar)\n")
    assert read_grammar(own / "x.grammar")


@pytest.mark.parametrize("name", ["world.tsv", "ontology.txt", "train.tsv", "domain.toml"])
def test_a_folder_whose_files_are_links_elsewhere_is_refused(own, name):
    (own / name).unlink(missing_ok=True)
    (own / name).symlink_to(own.parent / "secret.txt")
    with pytest.raises(InputError, match="leads out of the folder"):
        load(own)


def test_a_grid_reads_no_methods_from_elsewhere(tmp_path):
    (tmp_path / "grid").mkdir()
    (tmp_path / "grid" / "x.toml").write_text('methods = "../secret.toml"\n')
    with pytest.raises(InputError, match="leads out of the folder of the grid"):
        read_grid(tmp_path / "grid" / "x.toml")
    (tmp_path / "methods").mkdir()
    (tmp_path / "secret.toml").write_text("secret = 1\n")
    (tmp_path / "methods" / "link.toml").symlink_to(tmp_path / "secret.toml")
    for place in ("../methods/link.toml", "../methods/../secret.toml", str(tmp_path / "secret.toml")):
        (tmp_path / "grid" / "x.toml").write_text(f'methods = "{place}"\n')
        with pytest.raises(InputError, match="leads out of the folder of the grid"):
            read_grid(tmp_path / "grid" / "x.toml")


@pytest.mark.parametrize("name", ["/etc/passwd", "../../secret.toml", "link.toml"])
def test_a_grid_takes_no_recipe_from_elsewhere(tmp_path, name):
    (tmp_path / "secret.toml").write_text('domain = "trails"\n')
    own = tmp_path / "own" / "grids"
    own.mkdir(parents=True)
    (own / "link.toml").symlink_to(tmp_path / "secret.toml")
    grid = own / "x.toml"
    grid.write_text(f'recipe = "{name}"\n[axes]\nseed = [1]\n')
    with pytest.raises(InputError, match="leads out of the folder of the grid, and into no recipes/"):
        cells_of(read_grid(grid), grid)
    (tmp_path / "own" / "recipes").mkdir()
    (tmp_path / "own" / "recipes" / "y.toml").write_text('domain = "trails"\n')
    grid.write_text('recipe = "y.toml"\n[axes]\nseed = [1]\n')
    assert [cell.recipe.domain for cell in cells_of(read_grid(grid), grid)] == ["trails"]


@pytest.mark.parametrize(
    "setting",
    ["data.queries", "data.labeled", "start_from", "model.word_vectors", "model.encoder", "domain"],
)
def test_a_recipe_names_no_file_from_elsewhere_unless_somebody_types_it(tmp_path, monkeypatch, setting):
    (tmp_path / "here").mkdir()
    (tmp_path / "own").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    recipe, settings = tmp_path / "own" / "x.toml", {"domain": "trails"}

    def written(value: str) -> Path:
        lines = [f'{key} = "{told}"' for key, told in (settings | {setting: value}).items()]
        recipe.write_text("\n".join(sorted(lines, key=lambda line: line.startswith("data."))) + "\n")
        return recipe

    for value in ("/etc/passwd", "../../secret.tsv", "~/secret.tsv"):
        with pytest.raises(InputError, match=f"x.toml: {setting}: .* leads out of the folder .* --set {setting}="):
            read_recipe(written(value))
    for value in (str(tmp_path / "own" / "a"), "below/a", str(tmp_path / "here" / "a")):
        read_recipe(written(value))
    typed = read_recipe(written("mine"), overrides=[f'{setting}="/elsewhere"'])
    assert dict(dotted(typed.model_dump()))[setting] == "/elsewhere"
    with pytest.raises(InputError, match="leads out"):  # a grid is somebody's, too
        read_recipe(written("mine"), overrides=[f'{setting}="/elsewhere"'], given="x.toml (grid)")


def test_a_grid_reads_the_methods_of_the_folder_above(tmp_path):
    for name in ("methods", "beyond"):
        (tmp_path / name).mkdir()
    (tmp_path / "methods" / "all.toml").write_text('[Att]\nrecipe = "{dataset}-att.toml"\n')
    (tmp_path / "beyond" / "x.toml").write_text('datasets = ["atis"]\nmethods = "../methods/all.toml"\n')
    assert read_grid(tmp_path / "beyond" / "x.toml").methods == {"Att": {"recipe": "{dataset}-att.toml"}}


# -- grammars that grow


@pytest.mark.parametrize(
    "text",
    [
        "(def @a0 (x y))\n" + "\n".join(f"(def @a{n + 1} (@a{n} @a{n}))" for n in range(60)) + "\n(rule $R (@a60) (x))",
        "(for @a (1 2 3 4 5 6 7 8 9 0) " * 8 + "(rule $R (x) (ConstantFn x))" + ")" * 8,
    ],
    ids=["def", "for"],
)
def test_a_grammar_that_grows_is_cut(text, tmp_path):
    path = tmp_path / "x.grammar"
    path.write_text(text)
    started = time.process_time()
    with pytest.raises(InputError, match=r"x\.grammar:\d+: more than"):
        read_grammar(path)
    assert time.process_time() - started < 5


def test_a_grammar_of_many_rules_is_read_soon(tmp_path):
    path = tmp_path / "x.grammar"
    rules = (f"(rule $ROOT (x{number}) (ConstantFn x{number}))\n" for number in range(8_000))
    path.write_text("".join(rules))
    started = time.process_time()
    assert len(read_grammar(path).rules) == 8_000
    assert time.process_time() - started < 3


# -- the command


def test_every_line_has_its_answer_past_a_bad_byte(tmp_path):
    path = tmp_path / "forms"
    path.write_bytes(b"( all hut\n\xff\xfe\n" + b"( count ( all hut ) )\n" + b"a" * 500_000 + b"\n( all nothing )")
    result = CliRunner().invoke(program.app, ["execute", "--domain", "trails", str(path)])
    lines = result.stdout.splitlines()
    assert len(lines) == 5
    assert lines[1] == "error: not UTF-8" and lines[2] == "(list (number 10 count))" and "longer than" in lines[3]


@pytest.mark.parametrize("command", ["execute", "check"])
def test_devices_and_pipes_are_refused_at_once_by_name(command, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("/dev/zero"), tmp_path / "pipe", tmp_path, tmp_path / "a\0b"):
        result = CliRunner().invoke(program.app, [command, "--domain", "trails", str(path)])
        assert isinstance(result.exception, InputError), result.output


@pytest.mark.parametrize(
    "line",
    ["[]", "5", "null", '{"stage": 5}', '{"stage": "q2lf"}', "[" * 100_000, "not JSON", '{"stage": ["q2lf"]}'],
    ids=lambda line: line[:20],
)
def test_a_line_of_a_log_that_is_no_record_is_told(line, tmp_path):
    good = '{"stage": "q2lf", "epoch": 1, "figures": {}, "scores": {}, "best": true, "seconds": 1.0}\n'
    (tmp_path / "log.jsonl").write_text(good + line + "\n" + good)
    with pytest.raises(InputError, match=r"log\.jsonl:2: not a record"):
        Run(tmp_path).read_log()
    (tmp_path / "log.jsonl").write_text(good + line)  # cut off
    assert len(Run(tmp_path).read_log()) == 1


@pytest.mark.parametrize("change", [{"verdict": 5}, {"verdict": {}}, {"query": ["a"]}, {"correct": None}, None])
def test_a_prediction_that_is_none_is_told(change, tmp_path):
    good = {"query": "a", "gold": "b", "predicted": "c", "exact": False, "denotation": None, "gold_denotation": None}
    good |= {"correct": True, "verdict": {"surface": True, "semantics": True, "reason": ""}}
    (tmp_path / "config.toml").write_text('domain = "trails"\n')
    wrong = [] if change is None else good | change
    (tmp_path / "predictions.test.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(wrong)}\n")
    with pytest.raises(InputError, match=r"predictions\.test\.jsonl:2: not a prediction"):
        read_mistakes(tmp_path, split="test")


@pytest.mark.parametrize("debug", [False, True])
def test_what_nobody_thought_of_is_one_line_and_a_hint(debug, monkeypatch, capsys):
    def broken() -> None:
        raise KeyError("the\nbug")

    monkeypatch.setattr(program, "app", broken)
    monkeypatch.setattr(sys, "argv", ["dualparse", "parse", *(["--debug"] if debug else [])])
    with pytest.raises(KeyError if debug else SystemExit) as ended:
        program.main()
    told = capsys.readouterr().err
    if not debug:
        assert ended.value.code == 1  # type: ignore[union-attr]
        assert told.count("\n") == 1 and "KeyError" in told and "--debug shows where" in told


SMALL_DISK = """
import resource, sys, torch
from pathlib import Path
from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.networks.tensors import save_tensors
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
folder = Path(sys.argv[1])
for write in (
    lambda: save_tensors(folder / "x.safetensors", {"a": torch.zeros(100_000)}, {}),
    lambda: write_text(folder / "x.txt", "a" * 100_000),
):
    try:
        write()
        sys.exit("written")
    except InputError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits on the size of files")
def test_a_disk_that_is_full_is_told_and_what_was_there_stays(tmp_path):
    for name in ("x.safetensors", "x.txt"):
        write_text(tmp_path / name, "before")
    done = subprocess.run([sys.executable, "-c", SMALL_DISK, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count("cannot write: ") == 2, done.stderr
    assert sorted((path.name, path.read_text()) for path in tmp_path.iterdir()) == [
        ("x.safetensors", "before"),
        ("x.txt", "before"),
    ]
    assert FULL
