"""The GloVe word vectors as a file: find it, check it, take it out of its archive.

The archive is published without a checksum; the one pinned here is what others who pin it agree on. Of a copy of the
user's own everything else is checked: the archive's directory, its size when unpacked, the CRC-32 of the member while
it is extracted, and from then on the SHA-256 that was noted beside the file. Three forms are accepted:
the text file, a gzip of (a part of) it, and the archive itself. `dualparse.data.word_vectors` reads all three.
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from pathlib import Path
from typing import IO

from dualparse.errors import InputError
from dualparse.fetch.download import CHUNK, sha256
from dualparse.files import replacing, write_text

URL = "https://nlp.stanford.edu/data/glove.6B.zip"
ARCHIVE = "glove.6B.zip"
ARCHIVE_SHA256 = "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb"  # of the one at URL
TEXT = "glove.6B.100d.txt"
SUBSET = "glove.6B.100d.subset.txt.gz"
FILES = (TEXT, SUBSET, ARCHIVE)  # the quickest to read first
MOST_BYTES = 500_000_000  # unpacked: the published vectors have 347,116,733
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
            found = [member for member in archive.infolist() if member.filename == TEXT]
    except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
        return f"damaged archive ({error})"
    if len(found) != 1:
        return f"not one {TEXT} in this archive, but {len(found)}"
    member = found[0]
    if member.flag_bits & 0x1:
        return f"{TEXT} is encrypted in this archive"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"{TEXT} is packed in this archive in a way that is not that of the published one"
    if member.file_size > MOST_BYTES:
        return f"{TEXT} would have {member.file_size} bytes, more than {MOST_BYTES}"
    return ""


def _limited(packed: IO[bytes] | gzip.GzipFile, stream: IO[bytes] | None = None) -> None:
    """Unpack to a stream, or to nowhere, but no more than there can be, whatever the archive says of its size."""
    done = 0
    while chunk := packed.read(CHUNK):
        done += len(chunk)
        if done > MOST_BYTES:
            raise zipfile.BadZipFile(f"it unpacks to more than {MOST_BYTES} bytes")
        if stream is not None:
            stream.write(chunk)


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
            _limited(packed, stream)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError) as error:
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
            _limited(packed)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, EOFError) as error:
        return f"damaged archive ({error})"
    return ""


def _gzip_problem(path: Path) -> str:
    try:
        with gzip.open(path) as packed:
            _limited(packed)
    except (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, EOFError) as error:
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
