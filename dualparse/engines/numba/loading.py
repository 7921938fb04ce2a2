"""Loops for a CPU that Numba compiles: where they are, and when they are used.

Loading Numba takes a second, and compiling, once after an installation, ten: for a few questions this does not pay off.
So `load` is up to those who have much to do; from then on `usable` says yes. Without Numba everything works the same,
up to rounding, and takes longer.

The kernels are in `search_kernels` (search), `attention_kernels`, `forest_kernels` and `layer_kernels` (teacher
forcing), what they are made of in `math_kernels`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import torch
from torch import Tensor

KERNELS = (
    "dualparse.engines.numba.search_kernels",
    "dualparse.engines.numba.attention_kernels",
    "dualparse.engines.numba.forest_kernels",
    "dualparse.engines.numba.layer_kernels",
)
_loaded = False


def load() -> bool:
    """Load what is compiled; whether it is there now."""
    global _loaded
    if not _loaded and find_spec("numba") is not None:
        try:
            for name in KERNELS:
                import_module(name)
            _loaded = True
        except (ImportError, RuntimeError):  # it does not fit the NumPy at hand, or has no place for what it compiles
            pass
    return _loaded


def usable(tensor: Tensor) -> bool:
    """Whether kernels are loaded that take such tensors."""
    return _loaded and tensor.device.type == "cpu" and tensor.dtype == torch.float32
