"""A matcher of which the last layers learn alone, so that two cores can train it in minutes.

In: a matcher. Out: an `Upper`, whose parameters are those of the last layers and the scale. What the layers below make
of a text never changes, so it is worked out once (`States`); an update goes through the last layers alone. What is
learned is kept in half precision, together with what an adapter had changed in the layers below, so that the file fits
the encoder as it came, whichever adapter ships with a later version.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from dualparse.errors import InputError
from dualparse.matching.adapter import change_layers, read_changes
from dualparse.matching.matcher import Matcher
from dualparse.networks.encoder import Encoder, Tokens, open_encoder

_LEARNED, _BELOW = "layers.", "below."  # what the names in a file begin with


@dataclass(frozen=True)
class States:
    """What the lower layers make of texts: states [T, n] of the tokens of all of them, one text behind the other, in
    half precision; length [N] and the first token [N] of each text."""

    states: Tensor
    length: Tensor
    first: Tensor

    def __len__(self) -> int:
        return len(self.length)

    def take(self, rows: Tensor) -> States:
        """Some of the texts."""
        length, first = self.length[rows], self.first[rows]
        whose = torch.arange(len(rows)).repeat_interleave(length)
        begin = length.cumsum(0) - length
        place = torch.arange(len(whose)) - begin[whose] + first[whose]
        return States(self.states[place.to(self.states.device)], length, begin)

    def beside(self, others: States) -> States:
        """These texts and then others."""
        first = torch.cat([self.first, others.first + len(self.states)])
        with torch.autocast(self.states.device.type, enabled=False):  # which joins no half precision but its own
            states = torch.cat([self.states, others.states])
        return States(states, torch.cat([self.length, others.length]), first)

    def joined(self, others: States) -> tuple[States, Tensor]:
        """Each of these texts with one of the others behind it; and [N, 2] the length of both."""
        count = len(self)
        pairs = torch.stack([torch.arange(count), torch.arange(count, 2 * count)], 1)
        found = self.beside(others).take(pairs.flatten())
        length = found.length.view(count, 2)
        return States(found.states, length.sum(1), found.first[::2]), length

    def padded(self) -> tuple[Tensor, Tensor]:
        """[N, S, n] in single precision, and which places [N, S] hold a token."""
        width = int(self.length.max()) if len(self) else 1
        place = torch.arange(width)
        there = place < self.length[:, None]
        index = (self.first[:, None] + place).masked_fill(~there, 0).to(self.states.device)
        there = there.to(self.states.device)
        return self.states[index].float() * there.unsqueeze(-1), there


@torch.no_grad()
def states_below(encoder: Encoder, tokens: Tokens, layer: int, *, at_once: int = 256) -> States:
    """What the layers below one of them make of texts, each read by itself, on the device of the encoder."""
    was_training = encoder.training
    below = _with(encoder.body, nn.ModuleList(blocks_of(encoder)[:layer]))
    encoder.eval()
    parts: list[Tensor] = []
    order = tokens.seen.argsort(stable=True)
    for rows in order.split(at_once) if len(tokens) else ():
        some = tokens.take(rows).to(encoder.device)
        there = torch.arange(some.ids.shape[1], device=encoder.device) < some.length[:, None]
        read = below(input_ids=some.ids, attention_mask=there.long())
        parts.append(read.last_hidden_state[there].half())
    encoder.train(was_training)
    length = tokens.seen[order]
    first = length.cumsum(0) - length
    back = order.argsort()
    states = torch.cat(parts) if parts else torch.zeros(0, encoder.width, dtype=torch.float16, device=encoder.device)
    return States(states, tokens.seen, first[back] if len(back) else first)


class _Given(nn.Module):
    """In the place of the embeddings: what comes in goes on."""

    def forward(self, *_: Any, inputs_embeds: Tensor, **__: Any) -> Tensor:
        return inputs_embeds


class Upper(nn.Module):
    """The last layers of a matcher's encoder and its scale; both are the matcher's own."""

    def __init__(self, matcher: Matcher, layers: int, *, adapter: Path | None = None):
        super().__init__()
        body = matcher.encoder.body
        blocks = blocks_of(matcher.encoder)
        if not 1 <= layers <= len(blocks):
            raise InputError(f"{layers} layers of {matcher.encoder.name!r} are to learn; it has {len(blocks)}")
        body.requires_grad_(False)
        self.first = len(blocks) - layers
        self.layers = nn.ModuleList(blocks[self.first :]).requires_grad_(True)
        self.scale = matcher.scale
        self._matcher = [matcher]  # in a list: its other parameters are none of ours
        self._body = [above(body, self.layers)]
        below = read_changes(adapter) if adapter else {}
        self._below = {name: change for name, change in below.items() if name != "scale" and _number(name) < self.first}

    @property
    def matcher(self) -> Matcher:
        return self._matcher[0]

    def states(self, texts: Sequence[str]) -> States:
        """What the layers below make of texts, on the device."""
        encoder = self.matcher.encoder
        return states_below(encoder, encoder.tokens(texts), self.first)

    def forward(self, some: States) -> Tensor:
        """[N, n] vectors of length 1."""
        states, there = some.padded()
        read = self._body[0](inputs_embeds=states, attention_mask=there.long()).last_hidden_state
        weight = there.to(read.dtype).unsqueeze(-1)
        return F.normalize((read * weight).sum(1) / weight.sum(1).clamp_min(1), dim=-1)

    def state_dict(self, *args: Any, **named: Any) -> dict[str, Tensor]:  # type: ignore[override]
        """What is kept: the layers in half precision, the scale, and what an adapter had changed below."""
        own = {name: tensor.half() for name, tensor in super().state_dict(*args, **named).items()}
        return own | {f"{_BELOW}{name}": tensor.half() for name, tensor in self._below.items()}


def restored(encoder: str, tensors: Mapping[str, Tensor], *, path: Path) -> Matcher:
    """The matcher whose `Upper` was kept; `path` is the file it comes from."""
    matcher = Matcher(open_encoder(encoder))
    misfit = InputError(f"it was trained with another encoder than {encoder!r}", path=path)
    numbers = {int(name.split(".")[1]) for name in tensors if name.startswith(_LEARNED)}
    blocks = blocks_of(matcher.encoder)
    if not numbers or len(numbers) > len(blocks) or "scale" not in tensors:
        raise misfit
    upper = Upper(matcher, len(numbers))
    below = {name.removeprefix(_BELOW): t.float() for name, t in tensors.items() if name.startswith(_BELOW)}
    wanted = {name: tensor.shape for name, tensor in upper.state_dict().items()}
    if wanted != {name: tensor.shape for name, tensor in tensors.items() if not name.startswith(_BELOW)}:
        raise misfit
    change_layers(matcher.encoder, below, path)
    upper.load_state_dict({name: tensors[name] for name in wanted})
    return matcher.eval().requires_grad_(False)


def blocks_of(encoder: Encoder) -> nn.ModuleList:
    """The layers of an encoder that is built as BERT is."""
    inner = getattr(encoder.body, "encoder", None)
    blocks = getattr(inner, "layer", None)
    if not isinstance(blocks, nn.ModuleList) or not hasattr(encoder.body, "embeddings"):
        raise InputError(f"the layers of the encoder {encoder.name!r} cannot be told apart: expected one built as BERT")
    return blocks


def above(body: Any, layers: nn.ModuleList) -> Any:
    """The body without what is below its last layers, which are `layers`."""
    return _with(body, layers, _Given())


def _with(body: Any, layers: nn.ModuleList, embeddings: nn.Module | None = None) -> Any:
    """The body with these layers, which it shares, and other embeddings."""
    other, inner = copy.copy(body), copy.copy(body.encoder)
    other._modules, inner._modules = dict(body._modules), dict(body.encoder._modules)
    inner.layer, other.encoder = layers, inner
    if embeddings is not None:
        other.embeddings = embeddings
    return other


def _number(name: str) -> int:
    """Of the layer that a part of an adapter is for: "encoder.layer.3.output.dense.up" -> 3."""
    return int(name.partition(".layer.")[2].partition(".")[0])
