"""The service under load, slow and silent clients and bad forms: `python -m benchmarks.campaign --only load`.

A run of *trails* (`CAMPAIGN_RUN` names the folder of one; a small one is trained otherwise) is served on loopback.
Each scene takes its share of the time, of which the 64 clients have the most:

    64 clients, one question after the other: answers a second, p50, p99, what memory grows by; the same compiled
    1,000 clients that ask again as soon as they are refused: good answers a second beside those of 64
    parsing by 8 clients, alone and beside the worst forms we know
    heads that come byte by byte, and 1,010 connections that say nothing, while somebody asks
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

from benchmarks.campaign.part import Part, promise
from benchmarks.campaign.serving import HEALTHY, Server, serving
from dualparse.config import make_recipe
from dualparse.data.examples import read_examples
from dualparse.domains.registry import open_domain
from dualparse.training.run import train

RUN = "CAMPAIGN_RUN"
CLIENTS, CROWD = 64, 1_000
SILENT, SLOW = 1_010, 200
ASKING = 8  # clients beside the worst forms
MOST_GROWTH = 5.0  # % of memory, from the first quarter of the time to its end
MOST_SLOWER = 2.0  # times the p99 of parsing, beside the worst forms
REFUSED = (503, 429)  # what a server that has too much to do may say
SMALL = {
    "domain": "trails",
    "stages": ["q2lf"],
    "model": {"embedding": 48, "hidden": 64},
    "train": {"epochs": 8, "evaluate_from": 8},
}


@dataclass
class Seen:
    """What clients saw: seconds of good answers, and the other statuses."""

    seconds: list[float] = field(default_factory=list)
    others: Counter[int] = field(default_factory=Counter)
    took: float = 0.0

    @property
    def rate(self) -> float:
        return len(self.seconds) / self.took

    def quantile(self, share: float) -> float:
        """In milliseconds."""
        return round(1000 * float(np.quantile(self.seconds, share)), 1) if self.seconds else float("inf")

    @property
    def counted(self) -> Counter[str]:
        return Counter({"200": len(self.seconds)}) + Counter({str(key): count for key, count in self.others.items()})


class Load(Part):
    about = (
        "64 clients, plain and compiled; 1,000 that ask again as soon as they are refused; the worst forms we know "
        "beside parsing; heads byte by byte; connections that say nothing. No error, memory that does not grow by 5 %, "
        "at least half of the good answers from the crowd, a p99 of parsing that at most doubles, and a `/health` that "
        "answers within a second."
    )
    unit = "requests"
    cases = 10_000_000
    share = 0.15
    patience = 3_600.0
    numbers = 6

    def prepare(self) -> None:
        self.run = Path(os.environ[RUN]) if RUN in os.environ else self._trained()
        domain = open_domain("trails")
        pairs = read_examples(domain.files["test"])
        self.questions = [json.dumps({"question": " ".join(pair.query)}).encode() for pair in pairs if pair.query]
        self.began = time.monotonic()
        self.scenes: list[tuple[float, Callable[[float], Counter[str]]]] = [
            (0.60, self.steady),
            (0.08, self.compiled),
            (0.10, self.crowd),
            (0.12, self.beside_bad_forms),
            (0.05, self.slow_heads),
            (0.05, self.silent),
        ]

    def _trained(self) -> Path:
        list(train(make_recipe(SMALL), self.place / "run", device=torch.device("cpu")))
        return self.place / "run"

    def case(self, number: int) -> Counter[str]:
        share, scene = self.scenes[number]
        self.input = scene.__name__
        return scene(max(3.0, share * self.seconds))

    # -- scenes

    def steady(self, seconds: float) -> Counter[str]:
        with serving(self.run) as server:
            self._ask(server, CLIENTS, min(5.0, seconds))
            memory: list[float] = []
            seen = self._ask(server, CLIENTS, seconds, memory=memory)
        settled = memory[len(memory) // 4 :]
        tenth = max(1, len(settled) // 10)
        growth = 100 * (float(np.mean(settled[-tenth:])) / float(np.mean(settled[:tenth])) - 1)
        self.figures |= {
            "64 clients: answers/s": round(seen.rate, 1),
            "64 clients: p50, ms": seen.quantile(0.5),
            "64 clients: p99, ms": seen.quantile(0.99),
            "64 clients: seconds": round(seen.took),
            "64 clients: memory, MB": round(float(np.mean(settled)), 1),
            "64 clients: growth of memory, %": round(growth, 2),
        }
        promise(not seen.others, f"errors: {dict(seen.others)}")
        promise(growth < MOST_GROWTH, f"memory grew by {growth:.1f} %")
        return seen.counted

    def compiled(self, seconds: float) -> Counter[str]:
        with serving(self.run, "--compiled") as server:
            self._ask(server, CLIENTS, min(5.0, seconds))
            seen = self._ask(server, CLIENTS, seconds)
        self.figures |= {
            "64 clients, compiled: answers/s": round(seen.rate, 1),
            "64 clients, compiled: p50, ms": seen.quantile(0.5),
            "64 clients, compiled: p99, ms": seen.quantile(0.99),
        }
        promise(not seen.others, f"errors: {dict(seen.others)}")
        return seen.counted

    def crowd(self, seconds: float) -> Counter[str]:
        """The 64 and the 1,000 in the same minute, so that the machine is the same for both."""
        with serving(self.run) as server:
            few = self._ask(server, CLIENTS, seconds / 3)
            many = self._ask(server, CROWD, seconds * 2 / 3)
            health = server.healthy()
        self.figures |= {
            "1,000 clients: good answers/s": round(many.rate, 1),
            "1,000 clients: beside those of 64, %": round(100 * many.rate / few.rate, 1),
            "1,000 clients: p99 of good answers, ms": many.quantile(0.99),
        }
        promise(set(many.others) <= set(REFUSED), f"answers: {dict(many.others)}")
        promise(many.rate >= few.rate / 2, f"{many.rate:.0f} good answers a second, {few.rate:.0f} with 64 clients")
        promise(health < HEALTHY, f"/health took {health:.1f} s")
        return few.counted + many.counted

    def beside_bad_forms(self, seconds: float) -> Counter[str]:
        with serving(self.run) as server:
            self._ask(server, ASKING, 2.0)
            alone = self._ask(server, ASKING, seconds / 2)
            beside = self._ask(server, ASKING, seconds / 2, forms=worst_forms())
        self.figures |= {
            "parsing by 8 clients, alone: p99, ms": alone.quantile(0.99),
            "parsing by 8 clients, beside the worst forms: p99, ms": beside.quantile(0.99),
        }
        promise(not alone.others and not beside.others, f"errors: {dict(alone.others + beside.others)}")
        slower = beside.quantile(0.99) / alone.quantile(0.99)
        promise(slower <= MOST_SLOWER, f"the p99 of parsing is {slower:.1f} times as long beside the worst forms")
        return alone.counted + beside.counted

    def slow_heads(self, seconds: float) -> Counter[str]:
        return self._with_guests(seconds, SLOW, b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ")

    def silent(self, seconds: float) -> Counter[str]:
        return self._with_guests(seconds, SILENT, b"")

    # -- clients

    def _with_guests(self, seconds: float, guests: int, head: bytes) -> Counter[str]:
        """Somebody asks while others keep connections that say little or nothing."""

        async def scene(server: Server) -> tuple[Seen, float]:
            slowest = 0.0
            async with keeping(server, guests, head):
                asking = asyncio.create_task(asked(server, self.questions, ASKING, seconds))
                while not asking.done():
                    slowest = max(slowest, await asyncio.to_thread(server.healthy))
                    await asyncio.sleep(0.5)
            return await asking, slowest

        with serving(self.run) as server:
            before = server.megabytes()
            seen, slowest = asyncio.run(scene(server))
            grown = server.megabytes() - before
        name = f"{guests:,} {'slow heads' if head else 'silent connections'}"
        self.figures |= {f"{name}: /health, s": round(slowest, 3), f"{name}: memory, MB": round(grown, 1)}
        promise(slowest < HEALTHY, f"/health took {slowest:.1f} s")
        promise(not seen.others, f"errors: {dict(seen.others)}")
        return seen.counted

    def _ask(
        self,
        server: Server,
        clients: int,
        seconds: float,
        *,
        memory: list[float] | None = None,
        forms: list[bytes] | None = None,
    ) -> Seen:
        async def scene() -> Seen:
            watching = asyncio.create_task(watched(server, memory)) if memory is not None else None
            running = [asyncio.create_task(executed(server, forms, seconds)) for _ in range(4)] if forms else []
            seen = await asked(server, self.questions, clients, seconds)
            for task in (*running, *([watching] if watching else [])):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            return seen

        return asyncio.run(scene())


async def asked(server: Server, questions: list[bytes], clients: int, seconds: float) -> Seen:
    """Every client asks its next question when it has its answer."""
    seen, began = Seen(), time.monotonic()
    ends = began + seconds

    async def client(place: int) -> None:
        reader = writer = None
        while (start := time.monotonic()) < ends:
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection(server.host, server.port)
                status = await post(reader, writer, "/parse", questions[place % len(questions)])
            except (OSError, asyncio.IncompleteReadError):  # shut out
                status, writer = 503, None
            if status == 200:
                seen.seconds.append(time.monotonic() - start)
            else:
                seen.others[status] += 1
            place += clients
        if writer is not None:
            writer.close()

    await asyncio.gather(*(client(place) for place in range(clients)))
    seen.took = time.monotonic() - began
    return seen


async def executed(server: Server, forms: list[bytes], seconds: float) -> None:
    """The worst forms, one after the other; what becomes of them is not what is measured."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    ends, place = time.monotonic() + seconds + 60, 0
    while time.monotonic() < ends:
        await post(reader, writer, "/execute", forms[place % len(forms)])
        place += 1


async def post(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: bytes) -> int:
    """One request over an open connection; its status."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    writer.write(head.encode() + b"\r\n\r\n" + body)
    told = (await reader.readuntil(b"\r\n\r\n")).lower()
    await reader.readexactly(int(told.split(b"content-length:")[1].split(b"\r\n")[0]))
    return int(told[9:12])


async def watched(server: Server, memory: list[float]) -> None:
    """What the server holds, twice a second."""
    while True:
        memory.append(server.megabytes())
        await asyncio.sleep(0.5)


@asynccontextmanager
async def keeping(server: Server, guests: int, head: bytes) -> AsyncIterator[None]:
    """Connections that come again when they are shut out, and send a byte of a head now and then, if any."""

    async def guest() -> None:
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection(server.host, server.port)
                for byte in head or b" ":
                    if head:
                        writer.write(bytes([byte]))
                    await asyncio.sleep(0.2 if head else 10)
                writer.close()
            await asyncio.sleep(0.1)

    tasks = [asyncio.create_task(guest()) for _ in range(guests)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def worst_forms() -> list[bytes]:
    """Short forms with much to do: sets over and over, doublings, terms without an end."""
    steps = "( all trail )"
    for _ in range(14):
        steps = f"( get ( get {steps} passes ) !trail.passes )"
    doubling = "( all trail )"
    for _ in range(20):
        doubling = f"( ( lambda s ( and ( var s ) ( var s ) ) ) {doubling} )"
    omega = "( lambda x ( ( var x ) ( var x ) ) )"
    every = "( filter ( all trail ) passes = ( filter ( all hut ) !trail.passes != ( all trail ) ) )"
    nested = "( all trail )"
    for _ in range(12):
        nested = f"( filter {nested} ( count ( filter ( get it passes ) !trail.passes != {every} ) ) >= ( number 0 ) )"
    forms = (f"( count {steps} )", doubling, f"( {omega} {omega} )", f"( count {nested} )")
    return [json.dumps({"form": form}).encode() for form in forms]
