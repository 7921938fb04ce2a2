"""Keys and foreign keys that nobody declared, found by names and values.

In: the profile of a table, and of the others. Out: the columns of a key, or a foreign key, with a sentence that says
that it was inferred. A foreign key needs both: a name that says which table is meant, and values that are all there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from dualparse.database import names
from dualparse.database.location import DUCKDB, SQLITE
from dualparse.database.profile import Profile, TableProfile
from dualparse.database.reflect import ForeignKey
from dualparse.database.source import Source
from dualparse.database.tabular import ROW
from dualparse.errors import InputError

COMPARED = 1_000  # distinct values that are looked up in the other table
ASTRAY = 0.02  # share of them that may lead nowhere
MOST_TOGETHER, MOST_TOLD_APART = 20, 1_000_000  # columns, and rows, among which columns are looked for that are a key
_ROLES = frozenset(  # words of a column that stand for a person, whatever people are called there
    ["manager", "boss", "supervisor", "head", "leader", "lead", "owner", "author", "assignee", "creator", "captain"]
    + ["coach", "trainer", "teacher", "instructor", "lecturer", "advisor", "mentor", "tutor", "chair", "host", "judge"]
    + ["referee", "organizer", "organiser", "responsible", "editor", "reviewer", "approver", "requester", "reporter"]
    + ["seller", "buyer", "sender", "recipient", "winner", "loser", "borrower", "driver", "pilot", "agent", "rep"]
    + ["doctor", "physician", "nurse", "surgeon", "mechanic", "technician", "operator", "guide", "contact", "partner"]
)
_OWN_KIND = ("parent", "manager", "boss", "supervisor", "reports to", "reply to", "predecessor", "superior")


def find_key(source: Source, profile: TableProfile) -> tuple[tuple[str, ...], str]:
    """The columns that tell rows apart and, where they are not declared, a sentence about it; () where none do."""
    table = profile.table
    columns = {column.name for column in profile.columns}
    if table.key and set(table.key) <= columns:
        return table.key, ""
    for unique in table.unique:
        if all((column := profile.column(name)) and column.filled for name in unique):
            return unique, f"no primary key; its unique {_listed(unique)} will do"
    candidates = [c for c in profile.columns if c.filled and c.distinct == profile.rows and profile.rows]
    candidates.sort(key=lambda column: not _says_key(column, profile))
    if candidates and (_says_key(candidates[0], profile) or not _has_rowid(source, profile)):
        return (candidates[0].name,), f"no key declared; every value of {candidates[0].name} is different (inferred)"
    if _has_rowid(source, profile):
        return (ROW,), "no key: its rows can be counted and listed, but not named"
    together = _together(source, profile)
    return together, f"no key declared; {_listed(together)} together tell its rows apart (inferred)" if together else ""


def _together(source: Source, profile: TableProfile) -> tuple[str, ...]:
    """Columns that together tell the rows of a view, or of a table without a key, apart. Those that measure something
    are done without first, so that what is left are names, days and keys."""
    filled = [column for column in profile.columns if column.filled and column.kind not in ("bytes", "boolean")]
    if not 0 < profile.rows <= MOST_TOLD_APART or len(filled) > MOST_TOGETHER:
        return ()
    measures = [c for c in filled if c.kind == "number" and not set(names.KEY_WORDS) & set(names.split(c.name))]
    kept = filled
    if not _different(source, profile, kept):
        return ()
    for column in [*measures, *(column for column in reversed(filled) if column not in measures)]:
        fewer = [each for each in kept if each is not column]
        if fewer and _different(source, profile, fewer):
            kept = fewer
    return tuple(column.name for column in kept)


def _different(source: Source, profile: TableProfile, columns: Sequence[Profile]) -> bool:
    """Whether no two rows are alike in these columns."""
    chosen = [exp.column(column.name, quoted=True) for column in columns]
    rows = exp.select(*chosen).distinct().from_(profile.table.expression()).subquery("s")
    count = exp.select(exp.Count(this=exp.Star())).from_(rows)
    full = exp.select(*(exp.Count(this=column) for column in chosen)).from_(profile.table.expression())
    return int(source.rows(count)[0][0]) == profile.rows == min(map(int, source.rows(full)[0]))


def _says_key(column: Profile, profile: TableProfile) -> bool:
    """Whether a column's name is that of its table's own key."""
    said = names.split(column.name)
    own = set(names.singular(names.words(profile.table.name)).split())
    return bool(said) and said[-1] in names.KEY_WORDS + names.NUMBER_WORDS and set(names.without_key(said)) <= own


def _has_rowid(source: Source, profile: TableProfile) -> bool:
    if profile.table.view or source.dialect not in (SQLITE, DUCKDB):
        return False
    if any(column.name.lower() == ROW for column in profile.table.columns):
        return source.location.tabular  # elsewhere it is a column of the user's that hides the row's number
    query = exp.select(exp.column(ROW)).from_(profile.table.expression()).limit(1)
    try:
        source.rows(query)
    except InputError:  # WITHOUT ROWID, a virtual table
        return False
    return True


def find_foreign_keys(
    source: Source,
    profile: TableProfile,
    key: tuple[str, ...],
    known: Sequence[ForeignKey],
    others: Sequence[tuple[TableProfile, tuple[str, ...]]],
) -> Iterator[tuple[ForeignKey, str]]:
    """Columns that name another table, or its key, and whose values are all in it. `others` come with their keys."""
    taken = {column for foreign in known for column in foreign.columns}
    for column in profile.columns:
        if column.name in taken or key == (column.name,) or not column.samples or column.kind not in ("number", "text"):
            continue
        for other, other_key in others:
            target = other.column(other_key[0]) if len(other_key) == 1 else None
            if target is None or target.kind != column.kind or column.whole != target.whole or not other.rows:
                continue
            if _means(column, profile, other, target) and _contained(source, profile, column, other, target):
                table = other.table
                foreign = ForeignKey((column.name,), table.name, (target.name,), table.schema)
                yield foreign, f"{column.name} leads to {table.name} (inferred from names and values)"
                break
        else:
            yield from _of_role(source, profile, column, others)


def _of_role(
    source: Source, profile: TableProfile, column: Profile, others: Sequence[tuple[TableProfile, tuple[str, ...]]]
) -> Iterator[tuple[ForeignKey, str]]:
    """A column such as `manager_id`, which names no table: it leads to the only table of people that has its values."""
    said = names.split(names.words(column.name))
    rest = names.without_key(said)
    if rest == said or not rest or rest[-1] not in _ROLES:
        return
    found = []
    for other, other_key in others:
        target = other.column(other_key[0]) if len(other_key) == 1 else None
        if target is None or target.kind != column.kind or column.whole != target.whole or not other.rows:
            continue
        if _of_people(other) and _contained(source, profile, column, other, target):
            found.append((other, target))
    if len(found) > 1:  # those who work here rather than those who come
        found = [pair for pair in found if _STAFF & set(names.split(names.singular(names.words(pair[0].table.name))))]
    if len(found) == 1:
        table = found[0][0].table
        foreign = ForeignKey((column.name,), table.name, (found[0][1].name,), table.schema)
        yield foreign, f"{column.name} leads to {table.name} (inferred from names and values)"


def _of_people(profile: TableProfile) -> bool:
    """Whether a table's rows have the names of people, or it is called so."""
    words = {names.words(column.name) for column in profile.columns}
    last = bool(words & {"last name", "surname", "family name", "lastname"})
    return last or bool((_STAFF | _PEOPLE) & set(names.split(names.singular(names.words(profile.table.name)))))


_STAFF = frozenset(["staff", "employee", "worker", "personnel", "crew", "user", "member", "lecturer", "teacher"])
_PEOPLE = frozenset(["person", "people", "player", "student", "customer", "client", "contact", "doctor", "author"])


def _means(column: Profile, profile: TableProfile, other: TableProfile, target: Profile) -> bool:
    """Whether a column's name says that it holds the key of another table."""
    said = names.split(column.name)
    rest = names.without_key(said)
    if profile is other:
        return " ".join(rest) in _OWN_KIND and rest != said or " ".join(said) in _OWN_KIND
    own_key = names.split(target.name)
    if other.table.view or not rest and len(said) < 2:
        return False
    if len(own_key) > 1 and said[-len(own_key) :] == own_key:  # `ref_id` of a referee, `assist_plr_id` of a player
        return True
    if not rest:
        return False
    if said[-1] in names.NUMBER_WORDS:  # `season_number` counts, unless it is what seasons are told apart by
        return said == names.split(target.name)
    words = tuple(names.singular(names.words(other.table.name)).split())
    own_words = names.singular(" ".join(names.words(" ".join(rest)).split())).split()
    named = tuple(own_words[-len(words) :]) == words
    if rest != said:
        return named
    return named and tuple(own_words) == words and column.whole  # `customer` holds a number: that of a customer


def _contained(source: Source, profile: TableProfile, column: Profile, other: TableProfile, target: Profile) -> bool:
    """Whether nearly all values of a column are in the key of another table."""
    own = exp.column(column.name, quoted=True)
    values = exp.select(own.as_("v")).distinct().from_(profile.table.expression())
    values = values.where(exp.not_(own.is_(exp.null()))).limit(COMPARED)
    key = exp.column(target.name, table="k", quoted=True)
    joined = exp.column("v", table="s").eq(key)
    query = exp.select(exp.Count(this=exp.column("v", table="s")), exp.Count(this=key)).from_(values.subquery("s"))
    query = query.join(exp.alias_(other.table.expression(), "k", table=True), on=joined, join_type="left")
    total, found = source.rows(query)[0]
    return bool(total) and found >= (1 - ASTRAY) * total


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(columns)
