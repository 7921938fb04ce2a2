"""The server without runs, as a process with limits of its own: for tests of what comes before a request is a request.

python bare_server.py head_seconds=0.5 connections=20
"""

from __future__ import annotations

import sys

from fastapi import FastAPI

from dualparse.use.service.guard import Guard
from dualparse.use.service.limits import Limits
from dualparse.use.service.server import listen, run, url

app = FastAPI()


@app.get("/health")
async def health() -> str:
    return "ok"


@app.get("/long")
async def long() -> str:
    return "a" * 50_000_000


@app.post("/parse")
async def parse(asked: dict) -> str:
    return "ok"


if __name__ == "__main__":
    told = dict(argument.split("=") for argument in sys.argv[1:])
    limits = Limits(**{name: type(getattr(Limits, name))(value) for name, value in told.items()})
    app.add_middleware(Guard, limits=limits)
    with listen("127.0.0.1", 0) as listener:
        print(url(listener), flush=True)
        run(app, listener, limits)
