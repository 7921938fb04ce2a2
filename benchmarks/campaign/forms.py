"""Logical forms of strangers, through reader, checker and evaluator: `python -m benchmarks.campaign --only forms`.

Texts are drawn from the forms of *trails*, ATIS and OVERNIGHT (the latter two where their files are): mutated, cut,
spliced, made of random words, nested, typed at random, lambdas that make much of little.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from random_forms import SCHEMA, world
from random_forms import Forms as TypedForms

from benchmarks.campaign.part import Part, promise
from dualparse.data.examples import read_examples
from dualparse.domains.domain import Domain
from dualparse.domains.plain import Plain
from dualparse.domains.registry import open_domain
from dualparse.domains.signatures import SIGNATURES
from dualparse.errors import InputError
from dualparse.lf import sexpr
from dualparse.lf.canonical import normalize_text
from dualparse.lf.errors import LF_ERRORS
from dualparse.lf.verdict import Verdict

DOMAINS = (
    "trails",
    "atis",
    *(
        f"overnight/{name}"
        for name in (
            "basketball",
            "blocks",
            "calendar",
            "housing",
            "publications",
            "recipes",
            "restaurants",
            "socialnetwork",
        )
    ),
)
MOST_SECONDS = 2.0  # of one core for one form; the budget of steps is about a tenth of a second
ODD = ("!", "!type", "-1", "1e308", "1e-9", "nan", "inf", "٣", "9" * 400, "\u0000", "\u202e", "'", '"', "--", ";", "it")
ODD_LETTERS = "()! \t\n\x00'\";%\u00e4\u202e\ud7ff\U0001f600ab01.:-_$"


@dataclass(frozen=True)
class Language:
    """A domain, forms of it, and the tokens they are made of."""

    domain: Domain
    forms: tuple[str, ...]
    tokens: tuple[str, ...]


def languages() -> list[Language]:
    """The domains whose files are there."""
    found = []
    for name in DOMAINS:
        try:
            domain = open_domain(name)
            pairs = read_examples(domain.files["train"])
        except InputError:
            continue
        forms = [" ".join(pair.lf) for pair in pairs if pair.lf]
        if name == "trails":
            forms += [row.example for row in SIGNATURES if row.example]
        tokens = sorted({token for form in forms for token in form.split()})
        found.append(Language(domain, tuple(forms), tuple(tokens)))
    return found


class Forms(Part):
    about = (
        "Random, mutated, nested and typed logical forms through reader, checker and evaluator. Nothing but the two "
        "logical-form errors is raised, no form takes more than its steps allow, and a normal form is its own normal "
        "form."
    )
    unit = "forms"
    cases = 1_000_000
    share = 0.2
    patience = 30.0

    def prepare(self) -> None:
        self.languages = languages()
        self.figures["domains"] = len(self.languages)
        self.ways: tuple[Callable[[Language, random.Random], str], ...] = (
            mutated,
            renamed,
            renamed,
            spliced,
            spliced,
            spliced,
            words,
            letters,
            nested,
            lambdas,
        )

    def case(self, number: int) -> Counter[str]:
        rng = self.drawn(number)
        if rng.random() < 0.15:
            return self.typed(rng)
        language = rng.choice(self.languages)
        self.input = text = rng.choice(self.ways)(language, rng)
        reads = _normal_forms(text)
        began = time.process_time()
        verdict = language.domain.check(text) if language.domain.fresh is None else _executed(language.domain, text)
        self._in_time(began)
        promise(reads or not verdict.surface, "a text that cannot be read has a good surface")
        return Counter([_kind(verdict)])

    def typed(self, rng: random.Random) -> Counter[str]:
        """A form that its types allow, over a small world, with few steps: what is cut short is an error, too."""
        made = world(rng)
        self.input = form = TypedForms(made, rng).any()
        if rng.random() < 0.3:
            self.input = form = _mutated(form.split(), form.split(), rng)
        _normal_forms(form)
        began = time.process_time()
        try:
            Plain(made, SCHEMA, max_steps=rng.choice((10, 1_000, 1_000_000))).answer(form)
            kind = "answered"
        except LF_ERRORS as error:
            kind = "too many steps" if "too many steps" in str(error) else "refused"
        self._in_time(began)
        return Counter([kind])

    def _in_time(self, began: float) -> None:
        seconds = time.process_time() - began
        self.most("slowest form, s", round(seconds, 3))
        promise(seconds < MOST_SECONDS, f"{seconds:.2f} seconds of one core")


def _executed(domain: Domain, text: str) -> Verdict:
    """What becomes of a form; checking alone says the same."""
    assert domain.fresh is not None
    verdict, answer = domain.fresh(text, None)
    promise(verdict.ok == (answer is not None), "a verdict that does not go with the answer")
    return verdict


def _kind(verdict: Verdict) -> str:
    if verdict.ok:
        return "answered"
    if "too many steps" in verdict.reason:
        return "too many steps"
    return "refused" if verdict.surface else "not read"


def _normal_forms(text: str) -> bool:
    """Whether a text can be read; then it is read back as it is written, and its normal form is its own."""
    try:
        tree = sexpr.read(text)
    except LF_ERRORS:
        return False
    promise(sexpr.read(sexpr.write(tree)) == tree, "what is written reads as something else")
    normal = normalize_text(text)
    promise(normalize_text(normal) == normal, "the normal form of a normal form is another one")
    return True


# -- ways to make a text


def mutated(language: Language, rng: random.Random) -> str:
    """A form of the domain, with a few tokens changed."""
    return _mutated(rng.choice(language.forms).split(), language.tokens, rng)


def _mutated(tokens: list[str], known: tuple[str, ...] | list[str], rng: random.Random) -> str:
    tokens = list(tokens)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        place = rng.randrange(len(tokens) + 1)
        end = min(len(tokens), place + rng.choice((1, 1, 2, 5)))
        way = rng.randrange(6)
        if way == 0:
            tokens[place:end] = []
        elif way == 1:
            tokens[place:place] = [rng.choice(known)]
        elif way == 2:
            tokens[place:end] = [rng.choice(known)]
        elif way == 3:
            tokens[place:place] = tokens[place:end] * rng.choice((1, 2, 50))
        elif way == 4:
            tokens[place:end] = [rng.choice(ODD)]
        elif tokens:
            other = rng.randrange(len(tokens))
            place = min(place, len(tokens) - 1)
            tokens[place], tokens[other] = tokens[other], tokens[place]
        tokens = tokens or ["("]
    return " ".join(tokens)


def renamed(language: Language, rng: random.Random) -> str:
    """A form of the domain with other words in it: its parentheses are as they were."""
    tokens = rng.choice(language.forms).split()
    for place in range(len(tokens)):
        if tokens[place] not in ("(", ")") and rng.random() < 0.2:
            tokens[place] = rng.choice(language.tokens if rng.random() < 0.9 else ODD)
    return " ".join(tokens)


def spliced(language: Language, rng: random.Random) -> str:
    """A part of one form in place of a part of another one."""
    first, second = (rng.choice(language.forms).split() for _ in range(2))
    (a, b), (c, d) = _part(first, rng), _part(second, rng)
    return " ".join([*first[:a], *second[c:d], *first[b:]])


def _part(tokens: list[str], rng: random.Random) -> tuple[int, int]:
    """Where a random part of a form stands, parentheses and all."""
    starts = [place for place, token in enumerate(tokens) if token == "("] or [0]
    start, open_ = rng.choice(starts), 0
    for end in range(start, len(tokens)):
        open_ += (tokens[end] == "(") - (tokens[end] == ")")
        if open_ <= 0:
            return start, end + 1
    return start, len(tokens)


def words(language: Language, rng: random.Random) -> str:
    """Words of the language in any order, parentheses among them."""
    pool = (*language.tokens, "(", ")", "(", ")", *ODD)
    return " ".join(rng.choices(pool, k=int(rng.paretovariate(0.7)) % 3_000 + 1))


def letters(language: Language, rng: random.Random) -> str:
    """A form with letters changed, or letters alone."""
    text = list(rng.choice(language.forms)) if rng.random() < 0.7 else [""] * rng.randrange(200)
    for _ in range(rng.randrange(1, 12)):
        place = rng.randrange(len(text) + 1)
        text[place : place + rng.randrange(2)] = [rng.choice(ODD_LETTERS)]
    return "".join(text)


def nested(language: Language, rng: random.Random) -> str:
    """Sets in sets in sets, about as deep as forms may be, and deeper."""
    depth = rng.choice((5, 30, 97, 98, 99, 100, 101, 150, 3_000, 40_000))
    kind = rng.randrange(4)
    if kind == 0:
        return "( " * depth + rng.choice(language.tokens) + " )" * rng.choice((depth, depth, depth - 1, depth + 1))
    if kind == 1:
        return f"( {rng.choice(('not', 'count', 'all', 'and', 'lambda x', 'call'))} " * depth + "x" + " )" * depth
    inner = rng.choice(language.forms)
    heads = [token for token, after in zip(inner.split()[1:], inner.split(), strict=False) if after == "("]
    head = rng.choice(heads or ["and"])
    around = f"( {head} {' '.join(rng.choices(language.tokens, k=rng.randrange(3)))} "
    return around * depth + inner + " )" * depth


def lambdas(language: Language, rng: random.Random) -> str:
    """Numerals of Church, doublings, and terms without an end: short, and much to do."""
    inner = rng.choice(language.forms)
    kind = rng.randrange(3)
    if kind == 0:  # n applied to n ... applied to a function and a form
        times = rng.randrange(2, 6)
        numeral = "( lambda f ( lambda x " + "( ( var f ) " * times + "( var x )" + " )" * times + " ) )"
        made = numeral
        for _ in range(rng.randrange(1, 6)):
            made = f"( {made} {numeral} )"
        return f"( ( {made} ( lambda y ( and ( var y ) ( var y ) ) ) ) {inner} )"
    if kind == 1:
        head = rng.choice(("and", "or", "call .concat", "filter"))
        made = inner
        for _ in range(rng.randrange(1, 25)):
            made = f"( ( lambda s ( {head} ( var s ) ( var s ) ) ) {made} )"
        return made
    omega = "( lambda x ( ( var x ) ( var x ) ) )"
    return f"( {omega} {omega} )" if rng.random() < 0.2 else f"( ( lambda y {inner} ) ( {omega} {omega} ) )"
