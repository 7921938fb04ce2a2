"""What is no question about data: a request to change something, or for an opinion.

In: a text. Out: why it is refused; "" for a question.
"""

from __future__ import annotations

import re

from dualparse.asking.lexis import lexis
from dualparse.asking.question import plain, take_apart

_OPINION = re.compile(
    r"\bshould (we|i|you|they|he|she)\b"
    r"|^(is|are|was|were)\b.* (nice|fun|friendly|boring|cool|interesting|beautiful|pleasant|any good|worth it)\W*$"
    r"|\b(predict|forecast)\b|\bwill (\w+ ){0,4}(win|become|lose|rise|fall|grow)\b|\bwill be (the )?champion"
    r"|\b(do|would|can|could) you (think|recommend|suggest|advise)\b|\byour (opinion|favou?rite|advice)\b"
    r"|\b(best|nicest|perfect|ideal) (\w+ ){1,2}to [a-z]+|\b(good|great) idea\b"
)


def asks_for_more(text: str) -> str:
    """Why a text is answered by no data.

    >>> asks_for_more("which of them should we promote")
    'this asks for an opinion; the data holds none'
    >>> asks_for_more("should we drop the red kettle"), asks_for_more("is Bo nice?") != ""
    ('this asks for an opinion; the data holds none', True)
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
    >>> asks_for_change("Set Ann's wage to 5000"), asks_for_change("sign me up for chess")
    ('set', 'sign')
    """
    words = [word.text for word in take_apart(text).words]
    if told := _FOR_ME.search(plain(text)) or _TO_A_VALUE.search(plain(text)):
        return told[2]
    first = next((place for place, word in enumerate(words) if word not in _POLITE), None)
    if first is None or words[first] not in lexis().changes or len(words) < first + 2:
        return ""
    return words[first] if words[first + 1] in _ARTICLES or words[first] in _ALWAYS else ""


_ASKED = r"^(please |kindly |can you |could you )?"
_FOR_ME = re.compile(_ASKED + r"(sign|book|enrol|enroll|register|reserve|order|buy|subscribe|put|add) (me|us)\b")
_TO_A_VALUE = re.compile(_ASKED + r"(set|change|update|raise|lower|increase|decrease|rename|move) .* to ['\"]?\w+\W*$")
_ARTICLES = frozenset(["the", "all", "a", "an", "my", "our", "this", "that", "these", "every", "his", "her", "their"])
_ALWAYS = frozenset(
    ["delete", "remove", "insert", "update", "drop", "cancel", "scrap", "erase", "discard", "deactivate", "archive"]
    + ["reassign", "merge", "nominate"]
)
