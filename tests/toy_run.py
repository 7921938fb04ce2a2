"""A small trained run of the toy domain, and a server for it, for tests of what is built on top of a parser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
import toy
import uvicorn
from fastapi import FastAPI

from dualparse.config import make_recipe
from dualparse.runs import Run
from dualparse.training.run import train
from dualparse.use.api import Parser
from dualparse.use.service.server import configured, listen, url

QUESTIONS = ("how deep is blue lake", "list all lakes", "how many towns are there")
RECIPE = {
    "domain": "toy",
    "model": {"embedding": 24, "hidden": 24, "dropout": 0.1},
    "train": {"epochs": 30, "learning_rate": 0.01, "batch_size": 8, "evaluate_from": 30},
    "search": {"max_length": 12},
}


def make_run(folder: Path, **changes: object) -> Path:
    """Train the toy; a few seconds."""
    with toy.registered(toy.write_files(folder / "toy")):
        list(train(make_recipe(RECIPE | changes), folder / "run", device=torch.device("cpu")))
    return folder / "run"


def open_parser(folder: Path) -> Parser:
    return Parser(Run.open(folder), toy.domain(questions=QUESTIONS), torch.device("cpu"))


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """The application on a free port of this machine, in a thread; gives its address."""
    server = uvicorn.Server(configured(app, app.state.limits, log_level="critical"))
    with listen("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield url(listener)
        finally:
            server.should_exit = True
            thread.join()
