"""Files of strangers, through everything that reads a file: `python -m benchmarks.campaign --only readers`.

A file that is in order is cut, spliced with others, given wrong values, wrapped in bombs, or is no text at all. What
comes is what was read, or one `InputError` of one line that can be shown on a screen, soon and in little memory.
"""

from __future__ import annotations

import json
import random
import re
import resource
import shutil
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch
from shops import SHOP, sqlite_file

from benchmarks.campaign.part import Part, promise
from dualparse import manifest
from dualparse.asking.calibrate import read_strangers
from dualparse.asking.journal import ASKED, Journal, Record
from dualparse.asking.memory import Lesson, read_lessons, write_lessons
from dualparse.asking.trust import Trust, read_trust_file, write_trust_file
from dualparse.config import make_recipe, read_recipe, read_saved_recipe, write_recipe
from dualparse.data.examples import read_examples
from dualparse.data.vocab import Vocab
from dualparse.data.word_vectors import read_vectors
from dualparse.database.connect import connect
from dualparse.database.folder import read_connected
from dualparse.database.location import locate
from dualparse.domains.embedded import EMBEDDED
from dualparse.domains.folder import load
from dualparse.errors import InputError
from dualparse.grading.questions import read_questions
from dualparse.lab.mistakes import read_mistakes
from dualparse.lab.store import Store
from dualparse.lab.sweep.grid import read_grid
from dualparse.lf.grammar import read_grammar
from dualparse.log import read_log
from dualparse.networks.tensors import load_tensors, save_tensors

ROOT = Path(__file__).parents[2]
TRAILS = EMBEDDED / "trails"
MOST_SECONDS = 10.0  # of one core for one file; the largest have 20 MB
MOST_MEMORY = 600.0  # MB beyond what the process has anyway
LONGEST = 4_000  # letters of an error
UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
PREDICTION = {
    "query": "a",
    "gold": "( all hut )",
    "predicted": "( all trail )",
    "exact": False,
    "denotation": None,
    "gold_denotation": None,
    "correct": False,
    "verdict": {"surface": True, "semantics": True, "reason": ""},
}
BOMBS: dict[str, Callable[[random.Random], bytes]] = {
    "brackets": lambda rng: b"a = " + b"[" * rng.choice((99, 1_000, 200_000)),
    "parentheses": lambda rng: b"(" * rng.choice((99, 1_000, 200_000)),
    "braces": lambda rng: b'{"a":' * rng.choice((99, 1_000, 200_000)),
    "a dotted key": lambda rng: b".".join([b"a"] * rng.choice((50, 5_000, 100_000))) + b" = 1",
    "digits": lambda rng: b"a = " + b"9" * rng.choice((400, 5_000, 500_000)),
    "JSON digits": lambda rng: b'{"stage": ' + b"9" * rng.choice((400, 5_000, 500_000)) + b"}",
    "lines": lambda rng: b"\n" * rng.choice((1_000, 1_000_000, 20_000_000)),
    "one long line": lambda rng: (
        rng.choice((b"a", b"a\t", b"a :- NP : ", b"\xc3\xa4")) * rng.choice((1_000, 1_000_000))
    ),
    "no text": lambda rng: rng.randbytes(rng.choice((1, 64, 4_096))),
    "UTF-16": lambda rng: "name = 'x'\n".encode("utf-16"),
    "nothing": lambda rng: b"",
    "zeros": lambda rng: bytes(rng.choice((1, 5_000, 5_000_000))),
    "a grammar that doubles": lambda rng: (
        b"(def @a0 (x y))\n"
        + b"".join(b"(def @a%d (@a%d @a%d))\n" % (n + 1, n, n) for n in range(rng.choice((5, 60))))
        + b"(rule $R (@a5) (x))"
    ),
    "a grammar that loops": lambda rng: (
        b"(for @a (1 2 3 4 5 6 7 8 9 0) " * 8 + b"(rule $R (x) (ConstantFn x))" + b")" * 8
    ),
}
VALUES = (
    *(
        "inf",
        "nan",
        "-1",
        "0",
        "1e400",
        "true",
        "null",
        "[]",
        "{}",
        "''",
        '"\\u0000"',
        '"\\ud800"',
        "9" * 50,
        "1979-05-27",
    ),
    *(
        "../../etc/passwd",
        "/etc/passwd",
        "~root",
        "file://x",
        "\x1b[31mred\x1b[0m",
        "\u202egnp",
        "a\u2028b",
        "%s%n",
        "'" * 9,
    ),
    *("package.module:name", "os:system", "x" * 5_000, "1_000", "0x10", "-0.0", "٣"),
)


@dataclass(frozen=True)
class Reader:
    """Something that reads a file: files in order, where the hostile one is put, and what reads it."""

    samples: tuple[bytes, ...]
    path: Path
    read: Callable[[Path], object]


class Readers(Part):
    about = (
        "Recipes, grids, `config.toml`, `domain.toml`, ontologies, facts, lexicons, grammars, synonyms, examples, "
        "vocabularies, weights, word vectors, logs, journals, predictions, questions, manifests and results that are "
        "cut, spliced, bombs or no text: what they say, or one error of one line, soon and in little memory."
    )
    unit = "files"
    cases = 20_000
    share = 0.1
    memory = 12 << 30

    def prepare(self) -> None:
        self.readers = {**own_readers(self.place), **run_readers(self.place), **folder_readers(self.place)}
        self.samples = [sample for reader in self.readers.values() for sample in reader.samples]
        for name, reader in self.readers.items():  # what is in order can be read
            self.input = name
            for sample in reader.samples:
                _read(reader, sample)

    def case(self, number: int) -> Counter[str]:
        rng = self.drawn(number)
        name = rng.choice(sorted(self.readers))
        reader = self.readers[name]
        content = hostile(rng.choice(reader.samples), self.samples, rng)
        self.input = (name, content if len(content) < 2_000 else (content[:2_000], len(content)))
        before, began = _now_and_peak_anew(), time.process_time()
        try:
            _read(reader, content)
            kind = "read"
        except InputError as error:
            kind = "refused"
            promise(len(str(error)) < LONGEST, f"an error of {len(str(error))} letters")
            promise(not UNSHOWN.search(str(error)), f"an error that does not fit a screen: {str(error)!r}")
        seconds, memory = time.process_time() - began, _peak() - before
        self.most("slowest file, s", round(seconds, 2))
        self.most("memory beyond that of the process, MB", round(memory))
        promise(seconds < MOST_SECONDS, f"{seconds:.1f} seconds of one core")
        promise(memory < MOST_MEMORY, f"{memory:.0f} MB")
        return Counter([kind])


def _read(reader: Reader, content: bytes) -> None:
    """Read a file with this content, in the place of the one that is there, if any."""
    before = reader.path.read_bytes() if reader.path.exists() else None
    reader.path.write_bytes(content)
    try:
        reader.read(reader.path)
    finally:
        if before is None:
            reader.path.unlink(missing_ok=True)
        else:
            reader.path.write_bytes(before)


def _now_and_peak_anew() -> float:
    """The memory this process has, in MB; its peak is looked for from now on."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> float:
    """The most memory this process had, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def own_readers(place: Path) -> dict[str, Reader]:
    """Files that a user writes."""
    shutil.copytree(TRAILS, place / "trails")
    for folder in ("grids", "recipes"):
        shutil.copytree(ROOT / folder, place / folder)
    recipes = [path.read_bytes() for path in sorted((place / "recipes").glob("[at]*.toml"))]  # of one domain each
    grids = [path.read_bytes() for path in sorted((place / "grids").glob("*.toml"))]
    trails = place / "trails"

    def whole(name: str) -> Reader:
        return Reader(((TRAILS / name).read_bytes(),), trails / name, lambda path: load(trails))

    question = b'{"question": "how many bikes are there", "kind": "count", "sql": "SELECT COUNT(*) FROM bikes"}\n'
    return {
        "recipe": Reader(tuple(recipes), place / "recipes" / "x.toml", read_recipe),
        "grid": Reader(tuple(grids), place / "grids" / "x.toml", read_grid),
        **{name: whole(name) for name in ("domain.toml", "ontology.txt", "world.tsv", "lexicon.txt")},
        "grammar": Reader(((TRAILS / "domain.grammar").read_bytes(),), place / "x.grammar", read_grammar),
        "examples": Reader(((TRAILS / "train.tsv").read_bytes()[:4_000],), place / "x.tsv", read_examples),
        "questions": Reader((question * 3,), place / "x.jsonl", read_questions),
        "strangers": Reader(
            (b"what is the time\toff-topic\nwhere is my hat\tno data\n",), place / "s.tsv", read_strangers
        ),
    }


def run_readers(place: Path) -> dict[str, Reader]:
    """Files of run folders, and what is beside them."""
    run = place / "run"
    run.mkdir()
    recipe = write_recipe(make_recipe({"domain": "trails"})).encode()
    (run / "config.toml").write_bytes(recipe)
    record = {"stage": "q2lf", "epoch": 1, "figures": {"loss": 0.5}, "scores": {"score": 50.0}, "best": True}
    log = json.dumps(record | {"seconds": 1.0}).encode() + b"\n"
    save_tensors(place / "x.safetensors", {"a": torch.randn(4, 5)}, {"epoch": "3"})
    Vocab.build([("which", "trail"), ("which", "hut")]).save(place / "x.vocab")
    write_trust_file(place / "t.json", Trust())
    (place / "lessons").mkdir()
    write_lessons(place / "lessons", [Lesson(("all", "huts"), ("(", "all", "hut", ")"))])
    journal = Journal(place / "j.jsonl")
    for number in range(3):
        journal.add(Record(ASKED, f"question {number}", "( all hut )"))
    (place / "listed").mkdir()
    (place / "listed" / "config.toml").write_bytes(recipe)
    manifest.write_manifest(place / "listed")
    (place / "store").mkdir()
    shutil.copy(ROOT / "results" / "trails.jsonl", place / "store")

    def sample(path: Path) -> tuple[bytes, ...]:
        return (path.read_bytes(),)

    predictions = json.dumps(PREDICTION).encode() + b"\n"
    return {
        "config.toml": Reader((recipe,), place / "c.toml", read_saved_recipe),
        "vocabulary": Reader(sample(place / "x.vocab"), place / "y.vocab", Vocab.load),
        "weights": Reader(sample(place / "x.safetensors"), place / "y.safetensors", load_tensors),
        "log": Reader((log * 3,), place / "log.jsonl", read_log),
        "predictions": Reader(
            (predictions * 3,), run / "predictions.test.jsonl", lambda path: read_mistakes(run, split="test")
        ),
        "confidence.json": Reader(sample(place / "t.json"), place / "u.json", read_trust_file),
        "learned.jsonl": Reader(
            sample(place / "lessons" / "learned.jsonl"),
            place / "lessons" / "learned.jsonl",
            lambda path: read_lessons(path.parent),
        ),
        "journal": Reader(sample(place / "j.jsonl"), place / "k.jsonl", lambda path: Journal(path).records()),
        "manifest.json": Reader(
            sample(place / "listed" / manifest.NAME),
            place / "listed" / manifest.NAME,
            lambda path: manifest.verify(path.parent),
        ),
        "results": Reader(
            sample(place / "store" / "trails.jsonl"),
            place / "store" / "trails.jsonl",
            lambda path: Store(path.parent).read(),
        ),
        "word vectors": Reader(
            (b"hut 0.1 0.2 0.3\ntrail 1 2 3\n",),
            place / "x.txt",
            lambda path: read_vectors(path, ["hut", "trail"], dimension=3),
        ),
    }


def folder_readers(place: Path) -> dict[str, Reader]:
    """Files of a connected folder."""
    sqlite_file(place / "shop.sqlite", SHOP)
    folder = place / "shop"
    connect(locate(str(place / "shop.sqlite")), folder)
    return {
        f"connected {name}": Reader(((folder / name).read_bytes(),), folder / name, lambda path: read_connected(folder))
        for name in ("domain.toml", "ontology.txt", "synonyms.txt")
    }


# -- ways to make a file


def hostile(sample: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """A file that is made of one in order, or of nothing."""
    way = rng.randrange(12)
    if way < 4:
        return changed_bytes(sample, rng)
    if way < 8:
        return changed_values(sample, rng)
    if way < 10:
        return changed_lines(sample, others, rng)
    bomb = BOMBS[rng.choice(sorted(BOMBS))](rng)
    return bomb if rng.random() < 0.5 else sample + b"\n" + bomb


def changed_bytes(sample: bytes, rng: random.Random) -> bytes:
    """Some bytes cut, flipped, doubled, or others in between."""
    content = bytearray(sample)
    for _ in range(rng.choice((1, 1, 2, 10))):
        at = rng.randrange(len(content) + 1)
        end = at + rng.choice((1, 1, 10, 1_000))
        way = rng.randrange(5)
        if way == 0:
            del content[at:end]
        elif way == 1:
            content[at:at] = rng.randbytes(rng.choice((1, 4)))
        elif way == 2:
            content[at:at] = content[at:end] * rng.choice((1, 1, 100))
        elif way == 3:
            del content[at:]
        else:
            content[at:at] = rng.choice(
                (b"\x00", b"\r", b"\xff\xfe", b"\xef\xbb\xbf", b"\t\t", b'"', b"'''", b"\\", b"#")
            )
    return bytes(content)


def changed_values(sample: bytes, rng: random.Random) -> bytes:
    """Words and numbers in the place of others."""
    text = sample.decode("utf-8", "replace")
    words = list(re.finditer(r"[^\s=,:()\[\]{}]+", text))
    for found in sorted(rng.sample(words, min(len(words), rng.choice((1, 1, 3)))), key=lambda word: -word.start()):
        text = text[: found.start()] + rng.choice(VALUES) + text[found.end() :]
    return text.encode("utf-8", "surrogatepass")


def changed_lines(sample: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Lines taken away, doubled, exchanged, and some of other files."""
    lines = sample.splitlines(keepends=True)
    for _ in range(rng.choice((1, 3))):
        at = rng.randrange(len(lines) + 1)
        way = rng.randrange(4)
        if way == 0:
            del lines[at : at + rng.choice((1, 5))]
        elif way == 1:
            lines[at:at] = lines[at : at + 1] * rng.choice((1, 5_000))
        elif way == 2:
            rng.shuffle(lines)
        else:
            lines[at:at] = rng.choice(others).splitlines(keepends=True)[: rng.choice((1, 50))]
    return b"".join(lines)
