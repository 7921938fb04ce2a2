"""What a parser gives: readings of a question, wordings of a form, what a model looked at. Plain values alone, so that
`dataclasses.asdict` makes JSON of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dualparse.lf.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Copy:
    """Token number `token` of a form was copied from the question: from the words with these numbers."""

    token: int
    words: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Parse:
    """One reading of a question. `answer` is None where the domain cannot execute, or the form does not run.

    `probability` is that of its answer being right, fitted on dev (`dualparse evaluate --calibration`); readings with
    the same answer have the same. `score` is by what readings were ranked, a logarithm where 0 is certainty: of the
    probability per token, in a committee the mean over its parsers, or, where both agents choose, of the share among
    the readings found.

    `parts` say what the score is made of: what each of those who choose added to the rank of the reading, by name
    (q2lf, reconstruction, prior, matcher, reader).

    `copies` number the tokens of `form` and the words of `Parser.read(question)`; `notes` say what was guessed about
    the text of the question.
    """

    form: str
    score: float
    verdict: Verdict
    answer: str | None
    copies: tuple[Copy, ...] = ()
    notes: tuple[str, ...] = ()
    probability: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wording:
    """One way to say a form."""

    query: str
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a model came from a question to a form, or would have come; of a committee, the run's own parser.

    words       the question as the model read it
    tokens      the form
    attention   one row a token, one weight a word; a row adds up to 1
    gate        for each token the probability that the model copied rather than generated; 0 without copying
    copies      tokens that came by copying, and from where
    notes       what was guessed about the text of the question
    said        what was typed in the place of each word
    """

    words: tuple[str, ...]
    tokens: tuple[str, ...]
    attention: tuple[tuple[float, ...], ...]
    gate: tuple[float, ...]
    copies: tuple[Copy, ...]
    notes: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
