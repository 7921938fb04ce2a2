"""Where the time goes: training steps, beam search and iterations of the game under torch's profiler.

In: a device. Out: for each of the three the share of every kind of operation. `profile_cpu` and `profile_gpu` are the
commands.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch.profiler import ProfilerActivity, profile

from benchmarks.game import Player, pretrained
from benchmarks.ours import Ours
from dualparse.engines import cpu
from dualparse.engines.found import Options
from dualparse.files import write_text
from dualparse.lab.sweep.jobs import current_commit

# The first that is found in the name of an operation or a kernel decides.
KINDS = {
    "one kernel of our own": "search_kernel",
    "LSTM": "rnn|lstm|RNN|LSTM",
    "attention": "_Attention|_AdditiveScores",
    "matrix products": r"::(mm|addmm_?|bmm|baddbmm|mv|addmv_?|dot|matmul|linear)$|gemm|gemv|cutlass|nvjet|sm90_|splitK",
    "random numbers": "random_|bernoulli|dropout|rand|philox|_Drop",
    "softmax and losses": "softmax|nll_loss|logsumexp|logaddexp|cross_entropy|_Picked",
    "tanh, sigmoid, exp, log": "tanh|sigmoid|exp|log",
    "optimizer": "adam|Adam|Optimizer|norm|lerp|clip",
    "picking and sorting": "topk|sort|index|gather|scatter|embedding|where|masked",
    "copying and joining": "copy|cat|fill|zero|contiguous|clone|pad|Memcpy|Memset|repeat|stack",
    "sums": "sum|mean|max|min|reduce",
    "sums and products of elements": "add|mul|sub|div|neg|pow|square|elementwise|eq|ne|lt|gt|bitwise|clamp",
}


@dataclass(frozen=True)
class Profile:
    """Seconds in all, of the operations by kind, and of the rest: Python, and setting operations up."""

    name: str
    seconds: float
    kinds: dict[str, float]

    @property
    def rest(self) -> float:
        return max(self.seconds - sum(self.kinds.values()), 0.0)


def kind_of(name: str) -> str:
    """The kind an operation belongs to.

    >>> kind_of("aten::addmm"), kind_of("aten::mkldnn_rnn_layer_backward"), kind_of("aten::view")
    ('matrix products', 'LSTM', 'other operations')
    """
    return next((kind for kind, pattern in KINDS.items() if re.search(pattern, name)), "other operations")


def measured(name: str, work: Callable[[], Any], device: torch.device) -> Profile:
    """Profile a piece of work: operations on a CPU, kernels on a GPU (what is left there is the card waiting)."""
    on_gpu = device.type == "cuda"
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA] if on_gpu else [ProfilerActivity.CPU]
    with profile(activities=activities) as profiler:
        start = time.perf_counter()
        work()
        if on_gpu:
            torch.cuda.synchronize()
        whole = time.perf_counter() - start
    kinds: dict[str, float] = {}
    for event in profiler.key_averages():
        seconds = (event.self_device_time_total if on_gpu else event.self_cpu_time_total) / 1e6
        if seconds:
            kinds[kind_of(event.key)] = kinds.get(kind_of(event.key), 0.0) + seconds
    return Profile(name, whole, kinds)


def profiles(domain: str, device: torch.device, *, updates: int, queries: int, iterations: int) -> list[Profile]:
    """Training, search and game, each warmed up before."""
    if device.type == "cpu":
        cpu.prepare()
    player = Player(pretrained(domain, 15, device), device)
    ours = Ours(domain, batch_size=16, search=Options(beams=5, max_length=100), agent=player.game.players.q2lf)
    ours.test = ours.test[:queries]
    work = {
        f"training, {updates} updates": lambda: ours.train(updates),
        f"beam-5 search, {len(ours.test)} queries": ours.decode,
        f"game, {iterations} iterations": lambda: player.play(iterations),
    }
    found = []
    for name, piece in work.items():
        piece()
        found.append(measured(name, piece, device))
    return found


def show(found: Sequence[Profile], *, rest: str, hardware: str, out: Path | None) -> None:
    """One column each, largest kinds first; on the screen and, with the circumstances, in a file."""
    table = Table(title="share of the time")
    table.add_column("")
    for each in found:
        table.add_column(each.name, justify="right")
    kinds = {kind for each in found for kind in each.kinds}
    for kind in sorted(kinds, key=lambda kind: -sum(each.kinds.get(kind, 0.0) / each.seconds for each in found)):
        table.add_row(kind, *(f"{each.kinds.get(kind, 0.0) / each.seconds:.0%}" for each in found))
    table.add_row(rest, *(f"{each.rest / each.seconds:.0%}" for each in found))
    table.add_section()
    table.add_row("seconds", *(f"{each.seconds:.2f}" for each in found))
    Console().print(table)
    if out is not None:
        text = StringIO()
        page = Console(file=text, width=110)
        page.print(
            f"commit {current_commit()}, {hardware}, torch {torch.__version__}\n", table, sep="\n", highlight=False
        )
        write_text(out, text.getvalue())
