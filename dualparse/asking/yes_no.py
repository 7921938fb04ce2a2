"""Yes or no about one thing: "does the plover hut have showers" is "which huts have showers" about the plover hut.

In: the words of a question, and the entities a lexicon finds in them. Out: the words of the question about all things
of that type, and how a form that answers it becomes one that says yes or no. So a parser that has never seen such a
question answers it all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dualparse.database.names import plural
from dualparse.domains.lexicon import Lexicon

# What begins such a question, and what stands in its place in a question about many things.
_BEGINS = {
    "does": "",
    "do": "",
    "did": "",
    "is": "are",
    "are": "are",
    "was": "were",
    "were": "were",
    "has": "have",
    "have": "have",
    "can": "can",
}
_BETWEEN = frozenset(["the", "a", "an"])
_OTHERS = frozenset(["which", "what", "who", "whose", "how", "when", "where", "why", "or", "than", "ones"])


@dataclass(frozen=True, slots=True)
class YesNo:
    """A question about all things of a type in the place of one about a single thing."""

    words: tuple[str, ...]
    entity: str

    def form(self, answer: str) -> str:
        """Whether the thing is among those that a form gives."""
        return f"( exists ( and {self.entity} {answer} ) )"


def yes_no(words: Sequence[str], lexicon: Lexicon) -> YesNo | None:
    """The question about many; None for a question that does not ask for yes or no about one thing.

    >>> lexicon = Lexicon([(("plover", "hut"), "hut.plover_hut")])
    >>> yes_no("does the plover hut have showers".split(), lexicon)
    YesNo(words=('which', 'huts', 'have', 'showers'), entity='hut.plover_hut')
    """
    if len(words) < 3 or words[0] not in _BEGINS:
        return None
    start = 2 if words[1] in _BETWEEN else 1
    mention = next((each for each in lexicon.match(words) if each.start == start), None)
    if mention is None or "." not in mention.entity:
        return None
    rest = tuple(words[mention.end :])
    if not rest or _OTHERS & set(rest):
        return None
    verb = _BEGINS[words[0]]
    kind = mention.entity.rpartition(".")[0].replace("_", " ")
    return YesNo(("which", *plural(kind).split(), *([verb] if verb else []), *rest), mention.entity)
