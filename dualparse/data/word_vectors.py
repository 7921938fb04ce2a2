"""Word vectors in the GloVe text format (`word v1 v2 ...` a line): plain, .gz or .zip.

In: a file and the words wanted. Out: an array with a row for every word found, and which words were not.
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dualparse.errors import InputError


@dataclass(frozen=True)
class WordVectors:
    """`vectors[i]` belongs to the word `words[i]`; `missing` had none."""

    words: tuple[str, ...]
    vectors: np.ndarray
    missing: tuple[str, ...]


def read_vectors(path: Path, wanted: Sequence[str], *, dimension: int) -> WordVectors:
    """The vectors of the words wanted; only their lines are parsed."""
    left = {word.encode("utf-8"): word for word in wanted}
    found: dict[str, np.ndarray] = {}
    with _lines(path, dimension) as lines:
        for number, line in enumerate(lines, start=1):
            word, _, rest = line.rstrip(b"\r\n").partition(b" ")
            name = left.pop(word, None)
            if name is None:
                continue
            found[name] = _vector(rest, dimension, path, number)
            if not left:
                break
    words = tuple(word for word in dict.fromkeys(wanted) if word in found)
    vectors = np.stack([found[word] for word in words]) if words else np.zeros((0, dimension), np.float32)
    return WordVectors(words, vectors, tuple(word for word in dict.fromkeys(wanted) if word not in found))


def _vector(text: bytes, dimension: int, path: Path, line: int) -> np.ndarray:
    try:
        vector = np.array(text.split(), dtype=np.float32)
    except ValueError:
        raise InputError(f"expected a word and {dimension} numbers", path=path, line=line) from None
    if vector.shape != (dimension,):
        raise InputError(f"expected {dimension} numbers, found {len(vector)}", path=path, line=line)
    if not np.isfinite(vector).all():
        raise InputError("a number is not finite", path=path, line=line)
    return vector


@contextmanager
def _lines(path: Path, dimension: int) -> Iterator[Iterable[bytes]]:
    """The lines of the file, unpacked; of a .zip, the member whose name says the dimension."""
    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rb") as stream:
                yield stream
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive, archive.open(_member(archive, dimension, path)) as stream:
                yield stream
        else:
            with path.open("rb") as stream:
                yield stream
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        # RuntimeError is how zipfile refuses encryption and packing methods it does not know.
        raise InputError(f"broken archive: {error}", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None


def _member(archive: zipfile.ZipFile, dimension: int, path: Path) -> str:
    names = [name for name in archive.namelist() if name.endswith(".txt")]
    fitting = [name for name in names if f".{dimension}d." in name] or (names if len(names) == 1 else [])
    if not fitting:
        raise InputError(f"no text file with {dimension}-dimensional vectors inside", path=path)
    return fitting[0]
