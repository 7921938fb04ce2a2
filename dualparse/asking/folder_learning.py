"""A connected folder learns from what people said of its answers: nothing is trained, and it answers by it at once.

In: questions with the form that is meant, and questions without. Out: lines of `train.tsv`, which answers
(`dualparse.asking.labels`) and training go by; lines of `queries.txt`, which a game plays with; and which questions
somebody should label next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from dualparse.asking.asker import FolderAsker
from dualparse.asking.familiar import Familiar
from dualparse.asking.grounds import topic_of
from dualparse.asking.labels import PAIRS
from dualparse.asking.question import take_apart
from dualparse.asking.reply import Reply
from dualparse.asking.suggesting import apart
from dualparse.domains.lexicon import Lexicon
from dualparse.files import write_text
from dualparse.lines import numbered_lines

QUERIES = "queries.txt"


def remember(folder: Path, pairs: Iterable[tuple[str, str]]) -> None:
    """Keep what questions mean; of two labels of a question the later one counts."""
    kept = {_key(line.partition("\t")[0]): line for line in _lines(folder / PAIRS)}
    for question, form in pairs:
        kept.pop(_key(question), None)
        kept[_key(question)] = f"{' '.join(question.split())}\t{' '.join(form.split())}"
    write_text(folder / PAIRS, "".join(f"{line}\n" for line in kept.values()))


def keep_unlabeled(folder: Path, questions: Iterable[str]) -> int:
    """Keep questions that nobody has labeled, each once; how many are new."""
    labeled = {_key(line.partition("\t")[0]) for line in _lines(folder / PAIRS)}
    there = _lines(folder / QUERIES)
    known = {_key(line) for line in there} | labeled
    new = {_key(question): " ".join(question.split()) for question in questions if _key(question) not in known}
    if new:
        write_text(folder / QUERIES, "".join(f"{line}\n" for line in (*there, *new.values())))
    return len(new)


def helpful(asker: FolderAsker, questions: Sequence[str], *, most: int) -> list[tuple[str, Reply]]:
    """The questions whose labels would help most, each with its answer, however likely that is: those about the data
    that are answered least surely and differ. Labeled ones are left out."""
    words = [[word.text for word in take_apart(question).words] for question in questions]
    worth: dict[int, float] = {}
    found: dict[int, Reply] = {}
    for number, question in enumerate(questions):
        if asker.labels.form_of(question) is not None:
            continue
        judged, reply = asker.judged(question)
        if judged is None:
            continue
        topic = topic_of(judged.evidence, asker.trust.topic)
        if topic >= asker.trust.topic_cut:
            worth[number] = (1 - judged.probability) * topic
            found[number] = replace(reply, probability=judged.probability)
    chosen = apart(worth, words, Familiar(words, Lexicon()), most=most)
    return [(questions[number], found[number]) for number in chosen]


def _lines(path: Path) -> list[str]:
    return [line for _, line in numbered_lines(path) if line.strip()] if path.is_file() else []


def _key(question: str) -> str:
    return " ".join(question.lower().split())
