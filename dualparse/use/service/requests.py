"""What endpoints have in common: which of the served is meant, and how long an answer may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from fastapi import HTTPException, Request

from dualparse.use.service.served import Served

T = TypeVar("T")


def chosen_run(request: Request, name: str | None) -> Served:
    runs: dict[str, Served] = request.app.state.runs
    chosen = next(iter(runs)) if name is None else name
    if chosen not in runs:
        raise HTTPException(404, f"no such run; there is {', '.join(runs)}")
    return runs[chosen]


async def in_time(request: Request, result: Awaitable[T]) -> T:
    async with asyncio.timeout(request.app.state.limits.seconds):
        return await result
