"""Why a question has no answer, in the same words wherever it is asked.

In: words that nothing explains, and what the data is called. Out: a reason, as it stands after "no answer:".
"""

from __future__ import annotations

from collections.abc import Iterable

MOST_NAMED = 4
UNFIT = "nothing the data can tell fits this question well"


def unknown(words: Iterable[str]) -> str:
    """
    >>> unknown(["budget"]), unknown(["square", "metres", "square"])
    ("nothing in the data is called 'budget'", "nothing in the data is called 'square' or 'metres'")
    """
    return f"nothing in the data is called {alternatives(words)}"


def alternatives(words: Iterable[str]) -> str:
    """
    >>> alternatives(["a"]), alternatives(["a", "b", "c"])
    ("'a'", "'a', 'b' or 'c'")
    """
    *first, last = list(map(repr, dict.fromkeys(words)))[:MOST_NAMED]
    return f"{', '.join(first)} or {last}" if first else last


def unlike(title: str) -> str:
    """A text of known words that no question here is made of.

    >>> unlike("shop")
    'this does not read like a question about the data here (shop)'
    """
    return f"this does not read like a question about the data here ({title})"


def elsewhere(title: str, words: Iterable[str] = ()) -> str:
    """A text none of whose words speaks of the data.

    >>> elsewhere("shop", ["rain"])
    "this seems to be about something other than the data here (shop): nothing in it is called 'rain'"
    """
    named = f": nothing in it is called {told}" if (words := list(words)) and (told := alternatives(words)) else ""
    return f"this seems to be about something other than the data here ({title}){named}"
