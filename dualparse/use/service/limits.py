"""How much one caller may ask for. What a request may hold stands in the OpenAPI document; the rest is set at start."""

from __future__ import annotations

from dataclasses import dataclass

MAX_QUESTION = 2_000  # characters; the parser takes at most 200 words
MAX_FORM = 10_000  # characters
MAX_NAME = 200  # characters of a run's name
MAX_K = 20  # readings or wordings
MAX_BODY = 64 * 1024  # bytes
MAX_HEAD = 16 * 1024  # bytes of a request's first line and headers
MAX_PIPELINED = 16  # requests of one connection that wait behind the one that is answered


@dataclass(frozen=True)
class Limits:
    """How a server divides its work.

    batch    most questions searched together
    searches  at the same time, for each run
    room     most jobs that wait for one model
    seconds  most for one request
    form_seconds    most for the execution of a form
    form_processes  processes that execute the forms of a run
    head_seconds  most for the head of a request to arrive
    connections   most that are open
    per_client    most that one address has open
    rate          requests a minute that one address may make; 0: as many as it likes
    """

    batch: int = 32
    searches: int = 1
    room: int = 256
    seconds: float = 10.0
    form_seconds: float = 1.0
    form_processes: int = 2
    head_seconds: float = 5.0
    connections: int = 2048
    per_client: int = 1024
    rate: int = 0
