"""The LSTM as one kernel against PyTorch's: the kernels in Triton's interpreter, in a process of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from dualparse.data.vocab import BOS, PAD
from dualparse.engines.triton import lstm as fused_lstm
from dualparse.networks.lstm import Seq2Seq


@pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")
def test_states_and_gradients_are_those_of_pytorch():
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "benchmarks.fused_lstm"]
    told = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout
    differences = [float(number) for number in re.findall(r"differ (\S+)[,\n]", told)]
    assert len(differences) == 4 and max(differences) < 2e-3


def test_not_used_on_a_cpu(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "high")
    monkeypatch.setenv("DUALPARSE_SHARED_GPU", "1")
    assert not fused_lstm.available(nn.LSTM(1, 1), torch.zeros(1))


@pytest.mark.parametrize(("shared", "units", "used"), [("1", 256, True), ("1", 257, False), ("0", 256, False)])
def test_used_where_others_share_the_card_and_the_weights_fit(
    monkeypatch: pytest.MonkeyPatch, shared: str, units: int, used: bool
):
    on_card = SimpleNamespace(is_cuda=True, dtype=torch.float32)
    monkeypatch.setattr(fused_lstm, "triton", object())
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: "high")
    monkeypatch.setenv("DUALPARSE_SHARED_GPU", shared)
    assert fused_lstm.available(nn.LSTM(1, units, device="meta"), on_card) == used


def each_row_by_itself(
    lstm: nn.LSTM, inputs: Tensor, lengths: Tensor, start: tuple[Tensor, Tensor] | None = None
) -> tuple[Tensor, Tensor]:
    """What `fused_lstm` promises, by PyTorch."""
    given = nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    states, (_, cell) = lstm(given, tuple(part.unsqueeze(0).contiguous() for part in start) if start else None)
    whole, _ = nn.utils.rnn.pad_packed_sequence(states, batch_first=True, total_length=inputs.shape[1])
    return whole, cell.transpose(0, 1)


@pytest.mark.parametrize("copy", [True, False])
def test_a_network_with_it_is_the_same_network(monkeypatch: pytest.MonkeyPatch, copy: bool):
    model = Seq2Seq(12, 11, embedding=6, hidden=8, copy=copy).eval()
    model.initialize(generator=torch.Generator().manual_seed(3))
    source = torch.tensor([[4, 5, 6, 7], [8, 9, PAD, PAD], [4, PAD, PAD, PAD]])
    inputs = torch.tensor([[BOS, 4, 5], [BOS, 6, PAD], [BOS, 7, 8]])
    targets = torch.tensor([[4, 5, 3], [6, 3, PAD], [7, 8, 3]])

    def run() -> tuple[Tensor, list[Tensor]]:
        scores = model.log_probs(model.encode(source, source), inputs, targets)
        return scores, list(torch.autograd.grad(scores.sum(), list(model.parameters())))

    expected, slopes = run()
    monkeypatch.setattr(fused_lstm, "available", lambda lstm, tensor: True)
    monkeypatch.setattr(fused_lstm, "fused_lstm", each_row_by_itself)
    found, others = run()
    assert torch.allclose(found, expected, atol=1e-5)
    for one, other in zip(others, slopes, strict=True):
        assert torch.allclose(one, other, atol=1e-5)
