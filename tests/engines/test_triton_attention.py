"""Kernels of attention against the same in parts, in Triton's interpreter, in a process of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
import torch

from dualparse.engines.triton.attention import available


@pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")
def test_scores_and_gradients_are_those_of_the_formula():
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "benchmarks.fused_attention"]
    told = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout
    differences = [float(number) for number in re.findall(r"differs by (\S+)", told)]
    assert len(differences) == 6 and max(differences) < 1e-5


def test_not_used_on_a_cpu():
    assert not available(torch.zeros(1))
