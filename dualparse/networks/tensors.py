"""Named tensors in a file (safetensors: no code inside), written whole or not at all, read with clear errors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from dualparse.errors import InputError
from dualparse.files import replacing


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors and a few lines of text about them."""
    with replacing(path) as part:
        save_file({name: t.detach().cpu().contiguous() for name, t in tensors.items()}, part, dict(metadata))


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors by name, on the CPU, and the text about them."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"damaged or cut short ({error})", path=path) from None
