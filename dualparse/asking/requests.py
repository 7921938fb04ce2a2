"""What is no question about data: a request to change something, or for an opinion.

In: a text. Out: why it is refused; "" for a question.
"""

from __future__ import annotations

import re

from dualparse.asking.lexis import lexis
from dualparse.asking.question import plain, take_apart

_OPINION = re.compile(
    r"\b(who|which|what|where)\b.*\bshould (we|i|you|they)\b"
    r"|\b(do|would|can|could) you (think|recommend|suggest|advise)\b|\byour (opinion|favou?rite|advice)\b"
    r"|\b(best|nicest|perfect|ideal) (\w+ ){1,2}to [a-z]+|\b(good|great) idea\b"
)


def asks_for_more(text: str) -> str:
    """Why a text is answered by no data.

    >>> asks_for_more("which of them should we promote")
    'this asks for an opinion; the data holds none'
    >>> asks_for_more("which albums were sold most")
    ''
    """
    command = asks_for_change(text)
    if command:
        return f"questions are answered here, nothing is changed: {command!r}"
    return "this asks for an opinion; the data holds none" if _OPINION.search(plain(text)) else ""


_POLITE = frozenset(["please", "can", "could", "would", "will", "you", "kindly", "to", "just", "now", "hey", "hi"])


def asks_for_change(text: str) -> str:
    """The word by which a text asks to change something instead of asking for something; "" for a question.

    >>> asks_for_change("Please delete all invoices"), asks_for_change("orders by customer")
    ('delete', '')
    """
    words = [word.text for word in take_apart(text).words]
    first = next((place for place, word in enumerate(words) if word not in _POLITE), None)
    if first is None or words[first] not in lexis().changes or len(words) < first + 2:
        return ""
    return words[first] if words[first + 1] in _ARTICLES or words[first] in _ALWAYS else ""


_ARTICLES = frozenset(["the", "all", "a", "an", "my", "our", "this", "that", "these", "every", "his", "her", "their"])
_ALWAYS = frozenset(
    ["delete", "remove", "insert", "update", "drop", "cancel", "scrap", "erase", "discard", "deactivate", "archive"]
    + ["reassign", "merge", "nominate"]
)
