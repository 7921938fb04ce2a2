"""What people asked and said of the answers: an append-only file of JSON lines that survives `kill -9`.

In: records, one at a time. Out: the file, and its records again. Nothing is kept unless somebody opens a journal. Every
line ends in a checksum; a line that a crash cut off is taken away when the file is next opened, and told, and so are
damaged lines when it is read. Records older than `keep_days` are dropped when a journal is opened; `redact` sees every
question before it is written, and may change it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import token_hex

from filelock import FileLock

from dualparse.errors import InputError
from dualparse.files import replacing
from dualparse.plugins import load_object

NAME = "journal.jsonl"  # in the folder that questions are asked of, unless another place is named
ASKED, RIGHT, WRONG, MEANT = "asked", "right", "wrong", "meant"
KINDS = (ASKED, RIGHT, WRONG, MEANT)
MOST_CHARACTERS = 10_000  # of a question or a form
_log = logging.getLogger(__name__)

Redact = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that happened.

    kind         asked; right or wrong: said of the answer; meant: another form is the right one
    question     what was asked
    form         what was answered with, or is meant; "" where there is none
    status       of the reply: answered, ambiguous, refused, error
    probability  of the reply
    of           the id of the record of the question this is about, if that is known
    """

    kind: str
    question: str
    form: str = ""
    status: str = ""
    probability: float = 0.0
    of: str = ""
    id: str = ""
    time: str = ""


@dataclass(frozen=True)
class Collected:
    """What a journal holds: questions with the form that is meant, and questions without."""

    labeled: tuple[tuple[str, str], ...]
    unlabeled: tuple[str, ...]


class Journal:
    """A journal that is written to, by any number of threads and processes."""

    def __init__(self, path: Path, *, keep_days: float | None = None, redact: Redact | None = None):
        if keep_days is not None and keep_days <= 0:
            raise InputError(f"keep_days is {keep_days:g}; expected a number above 0")
        self.path, self.keep_days, self._redact = path, keep_days, redact
        self._thread = threading.Lock()
        self._lock = FileLock(path.with_name(f".{path.name}.lock.part"))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._holding():
                self.cut = _mend(path)
                self._drop_old()
        except OSError as error:
            raise InputError(f"cannot keep a journal here: {error.strerror}", path=path) from None

    @contextmanager
    def _holding(self) -> Iterator[None]:
        with self._thread, self._lock:
            yield

    def add(self, record: Record) -> str:
        """Write a record; on the disk when this returns. Gives its id."""
        if record.kind not in KINDS:
            raise InputError(f"a record of kind {record.kind!r}; expected {', '.join(KINDS)}")
        question = self._redact(record.question) if self._redact else record.question
        told = asdict(record) | {
            "question": question[:MOST_CHARACTERS],
            "form": record.form[:MOST_CHARACTERS],
            "id": record.id or token_hex(8),
            "time": record.time or _now().isoformat(timespec="seconds"),
        }
        try:
            with self._holding():
                _append(self.path, _line(told))
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", path=self.path) from None
        return str(told["id"])

    def records(self) -> list[Record]:
        """All whole records, in order."""
        return read_journal(self.path)

    def _drop_old(self) -> None:
        if self.keep_days is None or not self.path.is_file():
            return
        oldest = (_now() - timedelta(days=self.keep_days)).isoformat(timespec="seconds")
        lines = self.path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if (record := _read(line)) is None or record.time >= oldest]
        if len(kept) < len(lines):
            with replacing(self.path) as part:
                part.write_bytes(b"".join(kept))
            self.path.chmod(0o600)
            _log.info(
                "%s: %d records are older than %g days and were dropped",
                self.path,
                len(lines) - len(kept),
                self.keep_days,
            )


def open_journal(path: Path, *, keep_days: float | None = None, redact: str = "") -> Journal:
    """A journal to write to; `redact` names a function of text to text, `package.module:function`."""
    hook = load_object(redact, what="redaction") if redact else None
    if hook is not None and not callable(hook):
        raise InputError(f"{redact!r} is no function of a text")
    return Journal(path, keep_days=keep_days, redact=hook)


def read_journal(path: Path) -> list[Record]:
    """The whole records of a journal, in order; damaged lines are left out and told."""
    if not path.is_file():
        raise InputError("no journal here: nothing was asked with one, and nobody has given feedback", path=path)
    found, damaged = _records(path)
    if damaged.count:
        shown = ", ".join(map(str, damaged.first))
        _log.warning("%s: %d damaged lines are left out (%s)", path, damaged.count, shown)
    return found


def verify_journal(path: Path) -> int:
    """How many records a journal has; `InputError` for the first that is not as it was written."""
    found, damaged = _records(path)
    if damaged.count:
        raise InputError("damaged: not the record that was written", path=path, line=damaged.first[0])
    return len(found)


@dataclass
class _Damaged:
    """How many lines of a file are damaged, and the first of their numbers: there may be millions."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, number: int) -> None:
        self.count += 1
        if self.count <= 5:
            self.first.append(number)


def _records(path: Path) -> tuple[list[Record], _Damaged]:
    """The whole records, and the damaged lines."""
    found: list[Record] = []
    damaged = _Damaged()
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            record = _read(line)
            if record is None:
                damaged.add(number)
            else:
                found.append(record)
    return found, damaged


def collect(records: Sequence[Record]) -> Collected:
    """The last word on each question counts.

    >>> told = [Record("asked", "Huts?"), Record("meant", "huts?", "( all hut )"), Record("asked", "peaks")]
    >>> collect(told)
    Collected(labeled=(('huts?', '( all hut )'),), unlabeled=('peaks',))
    """
    labels: dict[str, tuple[str, str]] = {}
    asked: dict[str, str] = {}
    for record in records:
        key = " ".join(record.question.lower().split())
        asked.setdefault(key, record.question)
        if record.kind in (RIGHT, MEANT) and record.form:
            labels[key] = record.question, record.form
        elif record.kind == WRONG and labels.get(key, ("", ""))[1] in (record.form, ""):
            labels.pop(key, None)
    unlabeled = tuple(question for key, question in asked.items() if key not in labels)
    return Collected(tuple(labels.values()), unlabeled)


def _line(told: dict[str, object]) -> bytes:
    text = json.dumps(told, ensure_ascii=False, sort_keys=True)
    return f'{text[:-1]}, "sum": "{_checksum(text)}"}}\n'.encode()


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read(line: bytes) -> Record | None:
    """The record of a line; None for a line that is not as it was written."""
    try:
        if not line.endswith(b'"}\n'):
            return None
        told = json.loads(line)
        checksum = told.pop("sum")
        if checksum != _checksum(json.dumps(told, ensure_ascii=False, sort_keys=True)):
            return None
        return Record(**{each.name: told[each.name] for each in fields(Record)})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _append(path: Path, line: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        written = 0
        while written < len(line):
            written += os.write(handle, line[written:])
        os.fsync(handle)
    finally:
        os.close(handle)


def _mend(path: Path) -> int:
    """Take away what a crash left of a last line; gives its bytes."""
    if not path.is_file():
        return 0
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole == len(content):
        return 0
    with path.open("r+b") as stream:
        stream.truncate(whole)
        os.fsync(stream.fileno())
    _log.warning("%s: the last line was cut off, %d bytes of it are taken away", path, len(content) - whole)
    return len(content) - whole


def _now() -> datetime:
    return datetime.now(UTC)
