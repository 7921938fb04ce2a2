"""Invented schemas: what the questions that an adapter learns from are about.

In: the text files of `schemas/`, any number of schemas a file, each begun by `schema NAME`. Out: `Schema`s. The lines:

    thing     author person = writer                    its name, the kind of its names, how else people call it
    number    book price money dollar = cost            owner, name, family of words (voices/families.txt), unit
    date      book release date | was released, came out     what happened then; `time` for a time of day
    category  book language adj : english, french       how its values are said: `adj` before the noun, or a preposition
    flag      book signed | is signed                   what holds of a thing
    text      client email
    link      book author author | was written by | wrote, penned     to a thing: forwards and backwards; `links`: many

Verbs stand in the third person singular. Several ways to say a thing are separated by commas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.adapter.voices.phrases import families

FOLDER = Path(__file__).parent
FAMILIES = frozenset(families()) - {"units"}
NAMES = frozenset(["person", "company", "place", "title", "item", "code", "animal"])


@dataclass(frozen=True)
class Thing:
    """A type of things; `names` says what they are named like, `words` how people call them, its name first."""

    name: str
    names: str
    words: tuple[str, ...]

    @property
    def person(self) -> bool:
        return self.names == "person"


@dataclass(frozen=True)
class Property:
    """A property of a thing whose values are not things."""

    owner: str
    name: str
    kind: str  # number, date, time, category, flag, text
    family: str = ""
    unit: str = ""
    words: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Link:
    """A relation from one thing to another, with verbs for both directions."""

    owner: str
    name: str
    target: str
    many: bool
    words: tuple[str, ...]
    forwards: tuple[str, ...]
    backwards: tuple[str, ...]


@dataclass(frozen=True)
class Schema:
    name: str
    things: dict[str, Thing]
    properties: tuple[Property, ...]
    links: tuple[Link, ...]

    def of(self, thing: str, *kinds: str) -> list[Property]:
        """The properties of a thing, of some kinds."""
        return [each for each in self.properties if each.owner == thing and each.kind in kinds]

    def steps(self, thing: str) -> list[tuple[Link, bool]]:
        """The links that leave a thing, with whether they are walked backwards."""
        forwards = [(link, False) for link in self.links if link.owner == thing]
        return forwards + [(link, True) for link in self.links if link.target == thing]


def read_schemas(paths: Iterable[Path] | None = None) -> list[Schema]:
    """All schemas of some files, in the order of their names."""
    return [schema for path in paths or sorted(FOLDER.glob("schemas/*.txt")) for schema in _schemas(path)]


def _schemas(path: Path) -> Iterator[Schema]:
    blocks: list[tuple[str, list[tuple[int, str]]]] = []
    for place, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.partition("#")[0].split()
        if words[:1] == ["schema"]:
            blocks.append((words[1], []))
        elif words:
            blocks[-1][1].append((place, " ".join(words)))
    for name, lines in blocks:
        try:
            yield _schema(name, lines)
        except ValueError as error:
            raise ValueError(f"{path}, {error}") from None


def _schema(name: str, lines: list[tuple[int, str]]) -> Schema:
    things = {thing.name: thing for _, line in lines if line.startswith("thing ") for thing in [_thing(line)]}
    properties, links = [], []
    for place, line in lines:
        keyword, rest = line.split(" ", 1)
        head, *phrases = [part.strip() for part in rest.split("|")]
        head, _, values = head.partition(":")
        head, _, synonyms = head.partition("=")
        values, _, more = values.partition("=")
        words, said = _list(synonyms or more), [_list(part) for part in phrases]
        owner = max((each for each in things if head.startswith(each + " ")), key=len, default="")
        if keyword == "thing":
            continue
        if not owner:
            raise ValueError(f"line {place}: no thing of {name} is at the beginning of {head!r}")
        rest = head[len(owner) + 1 :].split()
        if keyword in ("link", "links"):
            target = max((each for each in things if f" {' '.join(rest)}".endswith(" " + each)), key=len, default="")
            called = " ".join(rest[: len(rest) - len(target.split())])
            if not target or not called or len(said) != 2:
                raise ValueError(f"line {place}: expected 'link OWNER NAME THING | verbs | verbs'")
            links.append(Link(owner, called, target, keyword == "links", (called, *words), said[0], said[1]))
        else:
            properties.append(_property(place, keyword, owner, rest, words, said, _list(values)))
    return Schema(name, things, tuple(properties), tuple(links))


def _thing(line: str) -> Thing:
    head, _, synonyms = line.partition("=")
    *name, names = head.split()[1:]
    if names not in NAMES:
        raise ValueError(f"{line!r} ends in no kind of names")
    called = " ".join(name)
    return Thing(called, names, (called, *_list(synonyms)))


def _property(
    place: int,
    keyword: str,
    owner: str,
    rest: list[str],
    words: tuple[str, ...],
    said: list[tuple[str, ...]],
    values: tuple[str, ...],
) -> Property:
    family = unit = ""
    if keyword == "number":
        last = max((i for i, word in enumerate(rest) if word in FAMILIES and i), default=0)
        if not last:
            raise ValueError(f"line {place}: a number without a family of words")
        rest, family, unit = rest[:last], rest[last], " ".join(rest[last + 1 :])
    elif keyword == "category":
        rest, family = rest[:-1], rest[-1]
        if len(values) < 2:
            raise ValueError(f"line {place}: a category without values")
    elif keyword not in ("date", "time", "flag", "text"):
        raise ValueError(f"line {place}: unknown keyword {keyword!r}")
    name = " ".join(rest)
    return Property(owner, name, keyword, family, unit, (name, *words), said[0] if said else (), values)


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
