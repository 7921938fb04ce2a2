"""Endpoints that look into the models of a run: readings, wordings, attention, and forms on their own."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter, Request
from starlette.responses import Response

from dualparse.use.service import schemas
from dualparse.use.service.requests import chosen_run, in_time

router = APIRouter()


@router.post("/parse", response_model=schemas.ParseResponse)
async def parse(request: Request, asked: schemas.ParseRequest) -> Response:
    """Read a question: its likeliest logical forms, each with score, verdict and answer."""
    run = chosen_run(request, asked.run).models
    parses = await in_time(request, run.parse(asked.question, asked.k))
    shown = [schemas.ParseOut.model_validate(parse) for parse in parses]
    answer = schemas.ParseResponse(run=run.name, question=asked.question, parses=shown)
    return Response(answer.model_dump_json(), media_type="application/json")  # as it is: nothing is checked twice


@router.post("/verbalize")
async def verbalize(request: Request, asked: schemas.VerbalizeRequest) -> schemas.VerbalizeResponse:
    """Say a logical form in words: the way back, by the dual model."""
    run = chosen_run(request, asked.run).models
    wordings = await in_time(request, run.verbalize(asked.form, asked.k))
    shown = [schemas.WordingOut.model_validate(wording) for wording in wordings]
    return schemas.VerbalizeResponse(run=run.name, form=asked.form, wordings=shown)


@router.post("/execute")
async def execute(request: Request, asked: schemas.ExecuteRequest) -> schemas.ExecuteResponse:
    """Check a logical form and run it. No model takes part."""
    run = chosen_run(request, asked.run).models
    done = await in_time(request, run.execute(asked.form))
    verdict = schemas.VerdictOut.model_validate(done.verdict)
    return schemas.ExecuteResponse(run=run.name, form=asked.form, verdict=verdict, answer=done.answer)


@router.post("/explain")
async def explain(request: Request, asked: schemas.ExplainRequest) -> schemas.ExplainResponse:
    """What the model looked at for each token of a form, and what it copied from the question."""
    run = chosen_run(request, asked.run).models
    found = asdict(await in_time(request, run.explain(asked.question, asked.form)))
    found["attention"] = [[round(weight, 4) for weight in row] for row in found["attention"]]
    found["gate"] = [round(share, 4) for share in found["gate"]]
    return schemas.ExplainResponse(run=run.name, **found)
