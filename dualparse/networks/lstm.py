"""The network of both agents (paper Section 2): BiLSTM encoder, attentional LSTM decoder, copy gate.

Numbers in, log-probabilities out (see `network`). The decoder does not read the attention back, so teacher forcing is
one LSTM call and one batched attention. `Layers` names the two operations that cost most, so that an engine can bring
its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dualparse.data.vocab import PAD, UNK
from dualparse.networks.attention import CLOSED, additive_scores, powers_of, scores_of_powers
from dualparse.networks.dropout import Dropout, misread
from dualparse.networks.network import Look, Network


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

    def rows(self, index: Tensor) -> State:
        """The state for these sources alone."""
        return State(self.hidden[index], self.cell[index], self.plan.rows(index))

    def follow(self, parents: Tensor) -> State:
        """The state of every hypothesis, from that of its parent."""
        first = torch.arange(0, parents.numel(), parents.shape[1], device=parents.device)
        index = (parents + first.unsqueeze(1)).flatten()
        hidden, cell = (part.flatten(0, 1).index_select(0, index) for part in (self.hidden, self.cell))
        return State(hidden.view_as(self.hidden), cell.view_as(self.cell), self.plan)


@dataclass(frozen=True)
class _Decoded:
    """The decoder over whole targets: features [B, T, 3n], log_attention [B, T, S], balance [B, T]: the gate before
    its sigmoid, positive where generating is likelier; None without copying."""

    features: Tensor
    log_attention: Tensor
    balance: Tensor | None


Start = tuple[Tensor, Tensor]


def recurrent(lstm: nn.LSTM, inputs: Tensor, lengths: Tensor, start: Start | None = None) -> tuple[Tensor, Tensor]:
    """[B, T, E] -> states [B, T, D * n] and the last cells [B, D, n] of D directions; `start` is (hidden, cell) [B, n]
    of a layer with one direction. What stands beyond the `lengths` [B] is of no interest."""
    states, (_, cells) = lstm(inputs, start and tuple(part.unsqueeze(0).contiguous() for part in start))
    return states, cells.transpose(0, 1)


def _as_stepped(gates: Tensor, dim: int) -> Tensor:
    """The four parts of an LSTM's gates in the order in which `step` reads them: all sigmoids first."""
    entered, kept, written, shown = gates.chunk(4, dim)
    return torch.cat([entered, kept, shown, written], dim)


@dataclass(frozen=True)
class Layers:
    """The two operations that cost most, as PyTorch has them; an engine may have others that give the same."""

    recurrent: Callable[..., tuple[Tensor, Tensor]] = recurrent
    scores: Callable[..., Tensor] = additive_scores


TORCH = Layers()


class Seq2Seq(Network[Memory, State]):
    """P(target | source), with copying (`AttPtr`) or without (`Att`)."""

    own_noise = True

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

    def encode(self, source: Tensor, copy: Tensor, *, layers: Layers = TORCH) -> Memory:
        """[B, S] numbers -> memory (Eqs. 1-3)."""
        mask = source != PAD
        embedded = self.dropout(self.read(self.misread(source, mask)))
        marked = torch.cat([embedded, (~mask).to(embedded.dtype).unsqueeze(-1)], dim=-1)
        states, cells = layers.recurrent(self.encoder, marked, mask.sum(-1))
        hidden, cell = states[:, 0, self.encoder.hidden_size :], cells[:, 1]
        return Memory(states, self.attention_keys(states), mask, copy, hidden, cell)

    def read(self, source: Tensor) -> Tensor:
        """[B, S] numbers -> what the encoder reads of each word."""
        return self.source_embedding(source)

    def misread(self, source: Tensor, mask: Tensor) -> Tensor:
        """The source with some of its words unknown, as far as training asks for this."""
        if not (self.training and self.word_dropout):
            return source
        return misread(source, mask, self.word_dropout, self.dropout.generator)

    def log_probs(self, memory: Memory, inputs: Tensor, targets: Tensor, *, layers: Layers = TORCH) -> Tensor:
        """Teacher forcing: log P(target_t | target_<t, source), [B, T]; 0 at padding."""
        generated, copied = self._two_ways(memory, self._decode(memory, inputs, layers), targets)
        total = generated if copied is None else torch.logaddexp(generated, copied)
        return total.masked_fill(targets == PAD, 0.0)

    def look(self, memory: Memory, inputs: Tensor, targets: Tensor) -> Look:
        """Where teacher forcing attended, and what of each target it copied."""
        decoded = self._decode(memory, inputs, TORCH)
        generated, copied = self._two_ways(memory, decoded, targets)
        attention = decoded.log_attention.exp()
        if copied is None or decoded.balance is None:
            return Look(attention, torch.zeros_like(generated), torch.zeros_like(generated))
        return Look(attention, torch.sigmoid(-decoded.balance), torch.sigmoid(copied - generated))

    def _decode(self, memory: Memory, inputs: Tensor, layers: Layers) -> _Decoded:
        """[B, T] numbers read -> decoder states, attention and gate of all steps."""
        embedded = self.dropout(self.target_embedding(inputs))
        steps = (inputs != PAD).sum(-1)
        hidden, _ = layers.recurrent(self.decoder, embedded, steps, (memory.hidden, memory.cell))
        log_attention, context = self._attend(memory, hidden, steps, layers)
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
        inward = (
            _as_stepped(self.input_gates(), 1),
            _as_stepped(self.decoder.get_parameter("weight_hh_l0"), 0).T,
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

    def _attend(self, memory: Memory, hidden: Tensor, steps: Tensor, layers: Layers) -> tuple[Tensor, Tensor]:
        """[B, T, n] decoder states -> log attention weights [B, T, S] and contexts [B, T, 2n] (Eqs. 4, 5).

        Beyond the steps of a row they are finite and mean nothing.
        """
        query, vector = self.attention_query(hidden), self.attention_score.weight[0]
        scores = layers.scores(memory.keys, query, vector, memory.mask.sum(-1), steps)
        log_weights = scores.masked_fill(~memory.mask.unsqueeze(1), CLOSED).log_softmax(-1)
        return log_weights, log_weights.exp() @ memory.states
