"""A Transformer of PyTorch's own layers: the other shipped network, for agents and for language models.

Layers normalise what they read (pre-norm); positions are sines. What the last layer of the decoder attends to in the
source, on average over its heads, is what is copied and what `look` shows. The layers of the decoder are those of
`nn.TransformerDecoderLayer`, called part by part: a step of a search reads one token, and PyTorch's own `forward` reads
whole targets only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dualparse.data.vocab import PAD, UNK
from dualparse.networks.dropout import Dropout, misread
from dualparse.networks.network import Look, Network, TextModel

WIDER = 4  # the layers between attentions have so many times the hidden units
SMALLEST = 1e-30  # a probability of copying, so that its logarithm is finite
SPREAD = 0.5  # standard deviation of embeddings at the start, as that of word vectors


@dataclass(frozen=True)
class Memory:
    """What the encoder leaves: states [B, S, n], mask [B, S] true at real positions, copy [B, S], closed [B, S] true
    where nobody may attend to."""

    states: Tensor
    mask: Tensor
    copy: Tensor
    closed: Tensor

    def rows(self, index: Tensor) -> Memory:
        return self._map(lambda part: part[index])

    def repeated(self, first: int, times: int) -> Memory:
        return self._map(lambda part: torch.cat([part[:first].repeat_interleave(times, 0), part[first:]]))

    def _map(self, function: Callable[[Tensor], Tensor]) -> Memory:
        return Memory(*map(function, (self.states, self.mask, self.copy, self.closed)))


@dataclass(frozen=True)
class State:
    """What every layer has read so far, [B, k, t, n] each; copying [B, k, S] as in `network.State`."""

    read: tuple[Tensor, ...]
    copying: Tensor | None = None

    def rows(self, index: Tensor) -> State:
        return State(tuple(part[index] for part in self.read))

    def follow(self, parents: Tensor) -> State:
        source = torch.arange(len(parents), device=parents.device).unsqueeze(1)
        return State(tuple(part[source, parents] for part in self.read))


class Transformer(Network[Memory, State]):
    """P(target | source), with copying or without."""

    own_noise = True

    def __init__(
        self,
        source_size: int,
        target_size: int,
        *,
        embedding: int,
        hidden: int,
        layers: int,
        heads: int,
        dropout: float,
        word_dropout: float = 0.0,
        copy: bool = True,
    ):
        super().__init__()
        self.target_size, self.word_dropout = target_size, word_dropout
        self.source_embedding = nn.Embedding(source_size, embedding, padding_idx=PAD)
        self.target_embedding = nn.Embedding(target_size, embedding, padding_idx=PAD)
        self.source_widen, self.target_widen = nn.Linear(embedding, hidden), nn.Linear(embedding, hidden)
        self.encoder = _stack(nn.TransformerEncoderLayer, hidden, layers, heads, dropout)
        self.decoder = _stack(nn.TransformerDecoderLayer, hidden, layers, heads, dropout)
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.generate = nn.Linear(hidden, target_size)
        self.gate = nn.Linear(hidden, 1) if copy else None
        self.dropout = Dropout(dropout)

    @torch.no_grad()
    def initialize(self, *, scale: float = 0.2, generator: torch.Generator | None = None) -> None:
        _initialize(self, generator)

    def encode(self, source: Tensor, copy: Tensor) -> Memory:
        mask = source != PAD
        if self.training and self.word_dropout:
            source = misread(source, mask, self.word_dropout, self.dropout.generator)
        closed = ~mask
        closed[:, 0] = False  # in an empty source too: attention has to go somewhere
        states = self.dropout(_placed(self.source_widen(self.source_embedding(source))))
        for layer in self.encoder:
            states = layer(states, src_key_padding_mask=closed)
        return Memory(self.encoder_norm(states), mask, copy, closed)

    def log_probs(self, memory: Memory, inputs: Tensor, targets: Tensor) -> Tensor:
        generated, copied, _ = self._two_ways(memory, *self._decode(memory, inputs), targets)
        total = generated if copied is None else torch.logaddexp(generated, copied)
        return total.masked_fill(targets == PAD, 0.0)

    def look(self, memory: Memory, inputs: Tensor, targets: Tensor) -> Look:
        features, attention = self._decode(memory, inputs)
        generated, copied, balance = self._two_ways(memory, features, attention, targets)
        if copied is None or balance is None:
            return Look(attention, torch.zeros_like(generated), torch.zeros_like(generated))
        return Look(attention, torch.sigmoid(-balance), torch.sigmoid(copied - generated))

    @property
    def _decoder_layers(self) -> Sequence[nn.TransformerDecoderLayer]:
        return cast("Sequence[nn.TransformerDecoderLayer]", self.decoder)

    def _decode(self, memory: Memory, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """[B, T] numbers read -> features [B, T, n] and what the last layer attends to [B, T, S]."""
        states = self.dropout(_placed(self.target_widen(self.target_embedding(inputs))))
        later = _later(inputs)
        attention = states
        for layer in self._decoder_layers:
            read = layer.norm1(states)
            heard, _ = layer.self_attn(read, read, read, attn_mask=later, need_weights=False)
            states, attention = self._after_reading(layer, memory, states, heard)
        return self.decoder_norm(states), attention

    def _after_reading(
        self, layer: nn.TransformerDecoderLayer, memory: Memory, states: Tensor, heard: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The rest of a layer, from what it heard of its own target on: states [B, T, n], attention [B, T, S]."""
        states = states + layer.dropout1(heard)
        query = layer.norm2(states)
        heard, attention = layer.multihead_attn(query, memory.states, memory.states, key_padding_mask=memory.closed)
        states = states + layer.dropout2(heard)
        inner = layer.dropout(layer.activation(layer.linear1(layer.norm3(states))))
        return states + layer.dropout3(layer.linear2(inner)), attention

    def _two_ways(
        self, memory: Memory, features: Tensor, attention: Tensor, targets: Tensor
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """log P of each target by generating and by copying, and the gate before its sigmoid, [B, T] each."""
        logits = self.generate(self.dropout(features))
        known = targets < self.target_size
        flat = torch.where(known, targets, UNK).flatten()
        log_generate = -F.cross_entropy(logits.flatten(0, 1), flat, reduction="none").view_as(targets)
        if self.gate is None:
            return log_generate, None, None
        balance = self.gate(features).squeeze(-1)
        here = memory.copy.unsqueeze(1) == targets.unsqueeze(2)
        log_copy = (attention * here).sum(-1).clamp_min(SMALLEST).log()
        generated = F.logsigmoid(balance) + log_generate.masked_fill(~known, math.log(SMALLEST))
        return generated, F.logsigmoid(-balance) + log_copy, balance

    def begin(self, memory: Memory, beams: int) -> State:
        nothing = memory.states.new_empty(len(memory.mask), beams, 0, memory.states.shape[-1])
        return State((nothing,) * len(self.decoder))

    def step(self, memory: Memory, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        tokens = torch.where(tokens < self.target_size, tokens, UNK)
        (rows, beams), time = tokens.shape, state.read[0].shape[2]
        states = self.target_widen(self.target_embedding(tokens)).unsqueeze(2)
        states = (states + _sines(time, time + 1, states)).squeeze(2)
        attention, all_read = states, []
        for layer, before in zip(self._decoder_layers, state.read, strict=True):
            now = layer.norm1(states)
            read = torch.cat([before, now.unsqueeze(2)], dim=2)
            past = read.flatten(0, 1)
            heard, _ = layer.self_attn(now.reshape(rows * beams, 1, -1), past, past, need_weights=False)
            states, attention = self._after_reading(layer, memory, states, heard.view_as(states))
            all_read.append(read)
        features = self.decoder_norm(states)
        generated = self.generate(features).softmax(-1)
        if self.gate is None:
            return generated, State(tuple(all_read))
        gate = torch.sigmoid(self.gate(features))
        copied = attention * (1 - gate)
        beyond = generated.new_zeros(rows, beams, memory.copy.shape[1])
        probabilities = torch.cat([generated * gate, beyond], dim=-1)
        probabilities.scatter_add_(2, memory.copy.unsqueeze(1).expand_as(copied), copied)
        return probabilities, State(tuple(all_read), copied)


class TransformerLanguageModel(TextModel):
    """P(sequence)."""

    own_noise = True

    def __init__(self, size: int, *, embedding: int, hidden: int, layers: int, heads: int, dropout: float):
        super().__init__()
        self.embedding = nn.Embedding(size, embedding, padding_idx=PAD)
        self.widen = nn.Linear(embedding, hidden)
        self.layers = _stack(nn.TransformerEncoderLayer, hidden, layers, heads, dropout)
        self.norm, self.predict = nn.LayerNorm(hidden), nn.Linear(hidden, size)
        self.dropout = Dropout(dropout)

    @torch.no_grad()
    def initialize(self, *, scale: float = 0.2, generator: torch.Generator | None = None) -> None:
        _initialize(self, generator)

    def log_probs(self, inputs: Tensor, targets: Tensor) -> Tensor:
        states, later = self.dropout(_placed(self.widen(self.embedding(inputs)))), _later(inputs)
        for layer in self.layers:
            states = layer(states, src_mask=later)
        logits = self.predict(self.dropout(self.norm(states)))
        losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").view_as(targets)
        return (-losses).masked_fill(targets == PAD, 0.0)


def _stack(kind: type[nn.Module], hidden: int, layers: int, heads: int, dropout: float) -> nn.ModuleList:
    """Layers whose dropout draws from generators of its own; attention weights are not dropped."""
    made = nn.ModuleList(
        kind(hidden, heads, WIDER * hidden, 0.0, batch_first=True, norm_first=True) for _ in range(layers)
    )
    for layer in made:
        for name, part in layer.named_children():
            if isinstance(part, nn.Dropout):
                setattr(layer, name, Dropout(dropout))
    return made


def _initialize(module: nn.Module, generator: torch.Generator | None) -> None:
    """Matrices as Glorot has them, embeddings as wide as word vectors, norms and biases as they are when nothing has
    been learned."""
    for part in module.modules():
        for name, parameter in part.named_parameters(recurse=False):
            if isinstance(part, nn.Embedding):
                parameter.normal_(0.0, SPREAD, generator=generator)
                parameter[PAD] = 0.0
            elif parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter, generator=generator)
            else:
                parameter.fill_(1.0 if isinstance(part, nn.LayerNorm) and name == "weight" else 0.0)


def _later(inputs: Tensor) -> Tensor:
    """[T, T] true where a step must not look: at what comes later."""
    length = inputs.shape[1]
    return torch.ones(length, length, dtype=torch.bool, device=inputs.device).triu(1)


def _placed(states: Tensor) -> Tensor:
    """[B, T, n] with the sines of their places added."""
    return states + _sines(0, states.shape[1], states)


def _sines(first: int, last: int, like: Tensor) -> Tensor:
    """[last - first, n] sines and cosines of the places, in waves of many lengths."""
    size = like.shape[-1]
    place = torch.arange(first, last, dtype=like.dtype, device=like.device).unsqueeze(1)
    wave = torch.arange(0, size, 2, dtype=like.dtype, device=like.device) * (-math.log(10000.0) / size)
    angle = place * wave.exp()
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :size]
