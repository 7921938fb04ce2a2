"""Greedy and beam search in plain PyTorch, for every network: the whole batch at once, without gradients. What other
engines find is compared with this.

A hypothesis ends with </s>; its rank is its log-probability divided by its length (</s> included) to a power: 1 ranks
by log-probability per token, 0 by log-probability. Beam search keeps what has finished. It ends for a source when
`beams` hypotheses have finished and one of them was, when it ended, likelier than all that went on: short junk finishes
early and must not end the search before the best does. The other sources of the batch have no part in that, so a batch
of N gives what N batches of one give. There is no Python loop over sources or beams, and the host looks at the device
only every few steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from dualparse.data.vocab import BOS, EOS, PAD
from dualparse.engines.found import Found, Walk, joined, trace
from dualparse.networks.network import Memory, Network, State

LOOK_EVERY = 8  # steps between two looks at whether all is done, where looking means waiting for the device
LOOK_EVERY_ON_CPU = 2
LEAVE_FROM = 0.25  # share of sources that are done from which on they leave the batch
NOTHING = float("-inf")
LEAST = torch.finfo(torch.float32).min  # from which -inf can be subtracted


@torch.no_grad()
def greedy(network: Network, memory: Memory, *, max_length: int = 100) -> Found:
    """The likeliest token at every step."""
    batch, device = memory.mask.shape[0], memory.mask.device
    state, tokens = network.begin(memory, 1), torch.full((batch, 1), BOS, device=device)
    written = torch.full((max_length, batch), PAD, device=device)
    log_prob = torch.zeros(batch, device=device)
    done = torch.zeros(batch, dtype=torch.bool, device=device)
    for t in range(max_length):
        probabilities, state = network.step(memory, state, tokens)
        probabilities[..., :EOS] = 0.0
        best, tokens = probabilities.max(-1)
        log_prob += torch.where(done, 0.0, best[:, 0].log())
        written[t] = torch.where(done, PAD, tokens[:, 0])
        done |= tokens[:, 0] == EOS
        if (t + 1) % LOOK_EVERY == 0 and bool(done.all()):
            break
    output = written.T.cpu().numpy()
    finished = (output == EOS).any(1)
    output = np.where(output == EOS, PAD, output)
    length = (output != PAD).sum(1)
    width = max(int(length.max(initial=0)), 1)
    return Found(
        output[:, None, :width], length[:, None], log_prob.cpu().numpy().astype(np.float64)[:, None], finished[:, None]
    )


@dataclass
class Beam:
    """All that a beam search knows, on the device. Every step overwrites it in place, but for the decoder's state.

    step [1]                  how many tokens every live hypothesis has
    live, tokens [B, k]       log-probability of the unfinished, and what they wrote last
    state                     their decoder states
    history [T, B, k]         every step's tokens and parents: token * k + parent
    ended [B, k], ends [B, k] rank of the finished, best first, and where they ended: step * k + parent
    topped [B, 1]             whether one of them was likelier than all that went on
    copied [T, B, k]          the share of every step's tokens that came by copying, where it is recorded
    """

    step: Tensor
    live: Tensor
    tokens: Tensor
    state: State
    history: Tensor
    ended: Tensor
    ends: Tensor
    topped: Tensor
    copied: Tensor | None = None

    def done(self) -> Tensor:
        """Sources for which the search is over, [B, 1]: enough have finished, or nothing goes on."""
        return (self.topped & (self.ended[:, -1:] > NOTHING)) | (self.live[:, :1] == NOTHING)

    def rows(self, index: Tensor) -> Beam:
        """The search of these sources alone."""
        first = {name: getattr(self, name)[index] for name in ("live", "tokens", "ended", "ends", "topped")}
        copied = None if self.copied is None else self.copied[:, index]
        return replace(self, **first, state=self.state.rows(index), history=self.history[:, index], copied=copied)

    @classmethod
    def start(cls, network: Network, memory: Memory, beams: int, max_length: int) -> Beam:
        device, shape = memory.mask.device, (len(memory.mask), beams)
        live = torch.full(shape, NOTHING, device=device)
        live[:, 0] = 0.0
        return cls(
            step=torch.zeros(1, dtype=torch.long, device=device),
            live=live,
            tokens=torch.full(shape, BOS, device=device),
            state=network.begin(memory, beams),
            history=torch.zeros((max_length, *shape), dtype=torch.long, device=device),
            ended=torch.full(shape, NOTHING, device=device),
            ends=torch.zeros(shape, dtype=torch.long, device=device),
            topped=torch.zeros((len(memory.mask), 1), dtype=torch.bool, device=device),
        )


class Rows:
    """Where the hypotheses of a constrained search stand.

    sources [B] their numbers in the batch that the constraint knows; there, places [B, k] which go on, and where
    """

    def __init__(self, walk: Walk, batch: int, beams: int):
        self.walk, self.sources = walk, np.arange(batch)
        self.there = np.zeros((batch, beams), dtype=bool)
        self.places = np.empty((batch, beams), dtype=object)
        self.there[:, 0] = True
        self.places[:, 0] = [walk.start()] * batch

    def bar(self, probabilities: Tensor, left: int) -> None:
        """Nothing is left of the tokens that may not come next, where `left` more fit after them."""
        allowed = np.zeros(probabilities.shape, dtype=bool)
        which, _ = self.there.nonzero()
        if len(which):
            places, width = self.places[self.there].tolist(), probabilities.shape[-1]
            allowed[self.there] = self.walk.allowed(self.sources[which].tolist(), places, left=left, width=width)
        probabilities *= torch.from_numpy(allowed).to(probabilities.device)

    def follow(self, beam: Beam, steps: int) -> None:
        """Every hypothesis has gone on from its parent by a token."""
        parents = (beam.history[steps - 1] % beam.live.shape[1]).cpu().numpy()
        tokens, self.there = beam.tokens.cpu().numpy(), torch.isfinite(beam.live).cpu().numpy()
        came = np.take_along_axis(self.places, parents, axis=1)
        which, _ = self.there.nonzero()
        self.places = np.empty_like(came)
        now = self.walk.after(self.sources[which].tolist(), came[self.there].tolist(), tokens[self.there].tolist())
        for where, place in zip(np.argwhere(self.there), now, strict=True):
            self.places[tuple(where)] = place

    def keep(self, on: np.ndarray) -> None:
        """Only these sources go on."""
        self.sources, self.there, self.places = self.sources[on], self.there[on], self.places[on]


@torch.no_grad()
def beam(
    network: Network,
    memory: Memory,
    *,
    beams: int = 5,
    max_length: int = 100,
    length_power: float = 1.0,
    walk: Walk | None = None,
    copies: bool = False,
) -> Found:
    """The `beams` best outputs found for every source of the batch, among those that `walk` allows."""
    now = Beam.start(network, memory, beams, max_length)
    if copies:
        now.copied = torch.zeros(now.history.shape, device=now.live.device)
    rows = None if walk is None else Rows(walk, *now.live.shape)
    sources, parts = np.arange(len(memory.mask)), []
    look_every = LOOK_EVERY if memory.mask.is_cuda else LOOK_EVERY_ON_CPU
    for steps in range(1, max_length + 1):
        bar = None if rows is None else partial(rows.bar, left=max_length - steps)
        advance(network, memory, now, length_power, bar)
        if rows is not None:
            rows.follow(now, steps)
        if steps % look_every:
            continue
        done = now.done()[:, 0].cpu().numpy()
        if done.all():
            break
        if done.mean() >= LEAVE_FROM:
            over, on = (torch.from_numpy(np.flatnonzero(which)).to(memory.mask.device) for which in (done, ~done))
            parts.append((sources[done], collect(now.rows(over), steps, length_power)))
            sources, memory, now = sources[~done], memory.rows(on), now.rows(on)
            if rows is not None:
                rows.keep(~done)
    return joined([*parts, (sources, collect(now, steps, length_power))])


def advance(
    network: Network,
    memory: Memory,
    beam: Beam,
    length_power: float,
    bar: Callable[[Tensor], None] | None = None,
) -> None:
    """One step of all beams of all sources; `bar` leaves nothing of the probability of what may not come next."""
    batch, beams = beam.live.shape
    probabilities, state = network.step(memory, beam.state, beam.tokens)
    width = probabilities.shape[-1]
    probabilities[..., :EOS] = 0.0
    if bar is not None:
        bar(probabilities)
    # Candidates are compared as probabilities relative to the likeliest beam: few logarithms are needed then.
    best = beam.live[:, :1].clamp_min(LEAST)
    weighed = probabilities.mul_((beam.live - best).exp_().unsqueeze(-1)).view(batch, -1)
    # Each beam has one way to end, so among 2k candidates at least k go on.
    value, where = weighed.topk(min(2 * beams, weighed.shape[1]), dim=-1)
    value, parent, token = value.log_().add_(best), where // width, where % width
    ending = token == EOS

    # What ends among the k best joins the finished, unless the source was done before.
    joins = ending[:, :beams] & ~beam.done()
    rank = (value / (beam.step + 1) ** length_power)[:, :beams].masked_fill(~joins, NOTHING)
    ended, kept = torch.cat([beam.ended, rank], 1).topk(beams, dim=-1)
    beam.ends.copy_(torch.cat([beam.ends, beam.step * beams + parent[:, :beams]], 1).gather(1, kept))
    beam.ended.copy_(ended)
    beam.topped |= ending[:, :1]

    # The k best of the others go on.
    live, kept = value.masked_fill(ending, NOTHING).topk(beams, dim=-1)
    parent, token = parent.gather(1, kept), token.gather(1, kept)
    if beam.copied is not None and state.copying is not None:
        share = _copied(memory.copy, state.copying, parent, token) / (live - beam.live.gather(1, parent)).exp_()
        beam.copied.index_copy_(0, beam.step, share.to(beam.copied.dtype).unsqueeze(0))
    beam.live.copy_(live)
    beam.tokens.copy_(token)
    beam.history.index_copy_(0, beam.step, (token * beams + parent).unsqueeze(0))
    beam.state = state.follow(parent)
    beam.step += 1


def _copied(numbers: Tensor, copying: Tensor, parent: Tensor, token: Tensor) -> Tensor:
    """[B, k] probability that a parent copied this token, from whichever position stands for it."""
    positions = copying.gather(1, parent.unsqueeze(-1).expand_as(copying))
    return (positions * (numbers.unsqueeze(1) == token.unsqueeze(-1))).sum(-1)


def collect(beam: Beam, steps: int, length_power: float) -> Found:
    """What a search has found, on the host."""
    history = beam.history[:steps].cpu().numpy()
    ended, ends, live = (tensor.cpu().numpy() for tensor in (beam.ended, beam.ends, beam.live))
    copied = None if beam.copied is None else beam.copied[:steps].cpu().numpy()
    return trace(history, ended, ends, live, length_power=length_power, copied=copied)
