"""From what a database declares and what its values look like to what people can ask about.

In: an open `Source`. Out: `Found`: the `Database` model (keys, labels, properties, relations), the words of every name,
what is hidden and why, and notes on everything that was inferred rather than declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from dualparse.database import names
from dualparse.database.keys import find_foreign_keys, find_key
from dualparse.database.model import Database, Link, Property, Relation, Table
from dualparse.database.profile import Profile, TableProfile, profile_table
from dualparse.database.reflect import ForeignKey, RawTable, reflect
from dualparse.database.source import NoPermission, Source, TooSlow
from dualparse.database.tabular import ROW
from dualparse.domains.schema import LITERAL_KINDS

Progress = Callable[[str, int, int], None]  # what is looked at, how many tables are done, of how many

MOST_TABLES = 400
VIEW_SECONDS = 60.0  # in which a view, which may be any query, must have been looked at
_FIRST = ("first name", "given name", "forename", "first")
_LAST = ("last name", "surname", "family name", "last")
_NAMES = ("name", "full name", "display name", "title", "label", "caption", "headline", "subject", "description")
_HANDLES = ("username", "user name", "login", "handle", "nickname", "code", "symbol", "sku", "slug", "email")
_CATEGORY_SHARE, _MOST_CATEGORIES, _FEW = 0.5, 2_000, 30


@dataclass(frozen=True, slots=True)
class Hidden:
    """A column that is left out, or a whole table where `column` is empty."""

    table: str
    column: str
    reason: str


@dataclass(frozen=True)
class Found:
    """A database as it can be asked about.

    words     a table's name, or `table.property` -> what people call it
    columns   (schema, table) -> all columns that the database has there
    """

    database: Database
    words: dict[str, str]
    hidden: tuple[Hidden, ...] = ()
    notes: tuple[str, ...] = ()
    columns: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)


@dataclass
class _Draft:
    """A table on its way into the model."""

    profile: TableProfile
    name: str
    key: tuple[str, ...]
    key_told: str = ""  # what is to be said of it where nobody declared one
    foreign: list[ForeignKey] = field(default_factory=list)
    inferred: set[tuple[str, ...]] = field(default_factory=set)

    @property
    def raw(self) -> RawTable:
        return self.profile.table

    @property
    def place(self) -> tuple[str, str]:
        return (self.raw.schema, self.raw.name)


def infer(source: Source, *, progress: Progress = lambda what, done, total: None) -> Found:
    """Look at a whole database. Reads samples and counts; the time grows with the rows, the memory does not."""
    raw = reflect(source)
    notes = list(raw.notes)
    hidden: list[Hidden] = []
    tables = raw.tables
    if len(tables) > MOST_TABLES:
        notes.append(f"{len(tables)} tables: only the first {MOST_TABLES} are looked at")
        tables = tables[:MOST_TABLES]
    profiles = []
    for done, table in enumerate(tables):
        progress(table.name, done, len(tables))
        try:
            with source.within(VIEW_SECONDS) if table.view else nullcontext():
                profiles.append(profile_table(source, table, skip=(ROW,) if source.location.tabular else ()))
        except (NoPermission, TooSlow) as error:
            notes.append(f"{table.name}: left out, because it cannot be read: {error.message}")
    progress("", len(tables), len(tables))
    drafts = _drafts(source, profiles, hidden, notes)
    by_place = {draft.place: draft for draft in drafts}
    for draft in drafts:
        _relate(source, draft, by_place, notes)
    columns = {(table.schema, table.name): frozenset(column.name for column in table.columns) for table in raw.tables}
    return replace(_model(source.dialect, drafts, by_place, hidden, notes), columns=columns)


def _drafts(source: Source, profiles: Sequence[TableProfile], hidden: list[Hidden], notes: list[str]) -> list[_Draft]:
    """The tables that have a key, each with its word; what is left out is told."""
    drafts: list[_Draft] = []
    taken = set(LITERAL_KINDS)
    for profile in profiles:
        table = profile.table
        name = names.name(names.singular(names.words(table.name)), taken, default="table")
        hidden += [Hidden(name, column, "looks like a secret") for column in profile.secret]
        bytes_ = [column.name for column in profile.columns if column.kind == "bytes"]
        hidden += [Hidden(name, column, "bytes or nested values") for column in bytes_]
        key, told = find_key(source, profile)
        if not key:
            notes.append(
                f"{table.name}: left out, because it has no key and no columns that tell its rows apart; give it one"
            )
            continue
        if told:
            notes.append(f"{table.name}: {told}")
        taken.add(name)
        drafts.append(_Draft(profile, name, key, told))
    return drafts


def _relate(source: Source, draft: _Draft, by_place: dict[tuple[str, str], _Draft], notes: list[str]) -> None:
    """Foreign keys, declared or inferred, of one table."""
    for key in draft.raw.foreign_keys:
        target = by_place.get((key.target_schema or draft.raw.schema, key.target)) or by_place.get(("", key.target))
        readable = all(draft.profile.column(column) for column in key.columns)
        if target is not None and readable and len(key.columns) == len(key.target_columns or target.key):
            draft.foreign.append(ForeignKey(key.columns, *target.place[1:], key.target_columns, target.place[0]))
    others = [(other.profile, other.key) for other in by_place.values()]
    for key, told in find_foreign_keys(source, draft.profile, draft.key, draft.foreign, others):
        draft.foreign.append(key)
        draft.inferred.add(key.columns)
        notes.append(f"{draft.raw.name}: {told}")
    place = {column.name: at for at, column in enumerate(draft.raw.columns)}  # engines list keys in orders of their own
    draft.foreign.sort(key=lambda key: [place[column] for column in key.columns])


def _model(
    dialect: str,
    drafts: Sequence[_Draft],
    by_place: dict[tuple[str, str], _Draft],
    hidden: list[Hidden],
    notes: list[str],
) -> Found:
    pointed_at = {(key.target_schema, key.target) for draft in drafts for key in draft.foreign}
    between = {draft.place for draft in drafts if _is_between(draft, pointed_at, by_place)}
    words: dict[str, str] = {}
    kinds: dict[str, str] = {}  # name of a property -> what its values are, in every table alike
    links: dict[tuple[str, str], list[_Draft]] = {}
    for draft in drafts:
        if draft.place in between:
            links.setdefault((draft.foreign[0].target_schema, draft.foreign[0].target), []).append(draft)
    tables: list[Table] = []
    for draft in drafts:
        if draft.place in between:
            if draft.key_told:  # nobody asks for a pair by name
                notes.remove(f"{draft.raw.name}: {draft.key_told}")
            notes.append(f"{draft.raw.name}: a table of pairs, a relation between {_ends(draft, by_place)}")
            continue
        words[draft.name] = names.singular(names.words(draft.raw.name)) or draft.name
        tables.append(_table(draft, by_place, links.get(draft.place, ()), words, kinds))
    return Found(Database(dialect, tuple(tables)), words, tuple(hidden), tuple(dict.fromkeys(notes)))


def _ends(draft: _Draft, by_place: dict[tuple[str, str], _Draft]) -> str:
    return " and ".join(by_place[key.target_schema, key.target].name for key in draft.foreign)


def _is_between(draft: _Draft, pointed_at: set[tuple[str, str]], by_place: dict[tuple[str, str], _Draft]) -> bool:
    """A table that holds nothing but pairs: two foreign keys to the keys of two things, and no more columns."""
    if len(draft.foreign) != 2 or draft.place in pointed_at or draft.raw.view:
        return False
    covered = {column for key in draft.foreign for column in key.columns}
    targets = [by_place[key.target_schema, key.target] for key in draft.foreign]
    plain = all(key.target_columns in ((), to.key) for key, to in zip(draft.foreign, targets, strict=True))
    others = {column.name for column in draft.profile.columns} - covered - set(draft.key)
    surrogate = not set(draft.key) - covered or len(draft.key) == 1
    return plain and not others and not draft.profile.secret and surrogate


def _table(
    draft: _Draft,
    by_place: dict[tuple[str, str], _Draft],
    links: Iterable[_Draft],
    words: dict[str, str],
    kinds: dict[str, str],
) -> Table:
    raw, owner = draft.raw, draft.name
    taken: set[str] = set()

    def called(phrase: str, kind: str) -> str:
        """A name that is free in this table and has values of no other kind in another one."""
        free = {*taken, *(name for name, known in kinds.items() if known != kind), "type"}
        plain = names.name(phrase, default="column")
        made = plain if plain not in free else names.name(f"{owner} {phrase}", free, default="column")
        taken.add(made)
        kinds[made] = kind
        words[f"{owner}.{made}"] = phrase or made
        return made

    relations = [_relation(draft, key, by_place, called) for key in draft.foreign]
    for link in links:
        relations.append(_link(draft, link, by_place, called))
    referring = {column for key in draft.foreign if len(key.columns) == 1 for column in key.columns}
    label = find_label(draft.profile, draft.key)
    properties = [
        _property(owner, profile, draft.profile.rows, called, words)
        for profile in draft.profile.columns
        if profile.kind != "bytes"
        and profile.name not in referring
        and not _only_tells_apart(profile, draft.key, label)
    ]
    kinds_of_key = tuple("number" if _is_whole(draft, column) else "text" for column in draft.key)
    return Table(
        name=owner,
        source=(raw.schema, raw.name) if raw.schema else (raw.name,),
        key=draft.key,
        key_kinds=kinds_of_key,
        label=label,
        properties=tuple(properties),
        relations=tuple(relations),
        rows=draft.profile.rows,
        view=raw.view,
    )


def _is_whole(draft: _Draft, column: str) -> bool:
    profile = draft.profile.column(column)
    if profile is None:
        return column == ROW
    return profile.column.type == "integer" if not profile.samples else profile.whole


def _only_tells_apart(profile: Profile, key: tuple[str, ...], label: tuple[str, ...]) -> bool:
    """A key that is a number says nothing about a thing, nor does one that is called an id where there is a name."""
    if profile.name not in key:
        return False
    called_id = bool(label) and profile.name not in label and names.split(profile.name)[-1:] == ("id",)
    return called_id or profile.whole or profile.column.type == "integer" or not profile.short


def _said(key: ForeignKey, target: _Draft) -> str:
    """What a foreign key is called: what its column is, in which a short word that only the target's key goes by, such
    as `plr` of players, is written out."""
    if len(key.columns) > 1:
        return target.name.replace("_", " ")
    column, own_key = names.split(key.columns[0]), names.split(target.key[0])
    whole = names.singular(names.words(target.raw.name))
    stem = names.without_key(own_key)
    if stem and len(own_key) > 1 and column[-len(own_key) :] == own_key and not set(stem) & set(whole.split()):
        return names.words(" ".join((*column[: -len(own_key)], *whole.split())))
    return names.words(" ".join(names.without_key(column))) or target.name.replace("_", " ")


def _relation(
    draft: _Draft, key: ForeignKey, by_place: dict[tuple[str, str], _Draft], called: Callable[[str, str], str]
) -> Relation:
    target = by_place[key.target_schema, key.target]
    phrase = _said(key, target)
    references = () if key.target_columns in ((), target.key) else key.target_columns
    return Relation(
        called(phrase, "relation"),
        draft.name,
        target.name,
        key.columns,
        references,
        inferred=key.columns in draft.inferred,
    )


def _link(
    draft: _Draft, link: _Draft, by_place: dict[tuple[str, str], _Draft], called: Callable[[str, str], str]
) -> Relation:
    """The relation that a table of pairs is."""
    own, other = link.foreign
    target = by_place[other.target_schema, other.target]
    phrase = _said(other, target)
    source = (link.raw.schema, link.raw.name) if link.raw.schema else (link.raw.name,)
    return Relation(
        called(phrase, "relation"),
        draft.name,
        target.name,
        other.columns,
        link=Link(source, own.columns),
        inferred=bool(link.inferred),
    )


def _property(
    owner: str, profile: Profile, rows: int, called: Callable[[str, str], str], words: dict[str, str]
) -> Property:
    unit = names.unit(profile.name) if profile.kind == "number" else ""
    category = profile.kind == "text" and is_category(profile, rows) and not names.is_contact(profile.name)
    phrase = names.words(profile.name)
    name = called(phrase, f"{profile.kind} {unit}".strip())
    if unit:
        words[f"{owner}.{name}"] = names.without_unit(profile.name)
    return Property(
        name,
        owner,
        profile.kind,
        profile.name,
        unit,
        profile.storage,
        category,
        profile.distinct,
    )


def is_category(profile: Profile, rows: int) -> bool:
    """Few distinct short values, most of them more than once."""
    if not profile.short or profile.distinct is None:
        return False
    return profile.distinct <= min(_MOST_CATEGORIES, max(_CATEGORY_SHARE * rows, min(_FEW, rows - 1)))


def find_label(profile: TableProfile, key: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that name a row for people; () where only the key does."""
    said: dict[str, str] = {}
    for column in profile.columns:
        if column.kind == "text" and (column.short or not column.samples):
            said.setdefault(names.words(column.name), column.name)
    table = names.singular(names.words(profile.table.name))
    first = next((said[words] for words in _FIRST if words in said), None)
    last = next((said[words] for words in _LAST if words in said), None)
    if last and (first or "name" in said):
        return (first or said["name"], last)
    for words in (f"{table} name", *_NAMES[:3], table, f"{table} title", *_NAMES[3:], *_HANDLES):
        if words in said:
            return (said[words],)
    ending = [column for words, column in said.items() if words.endswith((" name", " title"))]
    if ending:
        return (ending[0],)
    distinct = [
        c.name for c in profile.columns if c.short and c.filled and c.distinct == profile.rows and profile.rows > 1
    ]
    return (distinct[0],) if distinct and distinct[0] not in key else ()
