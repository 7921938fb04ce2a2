"""Search for the best outputs of a model: greedy and beam, the whole batch at once, without gradients.

A hypothesis ends with </s>; its rank is its log-probability divided by its length (</s> included) to a power: 1 ranks
by log-probability per token, 0 by log-probability. Beam search keeps what has finished. It ends for a source when
`beams` hypotheses have finished and one of them was, when it ended, likelier than all that went on: short junk finishes
early and must not end the search before the best does. The other sources of the batch have no part in that, so a batch
of N gives what N batches of one give. There is no Python loop over sources or beams, and the host looks at the device
only every few steps.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from dualparse.data.batch import Row
from dualparse.data.vocab import BOS, EOS, PAD
from dualparse.engines.cores import cores, each_on_a_core
from dualparse.engines.numba import loading as kernels
from dualparse.engines.numba.search import compiled_beam
from dualparse.engines.triton import search as fused_search
from dualparse.networks.agent import Agent
from dualparse.networks.lstm import Memory, Plan, Seq2Seq, State

LOOK_EVERY = 8  # steps between two looks at whether all is done, where looking means waiting for the device
LOOK_EVERY_ON_CPU = 2
LEAVE_FROM = 0.25  # share of sources that are done from which on they leave the batch
MANY = 100  # sources for which it pays off to load what is compiled
MOST_ON_GPU, MOST_ON_CPU, LEAST_ON_CPU = 512, 128, 8  # sources that `find` searches together
NOTHING = float("-inf")
LEAST = torch.finfo(torch.float32).min  # from which -inf can be subtracted

Mask = Callable[[Tensor], Tensor]
"""Constraint hook: tokens so far [B, k, t] -> which tokens may follow, bool [B, k, V + S] (or [B, k, V])."""


@dataclass(frozen=True)
class Options:
    """How to search: `beams=1` is greedy; no output is longer than `max_length` tokens."""

    beams: int = 5
    max_length: int = 100
    length_power: float = 1.0


@dataclass(frozen=True)
class Found:
    """n-best lists as arrays, best first; empty places have length 0 and log-probability -inf.

    tokens [B, k, T] extended numbers without </s>, PAD behind the end; length [B, k]; log_prob [B, k] with </s>;
    finished [B, k]: whether </s> was reached within the limit. What was not finished stands behind what was.
    copied [B, k, T], where it was asked for: the share of each token's probability that came by copying.
    """

    tokens: np.ndarray
    length: np.ndarray
    log_prob: np.ndarray
    finished: np.ndarray
    copied: np.ndarray | None = None

    def score(self, length_power: float) -> np.ndarray:
        """What hypotheses are ranked by; </s> counts where it was written."""
        return self.log_prob / np.maximum(self.length + self.finished, 1) ** length_power


def search(
    model: Seq2Seq, memory: Memory, options: Options, *, mask: Mask | None = None, copies: bool = False
) -> Found:
    """Greedy or beam search, as the options say; unless constrained, on a GPU by one kernel, and on a CPU by compiled
    steps where these are loaded. `copies` asks for what was copied; greedy search and the kernel do not know."""
    if mask is None and kernels.usable(memory.states):
        return compiled(model, memory, options, copies=copies)
    if options.beams == 1:
        return greedy(model, memory, max_length=options.max_length, mask=mask)
    if mask is None and fused_search.available(memory.mask.device, options.beams):
        packed = fused_search.launch(model, memory, **vars(options), tuning=fused_search.PRECISE)
        parts = fused_search.unpack(packed.cpu().numpy(), options.beams)
        return trace(*parts, length_power=options.length_power)
    return beam(model, memory, **vars(options), mask=mask, copies=copies)


@torch.no_grad()
def greedy(model: Seq2Seq, memory: Memory, *, max_length: int = 100, mask: Mask | None = None) -> Found:
    """The likeliest token at every step."""
    batch, device = memory.mask.shape[0], memory.mask.device
    state, tokens = model.begin(memory, 1), torch.full((batch, 1), BOS, device=device)
    written = torch.full((max_length, batch), PAD, device=device)
    log_prob = torch.zeros(batch, device=device)
    done = torch.zeros(batch, dtype=torch.bool, device=device)
    for t in range(max_length):
        probabilities, state = model.step(memory, state, tokens)
        best, tokens = _allowed(probabilities, mask, written[:t].T.unsqueeze(1)).max(-1)
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
class _Beam:
    """All that a beam search knows, on the device. Every step overwrites it in place: a captured graph needs that.

    step [1]                  how many tokens every live hypothesis has
    live, tokens [B, k]       log-probability of the unfinished, and what they wrote last
    hidden, cell [B, k, n]    their decoder states
    history [T, B, k]         every step's tokens and parents: token * k + parent
    ended [B, k], ends [B, k] rank of the finished, best first, and where they ended: step * k + parent
    topped [B, 1]             whether one of them was likelier than all that went on
    copied [T, B, k]          the share of every step's tokens that came by copying, where it is recorded
    """

    step: Tensor
    live: Tensor
    tokens: Tensor
    hidden: Tensor
    cell: Tensor
    history: Tensor
    ended: Tensor
    ends: Tensor
    topped: Tensor
    copied: Tensor | None = None

    def done(self) -> Tensor:
        """Sources for which the search is over, [B, 1]."""
        return self.topped & (self.ended[:, -1:] > NOTHING)

    def rows(self, index: Tensor) -> _Beam:
        """The search of these sources alone."""
        first = {"live", "tokens", "hidden", "cell", "ended", "ends", "topped"}  # sources come first, else second
        parts = {name: getattr(self, name) for name in (*first, "history", "copied")}
        taken = {
            name: part.index_select(0 if name in first else 1, index)
            for name, part in parts.items()
            if part is not None
        }
        return replace(self, **taken)

    @classmethod
    def start(cls, state: State, batch: int, beams: int, max_length: int) -> _Beam:
        device = state.hidden.device
        shape = (batch, beams)
        live = torch.full(shape, NOTHING, device=device)
        live[:, 0] = 0.0
        return cls(
            step=torch.zeros(1, dtype=torch.long, device=device),
            live=live,
            tokens=torch.full(shape, BOS, device=device),
            hidden=state.hidden,
            cell=state.cell,
            history=torch.zeros((max_length, *shape), dtype=torch.long, device=device),
            ended=torch.full(shape, NOTHING, device=device),
            ends=torch.zeros(shape, dtype=torch.long, device=device),
            topped=torch.zeros((batch, 1), dtype=torch.bool, device=device),
        )


@torch.no_grad()
def beam(
    model: Seq2Seq,
    memory: Memory,
    *,
    beams: int = 5,
    max_length: int = 100,
    length_power: float = 1.0,
    mask: Mask | None = None,
    copies: bool = False,
) -> Found:
    """The `beams` best outputs found for every source of the batch."""
    state = model.begin(memory, beams)
    plan, beam = state.plan, _Beam.start(state, memory.mask.shape[0], beams, max_length)
    if copies:
        beam.copied = torch.zeros(beam.history.shape, dtype=state.hidden.dtype, device=state.hidden.device)
    prefix = torch.empty((*beam.live.shape, 0), dtype=torch.long, device=beam.live.device)
    sources, parts = np.arange(memory.mask.shape[0]), []
    look_every = LOOK_EVERY if memory.mask.is_cuda else LOOK_EVERY_ON_CPU
    for steps in range(1, max_length + 1):
        _advance(model, memory, beam, plan, length_power, mask, prefix)
        if mask is not None:
            parent = (beam.history[steps - 1] % beams).unsqueeze(-1)
            prefix = torch.cat([prefix.gather(1, parent.expand_as(prefix)), beam.tokens.unsqueeze(-1)], -1)
        if steps % look_every:
            continue
        done = beam.done()[:, 0].cpu().numpy()
        if done.all():
            break
        if mask is None and done.mean() >= LEAVE_FROM:  # a mask may know the sources by their places
            over, on = (torch.from_numpy(np.flatnonzero(which)).to(memory.mask.device) for which in (done, ~done))
            parts.append((sources[done], _collect(beam.rows(over), steps, length_power)))
            sources, memory, plan, beam = sources[~done], memory.rows(on), plan.rows(on), beam.rows(on)
    return _joined([*parts, (sources, _collect(beam, steps, length_power))])


def compiled(model: Seq2Seq, memory: Memory, options: Options, *, copies: bool = False) -> Found:
    """What `beam` finds, by `compiled_search`."""
    *parts, copied = compiled_beam(model, memory, **vars(options))
    return trace(*parts, length_power=options.length_power, copied=copied if copies else None)


def _joined(parts: Sequence[tuple[np.ndarray, Found]]) -> Found:
    """What was found for groups of sources, as one, the sources in their order."""
    order = np.argsort(np.concatenate([sources for sources, _ in parts]))
    width = max(found.tokens.shape[-1] for _, found in parts)

    def join(arrays: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate(arrays)[order]

    def wide(array: np.ndarray) -> np.ndarray:
        return np.pad(array, ((0, 0), (0, 0), (0, width - array.shape[-1])), constant_values=PAD)

    copied = [wide(found.copied) for _, found in parts if found.copied is not None]
    return Found(
        tokens=join([wide(found.tokens) for _, found in parts]),
        length=join([found.length for _, found in parts]),
        log_prob=join([found.log_prob for _, found in parts]),
        finished=join([found.finished for _, found in parts]),
        copied=join(copied) if copied else None,
    )


def _advance(
    model: Seq2Seq,
    memory: Memory,
    beam: _Beam,
    plan: Plan,
    length_power: float,
    mask: Mask | None = None,
    prefix: Tensor | None = None,
) -> None:
    """One step of all beams of all sources."""
    batch, beams = beam.live.shape
    probabilities, state = model.step(memory, State(beam.hidden, beam.cell, plan), beam.tokens)
    width = probabilities.shape[-1]
    # Candidates are compared as probabilities relative to the likeliest beam: few logarithms are needed then.
    best = beam.live[:, :1].clamp_min(LEAST)
    weighed = _allowed(probabilities, mask, prefix).mul_((beam.live - best).exp_().unsqueeze(-1)).view(batch, -1)
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
        beam.copied.index_copy_(0, beam.step, share.unsqueeze(0))
    beam.live.copy_(live)
    beam.tokens.copy_(token)
    beam.history.index_copy_(0, beam.step, (token * beams + parent).unsqueeze(0))
    index = (parent + torch.arange(0, batch * beams, beams, device=parent.device).unsqueeze(1)).flatten()
    torch.index_select(state.hidden.flatten(0, 1), 0, index, out=beam.hidden.view(batch * beams, -1))
    torch.index_select(state.cell.flatten(0, 1), 0, index, out=beam.cell.view(batch * beams, -1))
    beam.step += 1


def _copied(numbers: Tensor, copying: Tensor, parent: Tensor, token: Tensor) -> Tensor:
    """[B, k] probability that a parent copied this token, from whichever position stands for it."""
    positions = copying.gather(1, parent.unsqueeze(-1).expand_as(copying))
    return (positions * (numbers.unsqueeze(1) == token.unsqueeze(-1))).sum(-1)


def _allowed(probabilities: Tensor, mask: Mask | None, prefix: Tensor | None) -> Tensor:
    """Nothing is left of what may not be written: of the special tokens in front of </s>, and by the mask."""
    probabilities[..., :EOS] = 0.0
    return probabilities if mask is None or prefix is None else probabilities.masked_fill_(~mask(prefix), 0.0)


def _collect(beam: _Beam, steps: int, length_power: float) -> Found:
    """What a search has found, on the host."""
    history = beam.history[:steps].cpu().numpy()
    ended, ends, live = (tensor.cpu().numpy() for tensor in (beam.ended, beam.ends, beam.live))
    copied = None if beam.copied is None else beam.copied[:steps].cpu().numpy()
    return trace(history, ended, ends, live, length_power=length_power, copied=copied)


def trace(
    history: np.ndarray,
    ended: np.ndarray,
    ends: np.ndarray,
    live: np.ndarray,
    *,
    length_power: float,
    copied: np.ndarray | None = None,
) -> Found:
    """Follow the parents back from every end; places that did not end by the limit are filled with what was live.

    The arrays are those of `_Beam`; of a source all of whose places ended, the history after that is not read.
    """
    steps, _, beams = history.shape
    finished = np.isfinite(ended)
    rest = np.cumsum(~finished, axis=1) - 1  # which live hypothesis fills an unfinished place
    length = np.where(finished, ends // beams, steps)
    place = np.where(finished, ends % beams, rest)
    own = ended.astype(np.float64) * (length + 1.0) ** length_power
    log_prob = np.where(finished, own, np.take_along_axis(live, np.maximum(rest, 0), axis=1))
    tokens = np.full((*place.shape, max(int(length.max(initial=0)), 1)), PAD, dtype=np.int64)
    shares = None if copied is None else np.zeros(tokens.shape, dtype=np.float32)
    rows = np.arange(place.shape[0])[:, None]
    for t in range(tokens.shape[-1] - 1, -1, -1):
        on = length > t
        code = history[t][rows, place]
        tokens[..., t] = np.where(on, code // beams, PAD)
        if shares is not None and copied is not None:
            shares[..., t] = np.where(on, copied[t][rows, place], 0.0)
        place = np.where(on, code % beams, place)
    empty = ~np.isfinite(log_prob)
    tokens[empty], length[empty] = PAD, 0
    return Found(tokens, length, log_prob, finished, shares)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One output: its tokens, its log-probability, and the score by which outputs are ranked; `copied`, where it was
    asked for and is known, is the share of each token that came by copying."""

    tokens: tuple[str, ...]
    log_prob: float
    score: float
    finished: bool
    copied: tuple[float, ...] | None = None

    @property
    def text(self) -> str:
        return " ".join(self.tokens)


def find(
    agent: Agent,
    sources: Sequence[Sequence[str]],
    options: Options,
    *,
    rng: random.Random,
    rows_at_once: int | None = None,
    mask: Mask | None = None,
    copies: bool = False,
) -> list[list[Hypothesis]]:
    """The n-best outputs of an agent for many sources, in their order; see `search` for `copies`."""
    rows = [agent.row(source, None, rng) for source in sources]
    if len(rows) >= MANY and agent.device.type == "cpu":
        kernels.load()
    size = rows_at_once or _rows_at_once(agent.device, len(rows))
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].source), reverse=True)  # similar lengths: little padding
    results: list[list[Hypothesis]] = [[] for _ in rows]

    @torch.no_grad()  # here, because threads do not share it
    def search_some(chosen: list[int]) -> None:
        batch = agent.encode_rows([rows[i] for i in chosen]).batch
        memory = agent.model.encode(batch.source, batch.copy)
        found = search(agent.model, memory, options, mask=mask, copies=copies)
        score = found.score(options.length_power)
        for place, i in enumerate(chosen):
            results[i] = _hypotheses(agent, found, score, place, rows[i])

    parts = [order[start : start + size] for start in range(0, len(order), size)]
    was_training = agent.model.training
    agent.model.eval()
    if agent.device.type == "cpu" and mask is None:
        each_on_a_core(search_some, parts)
    else:
        for part in parts:
            search_some(part)
    agent.model.train(was_training)
    return results


def _rows_at_once(device: torch.device, count: int) -> int:
    """How many sources to search together; on a CPU every core gets as many parts as the others."""
    if device.type == "cuda":
        return MOST_ON_GPU
    rounds = -(-count // (MOST_ON_CPU * cores()))
    return max(-(-count // max(rounds * cores(), 1)), LEAST_ON_CPU)


def _hypotheses(agent: Agent, found: Found, score: np.ndarray, place: int, row: Row) -> list[Hypothesis]:
    return [
        Hypothesis(
            agent.words(found.tokens[place, k, : found.length[place, k]].tolist(), row),
            float(found.log_prob[place, k]),
            float(score[place, k]),
            bool(found.finished[place, k]),
            None if found.copied is None else tuple(found.copied[place, k, : found.length[place, k]].tolist()),
        )
        for k in range(found.length.shape[1])
        if np.isfinite(found.log_prob[place, k])
    ]
