"""What people ask and say of the answers goes to a journal, where somebody has opened one (`dualparse.asking.journal`).

In: questions with their replies, and judgements of users. Out: records, on the disk when the caller is answered.
"""

from __future__ import annotations

import asyncio
import logging

from fastapi import APIRouter, Request

from dualparse.asking.journal import ASKED, MEANT, WRONG, Record
from dualparse.asking.reply import ANSWERED, Reply
from dualparse.errors import InputError
from dualparse.use.service import schemas
from dualparse.use.service.observing import Figures, Noted
from dualparse.use.service.requests import chosen_run, in_time
from dualparse.use.service.served import Served

router = APIRouter()
_log = logging.getLogger(__name__)


@router.post("/feedback")
async def feedback(request: Request, said: schemas.FeedbackRequest) -> schemas.FeedbackResponse:
    """Say of an answer that it was right or wrong, or which reading was meant. A journal keeps it, where there is one;
    `dualparse learn` reads that."""
    run = chosen_run(request, said.run)
    if run.journal is None:
        raise InputError("no journal is kept here, so nothing can be learned (dualparse serve --journal)")
    status, probability = "", 0.0
    if said.judgement != WRONG:
        if not said.form:
            raise InputError("the form is missing that is right, or meant")
        reply = await in_time(request, run.whole(said.form, said.question))
        if said.judgement == MEANT and reply.status != ANSWERED:
            raise InputError(f"this is no form that runs: {reply.reason}")
        status, probability = reply.status, reply.probability
    record = Record(said.judgement, said.question, said.form, status, probability, said.of)
    kept = await asyncio.to_thread(run.journal.add, record)
    noted: Noted = request.state.noted
    noted.run, noted.question = run.name, said.question
    figures: Figures = request.app.state.figures
    figures.feedback.labels(run.name, said.judgement).inc()
    return schemas.FeedbackResponse(run=run.name, id=kept)


async def note_asked(run: Served, reply: Reply) -> str:
    """The id of a question in the journal; "" where none is kept. A full disk does not cost anybody an answer."""
    if run.journal is None:
        return ""
    record = Record(ASKED, reply.question, reply.form, reply.status, reply.probability)
    try:
        return await asyncio.to_thread(run.journal.add, record)
    except InputError as error:
        _log.warning("%s", error)
        return ""
