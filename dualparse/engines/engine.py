"""Which engine runs a network: how fast, never what.

An engine says which exact classes it supports; everything else, a subclass too, runs on the plain engine, and the log
says so once. What training, search, game and service ask for goes through the functions here.
"""

from __future__ import annotations

import logging
import os
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

import torch
from torch import Tensor, nn

from dualparse.data.batch import Batch
from dualparse.engines.found import Found, Options, Walk
from dualparse.engines.numba.engine import Compiled
from dualparse.engines.plain import Plain, by_length
from dualparse.engines.shared_gpu import TOLD
from dualparse.engines.triton.engine import Fused
from dualparse.networks.network import Memory, Network, TextModel

LOG = logging.getLogger(__name__)
PACKAGES = ("torch", "numba", "triton")
SWITCHES = (*TOLD, "NUMBA_DISABLE_JIT", "OMP_NUM_THREADS")  # environment variables that change what runs


class Engine(Protocol):
    """A way to run networks."""

    name: str

    def supports(self, network: nn.Module) -> bool:
        """Whether it knows exactly this network (`exact`): what a subclass overrides would be passed over."""

    def score(self, network: Network, batch: Batch, *, shared: int = 0, times: int = 1) -> Tensor:
        """Log-probability of each row's target, [B]. The first `shared` sources have `times` targets each, one after
        the other, and are read once; the others have one."""

    def score_texts(self, model: TextModel, inputs: Tensor, targets: Tensor) -> Tensor:
        """Log-probability of each text, [B]."""

    def read(self, network: Network, source: Tensor, copy: Tensor) -> Memory:
        """What a search needs to know of its sources; without gradients."""

    def search(
        self, network: Network, memory: Memory, options: Options, *, walk: Walk | None = None, copies: bool = False
    ) -> Found:
        """Greedy or beam search, as the options say. `copies` asks for what was copied, where the engine knows it."""


PLAIN = Plain()
QUICKER = (Compiled(), Fused())


def engine_for(network: nn.Module) -> Engine:
    """The quickest engine that supports a network where it is now."""
    engine = _quicker(network)
    if engine is None:
        return PLAIN
    if engine.supports(network):
        return engine
    if reason := why_plain(network):
        _tell(reason)
    return PLAIN


def why_plain(network: nn.Module) -> str:
    """Why a network runs on the plain engine where a quicker one is at work; "" for a class that some quicker engine
    knows, though not the one of this device."""
    engine = _quicker(network)
    if engine is None or any(each.supports(network) for each in QUICKER):
        return ""
    kind = f"{type(network).__module__}.{type(network).__qualname__}"
    return f"{kind} runs on the plain engine: {engine.name} does not know it"


def _quicker(network: nn.Module) -> Engine | None:
    """The engine for where a network is now, whether it knows the network or not."""
    tensor = next(network.parameters())
    return next((engine for engine in QUICKER if engine.works_with(tensor)), None)  # type: ignore[return-value]


@cache
def _tell(reason: str) -> None:
    LOG.info("%s", reason)


def score(network: Network, batch: Batch, *, shared: int = 0, times: int = 1, rows: int | None = None) -> Tensor:
    """`Engine.score` on the engine of the network; `rows` at a time, where all at once would be too many."""
    engine = engine_for(network)
    if rows is None or len(batch.targets) <= rows:
        return engine.score(network, batch, shared=shared, times=times)
    return by_length(engine.score, network, batch, shared=shared, times=times, rows=rows)


def score_texts(model: TextModel, inputs: Tensor, targets: Tensor) -> Tensor:
    """`Engine.score_texts` on the engine of the model."""
    return engine_for(model).score_texts(model, inputs, targets)


def read(network: Network, source: Tensor, copy: Tensor) -> Memory:
    """`Engine.read` on the engine of the network."""
    return engine_for(network).read(network, source, copy)


def search(
    network: Network, memory: Memory, options: Options, *, walk: Walk | None = None, copies: bool = False
) -> Found:
    """`Engine.search` on the engine of the network."""
    return engine_for(network).search(network, memory, options, walk=walk, copies=copies)


def told(*networks: nn.Module) -> dict[str, object]:
    """What a result should say of how it came about: the engine of each class, versions, the device, the switches.

    >>> sorted(told())
    ['device', 'engines', 'switches', 'versions']
    """
    device = next((next(network.parameters()).device.type for network in networks), "")
    return {
        "engines": {type(network).__name__: engine_for(network).name for network in networks},
        "device": torch.cuda.get_device_name() if device == "cuda" else device,
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
        "switches": {name: os.environ[name] for name in SWITCHES if name in os.environ},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
