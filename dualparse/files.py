"""Writing files: to a temporary name beside the target, then renamed, so that a reader never sees half a file.

What got its name is on the disk, also after a power cut: the file is flushed before it is renamed and its folder after.
A disk that is full, or that takes nothing for another reason, is an `InputError`; what was there before is still there.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from dualparse.errors import InputError

LOCK = ".lock.part"  # in a folder that a process keeps to itself; one that was killed leaves it behind, unlocked

# What a disk says when it takes no more, or nothing at all.
FULL = frozenset(
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "EACCES", "EPERM")
    if hasattr(errno, name)
)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Errors of the disk while `path` is written, as errors for people."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise InputError(f"cannot write: {error.strerror}", path=path) from None


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=path) from None


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
        with _told(path):
            yield part
            # mkstemp makes private files; what we hand over has the permissions any new file would have.
            mask = os.umask(0)
            os.umask(mask)
            part.chmod(0o666 & ~mask)
            put(part, path)
    finally:
        part.unlink(missing_ok=True)


def put(part: Path, path: Path) -> None:
    """Give a finished file, or folder, its name, so that after a power cut it is there whole or not at all."""
    flush(part)
    os.replace(part, path)
    flush(path.parent)


def flush(path: Path) -> None:
    """See that a file, or the names in a folder, are on the disk. Windows has no way to open a folder."""
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system without
            raise
    finally:
        os.close(handle)


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
        with _told(path):
            yield part
            for file in part.rglob("*"):
                flush(file)
            put(part, path)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def unfinished(path: Path) -> bool:
    """Whether this is a temporary name of `replacing` that a killed process left behind."""
    return path.name.startswith(".") and path.suffix == ".part"


def written(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is written anew, without reading it; None where there is none."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def write_text(path: Path, text: str) -> None:
    """Write a whole text file at once or not at all."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


@contextmanager
def holding(folder: Path) -> Iterator[None]:
    """Keep a folder, which is made where there is none, to this process; another that has it is an `InputError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, timeout=0, thread_local=False)
        lock.acquire()
    except Timeout:
        raise InputError("another process is at work in this folder", path=folder) from None
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=folder) from None
    try:
        yield
    finally:
        (folder / LOCK).unlink(missing_ok=True)
        lock.release()
