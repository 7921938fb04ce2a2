"""What a form of a run's domain says in plain words, without any model: what a person checks an answer by.

In: a domain and a form. Out: an English phrase. Forms of the plain dialect are worded by `dualparse.asking.spoken`
with the domain's own phrases; forms of a grammar by its utterance; any other form by its own words.
"""

from __future__ import annotations

import re
from functools import cached_property

from dualparse.asking.shown import with_values
from dualparse.asking.spoken import Spoken
from dualparse.database.synonyms import Words
from dualparse.domains.domain import Domain
from dualparse.domains.plain import Plain, plain
from dualparse.domains.schema import Schema
from dualparse.domains.world import World
from dualparse.lf.errors import LF_ERRORS
from dualparse.lf.sexpr import tokenize
from dualparse.matching.candidates import Candidates, kept_candidates

_SYNTAX = frozenset(["(", ")", "lambda", "lambda:e", "lambda:i", "e", "i", "and", "call", "string", "var", "!"])
_VARIABLE = re.compile(r"\$\d+")


class Sayer:
    """Says the forms of one domain."""

    def __init__(self, domain: Domain):
        self.domain = domain

    @cached_property
    def plain(self) -> Plain | None:
        """The executor of the plain dialect, where that is the domain's language."""
        if isinstance(self.domain.world, World) and isinstance(self.domain.ontology, Schema):
            return plain(self.domain.world, self.domain.ontology)
        return None

    @cached_property
    def wording(self) -> Spoken:
        return Spoken(Words(self.domain.phrases))

    def say(self, form: str) -> str:
        """A form in plain words."""
        if self.domain.say is not None:
            try:
                return self.domain.say(form)
            except LF_ERRORS:
                return own_words(form)
        if self.plain is not None:
            try:
                return self.wording(self.plain.checker.typed_text(form))
            except LF_ERRORS:
                return own_words(form)
        worded = self._worded
        number = worded.number(form) if worded is not None else None
        return worded.utterances[number] if worded is not None and number is not None else own_words(form)

    def columns(self, form: str) -> tuple[str, ...]:
        """What stands above each column of a form's answer, as `answer_of` gives it; nothing where the answer says."""
        if self.plain is None:
            return ()
        node = self.plain.checker.typed_text(form)
        shown = with_values(form, node)
        return self.wording.columns(node if shown == form else self.plain.checker.typed_text(shown))

    @cached_property
    def _worded(self) -> Candidates | None:
        """The forms of the grammar with their utterances; made when first asked for, and kept in the user's cache."""
        return kept_candidates(self.domain) if self.domain.grammar is not None else None


def own_words(form: str) -> str:
    """The words that stand in a form.

    >>> own_words("( lambda $0 e ( and ( flight $0 ) ( from $0 boston:ci ) ) )")
    'flight, from boston'
    """
    parts: list[str] = []
    last = ""
    for token in tokenize(form):
        if token == "(":
            last = ","
        elif token not in _SYNTAX and not _VARIABLE.fullmatch(token):
            word = token.partition(":")[0].rpartition(".")[2].lstrip("!").replace("_", " ")
            parts.append(f"{',' if last == ',' and parts else ''}{' ' if parts else ''}{word}")
            last = word
    return "".join(parts).strip()
