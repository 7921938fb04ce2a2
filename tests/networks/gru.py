"""A network of somebody else's, as docs/networks.md has it: a GRU that shows no attention and copies nothing."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dualparse.config import ModelSettings
from dualparse.data.vocab import PAD, UNK
from dualparse.networks.dropout import Dropout
from dualparse.networks.network import Network, TextModel


@dataclass(frozen=True)
class Memory:
    """What was read, as one vector a source [B, n], with the mask and the copy numbers that search wants to see."""

    hidden: Tensor
    mask: Tensor
    copy: Tensor

    def rows(self, index: Tensor) -> Memory:
        return Memory(self.hidden[index], self.mask[index], self.copy[index])

    def repeated(self, first: int, times: int) -> Memory:
        whole = torch.arange(len(self.mask), device=self.mask.device)
        return self.rows(torch.cat([whole[:first].repeat_interleave(times), whole[first:]]))


@dataclass(frozen=True)
class State:
    """The decoder's hidden state [B, k, n]."""

    hidden: Tensor
    copying: None = None

    def rows(self, index: Tensor) -> State:
        return State(self.hidden[index])

    def follow(self, parents: Tensor) -> State:
        return State(self.hidden.gather(1, parents.unsqueeze(-1).expand_as(self.hidden)))


class GRU(Network):
    """P(target | source) from the last state of the encoder."""

    own_noise = True

    def __init__(self, source_size: int, target_size: int, settings: ModelSettings):
        super().__init__()
        self.target_size, size, hidden = target_size, settings.embedding, settings.hidden
        self.source_embedding = nn.Embedding(source_size, size, padding_idx=PAD)
        self.target_embedding = nn.Embedding(target_size, size, padding_idx=PAD)
        self.encoder, self.decoder = nn.GRUCell(size, hidden), nn.GRUCell(size, hidden)
        self.predict, self.dropout = nn.Linear(hidden, target_size), Dropout(settings.dropout)

    def encode(self, source: Tensor, copy: Tensor) -> Memory:
        mask, read = source != PAD, self.dropout(self.source_embedding(source))
        hidden = read.new_zeros(len(source), self.encoder.hidden_size)
        for t in range(source.shape[1]):
            hidden = torch.where(mask[:, t, None], self.encoder(read[:, t], hidden), hidden)
        return Memory(hidden, mask, copy)

    def log_probs(self, memory: Memory, inputs: Tensor, targets: Tensor) -> Tensor:
        read, hidden, states = self.dropout(self.target_embedding(inputs)), memory.hidden, []
        for t in range(inputs.shape[1]):
            hidden = self.decoder(read[:, t], hidden)
            states.append(hidden)
        logits = self.predict(self.dropout(torch.stack(states, 1)))
        named = torch.where(targets < self.target_size, targets, UNK).unsqueeze(-1)
        return logits.log_softmax(-1).gather(-1, named).squeeze(-1).masked_fill(targets == PAD, 0.0)

    def begin(self, memory: Memory, beams: int) -> State:
        return State(memory.hidden.unsqueeze(1).repeat(1, beams, 1))

    def step(self, memory: Memory, state: State, tokens: Tensor) -> tuple[Tensor, State]:
        read = self.target_embedding(torch.where(tokens < self.target_size, tokens, UNK)).flatten(0, 1)
        hidden = self.decoder(read, state.hidden.flatten(0, 1)).view_as(state.hidden)
        return self.predict(hidden).softmax(-1), State(hidden)


class Bigrams(TextModel):
    """P(sequence), each token from the one before."""

    own_noise = True

    def __init__(self, size: int, settings: ModelSettings):
        super().__init__()
        self.table = nn.Embedding(size, size)

    def log_probs(self, inputs: Tensor, targets: Tensor) -> Tensor:
        found = self.table(inputs).log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        return found.masked_fill(targets == PAD, 0.0)
