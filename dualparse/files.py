"""Writing files: to a temporary name beside the target, then renamed, so that a reader never sees half a file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dualparse.errors import InputError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` that takes its place when the block ends well, and vanishes when it does not."""
    if path.is_dir():
        raise InputError("is a folder; expected the name of a file to write", path=path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=path) from None
    os.close(handle)
    part = Path(name)
    try:
        yield part
        # mkstemp makes private files; what we hand over has the permissions any new file would have.
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A new folder beside `path`, where nothing must be yet, that gets its name when the block ends well. One that a
    killed process left behind makes room for it."""
    part = path.with_name(f".{path.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=path) from None
    try:
        yield part
        os.replace(part, path)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def unfinished(path: Path) -> bool:
    """Whether this is a temporary name of `replacing` that a killed process left behind."""
    return path.name.startswith(".") and path.suffix == ".part"


def write_text(path: Path, text: str) -> None:
    """Write a whole text file at once or not at all."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
