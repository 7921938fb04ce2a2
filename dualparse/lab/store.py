"""Results on disk: one file of JSON lines a table, a line a cell. Sweeps write it, reports read it.

    {"base": {"schema": 2, "recipe": {...}, "hardware": ...}}        what the lines below have in common
    {"at": "table2/blocks-att,seed=1", "recipe": {"domain": "blocks"}, "dev": {...}, "correct": {...}}

A line says what its cell has that its base has not, or has otherwise; `at` is the name of grid and cell. Which file a
line stands in, and in which order, does not matter: several files are one after `cat`. A new cell goes to the file of
its grid, a known one stays where it is. Whoever writes holds a lock and writes the file anew beside the old one, so
that of many processes none loses another's cell, and a reader sees a whole file at any time. Earlier versions wrote a
file a cell, GRID/CELL.json: these count as well.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.lines import numbered_lines

LOCK = ".lock"
MEASUREMENTS = "bench-"  # files of benchmarks lie in the same folder
COMMON = ("schema", "commit", "hardware", "software", "engine", "recipe")  # what cells of a grid have in common

Result = dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """A result, its name (GRID/CELL) and the file it stands in."""

    name: str
    path: Path
    result: Result

    @property
    def tested(self) -> bool:
        return "test" in self.result


@dataclass
class Segment:
    """Lines of a file that have a base in common: name -> whole result."""

    base: Result
    cells: dict[str, Result] = field(default_factory=dict)

    def fits(self, result: Mapping[str, Any]) -> bool:
        """Whether a result can be told as its difference from the base: it must have all that the base has."""
        return _has_keys(result, self.base)

    def lines(self) -> Iterator[str]:
        yield _line({"base": self.base})
        for name, result in self.cells.items():
            yield _line({"at": name} | _difference(_untold(name, result), self.base))


class Store:
    """A folder of results."""

    def __init__(self, folder: Path):
        self.folder = folder

    def read(self) -> list[Stored]:
        """All results, in the order of their names; a line of a newer file before a file of its own."""
        found: dict[str, Stored] = {}
        for path in self._files():
            for segment in read_segments(path):
                found |= {name: Stored(name, path, result) for name, result in segment.cells.items()}
        for path in sorted(self.folder.glob("*/*.json")):
            name = f"{path.parent.name}/{path.stem}"
            if name not in found and (result := _single(path)):
                found[name] = Stored(name, path, result)
        return sorted(found.values(), key=lambda stored: _order(stored.name))

    def get(self, name: str) -> Stored | None:
        """One result by its name."""
        return next((stored for stored in self.read() if stored.name == name), None)

    def put(self, name: str, result: Mapping[str, Any]) -> Path:
        """Write a result, in place of an older one of this name; says where."""
        with self._locked():
            path = self._place(name)
            segments = read_segments(path) if path.exists() else []
            home = next((each for each in segments if name in each.cells), None)
            if home and not home.fits(result):
                del home.cells[name]
                home = None
            if home is None and not (segments and (home := segments[-1]).fits(result)):
                home = Segment({key: copy.deepcopy(result[key]) for key in COMMON if key in result})
                segments.append(home)
            assert home is not None
            home.cells[name] = dict(result)
            write_segments(path, segments)
            self._single(name).unlink(missing_ok=True)
        return path

    def drop(self, name: str) -> None:
        """Take a result away; nothing happens where there is none."""
        if not self.folder.is_dir():
            return
        with self._locked():
            path = self._place(name)
            segments = read_segments(path) if path.exists() else []
            if any(segment.cells.pop(name, None) for segment in segments):
                write_segments(path, segments)
            self._single(name).unlink(missing_ok=True)

    def _locked(self) -> FileLock:
        self.folder.mkdir(parents=True, exist_ok=True)
        return FileLock(self.folder / LOCK)

    def _files(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("*.jsonl") if not path.name.startswith(MEASUREMENTS))

    def _place(self, name: str) -> Path:
        """The file a result is in, or is to go to."""
        for path in self._files():
            if any(name in segment.cells for segment in read_segments(path)):
                return path
        return self.folder / f"{name.partition('/')[0]}.jsonl"

    def _single(self, name: str) -> Path:
        return self.folder / f"{name}.json"


def read_segments(path: Path) -> list[Segment]:
    """What stands in a file of results."""
    segments: list[Segment] = []
    for number, line in numbered_lines(path):
        if not line:
            continue
        told = _object(line, path, number)
        if "base" in told and isinstance(told["base"], dict):
            segments.append(Segment(told["base"]))
            continue
        name = told.pop("at", None)
        if not isinstance(name, str) or not segments:
            raise InputError(
                'expected a cell, {"at": "GRID/CELL", ...}, below a line {"base": ...}', path=path, line=number
            )
        grid, _, cell = name.partition("/")
        result = _merged(segments[-1].base, told)
        segments[-1].cells[name] = {"cell": cell, "grid": grid} | result
    return segments


def write_segments(path: Path, segments: list[Segment]) -> None:
    """The file anew; a base that nobody has goes."""
    lines = (line for segment in segments if segment.cells for line in segment.lines())
    write_text(path, "".join(f"{line}\n" for line in lines))


def _single(path: Path) -> Result:
    """The result of a file of its own; empty where the file is something else."""
    told = _parsed(path.read_bytes(), path, None)
    return told if isinstance(told, dict) and isinstance(told.get("recipe"), dict) else {}


def _object(text: str, path: Path, line: int) -> Result:
    told = _parsed(text, path, line)
    if not isinstance(told, dict):
        raise InputError("expected a JSON object", path=path, line=line)
    return told


def _parsed(text: str | bytes, path: Path, line: int | None) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("not JSON", path=path, line=line) from None


def _order(name: str) -> tuple[str, str]:
    """As files of their own would be: which of two equal results counts must not depend on the file they are in."""
    grid, _, cell = name.partition("/")
    return grid, f"{cell}.json"


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _untold(name: str, result: Mapping[str, Any]) -> Result:
    """A result without what its name says."""
    grid, _, cell = name.partition("/")
    own = {"cell": cell, "grid": grid}
    return {key: value for key, value in result.items() if key not in own or value != own[key]}


def _merged(base: Mapping[str, Any], told: Mapping[str, Any]) -> Result:
    """
    >>> _merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 5}})
    {'a': {'b': 1, 'c': 5}, 'd': 3}
    """
    merged = dict(base) | dict(told)
    for key, value in base.items():
        if isinstance(value, dict) and isinstance(told.get(key, {}), dict):
            merged[key] = _merged(value, told.get(key, {}))
    return merged


def _difference(result: Mapping[str, Any], base: Mapping[str, Any]) -> Result:
    """What is to be told where a base is known. Tables are compared key by key.

    >>> _difference({"a": {"b": 1, "c": 5}, "d": 3}, {"a": {"b": 1, "c": 2}, "d": 3})
    {'a': {'c': 5}}
    """
    told: Result = {}
    for key, value in result.items():
        if key in base and isinstance(value, dict) and isinstance(base[key], dict):
            if inner := _difference(value, base[key]):
                told[key] = inner
        elif key not in base or not _same(value, base[key]):
            told[key] = value
    return told


def _same(one: object, other: object) -> bool:
    """1 and true and 1.0 are three values."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _has_keys(result: Mapping[str, Any], base: Mapping[str, Any]) -> bool:
    return all(
        key in result
        and (not isinstance(value, dict) or not isinstance(result[key], dict) or _has_keys(result[key], value))
        for key, value in base.items()
    )
