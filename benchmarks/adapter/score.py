"""How often the nearest utterance is the right one, on questions and domains that no adapter was trained on.

Questions written by hand over four schemas; those of *trails*, among all that its grammar says; and, where its files
are (`DUALPARSE_DATA`), those of Chinook, among the readings that `dualparse ask` words for each. Test questions of
*trails* are scored when that is asked for.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.adapter import reader as reading
from benchmarks.adapter.heldout import accuracy, read_heldout
from dualparse.asking.asker import FolderAsker, open_asker
from dualparse.choosing.scorers import SecondReading
from dualparse.data.examples import load_examples
from dualparse.database.connect import connect
from dualparse.database.location import locate
from dualparse.domains.metrics import meaning
from dualparse.domains.registry import open_domain
from dualparse.evaluate import pick
from dualparse.grading.grade import is_right
from dualparse.grading.questions import read_questions
from dualparse.grading.wanted import answers_of
from dualparse.matching.adapter import SHIPPED, open_matcher
from dualparse.matching.index import open_index, templates_of
from dualparse.matching.matcher import Matcher
from dualparse.matching.reader import SHIPPED as READER
from dualparse.matching.reader import SecondReader, open_reader
from dualparse.training.score import nearest, read_again


def score(name: str, *, chinook: Path | None = None, split: str = "dev") -> dict[str, Any]:
    """A record of one adapter: "none", "shipped", "reader" (the shipped one and the second reader) or a file."""
    path = {"none": None, "shipped": SHIPPED, "reader": SHIPPED}.get(name, Path(name))
    matcher, heldout = open_matcher(adapter=path).eval(), read_heldout()
    reader = open_reader(matcher) if name == "reader" else None
    scores = reading.accuracy(reader, matcher, heldout) if reader else accuracy(matcher.encoder, heldout)
    sizes = {one.name: len(one.questions) for one in heldout}
    scores[f"trails {split}"], sizes[f"trails {split}"], count = _trails(matcher, split, reader)
    if reader is not None:
        return {"adapter": name, "sha256": _sha(READER), "accuracy": scores, "questions": sizes}
    if chinook is not None:
        scores["chinook"], sizes["chinook"] = _chinook(matcher, chinook)
    sha = _sha(path) if path else ""
    return {"adapter": name, "sha256": sha, "accuracy": scores, "questions": sizes, "trails_utterances": count}


def _sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _trails(matcher: Matcher, split: str, reader: SecondReader | None) -> tuple[float, int, int]:
    """Per cent of the questions whose nearest form has the right answer, of how many, and among how many utterances."""
    domain = open_domain("trails")
    examples = getattr(load_examples(domain, dev_seed=1), split)
    index = open_index(templates_of(domain), matcher)
    queries = [example.query or () for example in examples]
    near = nearest(index, queries)
    if reader is not None:
        near = read_again(queries, near, SecondReading(index, reader))
    right = 0
    for example, forms in zip(examples, near, strict=True):
        gold = meaning(" ".join(example.lf or ()), domain)
        right += bool(forms) and meaning(pick(domain, [form.text for form in forms]), domain) == gold
    return round(100 * right / len(examples), 1), len(examples), len(index)


def _chinook(matcher: Matcher, folder: Path) -> tuple[float, int]:
    """Per cent of the questions that have an answer for which the reading that is worded most alike gives it."""
    path, right = folder / "questions.jsonl", 0
    questions = [question for question in read_questions(path) if question.answerable]
    with TemporaryDirectory() as place:
        connect(locate(str(folder / "chinook.sqlite")), Path(place) / "folder")
        with open_asker(Path(place) / "folder") as asker:
            wanted = answers_of(path, asker, asker.source)
            for question in questions:
                form = _nearest(matcher, asker, question.text)
                right += bool(form) and is_right(asker.run(form, question.text), wanted(question))
    return round(100 * right / len(questions), 1), len(questions)


def _nearest(matcher: Matcher, asker: FolderAsker, question: str) -> str:
    """The form whose words are nearest to a question; "" where there is no reading."""
    _, _, ranked = asker.ranked(question)
    if not ranked:
        return ""
    said = matcher.encoder.vectors([each.said for each in ranked])
    asked = matcher.encoder.vectors([question.lower().strip(" ?.")])
    return ranked[int((said @ asked.T).argmax())].draft.form
