"""How often the nearest utterance is the right one, on questions that no adapter was trained on."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

from benchmarks.adapter.heldout import accuracy, read_heldout
from dualparse.data.examples import load_examples
from dualparse.domains.metrics import meaning
from dualparse.domains.registry import open_domain
from dualparse.matching.adapter import SHIPPED, open_matcher
from dualparse.matching.candidates import Candidates, candidates_of
from dualparse.networks.encoder import Encoder

OTHERS = 5000  # candidates of trails beside the forms of its questions: its grammar makes more than 100,000


def score(name: str) -> dict[str, Any]:
    """A record of one adapter: "none", "shipped" or a file."""
    path = {"none": None, "shipped": SHIPPED}.get(name, Path(name))
    encoder = open_matcher(adapter=path).encoder
    heldout, trails = read_heldout(), _trails(encoder)
    sizes = {one.name: len(one.questions) for one in heldout} | {"trails": trails[1]}
    scores = accuracy(encoder, heldout) | {"trails": trails[0]}
    sha = hashlib.sha256(path.read_bytes()).hexdigest() if path else ""
    return {"adapter": name, "sha256": sha, "accuracy": scores, "questions": sizes, "trails_candidates": trails[2]}


def _trails(encoder: Encoder) -> tuple[float, int, int]:
    """Per cent of the test questions whose nearest utterance has the right answer, of how many, among how many forms:
    all that its questions ask for, and others drawn from its grammar."""
    domain = open_domain("trails")
    candidates, splits = candidates_of(domain), load_examples(domain)
    asked = {" ".join(e.lf or ()) for split in (splits.train, splits.dev, splits.test) for e in split}
    kept = {number for form in asked if (number := candidates.number(form)) is not None}
    kept |= set(random.Random("trails").sample(range(len(candidates)), OTHERS))
    numbers = sorted(kept)
    questions = [" ".join(e.query or ()) for e in splits.test]
    best = encoder.vectors(questions) @ encoder.vectors([candidates.utterances[i] for i in numbers]).T
    found = [numbers[place] for place in best.argmax(1).tolist()]
    right = [_same(candidates, number, " ".join(e.lf or ())) for number, e in zip(found, splits.test, strict=True)]
    return round(100 * sum(right) / len(right), 1), len(right), len(numbers)


def _same(candidates: Candidates, number: int, form: str) -> bool:
    gold = meaning(form, candidates.domain)
    return gold is not None and meaning(candidates.forms[number], candidates.domain) == gold
