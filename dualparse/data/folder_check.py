"""Every problem of a domain folder at once, with file and line (`dualparse domain check`).

In: a folder as `dualparse.domains.folder` describes it. Out: a list of `Problem`. An error makes the folder unfit for
use or its results wrong; a warning is something that is right so seldom that it should be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from dualparse.data.examples import numbered_examples
from dualparse.domains import folder as folders
from dualparse.domains.domain import Domain
from dualparse.domains.lexicon import Lexicon, read_entries
from dualparse.domains.schema import Schema
from dualparse.domains.world import World, parse_fact
from dualparse.errors import InputError
from dualparse.lf.grammar import grammar_problems, read_grammar
from dualparse.lines import numbered_lines
from dualparse.suggest import nearest

Tokens = tuple[str, ...]


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to look at.

    >>> print(Problem(Path("train.tsv"), 7, "the query is empty"))
    train.tsv:7: error: the query is empty
    """

    path: Path
    line: int | None
    message: str
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.severity}: {self.message}"


def check_folder(folder: Path) -> list[Problem]:
    """All problems, file by file in the order of the lines; only a folder that does not exist is raised."""
    check = _Check(folder)
    check.whole_folder()
    order = [folders.DESCRIPTION, folders.ONTOLOGY, folders.WORLD, folders.LEXICON, folders.GRAMMAR]
    order += folders.EXAMPLES.values()
    rank = {folder / file: place for place, file in enumerate(order)}
    return sorted(check.problems, key=lambda problem: (rank.get(problem.path, len(rank)), problem.line or 0))


class _Check:
    """The problems found so far, and what later checks need of earlier ones."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.problems: list[Problem] = []
        self.queries: dict[Tokens, tuple[str, int, Tokens | None]] = {}  # query -> file, line and form of the first
        self.train_tokens: set[str] = set()
        self.world_whole = True  # whether a form that does not run can be blamed on the form

    def error(self, error: InputError) -> None:
        self.problems.append(Problem(Path(error.path or self.folder), error.line, error.message))

    def warn(self, file: str, line: int | None, message: str) -> None:
        self.problems.append(Problem(self.folder / file, line, message, Severity.WARNING))

    def wrong(self, file: str, line: int | None, message: str) -> None:
        self.problems.append(Problem(self.folder / file, line, message))

    def whole_folder(self) -> None:
        domain, schema, world = folders.read_folder(self.folder, report=self.error)
        self.world_whole = all((self.folder / file).is_file() for file in (folders.ONTOLOGY, folders.WORLD))
        if self.world_whole:
            self.ontology(schema, world)
            self.world(world, domain.lexicon)
        self.lexicon()
        if domain.grammar is not None:
            self.grammar(domain.grammar)
        for split, file in folders.EXAMPLES.items():
            if split in domain.files:
                self.examples(split, file, domain)
            elif split == "train":
                self.wrong(file, None, "missing: there is nothing to learn from")
            elif split == "test":
                self.warn(file, None, "missing: nothing will tell how good the parser is")

    # -- what the world is made of

    def ontology(self, schema: Schema, world: World) -> None:
        """Declarations that no fact makes use of."""
        for kind, line in schema.types.items():
            if not world.instances(kind):
                self.warn(folders.ONTOLOGY, line, f"the world has no {kind}")
        told = {(subject.rpartition(".")[0], property) for subject, property, _ in world.facts()}
        for key, declared in schema.properties.items():
            if key not in told and not declared.problem:
                self.warn(folders.ONTOLOGY, declared.line, f"no fact tells the {declared.name} of a {declared.owner}")

    def world(self, world: World, lexicon: Lexicon) -> None:
        """Entities that may be misspelt, and entities nobody can ask about."""
        told = {subject for subject, _, _ in world.facts()}
        described_types = {subject.rpartition(".")[0] for subject in told}
        seen: set[str] = set()
        for number, line in numbered_lines(self.folder / folders.WORLD, report=_ignore):
            for entity in _entities(line):
                if entity in seen or entity not in world.names:
                    continue
                seen.add(entity)
                kind = entity.rpartition(".")[0]
                if entity not in told and kind in described_types:
                    near = nearest(entity, [other for other in told if other.startswith(f"{kind}.")])
                    self.warn(folders.WORLD, number, f"{entity} has no facts of its own{near}")
                elif not lexicon.phrases(entity):
                    self.warn(folders.WORLD, number, f"no phrase in {folders.LEXICON} names {entity}")

    def lexicon(self) -> None:
        """Phrases for two entities, phrases that are listed twice, and phrases no query can hold."""
        first: dict[tuple[str, ...], tuple[int, str]] = {}
        for number, phrase, entity in read_entries(self.folder / folders.LEXICON, report=_ignore):
            line, kept = first.setdefault(phrase, (number, entity))
            text = " ".join(phrase)
            if kept != entity:
                message = f"{text!r} means {kept} in line {line} and {entity} here; it will be taken as {kept}"
                self.warn(folders.LEXICON, number, message)
            elif line != number:
                self.warn(folders.LEXICON, number, f"the same entry as in line {line}")
            if text != text.lower():
                self.warn(folders.LEXICON, number, f"{text!r} has capital letters, which queries should not have")

    def grammar(self, path: Path) -> None:
        try:
            warnings = read_grammar(path).warnings
        except InputError:
            for problem in grammar_problems(path):
                self.error(problem)
        else:
            for warning in warnings:
                place = Path(warning.path or path)
                self.problems.append(Problem(place, warning.line, warning.message, Severity.WARNING))

    # -- examples

    def examples(self, split: str, file: str, domain: Domain) -> None:
        """One file of examples."""
        empty = True
        for number, line, example in numbered_examples(self.folder / file, report=self.error):
            empty = False
            query, lf = example.query, example.lf
            if query is not None:
                self.query(file, number, query, line.partition("\t")[0], lf)
            if example.labeled and split == "extra":
                self.wrong(file, number, "a pair among the forms without a query: write 'none' for the query")
            if example.query is None and split in ("dev", "test"):
                self.wrong(file, number, "a form without a query is of no use for evaluation")
            if lf is not None:
                runs = self.form(file, number, lf, domain)
                if split == "train":
                    self.train_tokens.update(lf)
                elif split in ("dev", "test") and runs:
                    self.vocabulary(file, number, query or (), lf, domain)
        if empty:
            self.wrong(file, None, "no examples in it")

    def query(self, file: str, number: int, query: Tokens, written: str, lf: Tokens | None) -> None:
        """A query's spelling, and whether it stands anywhere else."""
        text = " ".join(query)
        if written != text:
            self.warn(file, number, "unusual white space in the query")
        if text != text.lower():
            self.warn(file, number, "capital letters in the query")
        other, line, first = self.queries.setdefault(query, (file, number, lf))
        if other != file:
            self.wrong(file, number, f"the query also stands in {other}, line {line}")
        elif line != number and first == lf:
            self.warn(file, number, f"the same as line {line}")
        elif line != number:
            self.warn(file, number, f"the same query as in line {line} with another form")

    def form(self, file: str, number: int, lf: Tokens, domain: Domain) -> bool:
        """Whether a form runs, as far as can be told."""
        verdict = domain.check(" ".join(lf))
        if self.world_whole and not verdict.ok:
            self.wrong(file, number, f"the form does not run: {verdict.reason}")
        return verdict.ok

    def vocabulary(self, file: str, number: int, query: Tokens, lf: Tokens, domain: Domain) -> None:
        """Tokens a model cannot produce: in no training form, and neither a word of the query nor named in it."""
        known = self.train_tokens.union(query, domain.lexicon.map_words(query))
        for token in dict.fromkeys(lf):
            if token not in known:
                self.warn(file, number, f"{token!r} stands in no training form and cannot be copied from the query")


def _ignore(error: InputError) -> None:
    """For a second look at a file whose problems the first one has reported."""


def _entities(line: str) -> list[str]:
    """The entities a line of the world speaks of."""
    try:
        subject, _, value = parse_fact(line)
    except InputError:
        return []
    return [subject, value.id] if "." in value.id else [subject]
