"""What is no question about data: a request to change something, or for an opinion, a reason, or what will be.

In: a text. Out: why it is refused; "" for a question.
"""

from __future__ import annotations

import re

from dualparse.asking.lexis import lexis
from dualparse.asking.question import plain, take_apart

_OPINION = re.compile(
    r"^(?!how (many|much|long|far)\b).*\bshould (we|i|you|they|he|she)\b"
    r"|^(is|are|was|were)\b.* (nice|fun|friendly|boring|cool|interesting|beautiful|pleasant|any good|worth it)\W*$"
    r"|\b(predict|forecast)\b|\bwill (\w+ ){0,4}(win|become|lose|rise|fall|grow)\b|\bwill be (the )?champion"
    r"|\b(do|would|can|could) you (think|recommend|suggest|advise)\b|\byour (opinion|favou?rite|advice)\b"
    r"|\b(best|nicest|perfect|ideal) (\w+ ){1,2}to [a-z]+|\b(good|great) idea\b"
    r"|^(is|are|was|were)\b.* (worth \w+ing|justified)\b|\b(do|does) (\w+ ){1,2}(think|feel) (of|about)\b"
)
_AT_FIRST = r"^((so|and|but|ok|okay|well|hey),? )?"
_REASON = re.compile(_AT_FIRST + r"(why|how come)\b")
_MANNER = re.compile(
    _AT_FIRST + r"how (do|can|could|should|would) (i|you|we|one) "
    r"(?!(get|reach|find|see|contact|call|rank|compare|tell|know)\b)"
)
_FUTURE = re.compile(
    r"^will (the|our|my|this|that|these|those|we|they|he|she) "
    r"|^will (?!it\b|there\b)([^\s']+ ){1,3}(be|become|get|have|go|come|stay|sell|last) "
    r"|^(what|how much|how many)\b.* (can|should) (we|i|you) expect\b"
)
NO_REASONS = "this asks for a reason; the data holds none"


def asks_for_more(text: str) -> str:
    """Why a text is answered by no data.

    >>> asks_for_more("which of them should we promote")
    'this asks for an opinion; the data holds none'
    >>> asks_for_more("should we drop the red kettle"), asks_for_more("is Bo nice?") != ""
    ('this asks for an opinion; the data holds none', True)
    >>> asks_for_more("why are the trams late")
    'this asks for a reason; the data holds none'
    >>> asks_for_more("How do I change a tyre?")
    'this asks how something is done; the data tells what is, and not how'
    >>> asks_for_more("Will the Volt be sold out by May?")
    'this asks what will be; the data tells what is'
    >>> [asks_for_more(text) for text in ("how many do we have", "how can I get to Orsaz", "how long should we plan")]
    ['', '', '']
    """
    command, told = asks_for_change(text), plain(text)
    if command:
        return f"questions are answered here, nothing is changed: {command!r}"
    if _OPINION.search(told):
        return "this asks for an opinion; the data holds none"
    if _REASON.search(told):
        return NO_REASONS
    if _MANNER.search(told):
        return "this asks how something is done; the data tells what is, and not how"
    return "this asks what will be; the data tells what is" if _FUTURE.search(told) else ""


_POLITE = frozenset(["please", "can", "could", "would", "will", "you", "kindly", "to", "just", "now", "hey", "hi"])


def asks_for_change(text: str) -> str:
    """The word by which a text asks to change something instead of asking for something; "" for a question.

    >>> asks_for_change("Please delete all invoices"), asks_for_change("orders by customer")
    ('delete', '')
    >>> asks_for_change("Set Ann's wage to 5000"), asks_for_change("sign me up for chess")
    ('set', 'sign')
    >>> [asks_for_change(text) for text in ("give Bo Lind a rise", "Order 20 more helmets", "mark it as sold")]
    ['give', 'order', 'mark']
    >>> [asks_for_change(text) for text in ("give names of the huts", "make me a list of huts", "mark of Bo")]
    ['', '', '']
    """
    words = [word.text for word in take_apart(text).words]
    asked = plain(text)
    if told := next(filter(None, (pattern.search(asked) for pattern in _COMMANDS)), None):
        return told[2]
    first = next((place for place, word in enumerate(words) if word not in _POLITE), None)
    if first is None or words[first] not in lexis().changes or len(words) < first + 2:
        return ""
    return words[first] if words[first + 1] in _ARTICLES or words[first] in _ALWAYS else ""


_ASKED = r"^(please |kindly |can you |could you )?"
_FOR_ME = re.compile(_ASKED + r"(sign|book|enrol|enroll|register|reserve|order|buy|subscribe|put|add) (me|us)\b")
_TO_A_VALUE = re.compile(_ASKED + r"(set|change|update|raise|lower|increase|decrease|rename|move) .* to ['\"]?\w+\W*$")
_TO_SOMEBODY = re.compile(
    _ASKED + r"(give|send|offer|lend) (?!me\b|us\b|the\b|all\b|each\b|every\b|both\b|only\b)"
    r"([^\W\d]\S* ){1,3}?(?<!of )(?<!with )(?<!by )(?<!in )(?<!on )(?<!from )(?<!than )(?<!for )(an?|my|our|\d+%) "
)
_SO_MANY = re.compile(_ASKED + r"(order|reorder|buy|book|reserve) \d+ (more|new|of|extra)\b")
_AS_WHAT = re.compile(_ASKED + r"(mark|flag) (?!of\b).+ as \w+")
_MAKE = re.compile(
    _ASKED + r"(make) (me|us|him|her|them|it) "
    r"(?!(an?|the|one) (\w+ ){0,2}(list|table|overview|chart|summary|report|graph|plot|ranking|count)\b)"
)
_COMMANDS = (_FOR_ME, _TO_A_VALUE, _TO_SOMEBODY, _SO_MANY, _AS_WHAT, _MAKE)
_ARTICLES = frozenset(["the", "all", "a", "an", "my", "our", "this", "that", "these", "every", "his", "her", "their"])
_ALWAYS = frozenset(
    ["delete", "remove", "insert", "update", "drop", "cancel", "scrap", "erase", "discard", "deactivate", "archive"]
    + ["reassign", "merge", "nominate", "extend", "reorder", "assign", "reschedule", "notify", "remind", "appoint"]
)
