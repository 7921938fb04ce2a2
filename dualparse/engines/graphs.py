"""Captured CUDA graphs: a search, or an optimisation step, of one shape, launched at once.

A network of this size is bound by the launches of many small kernels, which a graph launches together. What is captured
is replayed as it was: a network whose Python code decides anything anew each time would be silently wrong. So graphs
are for the exact classes listed here, on which that has been tried; whatever else runs on a GPU runs without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import torch
from torch import Tensor, nn

from dualparse.engines.beam import LOOK_EVERY, Beam, advance, collect
from dualparse.engines.engine import engine_for
from dualparse.engines.exact import is_exactly
from dualparse.engines.found import Found, Options, trace
from dualparse.engines.triton import search as fused_search
from dualparse.networks.language_model import LanguageModel
from dualparse.networks.lstm import Memory, Seq2Seq, State
from dualparse.networks.network import Network, OwnMemory, OwnState
from dualparse.networks.transformer import Transformer

STEPS = (Seq2Seq, Transformer, LanguageModel)  # whose steps of training are captured
SEARCHES = (Seq2Seq,)  # whose searches are


def captures_steps(*networks: nn.Module) -> bool:
    """Whether steps of training of these networks may be captured where they are."""
    return all(is_exactly(n, *STEPS) and next(n.parameters()).is_cuda for n in networks)


def captures_searches(network: Network) -> bool:
    """Whether searches of this network may be captured where it is."""
    return is_exactly(network, *SEARCHES) and network.device.type == "cuda"


class FusedSearch:
    """A whole search of one shape as a graph; its result comes to the host in one copy."""

    def __init__(self, network: Seq2Seq, options: Options, sources: Tensor, stream: torch.cuda.Stream, *, noisy: bool):
        self.network, self.options, self.sources, self.stream, self.noisy = network, options, sources, stream, noisy
        with torch.cuda.stream(stream):  # once before, so that libraries set themselves up
            self._launch()
        stream.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream):
            self.packed = self._launch()
        self.received = torch.empty(self.packed.shape, dtype=self.packed.dtype, pin_memory=True)

    def _launch(self) -> Tensor:
        memory, options = noisy_read(self.network, *self.sources, noisy=self.noisy), self.options
        return fused_search.launch(
            self.network,
            memory,
            beams=options.beams,
            max_length=options.max_length,
            length_power=options.length_power,
        )

    def start(self) -> None:
        self.graph.replay()
        self.received.copy_(self.packed, non_blocking=True)

    def proceed(self) -> bool:
        return True

    def collect(self) -> Found:
        self.stream.synchronize()
        parts = fused_search.unpack(self.received.numpy(), self.options.beams)
        return trace(*parts, length_power=self.options.length_power)


class SteppedSearch:
    """The start of a search of one shape as a graph, and a run of steps as another."""

    def __init__(self, network: Seq2Seq, options: Options, sources: Tensor, stream: torch.cuda.Stream, *, noisy: bool):
        self.network, self.options, self.sources, self.noisy = network, options, sources, noisy
        with torch.cuda.stream(stream):  # once before, so that libraries set themselves up
            self._advance(*self._start())
        stream.synchronize()
        self.first, self.steps = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.first, stream=stream):
            memory, self.beam = self._start()
        with torch.cuda.graph(self.steps, stream=stream, pool=self.first.pool()):
            state = cast(State, self.beam.state)
            for _ in range(LOOK_EVERY):
                self._advance(memory, self.beam)
            after = cast(State, self.beam.state)
            state.hidden.copy_(after.hidden)  # where the next run of steps finds it
            state.cell.copy_(after.cell)
            self.beam.state = state

    def _start(self) -> tuple[Memory, Beam]:
        memory = noisy_read(self.network, *self.sources, noisy=self.noisy)
        return memory, Beam.start(self.network, memory, self.options.beams, _steps(self.options))

    def _advance(self, memory: Memory, beam: Beam) -> None:
        advance(self.network, memory, beam, self.options.length_power)

    def start(self) -> None:
        self.first.replay()
        self.done = 0

    def proceed(self) -> bool:
        if self.done >= _steps(self.options) or (self.done and bool(self.beam.done().all())):
            return True
        self.steps.replay()
        self.done += LOOK_EVERY
        return False

    def collect(self) -> Found:
        return collect(self.beam, self.done, self.options.length_power)


def captured_search(
    network: Network, options: Options, sources: Tensor, stream: torch.cuda.Stream, *, noisy: bool
) -> FusedSearch | SteppedSearch:
    """A search for these sources [2, B, S] (as read, as copied), whose numbers may be replaced before it starts."""
    if not isinstance(network, Seq2Seq):
        raise TypeError(f"searches of {type(network).__name__} are not captured")
    kind = FusedSearch if fused_search.available(network.device, options.beams) else SteppedSearch
    return kind(network, options, sources, stream, noisy=noisy)


def noisy_read(network: Network[OwnMemory, OwnState], source: Tensor, copy: Tensor, *, noisy: bool) -> OwnMemory:
    """What the decoder of a search sees; the decoder itself never has dropout there."""
    network.train(noisy)
    memory = engine_for(network).read(network, source, copy)
    network.eval()
    return cast(OwnMemory, memory)


def _steps(options: Options) -> int:
    """The longest output: whole runs of steps."""
    return -(-options.max_length // LOOK_EVERY) * LOOK_EVERY


@contextmanager
def quick_products() -> Iterator[None]:
    """Matrix products on tensor cores (TF32), as cuDNN's LSTMs have them anyway; for training, not for results."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
