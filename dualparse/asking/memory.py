"""What people have said is right: questions with their forms, recalled for the same question and for one like it.

In: `learned.jsonl` of a run folder, one JSON object a line. Out: for the words of a question the forms that are meant
for such words, each with how alike the questions are. Entities count as their types: what was said about one hut holds
for another, whose name takes its place in the form.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dualparse.asking.familiar import Familiar
from dualparse.domains.lexicon import Lexicon
from dualparse.errors import InputError
from dualparse.files import write_text
from dualparse.lines import numbered_lines
from dualparse.manifest import changing

NAME = "learned.jsonl"
ALIKE = 0.5  # how alike a question must be for its form to be recalled
MOST = 3  # forms that are recalled
Words = Sequence[str]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question, as words of the model, and the form that is meant by it."""

    words: tuple[str, ...]
    form: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recalled:
    """A form for the words of a question; `alike` is 1 where the lesson is about this very question, but for names."""

    form: tuple[str, ...]
    alike: float


class Memory:
    """Lessons of one run, the later ones before the earlier ones of the same question."""

    def __init__(self, lessons: Iterable[Lesson], familiar: Familiar, lexicon: Lexicon):
        self._lexicon, self._familiar = lexicon, familiar
        self._lessons: dict[tuple[str, ...], Lesson] = {}
        self._patterns: dict[tuple[str, ...], list[Lesson]] = {}
        for lesson in lessons:
            self._lessons[lesson.words] = lesson
        for lesson in self._lessons.values():
            self._patterns.setdefault(familiar.pattern(lesson.words), []).append(lesson)

    def __len__(self) -> int:
        return len(self._lessons)

    def known(self, words: Words) -> tuple[str, ...] | None:
        """The form of this very question."""
        lesson = self._lessons.get(tuple(words))
        return lesson.form if lesson else None

    def recall(self, words: Words) -> list[Recalled]:
        """Forms that are meant by such words, the likest first."""
        if not self._lessons:
            return []
        pattern = self._familiar.pattern(words)
        found: dict[tuple[str, ...], float] = {}
        for other, lessons in self._patterns.items():
            alike = self._familiar.likeness(pattern, other)
            if alike >= ALIKE:
                for lesson in lessons:
                    form = self._moved(lesson, words)
                    if form is not None:
                        found[form] = max(found.get(form, 0.0), alike)
        ranked = sorted(found.items(), key=lambda item: -item[1])
        return [Recalled(form, alike) for form, alike in ranked[:MOST]]

    def _moved(self, lesson: Lesson, words: Words) -> tuple[str, ...] | None:
        """The form of a lesson with the names and numbers of other words; None where these do not fit."""
        if tuple(words) == lesson.words:
            return lesson.form
        there, here = self._named(lesson.words), self._named(words)
        if Counter(map(_kind, there)) != Counter(map(_kind, here)):
            return None
        places: dict[str, str] = {}
        for kind in dict.fromkeys(map(_kind, there)):
            pairs = zip((n for n in there if _kind(n) == kind), (n for n in here if _kind(n) == kind), strict=True)
            places.update(pairs)
        missing = [name for name, other in places.items() if name != other and name not in lesson.form]
        return None if missing else tuple(places.get(token, token) for token in lesson.form)

    def _named(self, words: Words) -> list[str]:
        """Entities and numbers among the words, in order, each once."""
        meant = self._lexicon.map_words(words)
        found = (
            text for text, word in zip(meant, words, strict=True) if text != word or word.replace(".", "", 1).isdigit()
        )
        return list(dict.fromkeys(found))


NOTHING = Memory((), Familiar((), Lexicon()), Lexicon())


def _kind(name: str) -> str:
    front, colon, back = name.rpartition(":")
    if name.replace(".", "", 1).isdigit():
        return "number"
    return back if colon else name.rpartition(".")[0]


def read_lessons(folder: Path) -> list[Lesson]:
    """The lessons of a run folder; none where nobody has taught it."""
    path = folder / NAME
    if not path.is_file():
        return []
    found = []
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            told = json.loads(line)
            found.append(Lesson(tuple(told["words"].split()), tuple(told["form"].split())))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError('not a lesson: expected {"words": ..., "form": ...}', path=path, line=number) from None
    return found


def write_lessons(folder: Path, lessons: Iterable[Lesson]) -> None:
    """Keep lessons in a run folder; the last one of a question counts."""
    kept = {lesson.words: lesson for lesson in lessons}
    lines = [json.dumps({"words": " ".join(each.words), "form": " ".join(each.form)}) for each in kept.values()]
    with changing(folder, NAME):
        write_text(folder / NAME, "".join(line + "\n" for line in lines))
