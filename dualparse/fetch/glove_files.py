"""The GloVe word vectors as a file: find it, check it, take it out of its archive.

The archive is published without a checksum. What can be checked is checked: the archive's directory, the CRC-32 of the
member while it is extracted, and from then on the SHA-256 that was noted beside the file. Three forms are accepted:
the text file, a gzip of (a part of) it, and the archive itself. `dualparse.data.word_vectors` reads all three.
"""

from __future__ import annotations

import gzip
import shutil
import zipfile
import zlib
from pathlib import Path

from dualparse.errors import InputError
from dualparse.fetch.download import CHUNK, sha256
from dualparse.files import replacing, write_text

URL = "https://nlp.stanford.edu/data/glove.6B.zip"
ARCHIVE = "glove.6B.zip"
TEXT = "glove.6B.100d.txt"
SUBSET = "glove.6B.100d.subset.txt.gz"
FILES = (TEXT, SUBSET, ARCHIVE)  # the quickest to read first
COLUMNS = 101  # a word and its vector


def find(folder: Path) -> Path | None:
    """The word vectors in a folder, in the form that is quickest to read."""
    return next((folder / file for file in FILES if (folder / file).is_file()), None)


def problem(path: Path) -> str:
    """What is wrong with a file of word vectors; "" when it is right."""
    noted = _note(path)
    if noted.is_file():
        return "" if noted.read_text(encoding="utf-8").split()[:1] == [sha256(path)] else "wrong checksum"
    if path.suffix == ".zip":
        return archive_problem(path) or _member_problem(path)
    return _gzip_problem(path) if path.suffix == ".gz" else _text_problem(path)


def archive_problem(path: Path) -> str:
    """What is wrong with the archive as a whole: quick, reads its directory only."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "" if TEXT in archive.namelist() else f"no {TEXT} in this archive"
    except zipfile.BadZipFile as error:
        return f"damaged archive ({error})"


def extract(archive: Path, folder: Path) -> Path:
    """Take the 100-dimensional vectors out of the archive; their CRC-32 is checked on the way."""
    reason = archive_problem(archive)
    if reason:
        raise InputError(reason, path=archive)
    target = folder / TEXT
    try:
        with (
            zipfile.ZipFile(archive) as opened,
            opened.open(TEXT) as packed,
            replacing(target) as part,
            part.open("wb") as stream,
        ):
            shutil.copyfileobj(packed, stream, CHUNK)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(f"damaged archive ({error}); delete it and get it again", path=archive) from error
    note_checksum(target)
    return target


def note_checksum(path: Path) -> None:
    """Write the SHA-256 of a file beside it, in the form `sha256sum -c` reads."""
    write_text(_note(path), f"{sha256(path)}  {path.name}\n")


def _note(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _member_problem(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive, archive.open(TEXT) as packed:
            while packed.read(CHUNK):
                pass
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        return f"damaged archive ({error})"
    return ""


def _gzip_problem(path: Path) -> str:
    try:
        with gzip.open(path) as packed:
            while packed.read(CHUNK):
                pass
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        return f"damaged file ({error})"
    return ""


def _text_problem(path: Path) -> str:
    """Without a noted checksum: the first line must be a word and 100 numbers, the last one complete."""
    with path.open("rb") as stream:
        first = stream.readline()
        stream.seek(max(0, path.stat().st_size - 10_000))
        last = stream.read().rpartition(b"\n")
    complete = not last[2] and len(last[0].rpartition(b"\n")[2].split()) == COLUMNS
    return "" if len(first.split()) == COLUMNS and complete else "not a complete file of 100-dimensional vectors"
