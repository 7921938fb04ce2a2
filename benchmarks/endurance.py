"""The memory of a server over many requests: it must not grow with their number.

    python -m benchmarks.endurance RUN [--requests 1000000] [--clients 32] [--new 32] [--out FILE]

Of 32 requests one asks a question that was never asked before (a number in it differs), one asks an example question,
and thirty run forms; `--new 16` has twice as many questions. After each twentieth of the requests the memory of the
server and of the processes it has started is read. What it settles at is the mean of the second half; what it grows by
is the slope of that half, for a million requests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np

from benchmarks.load import processor
from benchmarks.serve import Server, post, serving
from dualparse.data.examples import load_examples
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit
from dualparse.use.api import load

PARTS = 20  # looks at the memory


def requests_of(run: Path, *, new: int) -> Iterator[tuple[str, bytes]]:
    """Paths and bodies, without end. Of `new` requests one asks a new question and another an example."""
    domain = load(run, light=True).domain
    forms = [" ".join(each.lf or ()) for each in load_examples(domain, dev_seed=1).train]
    for number in count():
        if number % new == 0:
            yield "/ask", json.dumps({"question": f"which trails are longer than {number} km"}).encode()
        elif number % new == new // 2:
            yield "/ask", json.dumps({"question": domain.questions[number // new % len(domain.questions)]}).encode()
        else:
            yield "/execute", json.dumps({"form": forms[number % len(forms)]}).encode()


async def send(server: Server, waiting: Iterator[tuple[str, bytes]], amount: int, clients: int) -> None:
    left = iter(range(amount))

    async def client() -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        for _ in left:
            path, body = next(waiting)
            await post(reader, writer, body, path=path)
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(client() for _ in range(clients)))


def megabytes(process: int) -> float:
    """What a process and those it has started hold in memory now."""
    own = Path(f"/proc/{process}")
    lines = (own / "status").read_text(encoding="utf-8").splitlines()
    held = int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
    started = [child for task in (own / "task").iterdir() for child in (task / "children").read_text().split()]
    return held + sum(megabytes(int(child)) for child in started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--new", type=int, default=32, help="one in so many requests asks a new question, at least 2")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    waiting, found = requests_of(options.run, new=options.new), []
    with serving(options.run) as server:
        began = time.perf_counter()
        for part in range(1, PARTS + 1):
            asyncio.run(send(server, waiting, options.requests // PARTS, options.clients))
            found.append(round(megabytes(server.process), 1))
            print(f"{part * (options.requests // PARTS):9,} requests: {found[-1]:.1f} MB", flush=True)
        seconds = time.perf_counter() - began
    half = found[PARTS // 2 :]
    slope = float(np.polyfit(np.arange(len(half)) * (options.requests / PARTS) / 1e6, half, 1)[0])
    told = {
        "commit": current_commit(),
        "processor": processor(),
        "requests": options.requests,
        "clients": options.clients,
        "one_new_question_in": options.new,
        "seconds": round(seconds),
        "megabytes": found,
        "settled": round(sum(half) / len(half), 1),
        "growth_a_million": round(slope, 1),
    }
    print(f"settled at {told['settled']} MB; {told['growth_a_million']:+} MB a million requests")
    if options.out:
        write_text(options.out, json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
