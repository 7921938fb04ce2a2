"""The network of both agents (paper Section 2): BiLSTM encoder, attentional LSTM decoder, copy gate.

Numbers in, log-probabilities out; it knows neither words nor direction. Five functions are the seam another network
would have to offer: `encode` (once per source), `log_probs` (teacher forcing, all steps at once), `look` (that pass
again: where it attended, what it copied) and `begin`, `step` (search, one step for all beams at once).

The decoder does not read the attention back, so teacher forcing is one LSTM call and one batched attention.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dualparse.data.batch import Batch
from dualparse.data.vocab import PAD, UNK
from dualparse.engines.numba import loading as compiled
from dualparse.engines.numba.packed import packed_log_probs, packed_memory
from dualparse.engines.triton import lstm as fused_lstm
from dualparse.networks.attention import CLOSED, additive_scores, powers_of, scores_of_powers
from dualparse.networks.dropout import Dropout


@dataclass(frozen=True)
class Memory:
    """What the encoder leaves for the decoder.

    states [B, S, 2n]   keys [B, S, n] = W1 h + b_a   mask [B, S] true at real positions
    copy [B, S] extended target numbers               hidden, cell [B, n] the decoder's start
    """

    states: Tensor
    keys: Tensor
    mask: Tensor
    copy: Tensor
    hidden: Tensor
    cell: Tensor

    def rows(self, index: Tensor) -> Memory:
        """The memory of these sources, in this order; one may come several times."""
        return self._map(lambda tensor: tensor[index])

    def repeated(self, first: int, times: int) -> Memory:
        """The memory of each of the first sources several times, one after the other; of the rest once."""
        return self._map(
            lambda tensor: torch.cat(
                [tensor[:first].unsqueeze(1).expand(-1, times, *tensor.shape[1:]).flatten(0, 1), tensor[first:]]
            )
        )

    def _map(self, function: Callable[[Tensor], Tensor]) -> Memory:
        parts = (self.states, self.keys, self.mask, self.copy, self.hidden, self.cell)
        return Memory(*map(function, parts))


@dataclass(frozen=True)
class Plan:
    """What every step of a search needs, worked out once. W = V + S numbers can be written; V without copying.

    The output layer reads decoder state and context. A context is a mean of encoder states, so each of these goes
    through the layer once, and the outcomes are averaged: no step needs a context.

    input_gates [V, 4n]            what a token read adds to the decoder's gates, biases included
    recurrent [n, 4n]              decoder state -> gates; in both the proposed content comes last
    powers [B, S, n]               of the keys, for attention
    outward [n + W, n]             decoder state -> attention query and logits; [n + W + 1, n] with the copy gate
    shown [B, S, W]                logits of a source position when all attention is on it; closed at copied numbers
    gate_shown [B, S, 1]           the same for the copy gate
    gate_read [V, 1]               what a token read adds to the copy gate, its bias included
    """

    input_gates: Tensor
    recurrent: Tensor
    powers: Tensor
    outward: Tensor
    shown: Tensor
    gate_shown: Tensor | None
    gate_read: Tensor | None

    def rows(self, index: Tensor) -> Plan:
        """The plan for these sources alone."""
        gate_shown = None if self.gate_shown is None else self.gate_shown[index]
        return replace(self, powers=self.powers[index], shown=self.shown[index], gate_shown=gate_shown)


@dataclass(frozen=True)
class State:
    """The decoder between two steps: hidden, cell [B, k, n]; the plan is the same for all steps.

    copying [B, k, S]: after a step, the probability that it copied from each position; None without copying.
    """

    hidden: Tensor
    cell: Tensor
    plan: Plan
    copying: Tensor | None = None


@dataclass(frozen=True)
class Look:
    """What a teacher-forced pass looked at.

    attention [B, T, S] weights   gate [B, T] probability of copying rather than generating
    copied [B, T] the share of the target's probability that came by copying; both 0 without copying
    """

    attention: Tensor
    gate: Tensor
    copied: Tensor


@dataclass(frozen=True)
class _Decoded:
    """The decoder over whole targets: features [B, T, 3n], log_attention [B, T, S], balance [B, T]: the gate before
    its sigmoid, positive where generating is likelier; None without copying."""

    features: Tensor
    log_attention: Tensor
    balance: Tensor | None


class Seq2Seq(nn.Module):
    """P(target | source), with copying (`AttPtr`) or without (`Att`)."""

    def __init__(
        self,
        source_size: int,
        target_size: int,
        *,
        embedding: int = 100,
        hidden: int = 200,
        dropout: float = 0.5,
        word_dropout: float = 0.0,
        copy: bool = True,
    ):
        super().__init__()
        self.copy, self.word_dropout = copy, word_dropout
        self.target_size = target_size
        self.source_embedding = nn.Embedding(source_size, embedding, padding_idx=PAD)
        self.target_embedding = nn.Embedding(target_size, embedding, padding_idx=PAD)
        # One more input than the embedding: 1 at padding, 0 elsewhere (see `initialize`).
        self.encoder = nn.LSTM(embedding + 1, hidden, batch_first=True, bidirectional=True)
        self.decoder = nn.LSTM(embedding, hidden, batch_first=True)
        self.attention_keys = nn.Linear(2 * hidden, hidden)  # W1, b_a
        self.attention_query = nn.Linear(hidden, hidden, bias=False)  # W2
        self.attention_score = nn.Linear(hidden, 1, bias=False)  # v
        self.generate = nn.Linear(3 * hidden, target_size)  # W_o, b_o
        self.gate = nn.Linear(3 * hidden + embedding, 1) if copy else None  # v_g, b_g
        self.dropout = Dropout(dropout)

    @torch.no_grad()
    def initialize(self, *, scale: float = 0.2, generator: torch.Generator | None = None) -> None:
        """Every parameter uniform in [-scale, scale], padding excepted.

        The padding marker closes the encoder's input gate, so a padded position leaves a zero state zero: the backward
        direction, which meets the padding first, starts the sentence untouched, and no packing is needed.
        """
        for parameter in self.parameters():
            parameter.uniform_(-scale, scale, generator=generator)
        for name in ("weight_ih_l0", "weight_ih_l0_reverse"):
            weight = self.encoder.get_parameter(name)
            weight[:, -1] = 0.0
            weight[: self.encoder.hidden_size, -1] = CLOSED
        self.source_embedding.weight[PAD] = 0.0
        self.target_embedding.weight[PAD] = 0.0

    def encode(self, source: Tensor, copy: Tensor) -> Memory:
        """[B, S] numbers -> memory (Eqs. 1-3)."""
        if compiled.usable(self.generate.weight) and not torch.is_grad_enabled():
            return packed_memory(self, source, copy)
        mask = source != PAD
        embedded = self.dropout(self.source_embedding(self.misread(source, mask)))
        marked = torch.cat([embedded, (~mask).to(embedded.dtype).unsqueeze(-1)], dim=-1)
        if fused_lstm.available(self.encoder, marked):
            states, cells = fused_lstm.fused_lstm(self.encoder, marked, mask.sum(-1))
            last = states[:, 0, self.encoder.hidden_size :], cells[:, 1]
        else:
            states, (hidden, cell) = self.encoder(marked)
            last = hidden[1], cell[1]
        return Memory(states, self.attention_keys(states), mask, copy, *last)

    def misread(self, source: Tensor, mask: Tensor) -> Tensor:
        """The source with some of its words unknown, as far as training asks for this."""
        if not (self.training and self.word_dropout):
            return source
        drawn = torch.rand(source.shape, device=source.device, generator=self.dropout.generator)
        return source.masked_fill((drawn < self.word_dropout) & mask, UNK)

    def log_probs(self, memory: Memory, inputs: Tensor, targets: Tensor) -> Tensor:
        """Teacher forcing: log P(target_t | target_<t, source), [B, T]; 0 at padding."""
        generated, copied = self._two_ways(memory, self._decode(memory, inputs), targets)
        total = generated if copied is None else torch.logaddexp(generated, copied)
        return total.masked_fill(targets == PAD, 0.0)

    def look(self, memory: Memory, inputs: Tensor, targets: Tensor) -> Look:
        """Where teacher forcing attended, and what of each target it copied."""
        decoded = self._decode(memory, inputs)
        generated, copied = self._two_ways(memory, decoded, targets)
        attention = decoded.log_attention.exp()
        if copied is None or decoded.balance is None:
            return Look(attention, torch.zeros_like(generated), torch.zeros_like(generated))
        return Look(attention, torch.sigmoid(-decoded.balance), torch.sigmoid(copied - generated))

    def _decode(self, memory: Memory, inputs: Tensor) -> _Decoded:
        """[B, T] numbers read -> decoder states, attention and gate of all steps."""
        embedded = self.dropout(self.target_embedding(inputs))
        if fused_lstm.available(self.decoder, embedded):
            steps = (inputs != PAD).sum(-1)
            hidden, _ = fused_lstm.fused_lstm(self.decoder, embedded, steps, (memory.hidden, memory.cell))
        else:
            start = (memory.hidden.unsqueeze(0).contiguous(), memory.cell.unsqueeze(0).contiguous())
            hidden, _ = self.decoder(embedded, start)
        log_attention, context = self._attend(memory, hidden, inputs)
        features = torch.cat([hidden, context], dim=-1)
        gate = self.gate
        balance = None if gate is None else gate(torch.cat([features, embedded], dim=-1)).squeeze(-1)
        return _Decoded(features, log_attention, balance)

    def _two_ways(self, memory: Memory, decoded: _Decoded, targets: Tensor) -> tuple[Tensor, Tensor | None]:
        """log P of each target by generating and by copying, both [B, T]; None without copying."""
        logits = self.generate(self.dropout(decoded.features))
        known = targets < self.target_size
        flat = torch.where(known, targets, UNK).flatten()
        log_generate = -F.cross_entropy(logits.flatten(0, 1), flat, reduction="none").view_as(targets)
        if decoded.balance is None:
            return log_generate, None
        matches = memory.copy.unsqueeze(1) == targets.unsqueeze(2)
        log_copy = torch.where(matches, decoded.log_attention, CLOSED).logsumexp(-1)
        generated = F.logsigmoid(decoded.balance) + log_generate.masked_fill(~known, CLOSED)
        return generated, F.logsigmoid(-decoded.balance) + log_copy

    def forward(self, batch: Batch, *, shared: int = 0, times: int = 1) -> Tensor:
        """Log-probability of each row's target, [B]. The first `shared` sources have `times` targets each, one after
        the other, and are read once; the others have one."""
        if compiled.usable(self.generate.weight):
            return packed_log_probs(self, batch, shared=shared, times=times)
        memory = self.encode(batch.source, batch.copy)
        if shared:
            memory = memory.repeated(shared, times)
        return self.log_probs(memory, batch.inputs, batch.targets).sum(-1)

    def begin(self, memory: Memory, beams: int) -> State:
        """The decoder's state before the first step, once per search."""
        hidden, cell = (tensor.unsqueeze(1).repeat(1, beams, 1) for tensor in (memory.hidden, memory.cell))
        return State(hidden, cell, self._plan(memory))

    def input_gates(self) -> Tensor:
        """[V, 4n] what each token read adds to the decoder's gates, biases included."""
        weight, one, other = map(self.decoder.get_parameter, ("weight_ih_l0", "bias_ih_l0", "bias_hh_l0"))
        return F.linear(self.target_embedding.weight, weight, one + other)

    def _plan(self, memory: Memory) -> Plan:
        n, weight = self.decoder.hidden_size, self.generate.weight
        copied = memory.copy.shape[1] if self.copy else 0
        closed = memory.states.new_full((*memory.mask.shape, copied), CLOSED)
        shown = torch.cat([F.linear(memory.states, weight[:, n:], self.generate.bias), closed], dim=-1)
        outward = [self.attention_query.weight, weight[:, :n], weight.new_zeros(copied, n)]
        order = torch.arange(4 * n, device=weight.device).view(4, n)[[0, 1, 3, 2]].flatten()
        inward = (
            self.input_gates()[:, order],
            self.decoder.get_parameter("weight_hh_l0")[order].T,
            powers_of(memory.keys),
        )
        if self.gate is None:
            return Plan(*inward, torch.cat(outward), shown, None, None)
        from_hidden, from_context, from_token = self.gate.weight.tensor_split((n, 3 * n), dim=1)
        return Plan(
            *inward,
            torch.cat([*outward, from_hidden]),
            shown,
            F.linear(memory.states, from_context),
            F.linear(self.target_embedding.weight, from_token, self.gate.bias),
        )

    def step(self, memory: Memory, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        """[B, k] tokens read -> probabilities of the next, [B, k, V + S] (extended; without copying [B, k, V]).

        For search only: no dropout, no gradient needed.
        """
        plan, n = state.plan, self.decoder.hidden_size
        tokens = torch.where(tokens < self.target_size, tokens, UNK)
        gates = F.embedding(tokens.flatten(), plan.input_gates).addmm_(state.hidden.flatten(0, 1), plan.recurrent)
        entered, kept, shown = torch.sigmoid(gates[:, : 3 * n]).chunk(3, dim=1)
        cell = (kept * state.cell.flatten(0, 1)).addcmul_(entered, torch.tanh(gates[:, 3 * n :]))
        hidden = (torch.tanh(cell).mul_(shown)).view_as(state.hidden)
        cell = cell.view_as(state.cell)
        outward = F.linear(hidden, plan.outward)
        scores = scores_of_powers(plan.powers, outward[..., :n], self.attention_score.weight[0])
        attention = scores.masked_fill_(~memory.mask.unsqueeze(1), CLOSED).softmax(-1)
        logits = outward[..., n : n + plan.shown.shape[-1]]
        generated = torch.baddbmm(logits, attention, plan.shown).softmax(-1)
        if plan.gate_shown is None or plan.gate_read is None:
            return generated, State(hidden, cell, plan)
        balance = outward[..., -1:] + attention @ plan.gate_shown + F.embedding(tokens, plan.gate_read)
        copied = attention * torch.sigmoid(-balance)
        probabilities = generated.mul_(torch.sigmoid(balance))
        probabilities.scatter_add_(2, memory.copy.unsqueeze(1).expand_as(copied), copied)
        return probabilities, State(hidden, cell, plan, copied)

    def _attend(self, memory: Memory, hidden: Tensor, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """[B, T, n] decoder states -> log attention weights [B, T, S] and contexts [B, T, 2n] (Eqs. 4, 5).

        At steps that read padding they are finite and mean nothing.
        """
        scores = additive_scores(
            memory.keys,
            self.attention_query(hidden),
            self.attention_score.weight[0],
            positions=memory.mask.sum(-1),
            steps=(inputs != PAD).sum(-1),
        )
        log_weights = scores.masked_fill(~memory.mask.unsqueeze(1), CLOSED).log_softmax(-1)
        return log_weights, log_weights.exp() @ memory.states


def quiet(model: Seq2Seq) -> Seq2Seq:
    """The same network, with the same parameters, that never drops anything, whatever the other is about."""
    twin = copy.copy(model)
    twin._modules = {**model._modules, "dropout": Dropout(0.0)}
    twin.training = False
    return twin
