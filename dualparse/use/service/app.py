"""The service as an ASGI application: runs in, endpoints out. Nothing here reads or writes files but the web page's.

Every error is `{"error": "..."}` with a fitting status and says nothing about the machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import Response

import dualparse
from dualparse.errors import InputError
from dualparse.use.api import Parser
from dualparse.use.service import schemas
from dualparse.use.service.batching import NoRoom
from dualparse.use.service.guard import Guard, problem
from dualparse.use.service.limits import Limits
from dualparse.use.service.served import EXAMPLES, Served, entity_types, open_run, verbalizes

WEB = Path(dualparse.__file__).parent / "use" / "web"
DESCRIPTION = (
    "Questions into logical forms that run. Forms are checked and executed, so every reading of a question comes with "
    "a verdict and, where it runs, an answer. Requests that arrive together are answered together."
)
REFUSALS = {
    401: "The token is missing or wrong (only where the server asks for one).",
    404: "No such run.",
    408: "The head or the body did not arrive in time.",
    413: "The body is too large.",
    421: "The server does not answer to this host name.",
    422: "The request is not as described; the error says why.",
    431: "The head of the request is too large.",
    500: "An error of the service.",
    503: "Too many requests wait; try again after as many seconds as Retry-After says.",
    504: "No result in time.",
}
RESPONSES: dict[int | str, dict] = {
    status: {"model": schemas.ErrorOut, "description": text} for status, text in REFUSALS.items()
}

T = TypeVar("T")
router = APIRouter()
asking = APIRouter(responses=RESPONSES)


def make_app(
    parsers: Mapping[str, Parser],
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Collection[str] | None = None,
) -> FastAPI:
    """Runs by name, the first of them the default -> the application. `hosts` and `token`: see `Guard`."""
    limits = limits or Limits()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            app.state.runs = {
                name: await stack.enter_async_context(open_run(name, parser, limits))
                for name, parser in parsers.items()
            }
            yield

    app = FastAPI(
        title="dualparse",
        version=dualparse.__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # its page loads scripts from elsewhere; ours is below
        redoc_url=None,
    )
    app.state.limits = limits
    app.add_middleware(Guard, seconds=limits.seconds, token=token, hosts=hosts)
    app.include_router(router)
    # The guard judges the token; the scheme tells readers of the document that there is one.
    app.include_router(asking, dependencies=[Depends(HTTPBearer(auto_error=False))] if token else [])
    app.mount("/web", StaticFiles(directory=WEB), name="web")
    for error, handler in HANDLERS.items():
        app.add_exception_handler(error, handler)
    return app


def _run(request: Request, name: str | None) -> Served:
    runs: dict[str, Served] = request.app.state.runs
    chosen = next(iter(runs)) if name is None else name
    if chosen not in runs:
        raise HTTPException(404, f"no such run; there is {', '.join(runs)}")
    return runs[chosen]


async def _in_time(request: Request, result: Awaitable[T]) -> T:
    async with asyncio.timeout(request.app.state.limits.seconds):
        return await result


@asking.post("/parse", response_model=schemas.ParseResponse)
async def parse(request: Request, asked: schemas.ParseRequest) -> Response:
    """Read a question: its likeliest logical forms, each with score, verdict and answer."""
    run = _run(request, asked.run)
    parses = await _in_time(request, run.parse(asked.question, asked.k))
    shown = [schemas.ParseOut.model_validate(parse) for parse in parses]
    answer = schemas.ParseResponse(run=run.name, question=asked.question, parses=shown)
    return Response(answer.model_dump_json(), media_type="application/json")  # as it is: nothing is checked twice


@asking.post("/verbalize")
async def verbalize(request: Request, asked: schemas.VerbalizeRequest) -> schemas.VerbalizeResponse:
    """Say a logical form in words: the way back, by the dual model."""
    run = _run(request, asked.run)
    wordings = await _in_time(request, run.verbalize(asked.form, asked.k))
    shown = [schemas.WordingOut.model_validate(wording) for wording in wordings]
    return schemas.VerbalizeResponse(run=run.name, form=asked.form, wordings=shown)


@asking.post("/execute")
async def execute(request: Request, asked: schemas.ExecuteRequest) -> schemas.ExecuteResponse:
    """Check a logical form and run it. No model takes part."""
    run = _run(request, asked.run)
    done = await _in_time(request, run.execute(asked.form))
    verdict = schemas.VerdictOut.model_validate(done.verdict)
    return schemas.ExecuteResponse(run=run.name, form=asked.form, verdict=verdict, answer=done.answer)


@asking.post("/explain")
async def explain(request: Request, asked: schemas.ExplainRequest) -> schemas.ExplainResponse:
    """What the model looked at for each token of a form, and what it copied from the question."""
    run = _run(request, asked.run)
    found = asdict(await _in_time(request, run.explain(asked.question, asked.form)))
    found["attention"] = [[round(weight, 4) for weight in row] for row in found["attention"]]
    found["gate"] = [round(share, 4) for share in found["gate"]]
    return schemas.ExplainResponse(run=run.name, **found)


@asking.get("/domains")
async def domains(request: Request) -> schemas.DomainsResponse:
    """The runs that are served: what they know and example questions."""
    runs: dict[str, Served] = request.app.state.runs
    return schemas.DomainsResponse(runs=[_described(run) for run in runs.values()])


def _described(run: Served) -> schemas.RunOut:
    domain = run.parser.domain
    types = [
        schemas.EntityType(name=name, count=len(entities), examples=entities[:EXAMPLES])
        for name, entities in entity_types(domain).items()
    ]
    return schemas.RunOut(
        name=run.name,
        domain=domain.name,
        title=domain.title,
        description=domain.description,
        questions=list(domain.questions),
        types=types,
        executes=domain.execute is not None,
        verbalizes=verbalizes(run.parser),
    )


@router.get("/health")
async def health(request: Request) -> schemas.HealthResponse:
    """Whether the service is up, and how much waits."""
    runs: dict[str, Served] = request.app.state.runs
    waiting = sum(queue.waiting for run in runs.values() for queue in run.queues)
    return schemas.HealthResponse(status="ok", version=dualparse.__version__, runs=list(runs), waiting=waiting)


@router.get("/", include_in_schema=False)
async def page() -> FileResponse:
    return FileResponse(WEB / "index.html")


@router.get("/docs", include_in_schema=False)
async def docs() -> FileResponse:
    return FileResponse(WEB / "docs.html")


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][1:] if isinstance(part, str)) or "body"
    return problem(422, f"{place}: {first['msg']}")


async def _unusable(request: Request, error: Exception) -> Response:
    assert isinstance(error, InputError)
    return problem(422, error.message)  # without the path it may carry


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    if error.status_code == 400:  # the framework's word for bytes that are no JSON at all
        return problem(422, "body: not JSON")
    return problem(error.status_code, str(error.detail), **(error.headers or {}))


async def _no_room(request: Request, error: Exception) -> Response:
    return problem(503, "too many requests wait; try again in a second", Retry_After="1")


async def _too_late(request: Request, error: Exception) -> Response:
    return problem(504, f"no result within {request.app.state.limits.seconds:g} seconds")


async def _bug(request: Request, error: Exception) -> Response:
    return problem(500, "an error of the service; its log says more")


HANDLERS: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    RequestValidationError: _invalid,
    InputError: _unusable,
    StarletteHTTPException: _http,
    NoRoom: _no_room,
    TimeoutError: _too_late,
    Exception: _bug,
}
