"""Whether a network is exactly one that an engine knows: its class, its methods, and the parts it is made of.

An engine with code of its own never calls the network's. So it may stand in only where nobody has changed anything: by
a subclass, by another method on the class or on one object, by another part in the place of one, or by a hook.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import torch
from torch import nn

from dualparse.networks.language_model import LanguageModel
from dualparse.networks.lstm import Seq2Seq
from dualparse.networks.transformer import Transformer

KINDS: Mapping[type[nn.Module], Callable[[], nn.Module]] = MappingProxyType(
    {
        Seq2Seq: lambda: Seq2Seq(1, 1, embedding=1, hidden=1),
        LanguageModel: lambda: LanguageModel(1, embedding=1, hidden=1),
        Transformer: lambda: Transformer(1, 1, embedding=1, hidden=1, layers=1, heads=1, dropout=0.0),
    }
)
"""Each class an engine may know, and one of its networks, however small."""

_WRITTEN = {kind: dict(vars(kind)) for kind in KINDS}  # the methods of each class as they were at the start
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def is_exactly(network: nn.Module, *kinds: type[nn.Module]) -> bool:
    """Whether a network is of one of these classes, with nothing changed in it.

    >>> is_exactly(LanguageModel(7), LanguageModel), is_exactly(LanguageModel(7), Seq2Seq)
    (True, False)
    """
    kind = type(network)
    if kind not in kinds:
        return False
    if any(vars(kind).get(name) is not method for name, method in _WRITTEN[kind].items()):
        return False
    usual = _usual(kind)  # type: ignore[arg-type]  # a class is hashable
    return _made_of(network) <= usual and not any(map(_touched, network.modules()))


def _made_of(network: nn.Module) -> set[type[nn.Module] | str]:
    """The classes of its parts, and what their parameters are called."""
    names = {name.rpartition(".")[2] for name, _ in network.named_parameters()}
    return {type(part) for part in network.modules()} | names


@cache
def _usual(kind: type[nn.Module]) -> set[type[nn.Module] | str]:
    with torch.device("meta"):  # no numbers, so none are drawn
        return _made_of(KINDS[kind]())


def _touched(part: nn.Module) -> bool:
    """Whether a method was replaced on this one object, or something listens in."""
    replaced = any(callable(value) and hasattr(type(part), name) for name, value in vars(part).items())
    return replaced or any(getattr(part, hooks) for hooks in _HOOKS)
