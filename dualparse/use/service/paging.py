"""Many rows of an answer, a page at a time, or all of them as CSV.

In: a `Reply`. Out: some of its rows; a text that spreadsheets open. The last replies are remembered, so that the next
page does not ask the database again; what is remembered is bounded.
"""

from __future__ import annotations

import csv
import io
from collections import OrderedDict
from dataclasses import replace
from threading import Lock

from dualparse.asking.reply import Reply
from dualparse.domains.results import Plain

PAGE = 100  # rows of a page unless another number is asked for
MOST_PAGE = 1_000
KEPT = 64  # replies
KEPT_BYTES = 64 * 1024**2  # of all of them together
CELL_BYTES = 56  # of a cell, besides the characters of a text
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run a text that begins so

Key = tuple[str, str]  # form, question


def page(reply: Reply, offset: int, limit: int) -> Reply:
    """Some of the rows; `truncated` says whether there are more behind them."""
    rows = reply.rows[offset : offset + limit]
    return replace(reply, rows=rows, truncated=reply.truncated or offset + limit < len(reply.rows))


def as_csv(reply: Reply) -> str:
    """All rows, with a line of headings; the unit stands behind the name.

    >>> as_csv(Reply("", "answered", columns=("trail", "length"), units=("", "km"), rows=(("larch path", 7.4),)))
    'trail,length (km)\\r\\nlarch path,7.4\\r\\n'
    """
    units = reply.units or ("",) * len(reply.columns)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(f"{name} ({unit})" if unit else name for name, unit in zip(reply.columns, units, strict=True))
    writer.writerows([_cell(value) for value in row] for row in reply.rows)
    return out.getvalue()


def _cell(value: Plain) -> Plain:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


class Remembered:
    """The last replies by what they are replies to."""

    def __init__(self, *, most: int = KEPT, most_bytes: int = KEPT_BYTES):
        self._most, self._most_bytes, self._lock = most, most_bytes, Lock()
        self._kept: OrderedDict[Key, tuple[Reply, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: Key) -> Reply | None:
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def keep(self, reply: Reply) -> None:
        """Keep a reply that has more rows than a page; a single one that is too large is not kept."""
        if len(reply.rows) <= PAGE:
            return
        size = _bytes(reply)
        with self._lock:
            _, before = self._kept.pop((reply.form, reply.question), (None, 0))
            self._kept[reply.form, reply.question] = reply, size
            self._bytes += size - before
            while len(self._kept) > self._most or self._bytes > self._most_bytes:
                self._bytes -= self._kept.popitem(last=False)[1][1]


def _bytes(reply: Reply) -> int:
    """About what a reply takes; texts may have four bytes a character."""
    texts = len(reply.form) + len(reply.question) + len(reply.said) + len(reply.sql)
    cells = sum(CELL_BYTES + (4 * len(cell) if isinstance(cell, str) else 0) for row in reply.rows for cell in row)
    return cells + CELL_BYTES * len(reply.rows) + 4 * texts
