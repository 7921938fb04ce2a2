"""A little English: plurals, and the forms of a verb that stands in the third person singular.

>>> plural("branch"), plural("sales person"), plural("city"), several("is written by"), several("manages")
('branches', 'sales people', 'cities', 'are written by', 'manage')
>>> asked("was written by", "the book"), asked("wrote", "ada")
('was the book written by', 'did ada write')
"""

from __future__ import annotations

PLURALS = {
    **{"person": "people", "child": "children", "staff": "staff", "aircraft": "aircraft", "species": "species"},
    **{"fish": "fish", "spaceman": "spacemen", "inch": "inches", "foot": "feet", "deer": "deer", "money": "money"},
    **{"series": "series", "man": "men", "woman": "women", "thesis": "theses", "storeys": "storeys"},
}
PAST = {
    "wrote": "write", "bought": "buy", "sold": "sell", "made": "make", "brought": "bring", "drew": "draw",
    "took": "take", "gave": "give", "got": "get", "had": "have", "led": "lead", "held": "hold", "won": "win",
    "lost": "lose", "ran": "run", "drove": "drive", "flew": "fly", "sent": "send", "paid": "pay", "put": "put",
    "did": "do", "came": "come", "left": "leave", "went": "go", "began": "begin", "built": "build", "grew": "grow",
    "heard": "hear", "hit": "hit", "set": "set", "saw": "see", "fought": "fight", "found": "find", "broke": "break",
    "died": "die", "hired": "hire", "placed": "place", "produced": "produce", "included": "include", "used": "use",
    "purchased": "purchase", "released": "release", "moved": "move", "arrived": "arrive", "received": "receive",
    "acquired": "acquire", "owned": "own", "dispatched": "dispatch", "handled": "handle", "gained": "gain",
    "subscribed": "subscribe", "achieved": "achieve", "organized": "organize", "solved": "solve", "became": "become",
    "premiered": "premiere", "yielded": "yield", "launched": "launch", "carried": "carry", "decided": "decide",
    "created": "create", "closed": "close", "caused": "cause", "invented": "invent", "retired": "retire",
}  # fmt: skip
BE = {"is": "are", "was": "were", "has": "have", "does": "do", "needs": "need"}


def plural(noun: str) -> str:
    head, _, last = noun.rpartition(" ")
    if " of " in noun:
        first, _, rest = noun.partition(" of ")
        return f"{plural(first)} of {rest}"
    if last in PLURALS:
        many = PLURALS[last]
    elif last.endswith(("s", "x", "ch", "sh")) and not last.endswith(("ls", "ts", "ns", "rs", "ds", "es", "ys")):
        many = last + "es"
    elif last.endswith("s"):
        many = last
    elif last.endswith("y") and last[-2:-1] not in "aeiou":
        many = last[:-1] + "ies"
    else:
        many = last + "s"
    return f"{head} {many}".strip()


def past(verb: str) -> bool:
    word = verb.split()[0]
    return word in PAST or word.endswith("ed") or word == "was"


def several(verb: str) -> str:
    """For a plural subject."""
    word, _, rest = verb.partition(" ")
    if word in BE:
        word = BE[word]
    elif not past(verb) and word.endswith("s"):
        word = base(word)
    return f"{word} {rest}".strip()


def base(word: str) -> str:
    """The infinitive of one word."""
    if word in PAST:
        return PAST[word]
    if word in ("is", "was"):
        return "be"
    if word == "has":
        return "have"
    if word == "does":
        return "do"
    if word == "goes":
        return "go"
    if word.endswith("ied") or word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("ed"):
        stem = word[:-2]
        if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "ls":
            return stem[:-1]
        return stem + "e" if stem[-1] in "cvuz" else stem
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word.removesuffix("s")


def infinitive(verb: str) -> str:
    word, _, rest = verb.partition(" ")
    return f"{base(word)} {rest}".strip()


def asked(verb: str, subject: str, *, many: bool = False) -> str:
    """The middle of a question: `was written by`, `the book` -> `was the book written by`."""
    word, _, rest = verb.partition(" ")
    if word in ("is", "was", "has") and rest:
        return f"{BE[word] if many else word} {subject} {rest}"
    helper = "did" if past(verb) else "do" if many else "does"
    return f"{helper} {subject} {infinitive(verb)}"


def negated(verb: str, *, many: bool = False) -> str:
    """`was written by` -> `was not written by`, `wrote` -> `did not write`."""
    word, _, rest = verb.partition(" ")
    if word in ("is", "was") or (word == "has" and rest.startswith(("been", "had"))):
        return f"{BE[word] if many else word} not {rest}"
    helper = "did" if past(verb) else "do" if many else "does"
    return f"{helper} not {infinitive(verb)}"


def an(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
