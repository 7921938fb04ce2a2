"""Named tensors in a file (safetensors: no code inside), written whole or not at all, read with clear errors."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from dualparse.errors import InputError
from dualparse.files import replacing

DIGEST = "sha256"  # among the text about the tensors: of all the rest
_LIKE_A_DIGEST = re.compile("[0-9a-f]{64}")


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors and a few lines of text about them, with a digest that tells any change of either."""
    ours = {name: t.detach().cpu().contiguous() for name, t in tensors.items()}
    with replacing(path) as part:  # the library's own writer would leave files with names of its own behind a kill
        part.write_bytes(save(ours, {**metadata, DIGEST: _digest(ours, metadata)}))


def load_tensors(path: Path, *, check: bool = True) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors by name, on the CPU, and the text about them. Files without a digest are taken as they are, and so are
    others where somebody has checked the whole file just now."""
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = dict(file.metadata() or {})
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"damaged or cut short ({error})", path=path) from None
    told = metadata.pop(DIGEST, None)
    if told is None:  # written before there were digests, or its name is damaged
        told = next((text for text in metadata.values() if _LIKE_A_DIGEST.fullmatch(text)), None)
    if check and told is not None and told != _digest(tensors, metadata):
        raise InputError("damaged: its content is not what was written", path=path)
    return tensors, metadata


def _digest(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(sorted(metadata.items())).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)} ".encode())
        digest.update(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
