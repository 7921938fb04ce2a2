"""The LSTM of `models/fused_lstm.py` against PyTorch's: results, gradients, and on a GPU the time both take.

    TRITON_INTERPRET=1 python -m benchmarks.fused_lstm    (results alone, tiny shapes, anywhere)
    python -m benchmarks.fused_lstm [--out results/bench-fused-lstm.json]    (a GPU; the shapes of the game on ATIS)

Times are medians of captured graphs, forward and backward with the gradients of all weights. PyTorch's (cuDNN's) has
tensor cores (TF32), as in training. A row of the game has a third of the steps its batch is padded to; "full" has no
padding.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.facts import facts
from dualparse.engines.triton import lstm as fused_lstm
from dualparse.files import write_text


@dataclass(frozen=True)
class Shape:
    """Rows, steps, size of an input, hidden size, two directions or one, share of the steps that rows have."""

    rows: int
    steps: int
    inputs: int
    hidden: int
    both: bool
    filled: float = 1.0

    def __str__(self) -> str:
        ways = "both ways" if self.both else "one way"
        return f"{self.rows} x {self.steps}, {self.hidden} units, {ways}, {self.filled:.0%} filled"


TINY = (Shape(5, 4, 7, 20, False, 0.6), Shape(18, 3, 5, 40, True, 0.6))
SHAPES = (
    Shape(352, 80, 100, 200, False, 0.35),
    Shape(352, 80, 100, 200, False),
    Shape(224, 24, 101, 200, True, 0.5),
    Shape(224, 80, 101, 200, True, 0.35),
    Shape(16, 24, 101, 200, True, 0.8),
)


@dataclass(frozen=True)
class Case:
    """A layer with something to read and the gradients its outputs shall get."""

    lstm: nn.LSTM
    inputs: Tensor
    lengths: Tensor
    start: tuple[Tensor, Tensor] | None
    to_states: Tensor
    to_last: Tensor

    @property
    def wanted(self) -> list[Tensor]:
        return [self.inputs, *(self.start or ()), *self.lstm.parameters()]


def make(shape: Shape, device: str) -> Case:
    """Random numbers; what stands behind a row's length gets no gradient, as in training."""
    torch.manual_seed(0)
    ways = 2 if shape.both else 1
    lstm = nn.LSTM(shape.inputs, shape.hidden, batch_first=True, bidirectional=shape.both).to(device)
    for parameter in lstm.parameters():
        nn.init.uniform_(parameter, -0.2, 0.2)
    inputs = torch.randn(shape.rows, shape.steps, shape.inputs, device=device, requires_grad=True)
    most = max(int(2 * shape.filled * shape.steps), 1)
    lengths = torch.randint(1, most + 1, (shape.rows,), device=device).clamp_max(shape.steps)
    lengths = torch.full_like(lengths, shape.steps) if shape.filled == 1.0 else lengths
    lengths[0] = shape.steps
    start = None
    if not shape.both:
        hidden, cell = (torch.randn(shape.rows, shape.hidden, device=device, requires_grad=True) for _ in range(2))
        start = (hidden, cell)
    counts = torch.arange(shape.steps, device=device) < lengths[:, None]
    to_states = torch.randn(shape.rows, shape.steps, ways * shape.hidden, device=device) * counts[..., None]
    return Case(lstm, inputs, lengths, start, to_states, torch.randn(shape.rows, ways, shape.hidden, device=device))


def fused(case: Case) -> tuple[Tensor, Tensor]:
    return fused_lstm.fused_lstm(case.lstm, case.inputs, case.lengths, case.start)


def packed(case: Case) -> tuple[Tensor, Tensor]:
    """The same by PyTorch, each row as long as it is."""
    given = nn.utils.rnn.pack_padded_sequence(case.inputs, case.lengths.cpu(), True, enforce_sorted=False)
    start = tuple(part.unsqueeze(0) for part in case.start) if case.start else None
    states, (_, cell) = case.lstm(given, start)
    whole, _ = nn.utils.rnn.pad_packed_sequence(states, True, total_length=case.inputs.shape[1])
    return whole, cell.transpose(0, 1)


def padded(case: Case) -> tuple[Tensor, Tensor]:
    """The same by PyTorch, padding and all: what training would do without the kernel."""
    start = tuple(part.unsqueeze(0) for part in case.start) if case.start else None
    states, (_, cell) = case.lstm(case.inputs, start)
    return states, cell.transpose(0, 1)


def gradients(case: Case, run: Callable[[Case], tuple[Tensor, Tensor]]) -> list[Tensor]:
    """Results, then gradients; nothing of the graph behind them is kept, or it could not be captured again."""
    results = run(case)
    slopes = torch.autograd.grad(results, case.wanted, (case.to_states, case.to_last))
    return [each.detach() for each in (*results, *slopes)]


def difference(one: Tensor, other: Tensor) -> float:
    """Largest difference as a share of the largest number."""
    return float((one - other).abs().max() / other.abs().max().clamp_min(1e-6))


def milliseconds(case: Case, run: Callable[[Case], tuple[Tensor, Tensor]], rounds: int = 30) -> float:
    """Median time of a forward and a backward pass as a captured graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            gradients(case, run)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        gradients(case, run)
    times = []
    for _ in range(rounds):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        graph.replay()
        last.record()
        torch.cuda.synchronize()
        times.append(first.elapsed_time(last))
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    device = "cpu" if interpreted else "cuda"
    rows = []
    for shape in TINY if interpreted else (*TINY, *SHAPES):
        case = make(shape, device)
        torch.set_float32_matmul_precision("highest")
        torch.backends.cudnn.allow_tf32 = False
        expected = gradients(case, packed)
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True
        off = [difference(*pair) for pair in zip(gradients(case, fused), expected, strict=True)]
        row = {"shape": str(shape), "results_differ": max(off[:2]), "gradients_differ": max(off[2:])}
        if not interpreted:
            row |= {"fused_ms": milliseconds(case, fused), "padded_ms": milliseconds(case, padded)}
            row["times"] = row["padded_ms"] / row["fused_ms"]
        rows.append(row)
        told = (f"{name} {value:.5f}" for name, value in row.items() if name != "shape")
        print(f"{shape}: {', '.join(told)}", flush=True)
    if arguments.out:
        write_text(arguments.out, json.dumps(facts(device) | {"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
