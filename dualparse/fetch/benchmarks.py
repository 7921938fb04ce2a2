"""The published benchmark files: where they are, how to get them here, whether they are right (paper Section 4.1).

In: datasets, or names of those dualparse knows of. Out: files in the data folder (`atis/`, `overnight/`,
`overnight/grammars/`), each equal to the published one by its SHA-256 in `checksums.txt`. The word vectors, published
without a checksum, are a matter of their own: see `dualparse.fetch.glove_files`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files as package_files
from pathlib import Path

import platformdirs

from dualparse.errors import InputError
from dualparse.fetch import glove_files
from dualparse.fetch.download import Check, Progress, download, has_sha256, no_progress, sha256
from dualparse.files import replacing
from dualparse.suggest import unknown_name


class State(StrEnum):
    """What `verify` says about one file."""

    OK = "ok"
    MISSING = "missing"
    WRONG = "wrong checksum"


class Outcome(StrEnum):
    """What `get` did about one file."""

    FETCHED = "fetched"
    COPIED = "copied"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A group of files that are got together. Those of a benchmark that is not part of dualparse come with its `Family`
    (`dualparse.domains.registry`).

    origin     who published it, for people
    folder     its place in the data folder
    address    where its files are; for the word vectors, the one archive
    checksums  file name in the folder -> SHA-256; empty for the word vectors
    """

    name: str
    title: str
    origin: str
    folder: str
    address: str
    checksums: Mapping[str, str]


_PAIRS = "github.com/rhythmcao/semantic-parsing-dual, commit bd419ac"
_PAIRS_ADDRESS = "https://raw.githubusercontent.com/rhythmcao/semantic-parsing-dual/bd419ac/data"
_GRAMMARS = "github.com/percyliang/sempre, commit 876338f"
_GRAMMARS_ADDRESS = "https://raw.githubusercontent.com/percyliang/sempre/876338f/overnight"
_PUBLISHED = {
    "atis": ("flight questions (ATIS)", _PAIRS, "atis", f"{_PAIRS_ADDRESS}/atis"),
    "overnight": ("eight small domains (OVERNIGHT)", _PAIRS, "overnight", f"{_PAIRS_ADDRESS}/overnight"),
    "grammars": ("OVERNIGHT's grammars", _GRAMMARS, "overnight/grammars", _GRAMMARS_ADDRESS),
    "glove": ("word vectors (GloVe 6B, 822 MiB)", "nlp.stanford.edu/projects/glove", "glove", glove_files.URL),
}
NAMES = tuple(_PUBLISHED)


def data_dir() -> Path:
    """Where benchmark files live: `DUALPARSE_DATA`, or a folder in the user's cache."""
    chosen = os.environ.get("DUALPARSE_DATA")
    if chosen:
        return Path(chosen).expanduser()
    return platformdirs.user_cache_path("dualparse", appauthor=False) / "data"


@cache
def dataset(name: str) -> Dataset:
    """The dataset of that name; an unknown one is an error that names the nearest."""
    if name not in NAMES:
        raise InputError(unknown_name("dataset", name, NAMES))
    title, origin, folder, address = _PUBLISHED[name]
    text = (package_files("dualparse.fetch") / "checksums.txt").read_text(encoding="utf-8")
    checksums = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            checksum, path = line.split()
            parent, _, file = path.rpartition("/")
            if parent == folder:
                checksums[file] = checksum
    return Dataset(name, title, origin, folder, address, checksums)


def _wanted(names: Iterable[str | Dataset]) -> list[Dataset]:
    return [name if isinstance(name, Dataset) else dataset(name) for name in names]


def verify(names: Iterable[str | Dataset] = NAMES, *, folder: Path | None = None) -> dict[str, State]:
    """The state of every file, by its path in the data folder."""
    folder = folder or data_dir()
    states: dict[str, State] = {}
    for wanted in _wanted(names):
        place = folder / wanted.folder
        if wanted.name == "glove":
            found = glove_files.find(place)
            state = State.MISSING if found is None else State.WRONG if glove_files.problem(found) else State.OK
            states[f"glove/{found.name if found else glove_files.TEXT}"] = state
        for file, checksum in wanted.checksums.items():
            states[f"{wanted.folder}/{file}"] = _state(place / file, has_sha256(checksum))
    return states


def get(
    names: Sequence[str | Dataset],
    *,
    folder: Path | None = None,
    source: Path | None = None,
    progress: Progress = no_progress,
    addresses: Mapping[str, str] | None = None,
    pause: float = 1.0,
) -> dict[str, Outcome]:
    """Bring datasets into the data folder, from their addresses or from a local copy; what is right already is kept.

    `source` is a folder laid out like the data folder or like one of the two published repositories, or simply one
    with the files in it. `addresses` puts others in place of the published ones, dataset by dataset. Nothing under a
    final name is ever half a file or a wrong one.
    """
    folder = folder or data_dir()
    if source is not None and not source.is_dir():
        raise InputError("no such folder", path=source)
    outcomes: dict[str, Outcome] = {}
    for wanted in _wanted(names):
        place, url = folder / wanted.folder, (addresses or {}).get(wanted.name, wanted.address)
        try:
            if wanted.name == "glove":
                outcomes |= _get_glove(place, url, source=source, progress=progress, pause=pause)
            for file, checksum in wanted.checksums.items():
                check, target = has_sha256(checksum), place / file
                if _state(target, check) is State.OK:
                    outcome = Outcome.KEPT
                elif source is not None:
                    outcome = _copy(_find(wanted, file, source), target, check)
                else:
                    download(f"{url}/{file}", target, check=check, progress=progress, pause=pause)
                    outcome = Outcome.FETCHED
                outcomes[f"{wanted.folder}/{file}"] = outcome
        except OSError as error:
            raise InputError(error.strerror or str(error), path=error.filename or place) from error
    return outcomes


def require(name: str | Dataset) -> Path:
    """The folder of a dataset, if all its files are there; else an error with the one line that gets them."""
    (wanted,), root = _wanted([name]), data_dir()
    place, name = root / wanted.folder, wanted.name
    there = glove_files.find(place) if name == "glove" else all((place / file).is_file() for file in wanted.checksums)
    if not there:
        raise InputError(f"the files of {name!r} are not in {root}; get them with: dualparse data get {name}")
    return place


def glove_path() -> Path | None:
    """The word vectors in the data folder, in whichever form they are there (text, gzip, zip); None without them."""
    return glove_files.find(data_dir() / "glove")


def _state(path: Path, check: Check) -> State:
    if not path.is_file():
        return State.MISSING
    return State.WRONG if check(path) else State.OK


def _find(wanted: Dataset, file: str, source: Path) -> Path:
    """A file in a local copy: our layout, the published repositories' layouts, or all in one folder."""
    published = {"grammars": "overnight"}.get(wanted.name, f"data/{wanted.folder}")
    for folder in (wanted.folder, published, "."):
        if (source / folder / file).is_file():
            return source / folder / file
    raise InputError(f"no {file} in this folder (nor in {wanted.folder}/ below it)", path=source)


def _copy(found: Path, target: Path, check: Check) -> Outcome:
    with replacing(target) as part:
        shutil.copyfile(found, part)
        problem = check(part)
        if problem:
            raise InputError(f"{problem}; nothing was kept", path=found)
    return Outcome.COPIED


def _get_glove(place: Path, url: str, *, source: Path | None, progress: Progress, pause: float) -> dict[str, Outcome]:
    """The word vectors: kept, copied or fetched; a zip archive gives its one text file."""
    found = glove_files.find(place)
    if found is not None and not glove_files.problem(found):
        return {f"glove/{found.name}": Outcome.KEPT}
    if source is None:
        archive = place / glove_files.ARCHIVE
        published = url == glove_files.URL
        check = has_sha256(glove_files.ARCHIVE_SHA256) if published else glove_files.archive_problem
        download(url, archive, check=check, progress=progress, pause=pause)
        try:
            target = glove_files.extract(archive, place)
        except InputError:
            archive.unlink()  # damaged inside: it must not be taken for the word vectors
            raise
        archive.unlink()
        return {f"glove/{target.name}": Outcome.FETCHED}
    found = glove_files.find(source / "glove") or glove_files.find(source)
    if found is None:
        raise InputError(f"none of {', '.join(glove_files.FILES)} in this folder (nor in glove/ below it)", path=source)
    if found.name == glove_files.ARCHIVE:
        target = glove_files.extract(found, place)
    else:
        reason = glove_files.problem(found)
        if reason:
            raise InputError(f"{reason}; nothing was kept", path=found)
        target = place / found.name
        _copy(found, target, has_sha256(sha256(found)))
        glove_files.note_checksum(target)
    return {f"glove/{target.name}": Outcome.COPIED}
