"""A generated text file that a person has edited, generated again: what was edited stays, the rest follows.

In: the lines as they were generated last, as they are generated now, and the file as it is. Out: the new text, and what
changed. Lines are told apart by a key (what they are about), so their order, comments and blank lines are the person's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

GONE = "# no longer in the database: "


@dataclass
class Merged:
    """The new text, and what the second generation did, in sentences about single lines."""

    text: str = ""
    changes: list[str] = field(default_factory=list)


def merge(
    base: Sequence[str],
    now: Sequence[str],
    edited: str,
    *,
    key: Callable[[str], Hashable],
    after: Callable[[Hashable], Hashable | None] = lambda _: None,
) -> Merged:
    """Three texts become one. `key` of a line is falsy for comments; a new line goes below the last one with the same
    `after`, or to the end.

    >>> merged = merge(["a: 1", "b: 2"], ["a: 1", "b: 3", "c: 4"], "a: one  # mine\\nb: 2\\n", key=lambda l: l[:1])
    >>> print(merged.text, *merged.changes, sep="\\n")
    a: one  # mine
    b: 3
    c: 4
    <BLANKLINE>
    changed: b: 3
    new: c: 4
    """
    was = {key(line): line for line in base if key(line)}
    will = {key(line): line for line in now if key(line)}
    result = Merged()
    lines: list[tuple[Hashable, str]] = []
    for line in edited.splitlines():
        found = key(line)
        if not found or (found not in was and found not in will):
            lines.append((found or None, line))
        else:
            _follow(found, line, was, will, lines, result)
    there = {found for found, _ in lines if found}
    for found, line in will.items():
        if found in there or found in was:  # one that was generated before and is gone was taken out by a person
            continue
        lines.insert(_place(lines, after(found), after), (found, line))
        result.changes.append(f"new: {_short(line)}")
    result.text = "".join(f"{line}\n" for _, line in lines)
    return result


def _follow(
    found: Hashable,
    line: str,
    was: dict[Hashable, str],
    will: dict[Hashable, str],
    lines: list[tuple[Hashable, str]],
    result: Merged,
) -> None:
    """One line of the file that was generated, then or now."""
    untouched = line.split() == was.get(found, "").split()
    same = was.get(found, "").split() == will.get(found, "").split()
    if found not in will:
        result.changes.append(f"gone: {_short(line)}")
        if not untouched:
            lines.append((None, GONE + line))
    elif untouched and not same:
        lines.append((found, will[found]))
        result.changes.append(f"changed: {_short(will[found])}")
    else:
        lines.append((found, line))
        if not same and found in was:
            result.changes.append(f"edited by you and left so: {_short(line)}; it would now be: {_short(will[found])}")


def _place(
    lines: Sequence[tuple[Hashable, str]], group: Hashable | None, after: Callable[[Hashable], Hashable | None]
) -> int:
    places = [i for i, (found, _) in enumerate(lines) if found and group is not None and after(found) == group]
    return places[-1] + 1 if places else len(lines)


def _short(line: str) -> str:
    return " ".join(line.partition("#")[0].split())
