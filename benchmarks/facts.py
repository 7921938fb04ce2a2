"""What a figure has to be read with: code, machine, and the engine that ran, with its versions and switches."""

from __future__ import annotations

import platform
from typing import Any

import torch
from torch import nn

import dualparse
from benchmarks.load import processor
from dualparse.engines.engine import told
from dualparse.lab.sweep.jobs import current_commit


def facts(device: torch.device | str = "cpu", *networks: nn.Module) -> dict[str, Any]:
    """Commit, machine, versions; of these networks, which engine runs each."""
    on_gpu = torch.device(device).type == "cuda"
    return {
        "commit": current_commit(),
        "machine": torch.cuda.get_device_name(device) if on_gpu else processor(),
        "python": platform.python_version(),
        "dualparse": dualparse.__version__,
        "torch": torch.__version__,
        "engine": told(*networks),
    }
