"""Beam search of a whole batch by one launch on a GPU: every source is searched by a program of its own.

A model and the encoder's memory in, one tensor of numbers out, which `unpack` takes apart on the host. What is found is
what `beam.beam` finds, up to rounding. `available` says where it can be used; the kernel is in `search_kernel`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from dualparse.data.vocab import BOS, EOS, UNK
from dualparse.engines.triton.search_kernel import search_kernel
from dualparse.networks.lstm import Memory, Seq2Seq

MOST_BEAMS = 16  # rows of the kernel's matrix products


@dataclass(frozen=True)
class Tuning:
    """What changes speed and rounding, not meaning.

    precision: of the products with the decoder's weights. "half" keeps weights in 16 bits (as many digits as TF32, half
    the bytes), "tf32", "tf32x3" (almost single precision) and "ieee" (single precision, slow) keep 32.
    """

    precision: str = "half"
    num_warps: int = 8
    block: int = 128  # weights' rows a product reads at once
    stages: int = 3  # such blocks on their way at a time
    wide: int = 256  # tokens of the vocabulary handled at once
    pick: int = 1024  # the most tokens among which the best are picked at once


FAST = Tuning()  # for the game, where hypotheses are samples to learn from
PRECISE = Tuning(precision="tf32x3", block=64)  # for results, which should not hang on the device


def available(device: torch.device, beams: int) -> bool:
    """Whether a search with this many beams can run fused."""
    return device.type == "cuda" and 1 < beams <= MOST_BEAMS and find_spec("triton") is not None


@torch.no_grad()
def launch(
    model: Seq2Seq,
    memory: Memory,
    *,
    beams: int = 5,
    max_length: int = 100,
    length_power: float = 1.0,
    tuning: Tuning = FAST,
) -> Tensor:
    """Search for all sources without waiting for the result: [B, (max_length + 3) * beams] int32, see `unpack`."""
    batch, length = memory.mask.shape
    n, size = model.decoder.hidden_size, model.target_size
    dtype = torch.float16 if tuning.precision == "half" else torch.float32
    weights: list[Tensor] = [
        model.decoder.get_parameter("weight_hh_l0"),
        model.attention_query.weight,
        model.generate.weight[:, :n],
    ]
    padded = max(_power_of_two(length), 16)
    row, line = (-(-count // 16) * 16 for count in (n + size, size + padded))
    width = size + padded if model.copy else size
    gate = model.gate if model.gate is not None else model.generate  # not read without copying

    def buffer(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.empty((batch, *shape), dtype=dtype, device=memory.mask.device)

    out = buffer((max_length + 3) * beams, dtype=torch.int32)
    search_kernel[(batch,)](
        torch.cat(weights).to(dtype),
        model.input_gates(),
        model.target_embedding.weight,
        model.attention_score.weight,
        gate.weight,
        gate.bias,
        memory.keys.contiguous(),
        memory.states.contiguous(),
        # The weights of attention add up to 1, so the bias may as well belong to every position.
        F.linear(memory.states, model.generate.weight[:, n:], model.generate.bias).contiguous(),
        memory.mask.view(torch.uint8).contiguous(),
        memory.copy.contiguous(),
        memory.hidden.contiguous(),
        memory.cell.contiguous(),
        buffer(beams, n, dtype=dtype),  # hidden
        buffer(beams, n),  # cell
        buffer(beams, 4 * n),  # gates
        buffer(beams, row),  # read
        buffer(padded, n),  # powers
        buffer(padded),  # lean
        buffer(beams),  # balance
        buffer(beams, padded),  # scores
        buffer(beams, line),  # logits
        buffer(beams, line),  # table
        out,
        length,
        max_length,
        length_power,
        V=size,
        N=n,
        E=model.target_embedding.embedding_dim,
        K=beams,
        COPY=model.copy,
        S=padded,
        NP=max(_power_of_two(n), 32),
        EP=max(_power_of_two(model.target_embedding.embedding_dim), 16),
        KP=max(_power_of_two(beams), 8),
        CP=max(_power_of_two(2 * beams), 16),
        READ=row,
        LINE=line,
        BLOCK=tuning.block,
        STAGES=tuning.stages,
        WIDE=min(_power_of_two(width), tuning.wide),
        PICK=min(_power_of_two(width), tuning.pick),
        PRECISION="ieee" if tuning.precision == "half" else tuning.precision,
        UNK=UNK,
        BOS=BOS,
        EOS=EOS,
        num_warps=tuning.num_warps,
    )
    return out


def _power_of_two(number: int) -> int:
    """The least power of two that is not smaller.

    >>> [_power_of_two(number) for number in (1, 5, 8, 200)]
    [1, 8, 8, 256]
    """
    return 1 << (number - 1).bit_length()


def unpack(packed: np.ndarray, beams: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The result of `launch`, on the host, as `search` keeps it.

    history [T, B, k] token * k + parent; of the finished, best first, ended [B, k] ranks and ends [B, k] step * k +
    parent; live [B, k] log-probabilities. A source whose search ended early has no history after that.
    """
    parts = packed.reshape(len(packed), -1, beams)
    ended, live = (np.ascontiguousarray(parts[:, i]).view(np.float32) for i in (-3, -1))
    order = np.argsort(-ended, axis=1, kind="stable")
    return (
        parts[:, :-3].transpose(1, 0, 2),
        np.take_along_axis(ended, order, 1),
        np.take_along_axis(parts[:, -2], order, 1),
        live,
    )
