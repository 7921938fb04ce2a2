"""A domain of a dozen sentence patterns, small enough to be learned in seconds, and tiny models to go with it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import torch

from dualparse.data.examples import Example
from dualparse.data.vocab import Vocab
from dualparse.domains import registry
from dualparse.domains.domain import Domain
from dualparse.domains.lexicon import Lexicon
from dualparse.domains.registry import Family
from dualparse.lf import sexpr
from dualparse.lf.errors import LF_ERRORS, LFExecutionError
from dualparse.lf.verdict import VALID, Verdict
from dualparse.networks.agent import Agent
from dualparse.networks.lstm import Seq2Seq

ENTITIES = {
    "lake.blue": ("blue lake", "the blue one"),
    "lake.long": ("long lake",),
    "town.arn": ("arn",),
    "town.berg": ("berg", "old berg town"),
    "town.cham": ("cham",),
}
PATTERNS = (
    ("what is the depth of {}", "( get {} depth )"),
    ("how deep is {}", "( get {} depth )"),
    ("who looks after {}", "( get {} warden )"),
    ("everything near {}", "( near {} )"),
    ("how many things are near {}", "( count ( near {} ) )"),
)
PLAIN = (
    ("list all lakes", "( all lake )"),
    ("show every town", "( all town )"),
    ("how many lakes are there", "( count ( all lake ) )"),
    ("how many towns are there", "( count ( all town ) )"),
    ("the deepest lake", "( argmax ( all lake ) depth )"),
    ("the shallowest lake", "( argmin ( all lake ) depth )"),
    ("nothing", "nil"),
)
HEADS = {"get": 2, "near": 1, "count": 1, "all": 1, "argmax": 2, "argmin": 2}


def lexicon() -> Lexicon:
    return Lexicon((tuple(phrase.split()), entity) for entity, phrases in ENTITIES.items() for phrase in phrases)


def examples() -> list[Example]:
    """Every pattern with every entity and phrase."""
    filled = [
        (query.format(phrase), form.format(entity))
        for query, form in PATTERNS
        for entity, phrases in ENTITIES.items()
        for phrase in phrases
    ]
    return [Example(tuple(query.split()), tuple(form.split())) for query, form in (*filled, *PLAIN)]


def domain(**changes: object) -> Domain:
    """The toy as a `Domain`: a form is valid when every head has as many arguments as it should."""
    told: dict[str, object] = {
        "name": "toy",
        "title": "Lakes and towns",
        "lexicon": lexicon(),
        "check": check,
        "execute": execute,
        "normalize": lambda text: sexpr.write(sexpr.read(text)),
    }
    return Domain(**(told | changes))  # type: ignore[arg-type]


def check(text: str) -> Verdict:
    try:
        execute(text)
    except LF_ERRORS as error:
        return Verdict(isinstance(error, LFExecutionError), False, str(error))
    return VALID


def execute(text: str) -> str:
    """The denotation of a form is a name made of its atoms; enough to tell forms apart."""
    tree = sexpr.read(text)
    for node in _lists(tree):
        if HEADS.get(str(node[0])) != len(node) - 1:
            raise LFExecutionError(f"wrong number of arguments for {node[0]}")
    return f"(list (name {'_'.join(sexpr.tokenize(text)).replace('(', '').replace(')', '')}))"


def _lists(tree: sexpr.Tree) -> Iterator[tuple[sexpr.Tree, ...]]:
    if isinstance(tree, tuple):
        yield tree
        for child in tree:
            yield from _lists(child)


def vocabularies(pairs: list[Example] | None = None) -> tuple[Vocab, Vocab]:
    """(query, lf) vocabularies; the words of all phrases join the forms' one, as in a real run."""
    pairs = examples() if pairs is None else pairs
    words = {word for phrases in ENTITIES.values() for phrase in phrases for word in phrase.split()}
    return (
        Vocab.build(pair.query for pair in pairs if pair.query),
        Vocab.build((pair.lf for pair in pairs if pair.lf), always=words | set(ENTITIES)),
    )


def agent(
    direction: str = "q2lf", *, seed: int = 0, copy: bool = True, hidden: int = 12, dropout: float = 0.0
) -> Agent:
    """An untrained agent of the toy domain."""
    query, lf = vocabularies()
    source, target = (query, lf) if direction == "q2lf" else (lf, query)
    model = Seq2Seq(len(source), len(target), embedding=hidden, hidden=hidden, dropout=dropout, copy=copy)
    model.initialize(generator=torch.Generator().manual_seed(seed))
    return Agent("q2lf" if direction == "q2lf" else "lf2q", model, source, target, lexicon())


def tiny_model(
    *, seed: int = 0, source_size: int = 9, target_size: int = 8, size: int = 5, copy: bool = True, scale: float = 1.0
) -> Seq2Seq:
    """A network for numbers alone, in double precision, with weights large enough for uneven distributions."""
    model = Seq2Seq(source_size, target_size, embedding=size, hidden=size + 1, dropout=0.0, copy=copy)
    model.initialize(scale=scale, generator=torch.Generator().manual_seed(seed))
    return model.double().eval()


def random_sources(
    seed: int, rows: int, *, source_size: int = 9, target_size: int = 8, longest: int = 6
) -> tuple[list[list[int]], list[list[int]]]:
    """Source numbers and their copy numbers; every target token can be copied, some of them beyond the vocabulary."""
    rng = random.Random(seed)
    sources = [[rng.randrange(4, source_size) for _ in range(rng.randint(1, longest))] for _ in range(rows)]
    copies = []
    for source in sources:
        fresh = {word: target_size + i for i, word in enumerate(dict.fromkeys(w for w in source if w % 3 == 0))}
        copies.append([fresh.get(word, 4 + word % (target_size - 4)) for word in source])
    return sources, copies


def write_files(folder: Path, *, every: int = 5) -> dict[str, Path]:
    """The examples as files: every fifth is dev, all of them are train."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [f"{' '.join(pair.query or ())}\t{' '.join(pair.lf or ())}\n" for pair in examples()]
    files = {"train": pairs, "dev": pairs[::every], "test": pairs[1::every]}
    for name, lines in files.items():
        (folder / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
    return {name: folder / f"{name}.tsv" for name in files}


def family(files: dict[str, Path], **changes: object) -> Family:
    """The toy as a family of one domain, of whose examples these are the files."""
    return Family("toy", "Lakes and towns", ("toy",), lambda name: domain(files=files, **changes))


def registered(files: dict[str, Path]) -> AbstractContextManager[Family]:
    """The toy known to dualparse by its name, for a while."""
    return registry.registered(family(files))
