"""Beam search inside the game: the same search over and over, on batches of one size.

On a GPU the start and the steps of the search are captured graphs, kept per source length, and several searches run
beside each other on streams of their own: a step of either is far too small to fill the card. On a CPU this is
`search.beam`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dualparse.data.batch import Row, collate
from dualparse.data.vocab import BOS, PAD
from dualparse.models.agent import Agent
from dualparse.search import LOOK_EVERY, Found, Options, _advance, _banned, _Beam, _collect, search

GRID = 8  # source lengths are rounded up to this, so that few shapes have to be captured


@dataclass
class _Captured:
    """The graphs for one shape, and the tensors they read and write."""

    source: Tensor
    copy: Tensor
    beam: _Beam
    start: torch.cuda.CUDAGraph
    steps: torch.cuda.CUDAGraph


class Searcher:
    """Searches for one agent; `begin`, `proceed` until it says True, `collect`."""

    def __init__(self, agent: Agent, options: Options):
        self.agent, self.options = agent, options
        self.capture = agent.device.type == "cuda"
        self.stream = torch.cuda.Stream() if self.capture else None
        self._graphs: dict[tuple[int, int], _Captured] = {}

    def find(self, rows: list[Row]) -> Found:
        """One search by itself, without graphs."""
        batch = self.agent.encode_rows(rows).batch
        model = self.agent.model
        training = model.training
        model.eval()
        with torch.no_grad():
            found = search(model, model.encode(batch.source, batch.copy), self.options)
        model.train(training)
        return found

    def begin(self, rows: list[Row]) -> None:
        """Send the sources and start."""
        arrays = collate(rows, target_vocab_size=len(self.agent.target_vocab))
        length = -(-arrays.source.shape[1] // GRID) * GRID
        key = (len(rows), length)
        if key not in self._graphs:
            self._graphs[key] = self._record(*key)
        self._now = captured = self._graphs[key]
        self._done = 0
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            for static, array in ((captured.source, arrays.source), (captured.copy, arrays.copy)):
                static.fill_(PAD)
                static[:, : array.shape[1]].copy_(torch.from_numpy(array).pin_memory(), non_blocking=True)
            captured.start.replay()

    def launch(self) -> None:
        """The next few steps."""
        with torch.cuda.stream(self.stream):
            self._now.steps.replay()
        self._done += LOOK_EVERY

    def finished(self) -> bool:
        """Whether the search is over; waits for the steps launched."""
        if self._done >= _steps(self.options):
            return True
        with torch.cuda.stream(self.stream):
            return bool(self._now.beam.done().all())

    def collect(self) -> Found:
        with torch.cuda.stream(self.stream):
            found = _collect(self._now.beam, self._done, self.options.length_power)
        torch.cuda.current_stream().wait_stream(self.stream)
        return found

    @torch.no_grad()
    def _record(self, batch: int, length: int) -> _Captured:
        """Capture the start of a search and a run of steps."""
        model, options = self.agent.model, self.options
        training = model.training
        model.eval()
        source = torch.full((batch, length), BOS, device=self.agent.device)
        copy = torch.full((batch, length), BOS, device=self.agent.device)
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):  # once before, so that libraries set themselves up
            memory = model.encode(source, copy)
            state = model.begin(memory, options.beams)
            beam = _Beam.start(state, batch, options.beams, _steps(options))
            _advance(model, memory, beam, state.input_gates, _banned(model, memory), options.length_power)
        self.stream.synchronize()
        start, steps = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(start, stream=self.stream):
            memory = model.encode(source, copy)
            state = model.begin(memory, options.beams)
            beam = _Beam.start(state, batch, options.beams, _steps(options))
            banned = _banned(model, memory)
        with torch.cuda.graph(steps, stream=self.stream, pool=start.pool()):
            for _ in range(LOOK_EVERY):
                _advance(model, memory, beam, state.input_gates, banned, options.length_power)
        model.train(training)
        return _Captured(source, copy, beam, start, steps)


def _steps(options: Options) -> int:
    """The longest output: whole runs of steps."""
    return -(-options.max_length // LOOK_EVERY) * LOOK_EVERY


def find_together(searches: Sequence[tuple[Searcher, list[Row]]]) -> list[Found]:
    """Several searches beside each other; the result of each in the order given."""
    if not all(searcher.capture for searcher, _ in searches):
        return [searcher.find(rows) for searcher, rows in searches]
    for searcher, rows in searches:
        searcher.begin(rows)
    waiting = [searcher for searcher, _ in searches]
    while waiting:
        for searcher in waiting:
            searcher.launch()
        waiting = [searcher for searcher in waiting if not searcher.finished()]
    return [searcher.collect() for searcher, _ in searches]
