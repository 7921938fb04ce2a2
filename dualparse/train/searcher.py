"""Beam search inside the game: the same search over and over, on batches of one size.

On a GPU everything from the sources to the hypotheses is one captured graph, kept per source length, which ends in the
one kernel of `fused_search`. Where that cannot be used the steps of the search are a second graph. Several searches run
beside each other on streams of their own: either is far too small to fill the card. On a CPU this is `search.beam`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dualparse.data.batch import Row, collate
from dualparse.data.vocab import BOS, PAD
from dualparse.models import fused_search
from dualparse.models.agent import Agent
from dualparse.models.seq2seq import Memory
from dualparse.search import LOOK_EVERY, Found, Options, _advance, _banned, _Beam, _collect, search, trace

GRID = 8  # source lengths are rounded up to this, so that few shapes have to be captured


@dataclass
class _Captured:
    """The graphs for one shape, and the tensors they read and write.

    sources [2, B, S]: what is read, and what it is when copied; `sent` the same on the host. `packed` and `received`:
    the result of a fused search, here and there. `beam` and `steps` belong to a search by steps.
    """

    sources: Tensor
    sent: Tensor
    start: torch.cuda.CUDAGraph
    packed: Tensor | None = None
    received: Tensor | None = None
    beam: _Beam | None = None
    steps: torch.cuda.CUDAGraph | None = None


class Searcher:
    """Searches for one agent; `begin`, `launch` until `finished`, `collect`."""

    def __init__(self, agent: Agent, options: Options):
        self.agent, self.options = agent, options
        self.capture = agent.device.type == "cuda"
        self.fused = fused_search.available(agent.device, options.beams)
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
        width = arrays.source.shape[1]
        key = (len(rows), -(-width // GRID) * GRID)
        if key not in self._graphs:
            self._graphs[key] = self._record(*key)
        self._now = captured = self._graphs[key]
        self._done = 0
        # What was sent last has arrived: its search was waited for.
        captured.sent.fill_(PAD)
        for place, array in enumerate((arrays.source, arrays.copy)):
            captured.sent[place, :, :width] = torch.from_numpy(array)
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            captured.sources.copy_(captured.sent, non_blocking=True)
            captured.start.replay()
            if self.fused:
                captured.received.copy_(captured.packed, non_blocking=True)

    def launch(self) -> None:
        """The next few steps; a fused search has launched them all."""
        if not self.fused:
            with torch.cuda.stream(self.stream):
                self._now.steps.replay()
            self._done += LOOK_EVERY

    def finished(self) -> bool:
        """Whether the search is over; waits for the steps launched."""
        if self.fused or self._done >= _steps(self.options):
            return True
        with torch.cuda.stream(self.stream):
            return bool(self._now.beam.done().all())

    def collect(self) -> Found:
        """The result; waits for it."""
        options = self.options
        if self.fused:
            self.stream.synchronize()
            received = self._now.received.numpy()
            return trace(*fused_search.unpack(received, options.beams), options.length_power)
        with torch.cuda.stream(self.stream):
            found = _collect(self._now.beam, self._done, options.length_power)
        torch.cuda.current_stream().wait_stream(self.stream)
        return found

    @torch.no_grad()
    def _record(self, batch: int, length: int) -> _Captured:
        """Capture a search, or the start of a search and a run of steps."""
        model = self.agent.model
        training = model.training
        model.eval()
        sources = torch.full((2, batch, length), BOS, device=self.agent.device)
        sent = torch.empty(sources.shape, dtype=sources.dtype, pin_memory=True)
        captured = _Captured(sources, sent, torch.cuda.CUDAGraph())
        self.stream.wait_stream(torch.cuda.current_stream())
        record = self._record_fused if self.fused else self._record_steps
        record(captured)
        model.train(training)
        return captured

    def _record_fused(self, captured: _Captured) -> None:
        with torch.cuda.stream(self.stream):  # once before, so that libraries set themselves up
            self._launch_fused(captured.sources)
        self.stream.synchronize()
        with torch.cuda.graph(captured.start, stream=self.stream):
            packed = self._launch_fused(captured.sources)
        captured.packed = packed
        captured.received = torch.empty(packed.shape, dtype=packed.dtype, pin_memory=True)

    def _launch_fused(self, sources: Tensor) -> Tensor:
        options = self.options
        return fused_search.launch(
            self.agent.model,
            self.agent.model.encode(*sources),
            beams=options.beams,
            max_length=options.max_length,
            length_power=options.length_power,
        )

    def _record_steps(self, captured: _Captured) -> None:
        model, options = self.agent.model, self.options

        def start() -> tuple[Memory, Tensor, _Beam, Tensor]:
            memory = model.encode(*captured.sources)
            state = model.begin(memory, options.beams)
            beam = _Beam.start(state, len(memory.mask), options.beams, _steps(options))
            return memory, state.input_gates, beam, _banned(model, memory)

        def advance(memory: Memory, input_gates: Tensor, beam: _Beam, banned: Tensor) -> None:
            _advance(model, memory, beam, input_gates, banned, options.length_power)

        with torch.cuda.stream(self.stream):  # once before, so that libraries set themselves up
            advance(*start())
        self.stream.synchronize()
        with torch.cuda.graph(captured.start, stream=self.stream):
            started = start()
        captured.beam = started[2]
        captured.steps = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured.steps, stream=self.stream, pool=captured.start.pool()):
            for _ in range(LOOK_EVERY):
                advance(*started)


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
