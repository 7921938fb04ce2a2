"""A worksheet: questions as the schema words them, for a person to word as people do, and back as labeled pairs.

In: a connected folder. Out: lines `question<TAB>form`, few enough to be worded in an hour, which together speak of as
many tables and properties, and ask for as many kinds of things, as they can. Read back, the lines whose question was
changed are pairs: they go to `train.tsv` of the folder, which answers (`dualparse.asking.labels`) and training go by.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dualparse.asking.folder_domain import FolderDomain
from dualparse.asking.labels import PAIRS
from dualparse.asking.masks import inner_text
from dualparse.asking.schema_forms import PLACE
from dualparse.data.examples import numbered_examples
from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.lf.errors import LF_ERRORS
from dualparse.lines import numbered_lines

DRAWN, NAMES = 3_000, 200  # forms that are chosen among; names of a kind that are
SHORT = 1.5  # how much a short form is preferred to one that speaks of more things at once
HEAD = (
    "# Word each question on the left as people would ask it, in as many lines as you like. The form stays as it is.",
    "# Leave alone what nobody would ask. Then: dualparse worksheet {folder} --read THIS_FILE",
)


@dataclass(frozen=True)
class Taken:
    """What came back: how many new pairs, how many that were there before, and lines left as they were."""

    new: int
    known: int
    unchanged: int


def lines_of(domain: FolderDomain, n: int, *, seed: int = 1) -> list[str]:
    """The lines of a worksheet; forms that have a label already are not on it."""
    labeled = {form for _, form in _pairs(domain)}
    drawn = [(form, said) for said, form in domain.canonical(DRAWN, seed) if form not in labeled]
    rng = random.Random(f"worksheet {seed}")
    chosen = _varied([form for form, _ in drawn], n)
    names = _Names(domain, rng)
    found: list[str] = []
    for form in chosen:
        written = names.filled(form.split())
        if written:
            found.append(f"{domain.say(written)}\t{written}")
    return found


def _pairs(domain: FolderDomain) -> Iterator[tuple[str, str]]:
    """The pairs of the folder, with placeholders."""
    path = domain.connected.folder / PAIRS
    if path.is_file():
        for _, _, example in numbered_examples(path):
            query, form = domain.reads(example.query, example.lf)
            yield " ".join(query or ()), " ".join(form or ())


def _varied(forms: Sequence[str], n: int) -> list[str]:
    """So many forms which speak of as many different things as they can, each in few words."""
    said = {form: frozenset(_features(form.split())) for form in forms}
    seen: dict[str, int] = {}
    long = {form: (4 + len(form.split())) ** SHORT for form in said}
    left, chosen = list(said), list[str]()
    while left and len(chosen) < n:
        best = max(left, key=lambda form: sum(0.5 ** seen.get(each, 0) for each in said[form]) / long[form])
        chosen.append(best)
        left.remove(best)
        for each in said[best]:
            seen[each] = seen.get(each, 0) + 1
    return chosen


def _features(tokens: Sequence[str]) -> Iterator[str]:
    """What a form speaks of: its names, and each function with what it is about."""
    for token in tokens:
        if token not in "()" and not token.replace(".", "").isdigit():
            yield token.partition(f".{PLACE}")[0]
    yield " ".join(token for token in tokens if token.isalpha() and tokens[tokens.index(token) - 1] == "(")


class _Names:
    """Names of the data for the places in forms."""

    def __init__(self, domain: FolderDomain, rng: random.Random):
        self._connection, self._rng = domain.asker.index.connection, rng
        self._known: dict[str, list[str]] = {}

    def filled(self, tokens: Sequence[str]) -> str:
        """A form with names of the data; "" where there are none."""
        taken: set[str] = set()
        found: list[str] = []
        for token in tokens:
            kind, _, number = token.rpartition(".")
            if number.startswith(PLACE):
                left = [name for name in self._of(kind) if name not in taken]
                if not left:
                    return ""
                taken.add(token := self._rng.choice(left))
            found.append(token)
        return " ".join(found)

    def _of(self, kind: str) -> list[str]:
        if kind not in self._known:
            type, _, property = kind.partition(".")
            query = """
                SELECT text, key FROM name JOIN part ON part.id = name.part
                WHERE type = ? AND property = ? ORDER BY name.id LIMIT ?"""
            rows = self._connection.execute(query, (type, property, NAMES)).fetchall()
            self._known[kind] = [key or inner_text(text) for text, key in rows]
        return self._known[kind]


def take_back(domain: FolderDomain, sheet: Path) -> Taken:
    """Read a worksheet whose questions somebody has worded, and keep the pairs in the folder."""
    path = domain.connected.folder / PAIRS
    there = [line for _, line in numbered_lines(path) if line.strip()] if path.is_file() else []
    kept, known = list(there), {tuple(line.split()) for line in there}
    counts = {"new": 0, "known": 0, "unchanged": 0}
    for number, line in numbered_lines(sheet):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        question, form = _read(line, sheet, number)
        try:
            said = domain.say(form)
        except LF_ERRORS as error:
            raise InputError(f"the form does not run: {error}", path=sheet, line=number) from None
        pair = f"{question}\t{form}"
        what = "unchanged" if _same(question, said) else "known" if tuple(pair.split()) in known else "new"
        counts[what] += 1
        if what == "new":
            kept.append(pair)
            known.add(tuple(pair.split()))
    if counts["new"]:
        write_text(path, "".join(f"{line}\n" for line in kept))
    return Taken(**counts)


def _read(line: str, sheet: Path, number: int) -> tuple[str, str]:
    columns = [" ".join(part.split()) for part in line.split("\t")]
    if len(columns) != 2 or not all(columns):
        raise InputError("expected question<TAB>form", path=sheet, line=number)
    return columns[0], columns[1]


def _same(question: str, said: str) -> bool:
    return question.lower().split() == said.lower().split()


def head_of(folder: Path) -> list[str]:
    """What stands above the lines."""
    return [line.format(folder=folder) for line in HEAD]
