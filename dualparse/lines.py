"""Text files, line by line. In: a path. Out: (line number from 1, line without its end), or `InputError` with both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from dualparse.errors import InputError


def raise_error(error: InputError) -> None:
    """What readers do with a problem unless told otherwise."""
    raise error


def numbered_lines(path: Path, *, report: Callable[[InputError], None] = raise_error) -> Iterator[tuple[int, str]]:
    """Lines of a UTF-8 file with their numbers; a file that cannot be read, or another encoding, is an `InputError`.

    A caller that wants every problem of a file passes `report`: it gets the errors and reading goes on, without the
    lines that are not UTF-8. A byte-order mark, as some editors write it, is no part of the text.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        report(InputError(f"cannot be read: {error.strerror}", path=path))
        return
    # Decoded line by line, so that the error can name the line.
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            text = line.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError:
            report(InputError("not UTF-8", path=path, line=number))
        else:
            yield number, text
