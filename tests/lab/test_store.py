"""Results on disk: nothing of a cell is lost, whoever writes beside, and what earlier versions wrote counts."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualparse.errors import InputError
from dualparse.lab.store import Segment, Store, read_segments, write_segments

KEYS = st.sampled_from(["a", "b", "c", "x.y"])
LEAVES = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(allow_nan=False) | st.text(max_size=3) | st.just([1])
)
VALUES = st.recursive(LEAVES, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=6)
RESULTS = st.fixed_dictionaries(
    {"recipe": st.dictionaries(KEYS, VALUES, max_size=4)}, optional={"commit": LEAVES, "dev": VALUES, "grid": LEAVES}
)


def exactly(value: object) -> str:
    return json.dumps(value, sort_keys=True)


@given(st.lists(st.tuples(st.sampled_from(["g/a", "g/b", "h/a,s=1", "h/c"]), RESULTS), max_size=8))
def test_what_is_written_last_under_a_name_is_read_back_exactly(tmp_path_factory, written):
    store, expected = Store(tmp_path_factory.mktemp("results")), {}
    for name, result in written:
        store.put(name, result)
        expected[name] = {"cell": name[2:], "grid": name[0]} | result
    read = {item.name: item.result for item in store.read()}
    assert exactly(read) == exactly(expected)


@given(st.lists(RESULTS, min_size=1, max_size=4), RESULTS)
def test_a_base_changes_nothing_of_what_is_read(tmp_path_factory, results, other):
    """Whatever the base is, as long as the cells have all it has."""
    path = tmp_path_factory.mktemp("results") / "grid.jsonl"
    base = {key: value for key, value in other.items() if all(Segment({key: value}).fits(each) for each in results)}
    cells = {f"grid/{i}": {"cell": f"{i}", "grid": "grid"} | result for i, result in enumerate(results)}
    write_segments(path, [Segment(base, cells)])
    [segment] = read_segments(path)
    assert exactly(segment.cells) == exactly(cells)


def test_a_line_says_what_its_cell_has_that_its_base_has_not(tmp_path):
    store = Store(tmp_path)
    for seed in (1, 2):
        store.put(f"grid/seed={seed}", {"recipe": {"seed": seed, "train": {"epochs": 7}}, "dev": {"n": seed}})
    base, *lines = map(json.loads, (tmp_path / "grid.jsonl").read_text().splitlines())
    assert base == {"base": {"recipe": {"seed": 1, "train": {"epochs": 7}}}}
    assert lines == [
        {"at": "grid/seed=1", "dev": {"n": 1}},
        {"at": "grid/seed=2", "recipe": {"seed": 2}, "dev": {"n": 2}},
    ]


def test_files_are_one_after_another(tmp_path):
    """Lines may be moved to the file of a table; what is known already stays there."""
    store = Store(tmp_path)
    for name in ("one/a", "two/b"):
        store.put(name, {"recipe": {"domain": name}})
    whole = "".join((tmp_path / f"{name}.jsonl").read_text() for name in ("one", "two"))
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").unlink()
    (tmp_path / "both.jsonl").write_text(whole)
    store.put("two/b", {"recipe": {"domain": "two/b"}, "test": 1})
    assert [(item.name, item.path.name, item.tested) for item in store.read()] == [
        ("one/a", "both.jsonl", False),
        ("two/b", "both.jsonl", True),
    ]


def test_a_file_a_cell_of_an_earlier_version_counts_until_it_is_written_anew(tmp_path):
    (tmp_path / "grid").mkdir()
    (tmp_path / "grid" / "old,seed=1.json").write_text('{"cell": "old,seed=1", "recipe": {"domain": "atis"}}')
    (tmp_path / "grid" / "other.json").write_text('{"figures": [1]}')
    store = Store(tmp_path)
    [old] = store.read()
    assert (old.name, old.result["recipe"]) == ("grid/old,seed=1", {"domain": "atis"})
    store.put(old.name, old.result | {"test": 1})
    assert [(item.path.name, item.tested) for item in store.read()] == [("grid.jsonl", True)]
    store.drop(old.name)
    assert store.read() == [] and not list((tmp_path / "grid").glob("old*"))


def _put_many(folder: Path, worker: int) -> None:
    for number in range(10):
        Store(folder).put(f"grid/{worker},{number}", {"recipe": {"seed": number}, "dev": worker})


def test_many_processes_lose_no_cell(tmp_path):
    processes = [multiprocessing.get_context("spawn").Process(target=_put_many, args=(tmp_path, i)) for i in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    found = {item.name: item.result["dev"] for item in Store(tmp_path).read()}
    assert found == {f"grid/{worker},{number}": worker for worker in range(3) for number in range(10)}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"base": {}}\n{"at": "g/a"', "grid.jsonl:2: not JSON"),
        ('{"base": {}}\n[1]\n', "grid.jsonl:2: expected a JSON object"),
        ('{"at": "g/a"}\n', "grid.jsonl:1: expected a cell"),
        ('{"base": {}}\n{"dev": 1}\n', "grid.jsonl:2: expected a cell"),
    ],
)
def test_a_line_that_is_no_result_is_named(tmp_path, text, told):
    (tmp_path / "grid.jsonl").write_text(text)
    with pytest.raises(InputError, match=told):
        Store(tmp_path).read()


def test_measurements_beside_them_are_no_results(tmp_path):
    (tmp_path / "bench-search.jsonl").write_text('{"rows": 1}\n')
    assert Store(tmp_path).read() == []
