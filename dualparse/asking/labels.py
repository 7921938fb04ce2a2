"""The labeled pairs of a connected folder: what a question means that somebody has given a form.

In: `train.tsv` of a folder, lines `question<TAB>form`, and a question. Out: the form of the same question, whatever
names stand in it: a label for "albums by AC/DC" is one for "albums by Queen".
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from pathlib import Path

from dualparse.asking.masks import Masks
from dualparse.data.examples import Example, read_examples
from dualparse.domains.text import Reader, Word
from dualparse.errors import InputError

PAIRS = "train.tsv"
ALIKE = 0.5  # share of the words of a question that a pair has to have before its names are looked at


class Labels:
    """The pairs of one folder; the file is read when the first question comes."""

    def __init__(self, folder: Path, masks: Masks):
        self.path, self.masks = folder / PAIRS, masks
        self._masked: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    @cached_property
    def pairs(self) -> list[tuple[Example, Counter[str]]]:
        if not self.path.is_file():
            return []
        return [
            (each, Counter(word.text for word in _read(" ".join(each.query))))
            for each in read_examples(self.path)
            if each.query and each.lf
        ]

    def form_of(self, text: str) -> str | None:
        """The form of a question that was labeled, with the names of this one."""
        if not self.pairs:
            return None
        try:
            words = _read(text)
        except InputError:
            return None
        spoken = Counter(word.text for word in words)
        near = [
            place
            for place, (_, others) in enumerate(self.pairs)
            if (spoken & others).total() >= ALIKE * min(spoken.total(), others.total())
        ]
        if not near:
            return None
        for mask in self.masks.all_of_question(words):
            said = tuple(word.text for word in mask.words)
            for place in near:
                query, form = self._pair(place)
                if query == said:
                    return " ".join(mask.stood.get(token, token) for token in form)
        return None

    def _pair(self, place: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """A pair with placeholders."""
        if place not in self._masked:
            example = self.pairs[place][0]
            form = example.lf or ()
            mask = self.masks.of_question(_read(" ".join(example.query or ())), self.masks.names_of(form))
            said = tuple(word.text for word in mask.words)
            self._masked[place] = said, self.masks.of_form(form, mask.known)
        return self._masked[place]


def _read(text: str) -> list[Word]:
    reading = Reader(()).read(text)
    return [Word(*pair) for pair in zip(reading.words, reading.said, strict=True)]
