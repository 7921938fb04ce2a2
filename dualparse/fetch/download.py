"""One file over HTTP: an address in, a checked file under its final name out, or nothing.

Bytes go to `NAME.part`. What a broken transfer left there is taken up again where the server allows it (HTTP Range).
Only a file that passes its check is renamed to its final name.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from dualparse.errors import InputError
from dualparse.files import put

CHUNK = 1 << 16
TIMEOUT = 30.0  # seconds without a byte
TRY_AGAIN = frozenset({408, 429, 500, 502, 503, 504})  # HTTP states that often pass

Check = Callable[[Path], str]  # a file -> what is wrong with it, "" when it is right
Progress = Callable[[str, int, int | None], None]  # file name, bytes so far, bytes in all if known


def no_progress(name: str, done: int, total: int | None) -> None:
    """The progress of a caller that does not want to know."""


class _BrokenTransferError(Exception):
    """The transfer ended early; trying again may help."""


def sha256(path: Path) -> str:
    """Checksum of a file as `sha256sum` prints it."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def has_sha256(expected: str) -> Check:
    """A check that compares checksums."""

    def check(path: Path) -> str:
        found = sha256(path)
        return "" if found == expected else f"wrong checksum: expected {expected[:12]}..., found {found[:12]}..."

    return check


def download(
    url: str,
    target: Path,
    *,
    check: Check,
    progress: Progress = no_progress,
    attempts: int = 4,
    pause: float = 1.0,
) -> None:
    """Fetch `url` to `target`. After a broken transfer the partial file stays, for the next attempt or the next call.

    A file that fails its check is thrown away; when it was pieced together from two transfers, the address gets a
    second chance from the beginning, because the old piece may be at fault.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    for attempt in range(attempts):
        pieced = part.exists()
        if pieced and not check(part):
            break
        try:
            _transfer(url, part, name=target.name, progress=progress)
        except _BrokenTransferError as error:
            if attempt + 1 == attempts:
                hint = "; the same command again goes on from there" if part.exists() else ""
                raise InputError(f"{url}: {error}{hint}") from error
            time.sleep(pause * 2**attempt)
            continue
        problem = check(part)
        if not problem:
            break
        part.unlink()
        if not pieced or attempt + 1 == attempts:
            raise InputError(f"{url}: {problem}; nothing was kept")
    put(part, target)


def _transfer(url: str, part: Path, *, name: str, progress: Progress) -> None:
    """One request; appends to `part` when the server continues from where it ends, else starts it anew."""
    offset = part.stat().st_size if part.exists() else 0
    request = Request(url, headers={"User-Agent": "dualparse"})
    if offset:
        request.add_header("Range", f"bytes={offset}-")
    try:
        response = urlopen(request, timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        if error.code == 416:  # the partial file is no beginning of this one
            part.unlink()
        elif error.code not in TRY_AGAIN:
            raise InputError(f"{url}: the server answers {error.code} {error.reason}") from error
        raise _BrokenTransferError(f"the server answers {error.code} {error.reason}") from error
    except (OSError, HTTPException) as error:
        raise _BrokenTransferError(f"no connection ({getattr(error, 'reason', error)})") from error
    with response:
        continued = response.headers.get("Content-Range", "").startswith(f"bytes {offset}-")
        done = offset if response.status == 206 and continued else 0
        length = response.headers.get("Content-Length", "")
        total = done + int(length) if length.isdigit() else None
        with part.open("ab" if done else "wb") as stream:
            progress(name, done, total)
            for chunk in _chunks(response):
                stream.write(chunk)
                done += len(chunk)
                progress(name, done, total)
    if total is not None and done != total:
        raise _BrokenTransferError(f"the transfer broke off after {done} of {total} bytes")


def _chunks(response: IO[bytes]) -> Iterator[bytes]:
    """What the server sends, until it ends or the line breaks."""
    while True:
        try:
            chunk = response.read(CHUNK)
        except (OSError, HTTPException) as error:
            raise _BrokenTransferError(f"the transfer broke off ({error})") from error
        if not chunk:
            return
        yield chunk
