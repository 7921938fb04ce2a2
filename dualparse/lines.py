"""Text files, line by line. In: a path. Out: (line number from 1, line without its end), or `InputError` with both."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from dualparse.errors import InputError

MOST_BYTES = 1 << 30  # of a file of lines


def raise_error(error: InputError) -> None:
    """What readers do with a problem unless told otherwise."""
    raise error


def numbered_lines(path: Path, *, report: Callable[[InputError], None] = raise_error) -> Iterator[tuple[int, str]]:
    """Lines of a UTF-8 file with their numbers; a file that cannot be read, or another encoding, is an `InputError`.

    A caller that wants every problem of a file passes `report`: it gets the errors and reading goes on, without the
    lines that are not UTF-8. A byte-order mark, as some editors write it, is no part of the text.
    """
    try:
        content = read_regular(Path(path))
    except InputError as error:
        report(error)
        return
    # Decoded line by line, so that the error can name the line.
    for number, line in enumerate(_split(content.removeprefix(b"\xef\xbb\xbf")), start=1):
        try:
            text = line.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError:
            report(InputError("not UTF-8", path=path, line=number))
        else:
            yield number, text


def _split(content: bytes) -> Iterator[bytes]:
    """What `split` gives, one by one: millions of empty lines would take far more memory than they have bytes."""
    start = 0
    while (end := content.find(b"\n", start)) >= 0:
        yield content[start:end]
        start = end + 1
    yield content[start:]


def read_regular(path: Path, *, most: int = MOST_BYTES, missing: str = "") -> bytes:
    """The bytes of a file; pipes, devices and sockets, which may never end or never begin, are refused, and files that
    are too large before they are read."""
    try:
        told = path.stat()
        if stat.S_ISDIR(told.st_mode):
            raise InputError("is a folder; expected a file", path=path)
        if not stat.S_ISREG(told.st_mode):
            raise InputError("is no regular file", path=path)
        if told.st_size > most:
            raise InputError(f"larger than {most} bytes", path=path)
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    except FileNotFoundError as error:
        raise InputError(missing or f"cannot be read: {error.strerror}", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from None
    except ValueError:  # a name with a zero byte
        raise InputError("cannot be read: no name of a file", path=repr(str(path))) from None
    if len(content) > most:
        raise InputError(f"larger than {most} bytes", path=path)
    return content
