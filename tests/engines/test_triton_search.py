"""The fused search against `search.beam`: the kernel runs in Triton's interpreter, in a process of its own."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch

from dualparse.data.batch import pad
from dualparse.data.vocab import EOS
from dualparse.engines.beam import beam
from dualparse.engines.found import Found, trace
from dualparse.engines.triton.search import FAST, Tuning, available, launch, unpack
from dualparse.networks.lstm import Memory, Seq2Seq

WORDS = 20  # of the source


@dataclass(frozen=True)
class Case:
    """A random model and random sources; `ending` makes </s> likelier."""

    copy: bool = True
    seed: int = 0
    sources: int = 3
    longest: int = 7
    vocabulary: int = 50
    beams: int = 3
    max_length: int = 6
    length_power: float = 1.0
    ending: float = 1.5
    tuning: Tuning = Tuning(precision="ieee")


CASES = {
    # Seeds with which every rule shows: when a search ends, which candidates may finish, what happens after the end.
    "AttPtr": Case(seed=23, sources=2, max_length=8, ending=2.5),
    "Att": Case(seed=57, sources=2, max_length=8, ending=1.0, copy=False),
    "half precision": Case(seed=1, sources=2, max_length=4, tuning=FAST),
    "total log-probability": Case(seed=2, length_power=0.0, beams=5, sources=2, max_length=5),
    # Longer than one block of positions; vocabulary in blocks, also when the best are picked.
    "blocks": Case(seed=3, longest=40, sources=2, max_length=4, tuning=Tuning("ieee", block=16, wide=16, pick=16)),
    "eight beams": Case(seed=4, beams=8, sources=2, max_length=4, ending=2.5),
    "nothing ends": Case(seed=5, ending=-50.0, sources=2, max_length=2),
    "few continuations": Case(seed=6, vocabulary=6, copy=False, beams=5, max_length=4, ending=0.0),
}


@torch.no_grad()
def model_and_memory(case: Case) -> tuple[Seq2Seq, Memory]:
    """Tokens to copy are known, unknown, and often repeated within a source."""
    model = Seq2Seq(WORDS, case.vocabulary, embedding=10, hidden=24, copy=case.copy).eval()
    model.initialize(scale=0.4, generator=torch.Generator().manual_seed(case.seed))
    model.generate.bias[EOS] += case.ending
    rng = np.random.default_rng(case.seed)
    lengths = [case.longest, *rng.integers(1, case.longest + 1, size=case.sources - 1)]
    sources = [rng.integers(4, WORDS, size=length).tolist() for length in lengths]
    size = case.vocabulary
    copies = [[int(rng.choice([4, size - 1, size, size + rng.integers(0, len(s))])) for _ in s] for s in sources]
    return model, model.encode(torch.from_numpy(pad(sources)), torch.from_numpy(pad(copies)))


def settings(case: Case) -> dict:
    return {"beams": case.beams, "max_length": case.max_length, "length_power": case.length_power}


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> dict[str, np.ndarray]:
    """What the kernel gives for every case."""
    if find_spec("triton") is None:
        pytest.skip("triton is not installed")
    path = tmp_path_factory.mktemp("fused") / "packed"
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, __file__, str(path)], check=True, env=environment)
    return pickle.loads(path.read_bytes())


def listed(found: Found, i: int) -> list[tuple[tuple[int, ...], bool]]:
    return [
        (tuple(found.tokens[i, k, : found.length[i, k]].tolist()), bool(found.finished[i, k]))
        for k in range(found.length.shape[1])
        if np.isfinite(found.log_prob[i, k])
    ]


@pytest.mark.parametrize("name", CASES)
def test_finds_what_beam_search_finds(name, packed):
    case = CASES[name]
    model, memory = model_and_memory(case)
    expected = beam(model, memory, **settings(case))
    found = trace(*unpack(packed[name], case.beams), length_power=case.length_power)
    assert [listed(found, i) for i in range(case.sources)] == [listed(expected, i) for i in range(case.sources)]
    tolerance = 1e-3 if case.tuning == FAST else 1e-5
    np.testing.assert_allclose(found.log_prob, expected.log_prob, atol=tolerance, rtol=1e-5)


def test_cases_cover_what_can_happen():
    """Copied and generated tokens, hypotheses that end and that do not."""
    seen = set()
    for case in CASES.values():
        found = beam(*model_and_memory(case), **settings(case))
        seen |= {("copied", bool(x)) for x in np.unique(found.tokens >= case.vocabulary)}
        seen |= {("finished", bool(x)) for x in np.unique(found.finished)}
        seen |= {("early", bool(found.finished.all() and found.length.max() < case.max_length - 1))}
    assert seen == {(what, answer) for what in ("copied", "finished", "early") for answer in (True, False)}


def test_not_used_on_a_cpu():
    assert not available(torch.device("cpu"), 5)


def test_unpack_puts_the_best_first():
    ranks = np.array([-2.0, -1.0], dtype=np.float32).view(np.int32)
    live = np.array([-3.0, -4.0], dtype=np.float32).view(np.int32)
    packed = np.concatenate([[8, 11], ranks, [3, 2], live]).astype(np.int32)[None]
    history, ended, ends, living = unpack(packed, 2)
    assert history.tolist() == [[[8, 11]]]
    assert (ended.tolist(), ends.tolist(), living.tolist()) == ([[-1.0, -2.0]], [[2, 3]], [[-3.0, -4.0]])


if __name__ == "__main__":
    results = {name: launch(*model_and_memory(c), **settings(c), tuning=c.tuning).numpy() for name, c in CASES.items()}
    Path(sys.argv[1]).write_bytes(pickle.dumps(results))
