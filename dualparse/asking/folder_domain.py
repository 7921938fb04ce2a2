"""A connected folder as a domain to train on: its labeled pairs, questions without label, and pairs from its schema.

In: a folder that `dualparse connect` wrote, and in it, each if it is there:

    train.tsv dev.tsv test.tsv   lines `question<TAB>form`, as `dualparse worksheet` keeps them
    queries.txt                  questions without a form, one a line: a log
    extra.tsv                    forms without a question, lines `none<TAB>form`

Out: a `Domain`. Models see placeholders in the place of names (`dualparse.asking.masks`), so a form is compared with
another one as it is written; the answer to a question comes from the database.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from datetime import date as Day
from functools import cached_property, lru_cache
from pathlib import Path

from sqlglot import exp

from dualparse.asking.asker import FolderAsker, ThingNames
from dualparse.asking.masks import Mask, Masks, numbered_as_said
from dualparse.asking.schema_forms import PLACE, SchemaForms
from dualparse.asking.spoken import Spoken
from dualparse.asking.wording import Wording
from dualparse.database import pieces as p
from dualparse.database.folder import GENERATED, INDEX, read_connected
from dualparse.database.model import Property
from dualparse.database.run import value_of
from dualparse.database.statement import Output
from dualparse.domains.domain import Domain
from dualparse.domains.folder import EXAMPLES
from dualparse.domains.lexicon import Lexicon
from dualparse.domains.metrics import exact
from dualparse.domains.results import Answer, Column
from dualparse.domains.text import Preparation, Reader, Word
from dualparse.domains.typed import Checker
from dualparse.lf.canonical import normalize_text
from dualparse.lf.errors import LF_ERRORS
from dualparse.lf.verdict import Verdict

FUTILE = 5_000  # forms drawn in a row that are none but known ones: there are no more
REMEMBERED = 1 << 14  # questions
MOST_AMOUNTS = 100  # numbers of a property that are drawn from
Tokens = tuple[str, ...]


class FolderDomain:
    """What a domain needs to know of a connected folder; its database is opened when names are first looked for."""

    def __init__(self, folder: Path, *, database: str = "", today: Day | None = None):
        self.connected = read_connected(folder, database=database)
        self.today = today
        self.checker = Checker(self.connected.database.schema)
        self.wording = Wording(self.connected.words, _Themselves())
        self._reader = Reader((), (), self.preparation)
        self._read = lru_cache(REMEMBERED)(self._reader.read)

    @cached_property
    def asker(self) -> FolderAsker:
        return FolderAsker(self.connected, today=self.today)

    @cached_property
    def masks(self) -> Masks:
        return Masks(self.asker)

    @property
    def preparation(self) -> Preparation:
        return Preparation((), lambda word: word, self._query, self._form)

    def domain(self) -> Domain:
        folder, described = self.connected.folder, self.connected.description
        return Domain(
            name=described.name or folder.resolve().name,
            title=described.title or described.name,
            description=described.description,
            lexicon=Lexicon(),
            check=self.check,
            execute=None,
            normalize=normalize_text,
            files={split: folder / file for split, file in EXAMPLES.items() if (folder / file).is_file()},
            metric=exact,
            questions=described.questions,
            preparation=self.preparation,
            canonical=self.canonical,
            reads=self.reads,
            answer=self.answer,
            say=self.say,
            keep=self.keep,
        )

    def check(self, form: str) -> Verdict:
        """Whether the types of a form are right; the database is not asked."""
        return self.checker.verdict(form)

    def answer(self, form: str) -> Answer:
        """What a form comes to in the database."""
        return self.asker.runner.answer(form, today=self.today)

    def say(self, form: str) -> str:
        """A form in plain words."""
        return Spoken(self.connected.words, self._labels)(self.checker.typed_text(form))

    @cached_property
    def _labels(self) -> ThingNames:
        return ThingNames(self.asker)

    def keep(self, folder: Path) -> None:
        """Write what a run needs to be asked elsewhere: all but the index of names, which is made again."""
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(self.connected.folder.iterdir()):
            if path.is_file() and path.suffix in (".toml", ".txt", ".tsv", ".json") and path.name != INDEX:
                shutil.copyfile(path, folder / path.name)
        shutil.copytree(self.connected.folder / GENERATED, folder / GENERATED, dirs_exist_ok=True)

    # -- names and placeholders

    def _query(self, words: Sequence[Word]) -> tuple[list[Word], dict[str, str]]:
        mask = self.masks.of_question(words)
        return list(mask.words), dict(mask.stood)

    def _form(self, tokens: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        """A form with placeholders, for lf2q to read, and how they are spoken."""
        masked = self.masks.of_form(tokens)
        names = {}
        for old, new in zip(_names(tokens), _names(masked), strict=False):
            names[new] = self._labels.get(old) or old
        return list(masked), {token: name for token, name in names.items() if PLACE in token}

    def reads(self, query: Tokens | None, form: Tokens | None) -> tuple[Tokens | None, Tokens | None]:
        """A pair as it stands in the folder -> as models learn it."""
        form = tuple(map(self._whole, form)) if form is not None else None
        if query is None:
            return None, self.masks.of_form(form or ())
        if any(PLACE in word for word in query):
            return query, form
        if form is None:
            return self._read(" ".join(query)).words, None
        mask = self._mask(query, form)
        return tuple(word.text for word in mask.words), self.masks.of_form(form, mask.known)

    def _mask(self, query: Tokens, form: Tokens) -> Mask:
        plain = Reader(()).read(" ".join(query))
        words = [Word(*pair) for pair in zip(plain.words, plain.said, strict=True)]
        return self.masks.of_question(words, self.masks.names_of(form))

    def _whole(self, token: str) -> str:
        """A step backwards with the table it belongs to, as the forms of this folder write it."""
        if not token.startswith("!") or "." in token:
            return token
        tables = self.connected.database.tables
        owners = [table.name for table in tables if any(each.name == token[1:] for each in table.relations)]
        return f"!{owners[0]}.{token[1:]}" if len(owners) == 1 else token

    # -- pairs that nobody wrote

    def canonical(self, n: int, seed: int) -> list[tuple[str, str]]:
        """So many pairs of an utterance and its form, fewer where there are no more; names are placeholders."""
        rng = random.Random(f"schema {seed}")
        drawn = SchemaForms(self.connected.database, rng, self._amounts).forms()
        found: dict[str, str] = {}
        futile = 0
        while len(found) < n and futile < FUTILE:
            futile += 1
            pair = self._pair(next(drawn), rng)
            if pair is not None and pair[1] not in found:
                found[pair[1]], futile = pair[0], 0
        return [(utterance, form) for form, utterance in found.items()]

    @cached_property
    def _looked_up(self) -> dict[tuple[str, str], list[float]]:
        return {}

    def _amounts(self, held: Property) -> list[float]:
        """Some numbers that a property has, or years of its dates."""
        key = held.owner, held.name
        if key not in self._looked_up:
            source = (held.link.source if held.link else None) or self.connected.database.by_name[held.owner].source
            query = exp.select(p.column("it", held.column)).from_(p.source(source, "it")).limit(MOST_AMOUNTS)
            output = Output(Column(held.name, held.kind, held.unit), held.storage)
            values = [value_of(found, output) for (found,) in self.asker.source.rows(query)]
            known = sorted({value.degree for value in values if value is not None and value.degree is not None})
            self._looked_up[key] = [each // 10_000 for each in known] if held.kind == "date" else known
        return self._looked_up[key]

    def _pair(self, form: str, rng: random.Random) -> tuple[str, str] | None:
        """A form with the names of kinds of which there are few, and its utterance."""
        spoken: dict[str, str] = {}
        tokens = form.split()
        for place, token in enumerate(tokens):
            kind, _, number = token.rpartition(".")
            if number.startswith(PLACE) and kind in self.masks.few:
                name, written = rng.choice(self.masks.few[kind])
                tokens[place] = written
                spoken[written] = name
        made = " ".join(tokens)
        try:
            node = self.checker.typed_text(made)
        except LF_ERRORS:
            return None
        said = Wording(self.connected.words, _Themselves(spoken))(node)
        words, tokens_said = numbered_as_said(said.lower().split(), tokens)
        return " ".join(words), " ".join(tokens_said)


class _Themselves(dict[str, str]):
    """Names of things: those that are known, and each placeholder by itself."""

    def get(self, id: str, default: str | None = None) -> str | None:  # type: ignore[override]
        return super().get(id, id if PLACE in id else default)


def _names(tokens: Sequence[str]) -> list[str]:
    """Things and texts of a form, in their order."""
    return [token for token in tokens if "." in token and not token.startswith("!")]


def load(folder: Path, *, database: str = "", today: Day | None = None) -> Domain:
    """The domain of a connected folder; `database` is another location of its data."""
    return FolderDomain(folder, database=database, today=today).domain()


Load = Callable[..., Domain]
