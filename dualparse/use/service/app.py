"""The service as an ASGI application: runs in, endpoints out. Nothing here reads or writes files but the web page's.

Every error is `{"error": "..."}` with a fitting status and says nothing about the machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from fastapi.security import HTTPBearer
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import Response

import dualparse
from dualparse.asking.journal import Journal
from dualparse.asking.reply import Reply
from dualparse.errors import InputError
from dualparse.use.api import Parser
from dualparse.use.service import feedback, model_routes, schemas
from dualparse.use.service.batching import NoRoom
from dualparse.use.service.guard import LOCKED, Guard, problem
from dualparse.use.service.limits import Limits
from dualparse.use.service.observing import CONTENT_TYPE, Figures, Log, Noted, Observer
from dualparse.use.service.paging import as_csv
from dualparse.use.service.requests import chosen_run, in_time
from dualparse.use.service.served import Served, Target, open_target, target_of

NO_ROOM_SECONDS = 2.0  # until a request is told that too many wait
WEB = Path(dualparse.__file__).parent / "use" / "web"
DESCRIPTION = (
    "Questions into answers. POST /ask says what was understood, how sure that is, and asks back or refuses where it "
    "should; POST /run takes the reading that was meant. The other endpoints look into the models of a trained run."
)
REFUSALS = {
    401: "The token is missing or wrong (only where the server asks for one).",
    404: "No such run.",
    408: "The head or the body did not arrive in time.",
    413: "The body is too large.",
    421: "The server does not answer to this host name.",
    422: "The request is not as described; the error says why.",
    429: "This client has had its share for now; try again after as many seconds as Retry-After says.",
    431: "The head of the request is too large.",
    500: "An error of the service.",
    503: "Too many requests wait; try again after as many seconds as Retry-After says.",
    504: "No result in time.",
}
CSV: dict[int | str, dict] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}, "description": "All rows."}
}
RESPONSES: dict[int | str, dict] = {
    status: {"model": schemas.ErrorOut, "description": text} for status, text in REFUSALS.items()
}

OPEN = ("/", "/docs", "/health", "/ready", "/openapi.json")  # that need no token
router = APIRouter()
asking = APIRouter(responses=RESPONSES)


def make_app(
    targets: Mapping[str, Target | Parser],
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Collection[str] | None = None,
    log: Log | None = None,
    journals: Mapping[str, Journal] | None = None,
) -> FastAPI:
    """Targets by name, the first of them the default -> the application. `hosts` and `token`: see `Guard`; `journals`:
    what keeps the questions and the feedback, by the same names."""
    limits, figures = limits or Limits(), Figures()
    opened = {name: target_of(each) if isinstance(each, Parser) else each for name, each in targets.items()}

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            app.state.runs = {
                name: await stack.enter_async_context(
                    open_target(name, target, limits, figures, (journals or {}).get(name))
                )
                for name, target in opened.items()
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
    app.state.limits, app.state.figures = limits, figures
    app.add_middleware(Guard, limits=limits, token=token, hosts=hosts)
    app.add_middleware(Observer, figures=figures, log=log or Log(), paths=[*LOCKED, *OPEN])
    app.include_router(router)
    # The guard judges the token; the scheme tells readers of the document that there is one.
    locked = [Depends(HTTPBearer(auto_error=False))] if token else []
    app.include_router(asking, dependencies=locked)
    app.include_router(feedback.router, dependencies=locked, responses=RESPONSES)
    app.include_router(model_routes.router, dependencies=locked, responses=RESPONSES)
    app.mount("/web", StaticFiles(directory=WEB), name="web")
    for error, handler in HANDLERS.items():
        app.add_exception_handler(error, handler)
    return app


@asking.post("/ask")
async def ask(request: Request, asked: schemas.AskRequest) -> schemas.ReplyResponse:
    """Ask a question: an answer, readings to choose from, or a refusal with its reason."""
    run = chosen_run(request, asked.run)
    reply, total = await in_time(request, run.ask(asked.question, asked.limit))
    return _reply(request, run, reply, total, id=await feedback.note_asked(run, reply))


@asking.post("/run")
async def run_form(request: Request, asked: schemas.RunRequest) -> schemas.ReplyResponse:
    """Run a form: the reading that somebody has chosen, or the next rows of an answer."""
    run = chosen_run(request, asked.run)
    reply, total = await in_time(request, run.run(asked.form, asked.question, asked.offset, asked.limit))
    return _reply(request, run, reply, total, offset=asked.offset)


@asking.post("/export", response_class=Response, responses=CSV)
async def export(request: Request, asked: schemas.ChosenForm) -> Response:
    """All rows of a form's answer as CSV."""
    run = chosen_run(request, asked.run)
    reply = await in_time(request, run.whole(asked.form, asked.question))
    if not reply.answered:
        raise InputError(reply.reason or "the form has no answer")
    headers = {"Content-Disposition": 'attachment; filename="answer.csv"'}
    return Response(as_csv(reply), media_type="text/csv; charset=utf-8", headers=headers)


def _reply(
    request: Request, run: Served, reply: Reply, total: int, *, offset: int = 0, id: str = ""
) -> schemas.ReplyResponse:
    noted: Noted = request.state.noted
    noted.run, noted.outcome, noted.question = run.name, reply.status, reply.question
    return schemas.ReplyResponse(run=run.name, id=id, offset=offset, total=total, **reply.to_dict())


@asking.get("/domains")
async def domains(request: Request) -> schemas.DomainsResponse:
    """The runs that are served: what they know and example questions."""
    runs: dict[str, Served] = request.app.state.runs
    return schemas.DomainsResponse(runs=[_described(run) for run in runs.values()])


def _described(run: Served) -> schemas.RunOut:
    about = run.target.about
    types = [schemas.EntityType(name=each.name, count=each.count, examples=list(each.examples)) for each in about.types]
    return schemas.RunOut(
        name=run.name,
        domain=about.domain,
        title=about.title,
        description=about.description,
        questions=list(about.questions),
        types=types,
        executes=about.executes,
        models=run.opened is not None,
        verbalizes=run.verbalizes,
        feedback=run.journal is not None,
    )


@router.get("/health")
async def health(request: Request) -> schemas.HealthResponse:
    """Whether the service is up, and how much waits."""
    runs: dict[str, Served] = request.app.state.runs
    waiting = sum(queue.waiting for run in runs.values() for queue in run.queues)
    return schemas.HealthResponse(status="ok", version=dualparse.__version__, runs=list(runs), waiting=waiting)


@router.get("/ready", responses={503: {"model": schemas.ReadyResponse, "description": "Not now."}})
async def ready(request: Request, response: Response) -> schemas.ReadyResponse:
    """Whether a question would be taken now: all runs are open, and none has as much to do as it may have."""
    runs: dict[str, Served] = request.app.state.runs
    full = [run.name for run in runs.values() if any(queue.full for queue in run.queues)]
    response.status_code = 503 if full else 200
    return schemas.ReadyResponse(ready=not full, full=full)


@asking.get("/metrics", include_in_schema=False)
async def metrics(request: Request) -> Response:
    figures: Figures = request.app.state.figures
    return Response(figures.text(), media_type=CONTENT_TYPE)


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
    """Told late: a thousand clients that ask again at once would leave no time for anything but refusals."""
    await asyncio.sleep(NO_ROOM_SECONDS)
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
