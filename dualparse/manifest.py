"""What a finished run folder holds: `manifest.json` in, the first file that is not as it was written out.

The manifest is written last and names every file that answers depend on, with its size and SHA-256, those of the copy
of a connected folder among them; folders of runs below have their own. A folder without one is unfinished, or was
written before there were manifests: it is used, and tensors still carry a digest of their own
(`dualparse.networks.tensors`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dualparse import __version__
from dualparse.errors import InputError
from dualparse.files import flush, write_text

NAME = "manifest.json"
LISTED = ("config.toml", "*.vocab", "*.safetensors", "log.jsonl", "confidence.json", "learned.jsonl")
KEPT = "domain"  # folder of a run: how its database is asked, so that the run can be taken elsewhere
LISTED_BELOW = ("*.toml", "*.txt", "*.tsv", ".connect/*")  # there; not what is made of the data
CHECKPOINT = ".checkpoint.safetensors"


def write_manifest(folder: Path) -> None:
    """List what is there now."""
    paths = [path for pattern in LISTED for path in folder.glob(pattern) if not path.name.endswith(CHECKPOINT)]
    paths += [path for pattern in LISTED_BELOW for path in (folder / KEPT).glob(pattern) if path.is_file()]
    for path in paths:
        flush(path)  # the log grows line by line; what is listed must survive a power cut
    _write(folder, {path.relative_to(folder).as_posix(): _told(path) for path in paths})


def forget_manifest(folder: Path) -> None:
    """Before anything of a run changes. After a power cut, too, there must be no manifest of what was."""
    if (folder / NAME).exists():
        (folder / NAME).unlink()
        flush(folder)


@contextmanager
def changing(folder: Path, name: str) -> Iterator[None]:
    """While one file of a finished run is written anew; the manifest lists it as it is then."""
    listed = _read(folder / NAME) if (folder / NAME).exists() else None
    forget_manifest(folder)
    yield
    if listed is not None:
        _write(folder, listed | {name: _told(folder / name)})


def _write(folder: Path, listed: Mapping[str, dict[str, int | str]]) -> None:
    told = {"dualparse": __version__, "files": dict(sorted(listed.items()))}
    write_text(folder / NAME, json.dumps(told, indent=1) + "\n")


def verify(folder: Path, *, missing: bool = False, below: str = "") -> int | None:
    """How many files of a folder are as they were written, None where no manifest says so; `InputError` for the first
    that is not. `missing` allows for files that are not there; `below` looks at those of one folder alone."""
    path = folder / NAME
    if not path.exists():
        return None
    listed = {name: told for name, told in _read(path).items() if not below or name.startswith(f"{below}/")}
    for name, told in listed.items():
        file = folder / name
        if not file.is_file():
            if missing:
                continue
            raise InputError("missing, though the run was finished with it (see manifest.json)", path=file)
        size = file.stat().st_size
        if size != told["size"]:
            raise InputError(f"damaged: {size} bytes, and {told['size']} were written", path=file)
        if _told(file) != told:
            raise InputError("damaged: its content is not what was written (see manifest.json)", path=file)
    return len(listed)


def _told(path: Path) -> dict[str, int | str]:
    content = path.read_bytes()
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _read(path: Path) -> dict[str, dict[str, int | str]]:
    try:
        files = json.loads(path.read_bytes())["files"]
        if all(_is_below(name) and told.keys() == {"size", "sha256"} for name, told in files.items()):
            return files
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    raise InputError("damaged: not the manifest of a run", path=path)


def _is_below(name: str) -> bool:
    """Whether a name leads to a file of the folder itself, or of the copy below it.

    >>> [_is_below(name) for name in ("a.vocab", "domain/.connect/ontology.txt", "domain/../../a", "/a", "other/a")]
    [True, True, False, False, False]
    """
    first, *others = name.split("/")
    return (
        bool(first) and (not others or first == KEPT) and not {"", "."} & set(others) and ".." not in (first, *others)
    )
