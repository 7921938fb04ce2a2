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
KEPT_CELLS = 500_000  # of all of them together
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

    def __init__(self, *, most: int = KEPT, cells: int = KEPT_CELLS):
        self._most, self._cells, self._lock = most, cells, Lock()
        self._kept: OrderedDict[Key, Reply] = OrderedDict()

    def get(self, key: Key) -> Reply | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, reply: Reply) -> None:
        """Keep a reply that has more rows than a page; a single one that is too large is not kept."""
        if len(reply.rows) <= PAGE:
            return
        with self._lock:
            self._kept[reply.form, reply.question] = reply
            self._kept.move_to_end((reply.form, reply.question))
            while self._kept and (len(self._kept) > self._most or sum(map(_size, self._kept.values())) > self._cells):
                self._kept.popitem(last=False)


def _size(reply: Reply) -> int:
    return len(reply.rows) * max(len(reply.columns), 1)
