"""What every network offers, so that training, search, game and service need not know which one it is.

Numbers in, log-probabilities out: a network knows neither words nor direction. `Network` is a base class and no typing
protocol because every network is an `nn.Module` as well, and because a class that lacks a method then says so when it
is made. `Memory` and `State` are protocols: what an encoder leaves, and what a decoder carries from step to step, is
each network's own affair as long as it can be re-indexed. docs/networks.md shows a whole network in 60 lines.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn

from dualparse.networks.dropout import Dropout, own_noise

Module = TypeVar("Module", bound=nn.Module)
Self = TypeVar("Self")


class Memory(Protocol):
    """What the encoder leaves for the decoder; sources come first in all of its tensors."""

    @property
    def mask(self) -> Tensor:
        """[B, S] true at real positions."""

    @property
    def copy(self) -> Tensor:
        """[B, S] the extended target number each position stands for."""

    def rows(self: Self, index: Tensor) -> Self:
        """The memory of these sources, in this order; one may come several times."""

    def repeated(self: Self, first: int, times: int) -> Self:
        """The memory of each of the first sources several times, one after the other; of the rest once."""


class State(Protocol):
    """The decoder of k hypotheses a source between two steps of a search."""

    @property
    def copying(self) -> Tensor | None:
        """[B, k, S] after a step, the probability that it copied from each position; None where it copies nothing."""

    def rows(self: Self, index: Tensor) -> Self:
        """The state for these sources alone."""

    def follow(self: Self, parents: Tensor) -> Self:
        """[B, k] for each hypothesis the place of the one it goes on from -> the state of all, each from its parent."""


OwnMemory = TypeVar("OwnMemory", bound=Memory)
OwnState = TypeVar("OwnState", bound=State)


@dataclass(frozen=True)
class Look:
    """What a teacher-forced pass looked at.

    attention [B, T, S] weights   gate [B, T] probability of copying rather than generating
    copied [B, T] the share of the target's probability that came by copying; both 0 without copying
    """

    attention: Tensor
    gate: Tensor
    copied: Tensor


class _Trained(nn.Module, ABC):
    """What training asks of agents and language models alike."""

    own_noise = False
    """Whether everything random in training comes from layers of our `Dropout` class. On a CPU the passes of such a
    network run beside those of others; any other network's go one after the other, so that a run can be repeated."""

    slower: Mapping[str, float] = {}
    """Parts of it that learn at a share of the learning rate: how the names of their parameters begin -> the share."""

    @torch.no_grad()
    def initialize(self, *, scale: float = 0.2, generator: torch.Generator | None = None) -> None:
        """Every parameter uniform in [-scale, scale], and nothing for padding."""
        for parameter in self.parameters():
            parameter.uniform_(-scale, scale, generator=generator)
        for module in self.modules():
            if isinstance(module, nn.Embedding) and module.padding_idx is not None:
                module.weight[module.padding_idx] = 0.0

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @property
    def noise(self) -> list[Dropout]:
        """The layers that drop something and can draw from a generator of their own."""
        return [module for module in self.modules() if isinstance(module, Dropout)]


class Network(_Trained, Generic[OwnMemory, OwnState]):
    """P(target | source), with its own kind of memory and state. `source_embedding` and `target_embedding` may start
    from word vectors."""

    source_embedding: nn.Embedding
    target_embedding: nn.Embedding

    def know(self, tokens: Sequence[str]) -> None:
        """Told once, before anything is trained or loaded: what the numbers of sources stand for. Most have no use for
        it."""

    @abstractmethod
    def encode(self, source: Tensor, copy: Tensor) -> OwnMemory:
        """[B, S] numbers, and the target number each position can be copied as -> memory. A source may be empty."""

    @abstractmethod
    def log_probs(self, memory: OwnMemory, inputs: Tensor, targets: Tensor) -> Tensor:
        """Teacher forcing: log P(target_t | target_<t, source), [B, T]; 0 at padding. Targets are extended numbers; one
        beyond the vocabulary that is not among the copies reads as <unk>, or has a tiny probability."""

    @abstractmethod
    def begin(self, memory: OwnMemory, beams: int) -> OwnState:
        """The decoder's state before the first step of a search."""

    @abstractmethod
    def step(self, memory: OwnMemory, state: OwnState, tokens: Tensor) -> tuple[Tensor, OwnState]:
        """[B, k] tokens read -> probabilities of the next, [B, k, V + S] (extended; without copying [B, k, V]), which
        the caller may overwrite. Without gradients and dropout."""

    def look(self, memory: OwnMemory, inputs: Tensor, targets: Tensor) -> Look | None:
        """Where teacher forcing attended, and what of each target it copied; None where there is nothing to show."""
        return None

    @property
    def shows(self) -> bool:
        """Whether there is something to look at."""
        return type(self).look is not Network.look


class TextModel(_Trained):
    """P(sequence), a language model."""

    @abstractmethod
    def log_probs(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """log P(target_t | target_<t), [B, T]; 0 at padding."""


@contextmanager
def noise_apart(networks: Sequence[_Trained]) -> Iterator[bool]:
    """Each network draws from generators of its own, seeded by torch's; whether it draws from nothing else, so that
    their passes may run beside each other."""
    with own_noise([layer for network in networks for layer in network.noise]):
        yield all(network.own_noise for network in networks)


def quiet(module: Module) -> Module:
    """The same network, with the same parameters, that never drops anything, whatever the other is about."""
    return _quiet(module, {})


def _quiet(module: Module, known: dict[nn.Module, nn.Module]) -> Module:
    if module not in known:
        twin = known[module] = copy.copy(module)
        twin._modules = {name: part and _quiet(part, known) for name, part in module._modules.items()}
        twin.training = False
    return known[module]  # type: ignore[return-value]
