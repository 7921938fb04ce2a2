"""Beam search inside the game: the same search over and over, on batches of one size.

On a GPU everything from the sources to the hypotheses is captured (`engines.graphs`), kept per source length. Several
searches run beside each other on streams of their own: either is far too small to fill the card. On a CPU, and for
networks that are not captured, this is the search of the network's engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from dualparse.data.batch import Batch
from dualparse.data.vocab import BOS, PAD
from dualparse.engines import graphs
from dualparse.engines.cores import each_on_a_core
from dualparse.engines.denormals import denormals_are_zero
from dualparse.engines.engine import search
from dualparse.engines.found import Found, Options
from dualparse.engines.numba import loading
from dualparse.engines.scoring import without_dropout
from dualparse.networks.agent import Agent
from dualparse.networks.network import noise_apart

GRID = 8  # source lengths are rounded up to this, so that few shapes have to be captured


class Searcher:
    """Searches for one agent, from sources as a batch of numpy arrays; on a GPU `begin`, `proceed` until it says True,
    `collect`.

    `noisy`: the source is read with dropout, so that the same source gives other hypotheses every time.
    """

    def __init__(self, agent: Agent, options: Options, *, noisy: bool = False):
        self.agent, self.options, self.noisy = agent, options, noisy
        self.capture = graphs.captures_searches(agent.model)
        self._graphs: dict[tuple[int, int], tuple[Tensor, graphs.FusedSearch | graphs.SteppedSearch]] = {}
        if self.capture:
            self.stream = torch.cuda.Stream()
        elif agent.device.type == "cpu":
            loading.load()

    def find(self, read: Batch) -> Found:
        """One search by itself, without graphs."""
        source, copy = (torch.from_numpy(array).to(self.agent.device) for array in (read.source, read.copy))
        model = self.agent.model
        with torch.no_grad(), without_dropout(model):
            return search(model, graphs.noisy_read(model, source, copy, noisy=self.noisy), self.options)

    def begin(self, read: Batch) -> None:
        """Send the sources and start."""
        width = read.source.shape[1]
        key = (len(read.source), -(-width // GRID) * GRID)
        if key not in self._graphs:
            self._graphs[key] = self._record(*key)
        sent, self._now = self._graphs[key]
        # What was sent before has arrived: its result was waited for.
        sent.fill_(PAD)
        for place, array in enumerate((read.source, read.copy)):
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
    def _record(self, batch: int, length: int) -> tuple[Tensor, graphs.FusedSearch | graphs.SteppedSearch]:
        """Capture searches of a shape; their sources [2, B, S] (as read, as copied) come from the pinned tensor."""
        model = self.agent.model
        sources = torch.full((2, batch, length), BOS, device=self.agent.device)
        self.stream.wait_stream(torch.cuda.current_stream())
        with without_dropout(model), graphs.quick_products():
            captured = graphs.captured_search(model, self.options, sources, self.stream, noisy=self.noisy)
        return torch.empty(sources.shape, dtype=sources.dtype, pin_memory=True), captured


def find_together(
    searches: Sequence[tuple[Searcher, Batch]], then: Callable[[int, Found], Any] = lambda number, found: found
) -> list[Any]:
    """Several searches beside each other; what `then` makes of each (its number, what it found) in the order given. It
    is asked as soon as a search is over, while others may go on."""

    def find(number: int) -> Any:
        searcher, read = searches[number]
        return then(number, searcher.find(read))

    numbers = range(len(searches))
    if not all(searcher.capture for searcher, _ in searches):
        if any(searcher.agent.device.type != "cpu" for searcher, _ in searches):
            return [find(number) for number in numbers]
        noisy = [searcher.agent.model for searcher, _ in searches if searcher.noisy]
        with noise_apart(noisy) as apart, denormals_are_zero():
            return each_on_a_core(find, numbers) if apart else [find(number) for number in numbers]
    for searcher, read in searches:
        searcher.begin(read)
    waiting = [searcher for searcher, _ in searches]
    while waiting:
        waiting = [searcher for searcher in waiting if not searcher.proceed()]
    made: dict[int, Any] = {}
    for number in sorted(numbers, key=lambda number: searches[number][0].options.max_length):  # short ones end first
        made[number] = then(number, searches[number][0].collect())
    return [made[number] for number in numbers]
