"""Beam search inside the game: the same search over and over, on batches of one size.

On a GPU everything from the sources to the hypotheses is one captured graph, kept per source length, which ends in the
one kernel of `fused_search`. Where that cannot be used the steps of the search are a second graph. Several searches run
beside each other on streams of their own: either is far too small to fill the card. On a CPU this is `search.search`,
compiled where Numba is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from dualparse.choosing.search import LOOK_EVERY, Found, Options, _advance, _Beam, _collect, search, trace
from dualparse.data.batch import Row, collate
from dualparse.data.vocab import BOS, PAD
from dualparse.engines.cores import each_on_a_core
from dualparse.engines.numba import loading as compiled
from dualparse.engines.scoring import without_dropout
from dualparse.engines.tiny import tiny_is_zero
from dualparse.engines.triton import search as fused_search
from dualparse.networks.agent import Agent
from dualparse.networks.dropout import own_noise
from dualparse.networks.lstm import Memory, Plan, Seq2Seq
from dualparse.training.step import quick_products

GRID = 8  # source lengths are rounded up to this, so that few shapes have to be captured


class _Fused:
    """A whole search of one shape as a graph; its result comes to the host in one copy."""

    def __init__(self, model: Seq2Seq, options: Options, sources: Tensor, stream: torch.cuda.Stream, *, noisy: bool):
        self.model, self.options, self.sources, self.stream, self.noisy = model, options, sources, stream, noisy
        with torch.cuda.stream(stream):  # once before, so that libraries set themselves up
            self._launch()
        stream.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream):
            self.packed = self._launch()
        self.received = torch.empty(self.packed.shape, dtype=self.packed.dtype, pin_memory=True)

    def _launch(self) -> Tensor:
        memory, options = _read(self.model, *self.sources, noisy=self.noisy), self.options
        return fused_search.launch(
            self.model,
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


class _Steps:
    """The start of a search of one shape as a graph, and a run of steps as another."""

    def __init__(self, model: Seq2Seq, options: Options, sources: Tensor, stream: torch.cuda.Stream, *, noisy: bool):
        self.model, self.options, self.sources, self.noisy = model, options, sources, noisy
        with torch.cuda.stream(stream):  # once before, so that libraries set themselves up
            self._advance(*self._start())
        stream.synchronize()
        self.first, self.steps = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.first, stream=stream):
            started = self._start()
        with torch.cuda.graph(self.steps, stream=stream, pool=self.first.pool()):
            for _ in range(LOOK_EVERY):
                self._advance(*started)
        self.beam = started[1]

    def _start(self) -> tuple[Memory, _Beam, Plan]:
        memory, beams = _read(self.model, *self.sources, noisy=self.noisy), self.options.beams
        state = self.model.begin(memory, beams)
        beam = _Beam.start(state, len(memory.mask), beams, _steps(self.options))
        return memory, beam, state.plan

    def _advance(self, memory: Memory, beam: _Beam, plan: Plan) -> None:
        _advance(self.model, memory, beam, plan, self.options.length_power)

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
        return _collect(self.beam, self.done, self.options.length_power)


class Searcher:
    """Searches for one agent; on a GPU `begin`, `proceed` until it says True, `collect`.

    `noisy`: the source is read with dropout, so that the same source gives other hypotheses every time.
    """

    def __init__(self, agent: Agent, options: Options, *, noisy: bool = False):
        self.agent, self.options, self.noisy = agent, options, noisy
        self.capture = agent.device.type == "cuda"
        self.kind = _Fused if fused_search.available(agent.device, options.beams) else _Steps
        self._graphs: dict[tuple[int, int], tuple[Tensor, _Fused | _Steps]] = {}
        if self.capture:
            self.stream = torch.cuda.Stream()
        else:
            compiled.load()

    def find(self, rows: list[Row]) -> Found:
        """One search by itself, without graphs."""
        batch = self.agent.encode_rows(rows).batch
        model = self.agent.model
        with torch.no_grad(), without_dropout(model):
            return search(model, _read(model, batch.source, batch.copy, noisy=self.noisy), self.options)

    def begin(self, rows: list[Row]) -> None:
        """Send the sources and start."""
        arrays = collate(rows, target_vocab_size=len(self.agent.target_vocab))
        width = arrays.source.shape[1]
        key = (len(rows), -(-width // GRID) * GRID)
        if key not in self._graphs:
            self._graphs[key] = self._record(*key)
        sent, self._now = self._graphs[key]
        # What was sent before has arrived: its result was waited for.
        sent.fill_(PAD)
        for place, array in enumerate((arrays.source, arrays.copy)):
            sent[place, :, :width] = torch.from_numpy(array)
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            self._now.sources.copy_(sent, non_blocking=True)
            self._now.start()

    def proceed(self) -> bool:
        """Whether the search is over; if it is not, launch the next few steps."""
        with torch.cuda.stream(self.stream):
            return self._now.proceed()

    def collect(self) -> Found:
        """The result; waits for it."""
        with torch.cuda.stream(self.stream):
            found = self._now.collect()
        torch.cuda.current_stream().wait_stream(self.stream)
        return found

    @torch.no_grad()
    def _record(self, batch: int, length: int) -> tuple[Tensor, _Fused | _Steps]:
        """Capture searches of a shape; their sources [2, B, S] (as read, as copied) come from the pinned tensor."""
        model = self.agent.model
        sources = torch.full((2, batch, length), BOS, device=self.agent.device)
        self.stream.wait_stream(torch.cuda.current_stream())
        with without_dropout(model), quick_products():
            captured = self.kind(model, self.options, sources, self.stream, noisy=self.noisy)
        return torch.empty(sources.shape, dtype=sources.dtype, pin_memory=True), captured


def _read(model: Seq2Seq, source: Tensor, copy: Tensor, *, noisy: bool) -> Memory:
    """What the decoder of a search sees; the decoder itself never has dropout there."""
    model.train(noisy)
    memory = model.encode(source, copy)
    model.eval()
    return memory


def _steps(options: Options) -> int:
    """The longest output: whole runs of steps."""
    return -(-options.max_length // LOOK_EVERY) * LOOK_EVERY


def find_together(
    searches: Sequence[tuple[Searcher, list[Row]]], then: Callable[[int, Found], Any] = lambda number, found: found
) -> list[Any]:
    """Several searches beside each other; what `then` makes of each (its number, what it found) in the order given. It
    is asked as soon as a search is over, while others may go on."""

    def find(number: int) -> Any:
        searcher, rows = searches[number]
        return then(number, searcher.find(rows))

    numbers = range(len(searches))
    if not all(searcher.capture for searcher, _ in searches):
        if any(searcher.capture for searcher, _ in searches):
            return [find(number) for number in numbers]
        noisy = [searcher.agent.model.dropout for searcher, _ in searches if searcher.noisy]
        with own_noise(noisy), tiny_is_zero():
            return each_on_a_core(find, numbers)
    for searcher, rows in searches:
        searcher.begin(rows)
    waiting = [searcher for searcher, _ in searches]
    while waiting:
        waiting = [searcher for searcher in waiting if not searcher.proceed()]
    made: dict[int, Any] = {}
    for number in sorted(numbers, key=lambda number: searches[number][0].options.max_length):  # short ones end first
        made[number] = then(number, searches[number][0].collect())
    return [made[number] for number in numbers]
