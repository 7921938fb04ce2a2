"""The service under load, on loopback: 32 clients with batching against the same server parsing one by one.

    python -m benchmarks.serve RUN [--clients 32] [--requests 1000] [--seconds 60] [--compiled] [--out FILE]

Two servers run side by side, one of them with batches of one. They are measured in turns, so that a load from elsewhere
meets both. Each round ends after so many requests or seconds. Questions are those of the domain's test set.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from benchmarks.load import keep_to_cores, processor, watched
from dualparse.data.examples import read_examples
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit
from dualparse.runs import Run
from dualparse.use.api import load

CORES = 2
MODES = {"one by one": ("--batch", "1"), "batched": ()}
WARM_UP = 64


@dataclass(frozen=True)
class Server:
    """A server in a process of its own."""

    host: str
    port: int
    process: int


@dataclass
class Round:
    """What the clients saw in one round."""

    seconds: float
    latencies: list[float]
    busy: float  # seconds the server kept cores busy
    others: float  # share of the cores that other programs used meanwhile

    @property
    def per_second(self) -> float:
        return len(self.latencies) / self.seconds


@contextmanager
def serving(run: Path, *options: str) -> Iterator[Server]:
    command = [sys.executable, "-m", "dualparse.use.cli.main", "serve", str(run), "--port", "0", "--timeout", "60"]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        if " at http://" not in said:
            raise SystemExit("the server did not start")
        url = urlsplit(said.split(" at ")[1].split()[0])
        yield Server(url.hostname or "", url.port or 0, process.pid)
    finally:
        process.terminate()
        process.wait()


def questions_of(run: Path) -> list[str]:
    domain = load(run).domain
    if "test" not in domain.files:
        return list(domain.questions)
    return [" ".join(example.query) for example in read_examples(domain.files["test"]) if example.query]


async def ask(server: Server, questions: list[str], *, clients: int, seconds: float) -> list[float]:
    """Every client asks its next question when the last one is answered; the seconds each answer took."""
    waiting, latencies = iter(questions), []
    ends = time.perf_counter() + seconds

    async def client() -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        for question in waiting:
            started = time.perf_counter()
            if started > ends:
                break
            await post(reader, writer, json.dumps({"question": question}).encode())
            latencies.append(time.perf_counter() - started)
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(client() for _ in range(clients)))
    return latencies


async def post(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes, *, path: str = "/parse"
) -> bytes:
    """One request over an open connection. A full HTTP client would use more of the two cores than the server does."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    writer.write(head.encode() + b"\r\n\r\n" + body)
    told = (await reader.readuntil(b"\r\n\r\n")).lower()
    answer = await reader.readexactly(int(told.split(b"content-length:")[1].split(b"\r\n")[0]))
    if not told.startswith(b"http/1.1 200"):
        raise SystemExit(f"the server answered {told.splitlines()[0].decode()}: {answer.decode()}")
    return answer


def measure(server: Server, questions: list[str], *, clients: int, seconds: float) -> Round:
    with watched(server.process) as watch:
        latencies = asyncio.run(ask(server, questions, clients=clients, seconds=seconds))
    return Round(watch.seconds, latencies, watch.busy, watch.others)


def figures(rounds: list[Round]) -> dict[str, float]:
    """The median round's throughput; latencies of all rounds together."""
    milliseconds = 1000 * np.concatenate([one.latencies for one in rounds])
    return {
        "requests": sum(len(one.latencies) for one in rounds),
        "per_second": round(statistics.median(one.per_second for one in rounds), 1),
        "p50_ms": round(float(np.quantile(milliseconds, 0.5)), 1),
        "p99_ms": round(float(np.quantile(milliseconds, 0.99)), 1),
        "cpu_ms": round(1000 * statistics.median(one.busy / len(one.latencies) for one in rounds), 2),
        "others": round(statistics.mean(one.others for one in rounds), 2),
    }


def compare(
    run: Path, *, clients: int, requests: int, seconds: float, rounds: int, options: tuple[str, ...] = ()
) -> dict[str, object]:
    questions = list(islice(cycle(questions_of(run)), requests))
    found: dict[str, list[Round]] = {"one by one": [], "batched": [], "one client": []}
    with (
        serving(run, *MODES["one by one"], *options) as single,
        serving(run, *MODES["batched"], *options) as batched,
    ):
        for server in (single, batched):
            measure(server, questions[:WARM_UP], clients=clients, seconds=seconds)
        for _ in range(rounds):
            # One by one is slower: a share of the requests gives it about as much time.
            found["one by one"].append(measure(single, questions[: requests // 4], clients=clients, seconds=seconds))
            found["batched"].append(measure(batched, questions, clients=clients, seconds=seconds))
            found["one client"].append(measure(single, questions[: requests // 4], clients=1, seconds=seconds))
    shown: dict[str, object] = {name: figures(measured) for name, measured in found.items()}
    ratios = [b.per_second / o.per_second for b, o in zip(found["batched"], found["one by one"], strict=True)]
    alone = [b.per_second / o.per_second for b, o in zip(found["batched"], found["one client"], strict=True)]
    return shown | {
        "ratio": round(statistics.median(ratios), 2),
        "ratio_to_one_client": round(statistics.median(alone), 2),
    }


def beside(stored: Path, found: dict[str, object]) -> Iterator[str]:
    """What the stored figures of another day say of the same; rates of different machines tell little."""
    if not stored.is_file():
        return
    earlier = json.loads(stored.read_text(encoding="utf-8"))
    for name in ("one client", "one by one", "batched"):
        now, then = found[name], earlier[name]
        assert isinstance(now, dict)
        stored_figures = f"{then['per_second']:.1f} requests/s, p99 {then['p99_ms']:.1f} ms"
        ratio = now["per_second"] / then["per_second"]
        yield f"{name:10}  stored at {earlier['commit']}: {stored_figures}; now {ratio:.2f} times as many"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--requests", type=int, default=1000, help="of one round with batching; a quarter without")
    parser.add_argument("--seconds", type=float, default=60, help="most for one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compiled", action="store_true", help="both servers search with compiled steps")
    parser.add_argument("--stored", type=Path, default=Path("results/bench-serve.json"), help="figures to compare with")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    cores = keep_to_cores(CORES)
    recipe = Run.open(options.run).recipe
    about = {"commit": current_commit(), "domain": recipe.domain, "processor": processor(), "cores": cores}
    about |= {"clients": options.clients, "compiled": options.compiled}
    found = compare(
        options.run,
        clients=options.clients,
        requests=options.requests,
        seconds=options.seconds,
        rounds=options.rounds,
        options=("--compiled",) if options.compiled else (),
    )
    for name in ("one client", "one by one", "batched"):
        row = found[name]
        assert isinstance(row, dict)
        times = f"p50 {row['p50_ms']:7.1f} ms   p99 {row['p99_ms']:7.1f} ms   CPU {row['cpu_ms']:5.1f} ms"
        print(f"{name:10}  {row['per_second']:7.1f} requests/s   {times} a request   others {row['others']:.0%}")
    print(f"{options.clients} clients, batched against one by one: {found['ratio']} times")
    print(f"against one client that asks one question after the other: {found['ratio_to_one_client']} times")
    for line in beside(options.stored, found):
        print(line)
    if options.out:
        write_text(options.out, json.dumps(about | found, indent=1) + "\n")


if __name__ == "__main__":
    main()
