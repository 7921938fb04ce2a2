"""What the service takes and gives, as JSON. Unknown fields are refused, so that a typo is seen."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from dualparse.use.service.limits import MAX_FORM, MAX_K, MAX_NAME, MAX_QUESTION
from dualparse.use.service.paging import MOST_PAGE, PAGE


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")
    run: Annotated[str | None, Field(max_length=MAX_NAME, description="Which run; the first one without it.")] = None


Question = Annotated[
    str, Field(min_length=1, max_length=MAX_QUESTION, examples=["which huts have showers"], description="A question.")
]
Form = Annotated[
    str, Field(min_length=1, max_length=MAX_FORM, examples=["( count ( all hut ) )"], description="A logical form.")
]
# `strict`: neither true nor a text is a number.
Count = Annotated[int, Field(strict=True, ge=1, le=MAX_K, description="How many at most.")]


class ParseRequest(_Request):
    question: Question
    k: Count = 5


Offset = Annotated[int, Field(strict=True, ge=0, le=10_000_000, description="Rows to leave out before the first.")]
Limit = Annotated[int, Field(strict=True, ge=1, le=MOST_PAGE, description="Rows at most.")]


class AskRequest(_Request):
    question: Question
    limit: Limit = PAGE


class ChosenForm(_Request):
    form: Form
    question: Annotated[str, Field(max_length=MAX_QUESTION, description="The question it is the reading of.")] = ""


class RunRequest(ChosenForm):
    offset: Offset = 0
    limit: Limit = PAGE


class FeedbackRequest(_Request):
    question: Question
    judgement: Literal["right", "wrong", "meant"] = Field(
        description="Of the answer that was given; meant: another form is what was asked for."
    )
    form: Annotated[
        str,
        Field(max_length=MAX_FORM, description="The answer's form, or the one that is meant; of wrong it may lack."),
    ] = ""
    of: Annotated[str, Field(max_length=MAX_NAME, description="The `id` of the reply this is about.")] = ""


class VerbalizeRequest(_Request):
    form: Form
    k: Count = 1


class ExecuteRequest(_Request):
    form: Form


class ExplainRequest(_Request):
    question: Question
    form: Annotated[Form | None, Field(description="Explain the way to this form, not to the best one.")] = None


class _Response(BaseModel):
    model_config = ConfigDict(from_attributes=True)  # made of the API's own dataclasses


class ChoiceOut(_Response):
    form: str = Field(description="What POST /run takes.")
    said: str = Field(description="The reading in plain words.")
    probability: float


class ReplyOut(_Response):
    question: str
    status: Literal["answered", "ambiguous", "refused", "error"] = Field(
        description="ambiguous: choices holds the readings; refused, error: reason says why."
    )
    columns: list[str]
    units: list[str] = Field(description="The unit of each column, empty without one.")
    rows: list[list[str | int | float | bool | None]] = Field(description="This page of the answer.")
    kind: str = Field(description="rows, value, yes_no or none; empty without an answer.")
    form: str
    sql: str
    said: str = Field(description="What was understood, in plain words.")
    probability: float = Field(description="That the answer is right; of a refusal, that the best reading is.")
    reason: str
    notes: list[str] = Field(description="What was guessed about the question's text.")
    choices: list[ChoiceOut] = Field(description="The readings to choose from; of an answer, others that were close.")
    truncated: bool = Field(description="There are more rows than these.")


class ReplyResponse(ReplyOut):
    run: str
    id: str = Field(description="The question's number in the journal, for POST /feedback; empty where none is kept.")
    offset: int = Field(description="Rows before the first of this page.")
    total: int = Field(description="Rows there are; where the database was cut short, at least so many.")


class FeedbackResponse(_Response):
    run: str
    id: str = Field(description="Of the record in the journal.")


class VerdictOut(_Response):
    ok: bool = Field(description="Both of the following.")
    surface: bool = Field(description="The text is one complete tree.")
    semantics: bool = Field(description="The form is type-consistent, or runs.")
    reason: str = Field(description="Why not; empty where it is.")


class CopyOut(_Response):
    token: int = Field(description="Number of a token of the form, from 0.")
    words: list[int] = Field(description="Numbers of the words it was copied from, from 0.")


class ParseOut(_Response):
    form: str
    probability: float = Field(description="That its answer is right.")
    score: float = Field(description="0 is certainty: log-probability per token, or log-share among the readings.")
    verdict: VerdictOut
    answer: str | None = Field(description="The denotation; null where the form does not run.")
    copies: list[CopyOut]
    notes: list[str] = Field(description="What was guessed about the question's text.")


class ParseResponse(_Response):
    run: str
    question: str
    parses: list[ParseOut] = Field(description="Valid readings first, each group by score.")


class WordingOut(_Response):
    query: str
    score: float


class VerbalizeResponse(_Response):
    run: str
    form: str
    wordings: list[WordingOut]


class ExecuteResponse(_Response):
    run: str
    form: str
    verdict: VerdictOut
    answer: str | None


class ExplainResponse(_Response):
    run: str
    words: list[str] = Field(description="The question as the model read it.")
    said: list[str] = Field(description="What was typed in the place of each word.")
    tokens: list[str] = Field(description="The form.")
    attention: list[list[float]] = Field(description="One row a token, one weight a word.")
    gate: list[float] = Field(description="For each token the probability of copying it.")
    copies: list[CopyOut]
    notes: list[str]


class EntityType(_Response):
    name: str
    count: int
    examples: list[str] = Field(description="A few of them.")


class RunOut(_Response):
    name: str
    domain: str
    title: str
    description: str
    questions: list[str] = Field(description="Example questions.")
    types: list[EntityType] = Field(description="Types of the entities that questions can name.")
    executes: bool = Field(description="Whether forms have answers; else they are only checked.")
    models: bool = Field(description="A trained run: /parse, /verbalize, /execute and /explain answer for it too.")
    verbalizes: bool = Field(description="Whether the run can say forms in words.")
    feedback: bool = Field(description="Whether POST /feedback keeps what users say of the answers.")


class DomainsResponse(_Response):
    runs: list[RunOut]


class HealthResponse(_Response):
    status: str
    version: str
    runs: list[str]
    waiting: int = Field(description="Requests that wait for a model.")


class ReadyResponse(_Response):
    ready: bool = Field(description="Whether a question would be taken now.")
    full: list[str] = Field(description="Runs whose queues take no more.")


class ErrorOut(_Response):
    error: str
